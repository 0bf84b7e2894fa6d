"""Where a figure looks, by the names of its bones."""

from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.characters.playing import facing, front_at_first
from sinew.sim.kinds import KINDS

STYLES = [
    ("thigh_l", "thigh_r", "hand.L", "hand.R"),
    ("L_Hand", "R_Hand", "L_Ball", "R_Ball"),
    ("Bip01 L Foot", "Bip01 R Foot", "Bip01-L-Toe0", "Bip01-R-Toe0"),
    ("mixamorig:LeftArm", "mixamorig:RightArm", "mixamorig:LeftLeg", "mixamorig:RightLeg"),
    ("leftEye", "rightEye", "ArmLeft", "ArmRight"),
]


@pytest.mark.parametrize("names", STYLES)
@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, 270.0])
def test_the_left_side_tells_where_the_front_is(names: tuple[str, ...], yaw: float) -> None:
    turn = np.radians(yaw + 20.0)  # a shoulder swings
    left = np.array([np.cos(turn), 0.0, -np.sin(turn)])  # +x of who looks along +z, turned about y
    places = np.array([0.2 * left, -0.2 * left, 0.5 * left + [0, 1, 0], -0.5 * left + [0, 1.1, 0], np.zeros(3)])
    assert facing((*names, "lower_back"), np.full(5, -1), places) == yaw


@pytest.mark.parametrize(
    ("names", "places"),
    [
        ((), np.zeros((0, 3))),
        (("root", "bright", "cleft", "lower"), np.ones((4, 3))),
        (("hand_l", "hand_r", "root", "tip"), np.array([[0, 1, 0.1], [0, -1, 0], [0, 0, 0], [0, 0, 0]])),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.array([[1.0, 0, 0], [-1, 0, 0], [-1, 0, 0], [1, 0, 0]])),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.zeros((4, 3))),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.full((4, 3), np.nan)),
    ],
)
def test_what_tells_nothing_is_nothing(names: tuple[str, ...], places: np.ndarray) -> None:
    assert facing(names, np.full(len(names), -1), places) is None


def test_arms_that_swing_tell_nothing() -> None:
    names = ("root", "thigh_l", "thigh_r", "hand_l", "hand_r", "finger_l", "finger_r")
    places = np.array([[0, 0, 0], [0.1, 0, 0], [-0.1, 0, 0], [0, 0, 1], [0, 0, -1], [0, 0, 1.1], [0, 0, -1.1]])
    assert facing(names, np.array([-1, 0, 0, 1, 2, 3, 4]), places) == 0.0


@pytest.mark.parametrize(
    ("name", "yaw"), [("dude/dude", 180.0), ("character/character", 180.0), ("clothsim_zup/ClothSim", 0.0)]
)
def test_real_figures_are_lit_and_seen_from_their_front(assets: Path, name: str, yaw: float) -> None:
    model = load_model(assets / "ezm" / f"{name}.ezm")
    assert front_at_first(model) == yaw
    companion = KINDS["light"].companion
    assert companion is not None
    assert companion(model).transform.position[2] * (1.0 if yaw == 0.0 else -1.0) > 0.0


def test_the_shipped_figure_looks_along_z() -> None:
    assert front_at_first(load_model(resources.path("models") / "humanoid" / "humanoid.ezm")) == 0.0
