"""Finds the joint that moves a character through a clip, and removes its travel."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from sinew.sim.assets.model import Clip, Interpolation, LocalPose, Skeleton
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose

_TRAVEL_SHARE = 0.1
"""Paths shorter than this part of the skeleton's size are sway, not travel: walking in place sways by 5 %."""

_CARRIED_SHARE = 0.25
"""A joint with a smaller part of all joints below it is a prop, not the body."""

_SAMPLE_MAX = 256
"""Most poses that are examined; longer clips are sampled evenly."""


@dataclass(frozen=True, slots=True)
class RootMotion:
    """How a clip travels."""

    joint: int  # The motion joint
    start: Float64  # Its position at the start of the clip, shape (3,), file space
    horizontal: Float64  # 1 for the axes of the ground, 0 for the up axis, shape (3,)
    travellers: Intp  # Topmost joints with travel of their own, including the motion joint
    carried: Intp  # The travellers and everything below them


_FOUND: WeakKeyDictionary[Clip, dict[str, tuple[Skeleton, RootMotion | None]]] = WeakKeyDictionary()
"""Results by clip: a search takes some milliseconds."""


def root_motion(skeleton: Skeleton, clip: Clip, up_axis: str) -> RootMotion | None:
    """The travel of a clip over the ground; None for a clip that stays in place.

    The motion joint is, among the joints with travel of their own, the one with the most joints below it.  The own
    travel of a joint is the path of its local translation over the ground, rotated by its parent: a head that sweeps
    forward because the spine bends does not travel.

    Args:
        skeleton: The skeleton of the clip.
        clip: Hashed by identity; the result is cached as long as the clip lives.
        up_axis: "y" or "z", in either case.
    """
    known = _FOUND.setdefault(clip, {})
    axis = up_axis.lower()
    if axis not in known or known[axis][0] is not skeleton:
        known[axis] = (skeleton, _search(skeleton, clip, axis))
    return known[axis][1]


def without_travel(
    motion: RootMotion, skeleton: Skeleton, local: LocalPose, model_from_joint: Float64
) -> tuple[LocalPose, Float64]:
    """Pose with the motion joint kept, over the ground, where it was at the start of the clip.

    Every carried joint moves by the same horizontal vector, so the shape of the pose, its height and its rotation stay;
    joints above the motion joint do not move.  The local translations of the travellers follow, so that local and model
    transforms still agree.
    """
    travel = (model_from_joint[motion.joint, :3, 3] - motion.start) * motion.horizontal
    model = model_from_joint.copy()
    model[motion.carried, :3, 3] -= travel
    positions = local.positions.copy()
    positions[motion.travellers] -= _in_parent(skeleton, model_from_joint, motion.travellers, travel)
    return msgspec.structs.replace(local, positions=positions), model


def _in_parent(skeleton: Skeleton, model: Float64, joints: Intp, vector: Float64) -> Float64:
    parents = skeleton.parents[joints]
    if parents.max() < 0:
        return vector
    linear = np.where((parents < 0)[:, None, None], np.eye(3), model[parents, :3, :3])
    flat: Float64 = np.linalg.pinv(linear) @ vector
    return flat


def _search(skeleton: Skeleton, clip: Clip, up_axis: str) -> RootMotion | None:
    horizontal = np.array([1.0, 0.0, 1.0]) if up_axis == "y" else np.array([1.0, 1.0, 0.0])
    positions, model = _paths(skeleton, clip)
    own = _own_travel(skeleton, positions, model, horizontal)
    size = np.ptp(skeleton.model_from_bind[:, :3, 3], axis=0).max()
    moves = own > max(_TRAVEL_SHARE * float(size), 1e-9)
    carried_counts = np.ones(skeleton.joint_count, dtype=np.intp)
    for level in reversed(skeleton.hierarchy.levels):
        np.add.at(carried_counts, skeleton.parents[level], carried_counts[level])
    candidates = np.flatnonzero(moves & (carried_counts >= _CARRIED_SHARE * skeleton.joint_count))
    if not len(candidates):
        return None
    joint = int(candidates[np.argmax(carried_counts[candidates])])
    parents, below = skeleton.parents, moves.copy()
    for level in skeleton.hierarchy.levels:
        below[level] |= below[parents[level]]
    topmost = moves & ~np.where(parents < 0, False, below[parents])
    return RootMotion(joint, model[joint, 0, :3, 3], horizontal, np.flatnonzero(topmost), np.flatnonzero(below))


def _paths(skeleton: Skeleton, clip: Clip) -> tuple[Float64, Float64]:
    """Local translations (B, F, 3) and model matrices (B, F, 4, 4) over the clip."""
    times = clip.key_times
    if len(times) > _SAMPLE_MAX:
        times = np.linspace(float(times[0]), float(times[-1]), _SAMPLE_MAX)
    poses = clip.sample_many(times.tolist(), Interpolation.LINEAR)
    arrays = (poses.positions, poses.orientations, poses.scales)
    positions, orientations, scales = (np.ascontiguousarray(np.moveaxis(array, 0, 1)) for array in arrays)
    return positions, model_from_local(compose(positions, orientations, scales), skeleton.hierarchy)


def _own_travel(skeleton: Skeleton, positions: Float64, model: Float64, horizontal: Float64) -> Float64:
    """Length over the ground of the box around each joint's own path, shape (B,)."""
    moved = positions - positions[:, :1]
    parents = skeleton.parents
    linear = np.where((parents < 0)[:, None, None, None], np.eye(3), model[parents, :, :3, :3])
    path = (linear @ moved[..., None])[..., 0] * horizontal
    length: Float64 = np.linalg.norm(np.ptp(path, axis=1), axis=-1)
    return length
