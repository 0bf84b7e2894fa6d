"""The front of a character, from the names of its bones: left bones are on its left side."""

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.placement import world_from_model
from sinew.sim.characters.playing import pose_of
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.maths.transform import transform_points

_SIDE = re.compile(r"(?<![A-Za-z])(?:(?i:left|right)|[LlRr](?![A-Za-z]))|(?:Left|Right)(?![a-z])")
"""The side in a name: `thigh_l`, `L_Hand`, `Bip01 R Foot`, `leftArm`, `mixamorig:LeftArm`, `ArmRight`."""

_CLEAR = 0.5
"""Least length of the mean of the unit vectors from right to left, on the ground: how much they agree."""


def facing(names: Sequence[str], parents: npt.NDArray[np.integer], positions: npt.NDArray[np.floating]) -> float | None:
    """Yaw of the front of a skeleton, a multiple of 90°; None if the names do not tell.

    Only pairs with the same parent count, such as thighs, collar bones and eyes: bones further down swing.

    Args:
        names: Of the bones.
        parents: Index of each parent, or -1, shape (B,).
        positions: Of the bones, y up, shape (B, 3).

    Returns:
        Angle about y from +z towards +x [°], as in `sinew.sim.scene.camera`.
    """
    sides: dict[tuple[str, int], dict[str, int]] = {}
    for index, (name, parent) in enumerate(zip(names, parents.tolist(), strict=True)):
        for match in _SIDE.finditer(name):
            rest = f"{name[: match.start()]}*{name[match.end() :]}"
            sides.setdefault((rest, parent), {}).setdefault(match.group()[0].lower(), index)
    pairs = [(both["l"], both["r"]) for both in sides.values() if len(both) == 2]
    if not pairs:
        return None
    left, right = np.asarray(positions, np.float64)[np.array(pairs).T]
    lengths = np.linalg.norm(left - right, axis=1, keepdims=True)
    x, _, z = ((left - right) / np.maximum(lengths, np.finfo(float).tiny)).mean(axis=0).tolist()
    if not math.hypot(x, z) > _CLEAR:
        return None
    return round(math.degrees(math.atan2(-z, x)) / 90.0) * 90.0 % 360.0


def front_in(model: CharacterModel, pose: Pose, placement: npt.NDArray[np.float64]) -> float:
    """Yaw of the front of a model in a pose [°]; that of +z if the bone names do not tell."""
    bones = model.skeleton
    if bones is None:
        return 0.0
    return facing(bones.names, bones.parents, transform_points(placement, pose.model_from_joint[:, :3, 3])) or 0.0


def front_at_first(model: CharacterModel) -> float:
    """The same for a file that was just opened, in the first pose of its first clip [°]."""
    settings = ModelSettings()
    return front_in(model, pose_of(model, settings, 0.0, (0.0, 0.0)), world_from_model(settings, model, np.eye(4)))
