from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.content import content_sum
from sinew.sim.assets.influences import joint_boxes, reach_of, weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel, Skeleton, Skin
from sinew.sim.characters.skinning import SkinningRecords, skinning_records
from sinew.sim.maths.arrays import Bool, Float64, Intp


@dataclass(frozen=True, slots=True)
class BoneSegments:
    heads: Intp  # Joint at the thick end, shape (S,); a click selects it
    tails: Intp  # Its child at the thin end, shape (S,)
    joints: Intp  # Joints that are drawn as dots, shape (J,)

    def of(self, joint: int) -> "BoneSegments":
        own = self.heads == joint
        return BoneSegments(self.heads[own], self.tails[own], np.array([joint]))


def bone_segments(skeleton: Skeleton, skin: Skin | None) -> BoneSegments:
    """Returns segments of bones; of all joints if none has weights.

    Joints without weights, neither above nor below a joint with weights (scene roots, cameras, mesh nodes), are
    omitted: their transforms may be far from the body.
    """
    weighted = weighted_vertex_counts(skin, skeleton.joint_count) > 0
    if not weighted.any():
        weighted = np.ones(skeleton.joint_count, dtype=bool)
    above = _inherited_down(skeleton, weighted)
    below = _inherited_up(skeleton, weighted)
    tails = np.flatnonzero(below & (skeleton.parents >= 0))
    tails = tails[above[skeleton.parents[tails]]]
    heads = skeleton.parents[tails].astype(np.intp)
    return BoneSegments(heads, tails, np.union1d(np.union1d(heads, tails), np.flatnonzero(weighted)))


def _inherited_down(skeleton: Skeleton, flags: Bool) -> Bool:
    result = flags.copy()
    for level in skeleton.hierarchy.levels:
        parents = skeleton.parents[level]
        result[level] |= (parents >= 0) & result[parents]
    return result


def _inherited_up(skeleton: Skeleton, flags: Bool) -> Bool:
    result = flags.copy()
    for level in reversed(skeleton.hierarchy.levels):
        parents = skeleton.parents[level]
        held = level[(parents >= 0) & result[level]]
        result[skeleton.parents[held]] = True
    return result


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """Data of a model that are computed on any thread, without the GPU."""

    model: CharacterModel  # The character
    records: SkinningRecords  # Vertices and influences as their buffers hold them
    # Palette entries with weights, shape (J,), and corners of their boxes, (J, 8, 3); None without joints
    boxes: tuple[Intp, Float64] | None
    # Lowest and highest corner, (3,) each, of the bind pose with its morph targets
    reach: tuple[Float64, Float64]
    segments: BoneSegments | None  # Bones of the overlay; None without a skeleton


def prepare_model(model: CharacterModel) -> PreparedModel:
    content_sum(model)  # known from then on: it takes long
    skin, skeleton, bounds = model.skin, model.skeleton, model.mesh.bounds
    lowest, highest = reach_of(model.mesh) if model.mesh.targets is not None else (bounds.lo[None], bounds.hi[None])
    return PreparedModel(
        model,
        skinning_records(model.mesh, skin),
        joint_boxes(model.mesh, skin) if skin is not None and model.mesh.vertex_count else None,
        (lowest.min(axis=0), highest.max(axis=0)) if len(lowest) else (bounds.lo, bounds.hi),
        bone_segments(skeleton, skin) if skeleton is not None else None,
    )
