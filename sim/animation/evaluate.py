import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from sinew.sim.animation.pose import Offset, Pose, with_offsets
from sinew.sim.assets.model import NO_WEIGHTS, CharacterModel, Clip, Interpolation, LocalPose, Skeleton
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose

_TRAVEL_SHARE = 0.1
"""Paths shorter than this part of the skeleton's size are sway, not travel: walking in place sways by 5 %."""

_CARRIED_SHARE = 0.25
"""A joint with a smaller part of all joints below it is a prop, not the body."""

_SAMPLE_MAX = 256
"""Maximum number of poses that are examined; longer clips are sampled evenly."""


@dataclass(frozen=True, slots=True)
class RootMotion:
    joint: int  # The motion joint
    start: Float64  # Its position at the start of the clip, shape (3,), file space
    horizontal: Float64  # 1 for the axes of the ground, 0 for the up axis, shape (3,)
    travellers: Intp  # Topmost joints with travel of their own, including the motion joint
    carried: Intp  # The travellers and everything below them


_FOUND: WeakKeyDictionary[Clip, dict[str, tuple[Skeleton, RootMotion | None]]] = WeakKeyDictionary()
"""Results by clip, as a search takes some milliseconds."""


def root_motion(skeleton: Skeleton, clip: Clip, up_axis: str) -> RootMotion | None:
    """Returns the travel of a clip over the ground; None for a clip that stays in place.

    The motion joint is, among the joints with travel of their own, the one with the most joints below it.  The own
    travel of a joint is the path of its local translation over the ground, rotated by its parent: a head that sweeps
    forward because the spine bends does not travel.

    Args:
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
    """Moves the motion joint back to its start over the ground.

    Every carried joint moves by the same horizontal vector, so the shape of the pose, its height and its rotation stay;
    joints above the motion joint do not move.  The local translations of the travellers follow, so that local and model
    transforms agree.
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
    """Returns local translations (B, F, 3) and model matrices (B, F, 4, 4) over the clip."""
    times = clip.key_times
    if len(times) > _SAMPLE_MAX:
        times = np.linspace(float(times[0]), float(times[-1]), _SAMPLE_MAX)
    poses = clip.sample_many(times.tolist(), Interpolation.LINEAR)
    arrays = (poses.positions, poses.orientations, poses.scales)
    positions, orientations, scales = (np.ascontiguousarray(np.moveaxis(array, 0, 1)) for array in arrays)
    return positions, model_from_local(compose(positions, orientations, scales), skeleton.hierarchy)


def _own_travel(skeleton: Skeleton, positions: Float64, model: Float64, horizontal: Float64) -> Float64:
    moved = positions - positions[:, :1]
    parents = skeleton.parents
    linear = np.where((parents < 0)[:, None, None, None], np.eye(3), model[parents, :, :3, :3])
    path = (linear @ moved[..., None])[..., 0] * horizontal
    length: Float64 = np.linalg.norm(np.ptp(path, axis=1), axis=-1)
    return length


TOGETHER = 960
"""Maximum number of joints of all times to evaluate at once; beyond this, memory allocation makes each slower."""


def evaluate_pose(
    model: CharacterModel,
    clip: Clip | None,
    time: float,
    *,
    interpolation: Interpolation = Interpolation.LINEAR,
    lock_root: bool = False,
    up_axis: str = "y",
    offsets: Sequence[Offset] = (),
) -> Pose:
    """Evaluates the pose of the skeleton, and weights of the morph targets.

    Args:
        model: Without a skeleton the pose has only morph weights.
        clip: One of its clips, or None for the bind pose.
        time: Time in the clip [s], clamped to it.
        lock_root: Removes the travel of the root over the ground, see `root_motion`.
        up_axis: Axis of the file that points up, "y" or "z".

    Raises:
        ValueError: If the clip was made for another number of joints.
    """
    if clip is None:
        return bind_pose(model, offsets)
    local, skeleton = clip.sample(time, interpolation), model.skeleton
    if skeleton is None:
        return _boneless(local)
    if len(local.positions) != skeleton.joint_count:
        raise ValueError(f"clip {clip.name!r} has {len(local.positions)} joints, not {skeleton.joint_count}")
    matrices = compose(local.positions, local.orientations, local.scales)
    model_from_joint = model_from_local(matrices, skeleton.hierarchy)
    motion = root_motion(skeleton, clip, up_axis) if lock_root else None
    if motion is not None:
        local, model_from_joint = without_travel(motion, skeleton, local, model_from_joint)
    return _offset(model, skeleton, local, model_from_joint, offsets)


