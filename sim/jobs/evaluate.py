"""Pose of a character at a time: sample, compose, multiply along the hierarchy, make the palette."""

from sim.assets.model import CharacterModel, Clip, Interpolation, LocalPose, Skeleton
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
    skeleton = model.skeleton
    if skeleton is None:
        raise ValueError(f"{model.path}: has no skeleton to pose")
    if clip is None:
        return bind_pose(skeleton)
    local = clip.sample(time, interpolation)
    if len(local.positions) != skeleton.joint_count:
        raise ValueError(f"clip {clip.name!r} has {len(local.positions)} joints, not {skeleton.joint_count}")
    matrices = compose(local.positions, local.orientations, local.scales)
    model_from_joint = model_from_local(matrices, skeleton.hierarchy)
    motion = root_motion(skeleton, clip, up_axis) if lock_root else None
    if motion is not None:
        local, model_from_joint = without_travel(motion, skeleton, local, model_from_joint)
    palette = model_from_joint @ skeleton.bind_from_model
    return Pose(local, model_from_joint, palette, skeleton.model_from_bind[:, :3, 3])


def bind_pose(skeleton: Skeleton) -> Pose:
    """The pose in which the mesh was bound; its palette is the identity."""
    local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales)
    model = skeleton.model_from_bind
    return Pose(local, model, model @ skeleton.bind_from_model, model[:, :3, 3])
