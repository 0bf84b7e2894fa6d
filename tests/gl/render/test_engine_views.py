"""What the view settings show: both methods side by side, weights, distances, normals, textures, background."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import Material
from sinew.sim.characters.settings import FlipV, SkinningMethod
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.render.render_view import JointRef, Overlay, divider_pixel
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from tests.gl.render.light_formula import linear_from_srgb, srgb_from_linear
from tests.gl.render.worlds import FRONT, Stage, light_node, model_node, model_of, pixel_of, quad, twisted_bar

LIGHT = light_node((2.0, 4.0, 3.0))
FACING = msgspec.structs.replace(FRONT, orthographic=True)
SIZE = (160, 120)


def form(picture_colour: np.ndarray, ramp_colour: np.ndarray) -> float:
    """Shade of a ramp colour: the ratio of the two, the same in every channel."""
    return float((picture_colour @ ramp_colour) / (ramp_colour @ ramp_colour))


@pytest.mark.parametrize("divider", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("samples", [0, 4])
def test_each_half_of_the_split_view_is_the_picture_of_its_method(
    stage: Stage, divider: float, method: SkinningMethod, samples: int
) -> None:
    """The right half is dual quaternions, with scale where the node asks for scale.

    Where edges are smoothed, the scissor of a software driver shares the column at the divider between both.
    """
    camera = msgspec.structs.replace(FRONT, yaw=30.0, pitch=20.0)
    model, common = twisted_bar(), {"time": 0.9, "grid": True, "samples": samples}
    stage.show({"model": model}, model_node(skinning=SkinningMethod.LBS), LIGHT, **common)
    linear = stage.picture(camera)
    rival = SkinningMethod.DQS_SCALE if method is SkinningMethod.DQS_SCALE else SkinningMethod.DQS
    stage.look(model_node(skinning=rival), LIGHT, **common)
    dual = stage.picture(camera)
    assert (np.abs(linear - dual).max(axis=2) > 10).sum() > 200
    stage.look(model_node(skinning=method), LIGHT, comparison=SkinningComparison.SPLIT, divider=divider, **common)
    split, column = stage.picture(camera), divider_pixel(divider, 160)
    clear = max(column - 1, 0) if samples else column
    np.testing.assert_array_equal(split[:, :clear], linear[:, :clear])
    np.testing.assert_array_equal(split[:, column:], dual[:, column:])


def test_leaving_the_split_view_shows_the_method_of_the_node(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(skinning=SkinningMethod.DQS), LIGHT, time=0.9)
    before = stage.picture()
    stage.look(model_node(skinning=SkinningMethod.DQS), LIGHT, time=0.9, comparison=SkinningComparison.SPLIT)
    stage.picture()
    stage.look(model_node(skinning=SkinningMethod.DQS), LIGHT, time=0.9)
    np.testing.assert_array_equal(stage.picture(), before)


@pytest.mark.parametrize("joint", [0, 1])
def test_weights_are_the_colours_of_the_ramp(stage: Stage, joint: int) -> None:
    """The weight of the upper joint grows from 0 at the foot of the bar to 1 at its top."""
    stage.show({"model": twisted_bar()}, model_node(bind_pose=True), LIGHT, display=DisplayMode.WEIGHTS)
    picture = stage.picture(FACING, Overlay(selected=JointRef("model", joint)))
    ramp = ramp_colours(Ramp.VIRIDIS).astype(float)
    for height in (0.1, 0.5, 1.0, 1.6, 1.9):
        column, row = pixel_of(FACING, SIZE, (0.0, height, 0.4))
        centre = 1.5 + (0.5 - (row + 0.5) / 120.0) * 2.0 * 6.0 * np.tan(np.radians(20.0))
        weight = np.clip(centre / 2.0, 0.0, 1.0)
        expected = ramp[round(255 * (weight if joint == 1 else 1.0 - weight))]
        seen = picture[row, column].astype(float)
        shade = form(seen, expected)
        assert 0.95 < shade <= 1.01  # the side that faces the camera
        np.testing.assert_allclose(seen, expected * shade, atol=4.0)


def test_no_joint_and_joints_of_other_models_show_no_weight(stage: Stage) -> None:
    lowest = ramp_colours(Ramp.VIRIDIS)[0].astype(float)
    stage.show({"model": twisted_bar()}, model_node(bind_pose=True), LIGHT, display=DisplayMode.WEIGHTS)
    for overlay in (Overlay(), Overlay(selected=JointRef("other", 1))):
        seen = stage.picture(FACING, overlay)[70, 80].astype(float)
        np.testing.assert_allclose(seen, lowest * form(seen, lowest), atol=3.0)


def test_the_difference_is_the_distance_of_the_methods_on_the_ramp(stage: Stage) -> None:
    """Half way up, matrices blended over a turn of 120 degrees halve the radius of 0.4, which rotations keep."""
    bar = twisted_bar(120.0)
    stage.show({"model": bar}, model_node(), LIGHT, time=0.999999, comparison=SkinningComparison.DIFFERENCE)
    primary = stage.engine.views.characters["model"].primary.read()["position"][:, :3]
    secondary = stage.engine.views.characters["model"].secondary.read()["position"][:, :3]
    distances = np.linalg.norm(primary - secondary, axis=1)
    assert distances.max() == pytest.approx(0.2, rel=1e-3)
    ramp = ramp_colours(Ramp.VIRIDIS).astype(float)
    pictures = [stage.picture(FACING, Overlay(difference_scale=scale)) for scale in (0.2, 4e6)]
    column, row = pixel_of(FACING, SIZE, (0.0, 1.0, 0.0))
    for picture, expected in zip(pictures, (ramp[-1], ramp[0]), strict=True):
        seen = picture[row, column].astype(float)
        np.testing.assert_allclose(seen / seen.max(), expected / expected.max(), atol=0.12)


def test_normals_are_colours(stage: Stage) -> None:
    stage.show({"model": model_of(quad())}, model_node(), LIGHT, display=DisplayMode.NORMALS)
    np.testing.assert_allclose(stage.picture()[60, 80], [127.5, 127.5, 255.0], atol=1.0)
    behind = msgspec.structs.replace(FRONT, yaw=180.0)
    np.testing.assert_allclose(stage.picture(behind)[60, 80], [127.5, 127.5, 0.0], atol=1.0)


CORNERS = {(-0.5, 2.0): (255, 0, 0), (0.5, 2.0): (0, 255, 0), (-0.5, 1.0): (0, 0, 255), (0.5, 1.0): (255, 255, 0)}
"""Places on the square, and the texels there when the top row of the image is at the top."""


def textured(stage: Stage, origin: str, flip: FlipV, **view: object) -> np.ndarray:
    image = np.array([[[255, 0, 0, 255], [0, 255, 0, 255]], [[0, 0, 255, 255], [255, 255, 0, 255]]], np.uint8)
    path = Path("image.png")
    material = Material("m", "image.png", path, specular=(0.0, 0.0, 0.0))
    model = model_of(quad(material=0), materials=[material], texture_origin=origin)
    light = light_node((0.0, 1.5, 4.0), shadow=False, reach=4.0)
    stage.show({"model": model}, model_node(flip_v=flip), light, images={path: image}, **view)
    return stage.picture(FACING)


@pytest.mark.parametrize(
    ("origin", "flip", "upright"),
    [
        ("bottom", FlipV.AUTO, True),
        ("top", FlipV.AUTO, False),
        ("bottom", FlipV.OFF, True),
        ("bottom", FlipV.ON, False),
        ("top", FlipV.OFF, True),
        ("top", FlipV.ON, False),
    ],
)
def test_texture_orientation(stage: Stage, origin: str, flip: FlipV, upright: bool) -> None:
    """With the origin at the bottom v = 1, the top of the square, is the top row of the image."""
    picture = textured(stage, origin, flip)
    for (x, y), colour in CORNERS.items():
        column, row = pixel_of(FACING, SIZE, (x, y if upright else 3.0 - y, 0.0))
        lit = np.array(colour) > 0
        assert (picture[row, column][lit] > 120).all()
        assert (picture[row, column][~lit] < 60).all()


def test_textures_can_be_left_out(stage: Stage) -> None:
    picture = textured(stage, "bottom", FlipV.AUTO, textures=False)
    spread = np.array([picture[pixel_of(FACING, SIZE, (x, y, 0.0))[::-1]] for x, y in CORNERS])
    assert np.ptp(spread, axis=0).max() < 12
    assert np.ptp(spread, axis=1).max() < 25


def test_the_background_runs_from_its_lower_to_its_upper_colour(stage: Stage) -> None:
    top, bottom = (0.5, 0.6, 0.7), (0.2, 0.1, 0.05)
    stage.look(background_top=top, background_bottom=bottom)
    picture = stage.picture(msgspec.structs.replace(FRONT, pitch=0.0))
    middle = srgb_from_linear((linear_from_srgb(np.array(top)) + linear_from_srgb(np.array(bottom))) / 2.0)
    for row, column, expected, shade in (
        (0, 80, np.array(top), 0.95),
        (0, 0, np.array(top), 0.90),
        (0, 159, np.array(top), 0.90),
        (119, 80, np.array(bottom), 0.95),
        (119, 0, np.array(bottom), 0.90),
        (60, 80, middle, 1.0),
    ):
        np.testing.assert_allclose(picture[row, column], expected * shade * 255.0, atol=3.0)


def test_grid_and_axes_are_drawn_where_they_are(stage: Stage) -> None:
    above = msgspec.structs.replace(FRONT, target=(0.0, 0.0, 0.0), pitch=90.0)
    stage.look()
    nothing = stage.picture(above)
    stage.look(grid=True)
    lines = np.abs(stage.picture(above) - nothing).max(axis=2) > 30
    assert 0.02 < lines.mean() < 0.5
    assert (lines != lines[::-1]).mean() < 0.02
    assert (lines != lines[:, ::-1]).mean() < 0.02
    stage.look(axes=True)
    picture = stage.picture(above).astype(int)
    column, row = pixel_of(above, SIZE, (1.0, 0.0, 0.0))
    assert picture[row, column, 0] - picture[row, column, 2] > 50, "the x axis is red"
    column, row = pixel_of(above, SIZE, (0.0, 0.0, 1.0))
    assert picture[row, column, 2] - picture[row, column, 0] > 50, "the z axis is blue"


def test_wireframe_shows_edges_and_nothing_between(stage: Stage) -> None:
    stage.look()
    nothing = stage.picture()
    stage.show({"model": model_of(quad())}, model_node(), LIGHT, display=DisplayMode.WIREFRAME)
    drawn = np.abs(stage.picture() - nothing).max(axis=2) > 8
    on_edge = [(-1.0, 1.2, 0.0), (1.0, 1.9, 0.0), (0.3, 0.5, 0.0), (-0.3, 2.5, 0.0), (0.2, 1.7, 0.0)]
    for point in on_edge:
        column, row = pixel_of(FRONT, SIZE, point)
        assert drawn[row - 1 : row + 2, column - 1 : column + 2].any(), point
    for point in ((-0.5, 1.8, 0.0), (0.5, 1.2, 0.0)):
        column, row = pixel_of(FRONT, SIZE, point)
        assert not drawn[row - 1 : row + 2, column - 1 : column + 2].any(), point


def test_bones_show_through_the_mesh_and_the_selected_one_stands_out(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(bind_pose=True), LIGHT)
    plain = stage.picture(FACING)
    stage.look(model_node(bind_pose=True), LIGHT, bones=True)
    bones, marked = stage.picture(FACING), stage.picture(FACING, Overlay(selected=JointRef("model", 0)))
    column, row = pixel_of(FACING, SIZE, (0.0, 0.6, 0.0))
    assert np.abs(bones[row, column] - plain[row, column]).max() > 15
    assert marked[row, column, 0] - marked[row, column, 2] > bones[row, column, 0] - bones[row, column, 2] + 40


def test_lights_are_discs_even_close_to_the_camera(stage: Stage) -> None:
    light = light_node((0.05, 1.55, 5.5), colour=(1.0, 0.0, 0.0))
    stage.show({"model": twisted_bar()}, model_node(), light)
    column, row = pixel_of(FRONT, SIZE, light.transform.position)
    assert stage.picture(FRONT, Overlay(marks=True))[row, column, 0] > 200
    assert stage.picture(FRONT, Overlay(marks=False))[row, column, 0] < 200