def evaluate_poses(
    model: CharacterModel,
    clip: Clip,
    times: Sequence[float],
    *,
    interpolation: Interpolation = Interpolation.LINEAR,
    lock_root: bool = False,
    up_axis: str = "y",
) -> list[Pose]:
    """Evaluates poses, bit-identical to `evaluate_pose` at each time, with the same errors."""
    skeleton = model.skeleton
    motion = root_motion(skeleton, clip, up_axis) if lock_root and skeleton is not None else None
    if skeleton is None or motion is not None or len(times) < 2:
        return [
            evaluate_pose(model, clip, time, interpolation=interpolation, lock_root=lock_root, up_axis=up_axis)
            for time in times
        ]
    together = max(TOGETHER // max(skeleton.joint_count, 1), 1)
    return [
        pose
        for first in range(0, len(times), together)
        for pose in _many(model, skeleton, clip, times[first : first + together], interpolation)
    ]


def _many(
    model: CharacterModel, skeleton: Skeleton, clip: Clip, times: Sequence[float], interpolation: Interpolation
) -> list[Pose]:
    local = clip.sample_many(times, interpolation)
    if local.positions.shape[1] != skeleton.joint_count:
        raise ValueError(f"clip {clip.name!r} has {local.positions.shape[1]} joints, not {skeleton.joint_count}")
    arrays = (local.positions, local.orientations, local.scales)
    # The hierarchy is walked with the joints in front.
    joints = model_from_local(np.ascontiguousarray(compose(*arrays).swapaxes(0, 1)), skeleton.hierarchy)
    palette, centres = _palette(model, skeleton, joints)
    moments = (np.ascontiguousarray(matrices.swapaxes(0, 1)) for matrices in (joints, palette))
    poses = zip(*arrays, local.weights, *moments, strict=True)
    return [Pose(LocalPose(p, q, s, w), matrix, entries, centres) for p, q, s, w, matrix, entries in poses]


def bind_pose(model: CharacterModel, offsets: Sequence[Offset] = ()) -> Pose:
    """Returns the stored skeleton of the file, usually the pose that the mesh was bound in."""
    skeleton, targets = model.skeleton, model.mesh.targets
    weights = NO_WEIGHTS if targets is None else targets.rest_weights
    if skeleton is None:
        return _boneless(LocalPose(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), weights))
    local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales, weights)
    return _offset(model, skeleton, local, skeleton.model_from_bind, offsets)


def assembled(model: CharacterModel, local: LocalPose, offsets: Sequence[Offset] = ()) -> Pose:
    skeleton = model.skeleton
    if skeleton is None:
        return _boneless(local)
    matrices = compose(local.positions, local.orientations, local.scales)
    return _offset(model, skeleton, local, model_from_local(matrices, skeleton.hierarchy), offsets)


def _offset(
    model: CharacterModel,
    skeleton: Skeleton,
    local: LocalPose,
    model_from_joint: Float64,
    offsets: Sequence[Offset],
) -> Pose:
    moved = with_offsets(skeleton, local, offsets) if offsets else local
    if moved is not local:
        matrices = compose(moved.positions, moved.orientations, moved.scales)
        model_from_joint = model_from_local(matrices, skeleton.hierarchy)
    return Pose(moved, model_from_joint, *_palette(model, skeleton, model_from_joint))


def _boneless(local: LocalPose) -> Pose:
    return Pose(local, np.zeros((0, 4, 4)), np.zeros((0, 4, 4)), np.zeros((0, 3)))


def _palette(model: CharacterModel, skeleton: Skeleton, model_from_joint: Float64) -> tuple[Float64, Float64]:
    """Returns the palette (P, ..., 4, 4) and centres (P, 3) of joints (B, ..., 4, 4)."""
    entries = model.skin.palette if model.skin is not None else None
    if entries is None:
        joints, after, centres = model_from_joint, skeleton.bind_from_model, skeleton.model_from_bind[:, :3, 3]
    else:
        joints, after, centres = model_from_joint.take(entries.entry_joints, 0), entries.bind_from_mesh, entries.centres
    rows = joints.reshape(len(joints), math.prod(joints.shape[1:-1]), 4)
    return (rows @ after).reshape(joints.shape), centres
