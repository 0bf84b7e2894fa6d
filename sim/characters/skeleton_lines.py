"""Which bones the overlay draws, from joints to their children.

Joints that move no vertex and have none above or below that does (scene roots, cameras, mesh nodes) are left
out: their transforms can disagree wildly with the body.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.influences import weighted_vertex_counts
from sim.assets.model import Skeleton, Skin


@dataclass(frozen=True, slots=True)
class BoneSegments:
    """Segments of the drawn skeleton.

    Attributes:
        heads: Joint at the thick end, shape (S,); clicking the segment selects it.
        tails: Its child at the thin end, shape (S,).
        joints: Joints that are drawn as dots, shape (J,).
    """

    heads: npt.NDArray[np.intp]
    tails: npt.NDArray[np.intp]
    joints: npt.NDArray[np.intp]

    def of(self, joint: int) -> "BoneSegments":
        own = self.heads == joint
        return BoneSegments(self.heads[own], self.tails[own], np.array([joint]))


def bone_segments(skeleton: Skeleton, skin: Skin | None) -> BoneSegments:
    """Segments and dots of the joints that belong to the body; all joints where nothing is weighted."""
    weighted = weighted_vertex_counts(skin, skeleton.joint_count) > 0
    if not weighted.any():
        weighted = np.ones(skeleton.joint_count, dtype=bool)
    above = _inherited_down(skeleton, weighted)
    below = _inherited_up(skeleton, weighted)
    tails = np.flatnonzero(below & (skeleton.parents >= 0))
    tails = tails[above[skeleton.parents[tails]]]
    heads = skeleton.parents[tails].astype(np.intp)
    return BoneSegments(heads, tails, np.union1d(np.union1d(heads, tails), np.flatnonzero(weighted)))


def _inherited_down(skeleton: Skeleton, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether the joint or any ancestor is flagged."""
    result = flags.copy()
    for level in skeleton.levels:
        parents = skeleton.parents[level]
        result[level] |= (parents >= 0) & result[parents]
    return result


def _inherited_up(skeleton: Skeleton, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether the joint or any descendant is flagged."""
    result = flags.copy()
    for level in reversed(skeleton.levels):
        parents = skeleton.parents[level]
        held = level[(parents >= 0) & result[level]]
        result[skeleton.parents[held]] = True
    return result
