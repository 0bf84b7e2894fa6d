"""How far a figure walks between two moments, for a camera that goes along."""

from sim.figures.character import Character
from sim.figures.placement import active_clip, up_axis
from sim.figures.settings import ModelSettings
from sim.jobs.root_motion import root_motion
from sim.scene.scene import Node
from sim.scene.vectors import Vec3

STILL = (0.0, 0.0, 0.0)


def travel(node: Node, figure: Character, before: float, after: float) -> Vec3:
    """Way of the figure over the ground [m] between two moments of the scene clock [s]; nothing where it stays.

    It is that of the joint that carries the body (`sim.jobs.root_motion`), so that swaying does not count.
    """
    model, settings = figure.model, node.settings
    assert isinstance(settings, ModelSettings)
    clip = active_clip(settings, model)
    if clip is None or model.skeleton is None or settings.lock_root:
        return STILL
    motion = root_motion(model.skeleton, clip, up_axis(settings, model))
    start, end = figure.pose_at(before), figure.pose_at(after)
    if motion is None or start is None or end is None:
        return STILL
    way = end.model_from_joint[motion.joint, :3, 3] - start.model_from_joint[motion.joint, :3, 3]
    x, _, z = (figure.world_from_model[:3, :3] @ (way * motion.horizontal)).tolist()
    return x, 0.0, z
