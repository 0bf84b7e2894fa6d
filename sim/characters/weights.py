"""Changed weights of a model, in settings and project files; they belong to the triangles of a mesh."""

import base64
import binascii
import functools
import hashlib
import zlib
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build import build_model
from sinew.sim.assets.influences import INFLUENCES_MAX, Influences, entries_of, influences_in, merged, with_influences
from sinew.sim.assets.model import CharacterModel, Mesh, Skin
from sinew.sim.assets.raw import ModelError, RawModel
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.points import nearest_vertices

WHOLE = 65535
"""Sum of the stored weights of a vertex, and largest stored coordinate in the box around the mesh."""

VERTICES_MAX, BONES_MAX = 1 << 24, 65535


class SkinWeights(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Packed weights: base64 of compressed 16-bit numbers, little endian.

    Attributes:
        count: Number of vertices.
        influences: Number of bones per vertex.
        topology: Sum of the triangles, see `topology_of`.
        bones: Names of the joints that have weights.
        joints: Places in `bones`, shape (count, influences).
        weights: Of the same shape; each row sums to `WHOLE`.
        places: Positions of the vertices in the box around them, shape (count, 3), for another mesh.

    Raises:
        ValueError: If a number is out of range, or data do not have the size that the counts give.
    """

    count: Annotated[int, msgspec.Meta(ge=1, le=VERTICES_MAX)]
    influences: Annotated[int, msgspec.Meta(ge=1, le=INFLUENCES_MAX)]
    topology: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    bones: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=4096)], ...], msgspec.Meta(min_length=1, max_length=BONES_MAX)
    ]
    joints: str
    weights: str
    places: str

    def __post_init__(self) -> None:
        joints, weights = influences_of(self)
        _decoded(self, "places", 3)
        if joints.max(initial=0) >= len(self.bones):
            raise ValueError(f"joints: {joints.max()} of {len(self.bones)} bones")
        if wrong := np.count_nonzero(weights.sum(axis=1, dtype=np.int64) != WHOLE):
            raise ValueError(f"weights: of {wrong} vertices do not sum to {WHOLE}")

    def __str__(self) -> str:
        return f"{len(self.bones)} bones"


def topology_of(mesh: Mesh) -> str:
    found = hashlib.blake2b(mesh.triangles.astype("<u4").tobytes(), digest_size=12)
    found.update(str(mesh.vertex_count).encode())
    return found.hexdigest()


def influences_of(stored: SkinWeights) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """Returns places in the bones and weights, shape (count, influences) each; raises ValueError."""
    joints, weights = (_decoded(stored, name, stored.influences) for name in ("joints", "weights"))
    return joints, weights


def current_influences(model: CharacterModel, stored: tuple[SkinWeights, ...]) -> Influences:
    """Returns the weights of a model with a skeleton: changed ones if they fit; all on the first joint without any."""
    assert model.skeleton is not None
    if stored and not fault_of(model, stored[0]):
        places, whole = influences_of(stored[0])
        bones = np.array([model.skeleton.index(name) for name in stored[0].bones], np.intp)
        return Influences(bones[places], whole.astype(np.float64) / WHOLE)
    found = influences_in(model)
    if found is not None:
        return found
    shape = model.mesh.vertex_count, 1
    return Influences(np.zeros(shape, np.intp), np.ones(shape))


def packed(model: CharacterModel, found: Influences) -> SkinWeights:
    """Packs weights of the vertices of a model with a skeleton."""
    assert model.skeleton is not None
    joints, weights = merged(found)
    whole = quantised(weights)
    width = max(int((whole > 0).sum(axis=1).max(initial=1)), 1)
    joints, whole = np.where(whole > 0, joints, joints[:, :1])[:, :width], whole[:, :width]
    used, places = np.unique(joints, return_inverse=True)
    low, size = model.mesh.bounds.lo, np.maximum(model.mesh.bounds.size, 1e-12)
    in_box = np.rint((model.mesh.positions.astype(np.float64) - low) / size * WHOLE)
    return SkinWeights(
        count=model.mesh.vertex_count,
        influences=width,
        topology=topology_of(model.mesh),
        bones=tuple(model.skeleton.names[joint] for joint in used.tolist()),
        joints=_encoded(places.reshape(joints.shape)),
        weights=_encoded(whole),
        places=_encoded(np.clip(in_box, 0, WHOLE)),
    )


def quantised(weights: Float64) -> npt.NDArray[np.int64]:
    """Returns whole numbers that sum to `WHOLE` in each row, nearest to the weights."""
    exact = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30) * WHOLE
    whole = np.floor(exact).astype(np.int64)
    missing = WHOLE - whole.sum(axis=1)
    order = np.argsort(whole - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(weights.shape[1])[None], 1)
    found: npt.NDArray[np.int64] = whole + (rank < missing[:, None])
    return found


def fault_of(model: CharacterModel, stored: SkinWeights) -> str:
    """Returns one line why weights do not fit a model, or ""."""
    if model.skeleton is None:
        return "the changed weights are not used: the model has no bones"
    if stored.topology != topology_of(model.mesh):
        return (
            f"the changed weights are not used: they are of a mesh of {stored.count:,} vertices with other triangles; "
            "Transfer takes them over"
        )
    if missing := [name for name in stored.bones if model.skeleton.find(name) is None]:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"the changed weights are not used: the model has no bone {missing[0]!r}{more}"
    if entries_of(model) is None:
        return "the changed weights are not used: parts of the model are bound to the same bones in different ways"
    return ""


def weighted(model: CharacterModel, stored: tuple[SkinWeights, ...]) -> tuple[CharacterModel, str]:
    """Returns a model with changed weights, and one line why they are not used, or ""; the same model without any."""
    if not stored:
        return model, ""
    if fault := fault_of(model, stored[0]):
        return model, fault
    return with_influences(model, current_influences(model, stored)), ""


def reweigh(raw: RawModel, stored: SkinWeights) -> None:
    """Gives the vertices of a file changed weights; raises ModelError if they do not fit."""
    made, fault = weighted(build_model(raw), (stored,))
    if fault or made.skin is None:
        raise ModelError(raw.path, "", fault)
    joints, weights = made.skin.joints_of(made.skin.joints), made.skin.weights
    if raw.skins or len(raw.skeletons) > 1:
        raw.changed = joints, weights
        return
    start = 0
    for mesh in raw.meshes:
        for buffer in mesh.buffers:
            rows = slice(start, start + buffer.count)
            buffer.attributes["blendindices"] = joints[rows].astype(np.uint16)
            buffer.attributes["blendweights"] = weights[rows].astype(np.float32)
            start += buffer.count


def shown_skin(model: CharacterModel, found: Influences, row_of: Intp | slice = slice(None)) -> Skin:
    """Returns a skin for the palette that the model has now; bones without an entry count as those above them.

    Args:
        row_of: Row of each vertex in the influences; by default each has its own.
    """
    assert model.skeleton is not None
    parents, palette = model.skeleton.parents, model.skin.palette if model.skin is not None else None
    entry_of = np.arange(model.skeleton.joint_count)
    if palette is not None:
        entry_of = np.full(model.skeleton.joint_count, -1, np.intp)
        entry_of[palette.entry_joints[::-1]] = np.arange(len(palette.entry_joints))[::-1]
        for level in model.skeleton.hierarchy.levels:
            missing = level[(entry_of[level] < 0) & (parents[level] >= 0)]
            entry_of[missing] = entry_of[parents[missing]]
        entry_of = np.maximum(entry_of, 0)
    width = found.joints.shape[1]
    joints, weights = entry_of.astype(np.uint16)[found.joints], found.weights.astype(np.float32)
    return Skin(joints[row_of], weights[row_of], width, palette)


def taken_over(model: CharacterModel, stored: SkinWeights) -> tuple[SkinWeights, str]:
    """Returns weights for a model whose mesh has changed, from the nearest stored vertices, and a note or "".

    Raises:
        ValueError: If the model has none of the bones.
    """
    if model.skeleton is None:
        raise ValueError("the model has no bones")
    known = [model.skeleton.find(name) for name in stored.bones]
    missing = sum(joint is None for joint in known)
    if missing == len(known):
        raise ValueError(f"the model has none of the {missing} bones")
    bones = np.array([-1 if joint is None else joint for joint in known], np.intp)
    old = _decoded(stored, "places", 3).astype(np.float64) / WHOLE
    bounds = model.mesh.bounds
    new = (model.mesh.positions.astype(np.float64) - bounds.lo) / np.maximum(bounds.size, 1e-12)
    near = nearest_vertices(new, old)
    places, whole = influences_of(stored)
    joints, weights = bones[places[near]], whole[near].astype(np.float64)
    weights[joints < 0] = 0.0
    rest = np.flatnonzero(weights.sum(axis=1) <= 0.0)
    joints[rest, 0], weights[rest, 0] = bones[bones >= 0][0], 1.0
    note = f"{missing} bones of the changed weights are missing" if missing else ""
    return packed(model, Influences(np.maximum(joints, 0), weights / weights.sum(axis=1, keepdims=True))), note


@functools.lru_cache(maxsize=16)
def _unpacked(text: str, size: int) -> npt.NDArray[np.uint16]:
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(base64.b64decode(text, validate=True), 2 * size + 1)
    if len(data) != 2 * size or not unpacking.eof:
        raise ValueError(f"has not {2 * size} bytes")
    return np.frombuffer(data, "<u2")


def _decoded(stored: SkinWeights, name: str, width: int) -> npt.NDArray[np.uint16]:
    try:
        return _unpacked(getattr(stored, name), stored.count * width).reshape(stored.count, width)
    except (binascii.Error, zlib.error):
        raise ValueError(f"{name}: not compressed base64") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _encoded(numbers: npt.NDArray[np.generic]) -> str:
    return base64.b64encode(zlib.compress(numbers.astype("<u2").tobytes(), 6)).decode("ascii")
