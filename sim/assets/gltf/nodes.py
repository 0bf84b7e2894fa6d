"""The nodes of a glTF file as joints, one each, the nodes of a scene, and animations as clips of channels."""

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_skeleton import unit_quaternions
from sinew.sim.assets.faults import MAX_JOINTS, MAX_TRACKS, ElementFault, PartCounter, check_magnitude
from sinew.sim.assets.gltf.accessors import Accessors, Budget
from sinew.sim.assets.gltf.document import Animation, GltfDocument, Sampler, part_of
from sinew.sim.assets.raw import RawBone, RawChannel, RawClip, RawSkeleton
from sinew.sim.maths.transform import compose, decompose

Float64 = npt.NDArray[np.float64]

RESIDUE = 1e-5
"""Relative residue of a matrix after decomposition that needs no warning."""

_NO_PARENT = -1


def read_skeleton(document: GltfDocument, warnings: list[str]) -> RawSkeleton:
    """Joint i is node i."""
    nodes = document.nodes
    if len(nodes) > MAX_JOINTS:
        raise ElementFault("nodes", f"there are {len(nodes)}, more than {MAX_JOINTS}")
    parents = node_parents(document)
    positions = np.array([node.translation for node in nodes], np.float64).reshape(-1, 3)
    rotations = np.array([node.rotation for node in nodes], np.float64).reshape(-1, 4)
    scales = np.array([node.scale for node in nodes], np.float64).reshape(-1, 3)
    with_matrix = [index for index, node in enumerate(nodes) if node.matrix is not None]
    if with_matrix:
        # Stored column after column.
        matrices = np.array([nodes[index].matrix for index in with_matrix], np.float64).reshape(-1, 4, 4)
        matrices = matrices.swapaxes(1, 2)
        for index, matrix in zip(with_matrix, matrices, strict=True):
            check_magnitude(f"nodes[{index}].matrix", "", matrix.ravel())
        parts = decompose(matrices)
        positions[with_matrix], rotations[with_matrix], scales[with_matrix] = parts
        _warn_of_residue(with_matrix, matrices, compose(*parts), warnings)
    for what, values in (("translation", positions), ("rotation", rotations), ("scale", scales)):
        check_magnitude("nodes", what, values)
    rotations = unit_quaternions(rotations)
    bones = [
        RawBone(name, parent, *place)
        for name, parent, *place in zip(_names(document), parents, positions, rotations, scales, strict=True)
    ]
    return RawSkeleton("", bones)


def node_parents(document: GltfDocument) -> list[int]:
    """Parent of each node, or -1; fails for two parents and for cycles."""
    parents = [_NO_PARENT] * len(document.nodes)
    for index, node in enumerate(document.nodes):
        for child in node.children:
            place = f"nodes[{index}].children"
            part_of(document.nodes, child, place, "nodes")
            if parents[child] != _NO_PARENT:
                raise ElementFault(place, f"nodes[{child}] has two parents, {parents[child]} and {index}")
            parents[child] = index
    known = [False] * len(parents)
    for start in range(len(parents)):
        chain, above = set(), start
        while above != _NO_PARENT and not known[above]:
            if above in chain:
                raise ElementFault(f"nodes[{above}]", "is its own ancestor")
            chain.add(above)
            above = parents[above]
        for below in chain:
            known[below] = True
    return parents


def shown_nodes(document: GltfDocument, scene_number: int | None) -> list[int]:
    """Nodes of a scene in file order; without a number, of the default scene, else the first, else all nodes."""
    number = document.scene if scene_number is None else scene_number
    if not document.scenes and number is None:
        return list(range(len(document.nodes)))
    number = number or 0
    scene = part_of(document.scenes, number, "scene", "scenes")
    found: set[int] = set()
    left = list(scene.nodes)
    while left:
        index = left.pop()
        node = part_of(document.nodes, index, f"scenes[{number}].nodes", "nodes")
        if index not in found:
            found.add(index)
            left.extend(node.children)
    return sorted(found)


def _names(document: GltfDocument) -> list[str]:
    """Unique names; unnamed and repeated names get the number of the node."""
    taken: set[str] = set()
    names = []
    for index, node in enumerate(document.nodes):
        name = node.name.strip() or f"node {index}"
        if name in taken:
            name = f"{name} ({index})"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names


def _warn_of_residue(nodes: list[int], matrices: Float64, composed: Float64, warnings: list[str]) -> None:
    apart = np.abs(matrices - composed).max(axis=(1, 2))
    skewed = apart > RESIDUE * np.maximum(1.0, np.abs(matrices).max(axis=(1, 2)))
    if skewed.any():
        first = nodes[int(np.argmax(skewed))]
        warnings.append(
            f"nodes[{first}].matrix has shear or perspective, which is left out"
            + (f", as in {int(skewed.sum()) - 1} more." if skewed.sum() > 1 else ".")
        )


