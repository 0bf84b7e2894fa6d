"""Where the front of a figure is, as the names of its bones tell."""

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Pose
from sim.assets.model import CharacterModel
from sim.characters.placement import world_from_model
from sim.characters.playing import pose_of
from sim.characters.settings import ModelSettings
from sim.maths.facing import facing
from sim.maths.transform import transform_points


def front_in(model: CharacterModel, pose: Pose, placement: npt.NDArray[np.float64]) -> float:
    """Yaw of where a model looks in a pose, to a quarter of a turn; that of +z where its bones do not tell [°].

    Args:
        model: The model.
        pose: Its pose.
        placement: World from model, shape (4, 4).
    """
    bones = model.skeleton
    if bones is None:
        return 0.0
    return facing(bones.names, bones.parents, transform_points(placement, pose.model_from_joint[:, :3, 3])) or 0.0


def front_at_first(model: CharacterModel) -> float:
    """The same of a file that was just opened, in the first pose of its first clip [°]."""
    settings = ModelSettings()
    return front_in(model, pose_of(model, settings, 0.0, (0.0, 0.0)), world_from_model(settings, model, np.eye(4)))
