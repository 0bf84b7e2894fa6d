"""Pose of a character at a time: sample, compose, multiply along the hierarchy, make the palette."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import NO_WEIGHTS, CharacterModel, Clip, Interpolation, LocalPose, Skeleton
from sim.jobs.pose import Pose
from sim.jobs.root_motion import root_motion, without_travel
from sim.maths.local_to_model import model_from_local
from sim.maths.transform import compose


def evaluate_pose(
    model: CharacterModel,
    clip: Clip | None,
    time: float,
    *,
    interpolation: Interpolation = Interpolation.LINEAR,
    lock_root: bool = False,
    up_axis: str = "y",
) -> Pose:
    """Pose of the skeleton of `model`.

    Args:
        model: A character with a skeleton.
        clip: One of its clips, or None for the bind pose.
        time: Time in the clip [s], clamped to it.
        interpolation: How the clip is read between its keys.
        lock_root: Keep the motion joint over the ground where it was at the start of the clip; see
            `sim.jobs.root_motion`.  Nothing changes for clips that stay in place.
        up_axis: Axis of the file that points up, "y" or "z".

    Raises:
        ValueError: If the model has no skeleton, or the clip was made for another number of joints.
    """
    skeleton = _skeleton(model)
    if clip is None:
        return bind_pose(model)
    local = clip.sample(time, interpolation)
    if len(local.positions) != skeleton.joint_count:
        raise ValueError(f"clip {clip.name!r} has {len(local.positions)} joints, not {skeleton.joint_count}")
    matrices = compose(local.positions, local.orientations, local.scales)
    model_from_joint = model_from_local(matrices, skeleton.hierarchy)
    motion = root_motion(skeleton, clip, up_axis) if lock_root else None
    if motion is not None:
        local, model_from_joint = without_travel(motion, skeleton, local, model_from_joint)
    return posed(model, local, model_from_joint)


def bind_pose(model: CharacterModel) -> Pose:
    """The pose in which the file stores the skeleton, which is the one the mesh was bound in unless the file differs.

    Raises:
        ValueError: If the model has no skeleton.
    """
    skeleton, targets = _skeleton(model), model.mesh.targets
    weights = NO_WEIGHTS if targets is None else targets.rest_weights
    local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales, weights)
    return posed(model, local, skeleton.model_from_bind)


def _skeleton(model: CharacterModel) -> Skeleton:
    if model.skeleton is None:
        raise ValueError(f"{model.path}: has no skeleton to pose")
    return model.skeleton


def posed(model: CharacterModel, local: LocalPose, model_from_joint: npt.NDArray[np.float64]) -> Pose:
    """The pose of local transforms and of where they put the joints, (B, 4, 4), with its palette."""
    skeleton, entries = _skeleton(model), model.skin.palette if model.skin is not None else None
    if entries is None:
        palette = model_from_joint @ skeleton.bind_from_model
        return Pose(local, model_from_joint, palette, skeleton.model_from_bind[:, :3, 3])
    return Pose(
        local,
        model_from_joint,
        model_from_joint.take(entries.entry_joints, 0) @ entries.bind_from_mesh,
        entries.centres,
    )