UNEVEN = 1e-3, 1e-2
"""Largest rounding error of the length of a quaternion; the second one for keys in bytes."""

BYTE = 5120


_CHANNEL_BYTES, _KEY_BYTES = 512, 64
"""Approximate memory of a driven number, and of a time or key."""

_TYPES = {"translation": ("VEC3",), "rotation": ("VEC4",), "scale": ("VEC3",), "weights": ("SCALAR",)}


def read_clips(document: GltfDocument, accessors: Accessors, budget: Budget, warnings: list[str]) -> list[RawClip]:
    """Animations in file order."""
    parts = PartCounter()
    clips = []
    for number, animation in enumerate(document.animations):
        name = animation.name.strip() or f"clip {number}"
        clips.append(
            RawClip(
                name, 0, 0.0, 0.0, [], _channels(document, number, animation, _Keys(accessors, budget), parts, warnings)
            )
        )
    return clips


def _channels(
    document: GltfDocument, number: int, animation: Animation, keys: "_Keys", parts: PartCounter, warnings: list[str]
) -> list[RawChannel]:
    found: dict[tuple[int, str], RawChannel] = {}
    for index, channel in enumerate(animation.channels):
        place, target = f"animations[{number}].channels[{index}]", channel.target
        parts.add("animation channels", MAX_TRACKS)
        if target.path not in _TYPES:
            what = "pointers" if target.path == "pointer" else f"{target.path[:40]!r}"
            warnings.append(f"Animation channels that drive {what} are left out.")
            continue
        sampler = part_of(animation.samplers, channel.sampler, f"{place}.sampler", f"animations[{number}].samplers")
        if target.node is None:
            continue
        node = part_of(document.nodes, target.node, f"{place}.target.node", "nodes")
        if (target.node, target.path) in found:
            warnings.append(f"{place} drives {target.path} of nodes[{target.node}] a second time and is left out.")
            continue
        width = 0
        if target.path == "weights":
            if node.mesh is None:
                continue
            mesh = part_of(document.meshes, node.mesh, f"nodes[{target.node}].mesh", "meshes")
            width = max((len(primitive.targets) for primitive in mesh.primitives), default=0)
            if not width:
                continue
        own = f"animations[{number}].samplers[{channel.sampler}]"
        found[target.node, target.path] = keys.channel(target.node, target.path, sampler, width, own)
        uneven = UNEVEN[document.accessors[sampler.output].component_type == BYTE]
        lengths = np.linalg.norm(found[target.node, target.path].values, axis=-1)
        if target.path == "rotation" and sampler.interpolation != "CUBICSPLINE" and (abs(lengths - 1.0) > uneven).any():
            warnings.append("Rotation keys that are no unit quaternions are made unit, which not all programs do.")
    return list(found.values())


class _Keys:
    """Keys of one animation, read once even if several channels share them."""

    def __init__(self, accessors: Accessors, budget: Budget) -> None:
        self._accessors, self._budget = accessors, budget
        self._read: dict[tuple[object, ...], tuple[Float64, Float64]] = {}

    def channel(self, node: int, path: str, sampler: Sampler, weight_count: int, place: str) -> RawChannel:
        """Channel of a sampler; its keys count once against the budget, and each driven number."""
        self._budget.take(_CHANNEL_BYTES * (weight_count or 1), place)
        key = sampler.input, sampler.output, sampler.interpolation, path, weight_count
        if key not in self._read:
            self._read[key] = self._keys(path, sampler, weight_count, place)
        return RawChannel(node, path, sampler.interpolation, *self._read[key])

    def _keys(self, path: str, sampler: Sampler, weight_count: int, place: str) -> tuple[Float64, Float64]:
        """Times and values as in `RawChannel`."""
        times = self._accessors.floats(sampler.input, f"{place}.input", ("SCALAR",))[:, 0]
        values = self._accessors.floats(sampler.output, f"{place}.output", _TYPES[path])
        self._budget.take(_KEY_BYTES * (len(times) + len(values)), place)
        check_magnitude(f"{place}.input", "time", times)
        check_magnitude(f"{place}.output", "key", values)
        if not len(times):
            raise ElementFault(f"{place}.input", "has no keys")
        if (np.diff(times) < 0.0).any() or times[0] < 0.0:
            raise ElementFault(f"{place}.input", "the times of keys must not fall, nor begin before 0")
        tangents = 3 if sampler.interpolation == "CUBICSPLINE" else 1
        needed = len(times) * tangents * (weight_count or 1)
        if len(values) != needed:
            raise ElementFault(f"{place}.output", f"has {len(values)} elements, {len(times)} keys need {needed}")
        shape = (len(times), tangents, -1) if tangents > 1 else (len(times), -1)
        return times.astype(np.float64), values.astype(np.float64).reshape(shape)
