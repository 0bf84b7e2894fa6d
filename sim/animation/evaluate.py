"""Poses of a character: sample the clip, compose, multiply along the hierarchy, build the palette."""

import math
from collections.abc import Sequence

import numpy as np

from sinew.sim.animation.pose import Pose, with_offsets
from sinew.sim.animation.root_motion import root_motion, without_travel
from sinew.sim.assets.model import NO_WEIGHTS, CharacterModel, Clip, Interpolation, LocalPose, Skeleton
from sinew.sim.characters.settings import BonePose
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose

TOGETHER = 960
"""Joints of all times that are evaluated at once; beyond this, memory allocation makes each slower."""


def evaluate_pose(
    model: CharacterModel,
    clip: Clip | None,
    time: float,
    *,
    interpolation: Interpolation = Interpolation.LINEAR,
    lock_root: bool = False,
    up_axis: str = "y",
    offsets: Sequence[BonePose] = (),
) -> Pose:
    """Pose of the skeleton of `model`, and weights of its morph targets.

    Args:
        model: A character; without a skeleton the pose has weights alone.
        clip: One of its clips, or None for the bind pose.
        time: Time in the clip [s], clamped to it.
        interpolation: Interpolation between keys.
        lock_root: Removes the travel of the root over the ground; see `sinew.sim.animation.root_motion`.
        up_axis: Axis of the file that points up, "y" or "z".
        offsets: Offsets of single joints on top.

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
    """The poses of `evaluate_pose` at many times, bit-identical, evaluated together.

    Raises ValueError if the clip was made for another number of joints.
    """
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


def bind_pose(model: CharacterModel, offsets: Sequence[BonePose] = ()) -> Pose:
    """The pose in which the file stores the skeleton, usually the one that the mesh was bound in."""
    skeleton, targets = model.skeleton, model.mesh.targets
    weights = NO_WEIGHTS if targets is None else targets.rest_weights
    if skeleton is None:
        return _boneless(LocalPose(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), weights))
    local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales, weights)
    return _offset(model, skeleton, local, skeleton.model_from_bind, offsets)


def assembled(model: CharacterModel, local: LocalPose, offsets: Sequence[BonePose] = ()) -> Pose:
    """The pose of local transforms and morph weights, with offsets of single joints on top."""
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
    offsets: Sequence[BonePose],
) -> Pose:
    moved = with_offsets(skeleton, local, offsets) if offsets else local
    if moved is not local:
        matrices = compose(moved.positions, moved.orientations, moved.scales)
        model_from_joint = model_from_local(matrices, skeleton.hierarchy)
    return Pose(moved, model_from_joint, *_palette(model, skeleton, model_from_joint))


def _boneless(local: LocalPose) -> Pose:
    return Pose(local, np.zeros((0, 4, 4)), np.zeros((0, 4, 4)), np.zeros((0, 3)))


def _palette(model: CharacterModel, skeleton: Skeleton, model_from_joint: Float64) -> tuple[Float64, Float64]:
    """Palette (P, ..., 4, 4) and centres (P, 3) of joints (B, ..., 4, 4)."""
    entries = model.skin.palette if model.skin is not None else None
    if entries is None:
        joints, after, centres = model_from_joint, skeleton.bind_from_model, skeleton.model_from_bind[:, :3, 3]
    else:
        joints, after, centres = model_from_joint.take(entries.entry_joints, 0), entries.bind_from_mesh, entries.centres
    rows = joints.reshape(len(joints), math.prod(joints.shape[1:-1]), 4)
    return (rows @ after).reshape(joints.shape), centres
