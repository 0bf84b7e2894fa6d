"""Placement of a model in the world: axes, units, texture origin, clip."""

import numpy as np
import pytest

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.model import Bounds, CharacterModel, Mesh
from sinew.sim.characters.playing import active_clip, texture_origin_bottom, up_axis, world_from_model
from sinew.sim.characters.settings import FlipV, ModelSettings, UpAxis
from sinew.sim.scene.transform import Transform, node_matrix


def model(*clips: str, up: str = "Y", origin: str = "bottom", skeleton: bool = True) -> CharacterModel:
    """A model of one joint with clips of these names."""
    nothing = np.zeros((0, 3), np.float32)
    mesh = Mesh(nothing, nothing, None, nothing[:, :2], None, nothing.astype(np.uint32), (),
                Bounds(np.zeros(3), np.zeros(3)))  # fmt: skip
    still = [[0.0, 0.0, 0.0, 1.0]]
    made = tuple(UniformClip(name, 1.0, [[[0, 0, 0]]], [still], [[[1, 1, 1]]]) for name in clips)
    joints = build_skeleton(["root"], [-1], [[0, 0, 0]], still, [[1, 1, 1]]) if skeleton else None
    return CharacterModel("a.ezm", "ezm", None, "", mesh, joints, None, made, (), up, origin, ())


def placed(model: CharacterModel, transform: Transform | None = None, **settings: object) -> np.ndarray:
    """Images of the file's unit vectors, one each row."""
    matrix = world_from_model(ModelSettings(**settings), model, node_matrix(transform or Transform()))
    return (matrix[:3, :3] @ np.eye(3) + matrix[:3, 3:]).T


@pytest.mark.parametrize("default", ["Z", "z"])
def test_z_up_becomes_y_up_by_a_rotation(default):
    """The file's up is the world's up, and its front, -y, faces the camera at +z."""
    x, y, z = placed(model(up=default))
    np.testing.assert_array_equal([x, y, z], [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_array_equal(np.cross(x, y), z)


@pytest.mark.parametrize(
    ("setting", "default", "expected"),
    [
        (UpAxis.AUTO, "Y", "y"),
        (UpAxis.AUTO, "Z", "z"),
        (UpAxis.Y, "Z", "y"),
        (UpAxis.Z, "Y", "z"),
        (UpAxis.Z, "Z", "z"),
    ],
)
def test_the_choice_goes_before_the_rule_of_the_importer(setting, default, expected):
    assert up_axis(ModelSettings(up_axis=setting), model(up=default)) == expected
    assert (placed(model(up=default), up_axis=setting)[2] == [0, 1, 0]).all() == (expected == "z")


def test_units_scale_the_file_and_not_the_position_of_the_node():
    x, y, z = placed(model(), Transform(position=(1.0, 2.0, 3.0)), unit_scale=0.01)
    np.testing.assert_allclose([x, y, z], np.array([1.0, 2.0, 3.0]) + 0.01 * np.eye(3))


def test_the_model_is_turned_upright_before_the_node_is_placed():
    """A quarter turn of the node about y takes the file's up nowhere, and its -y, the front, to +x."""
    _, y, z = placed(model(up="Z"), Transform(rotation=(0.0, 90.0, 0.0), scale=(1.0, 2.0, 1.0)), unit_scale=0.5)
    np.testing.assert_allclose(z, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(-y, [0.5, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("flip", "origin", "bottom"),
    [
        (FlipV.AUTO, "bottom", True),
        (FlipV.AUTO, "top", False),
        (FlipV.OFF, "top", True),
        (FlipV.ON, "bottom", False),
    ],
)
def test_texture_origin(flip, origin, bottom):
    assert texture_origin_bottom(ModelSettings(flip_v=flip), model(origin=origin)) is bottom


def test_the_named_clip_else_the_first_drives_the_model():
    two = model("walk", "run")
    assert active_clip(ModelSettings(), two).name == "walk"
    assert active_clip(ModelSettings(clip="run"), two).name == "run"
    assert active_clip(ModelSettings(clip="gone"), two).name == "walk"


def test_nothing_drives_a_bind_pose_or_a_still_model():
    assert active_clip(ModelSettings(bind_pose=True), model("walk")) is None
    assert active_clip(ModelSettings(clip="walk"), model()) is None


def test_a_clip_drives_a_model_without_joints():
    assert active_clip(ModelSettings(), model("wave", skeleton=False)).name == "wave"
