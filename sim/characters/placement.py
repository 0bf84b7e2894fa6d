"""How a node's settings and its model's defaults combine: axes, units, texture origin, clip."""

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Clip
from sinew.sim.characters.settings import FlipV, ModelSettings, UpAxis

Matrix = npt.NDArray[np.float64]


# One rotation outside the skeleton shows a z-up model upright: (x, y, z) becomes (x, z, -y).
_Y_UP_FROM_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


def up_axis(settings: ModelSettings, model: CharacterModel) -> str:
    """The file's axis that points up, "y" or "z"."""
    return model.default_up_axis.lower() if settings.up_axis is UpAxis.AUTO else settings.up_axis.value


def texture_origin_bottom(settings: ModelSettings, model: CharacterModel) -> bool:
    """Whether v = 0 is the bottom row of the images."""
    if settings.flip_v is FlipV.AUTO:
        return model.default_texture_origin == "bottom"
    return settings.flip_v is FlipV.OFF


def active_clip(settings: ModelSettings, model: CharacterModel) -> Clip | None:
    """The clip of a node: the named one, else the first; None for the bind pose.

    A name that the file does not have (it may have been replaced) falls back to the first clip.
    """
    if settings.bind_pose or not model.clips:
        return None
    for clip in model.clips:
        if clip.name == settings.clip:
            return clip
    return model.clips[0]


def world_from_model(settings: ModelSettings, model: CharacterModel, world_from_node: Matrix) -> Matrix:
    """World transform of a model's file space [m], shape (4, 4), by that of its node."""
    scaled = np.diag([settings.unit_scale] * 3 + [1.0])
    turned = _Y_UP_FROM_Z_UP if up_axis(settings, model) == "z" else np.eye(4)
    return world_from_node @ scaled @ turned
