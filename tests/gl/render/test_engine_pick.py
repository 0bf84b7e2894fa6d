"""Picking: the node and triangle under a pixel, the nearest within reach, nothing elsewhere."""

import msgspec
import pytest

from sinew.sim.characters.settings import DoubleSided
from sinew.sim.render.pick_pass import REACH, Pick
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import SkinningComparison
from tests.gl.render.worlds import FRONT, Stage, mesh_of, model_node, model_of, pixel_of, quad, twisted_bar

SIZE = (160, 120)
FLAT = msgspec.structs.replace(FRONT, orthographic=True)
TURNED = Camera(target=(0.0, 1.5, 0.0), yaw=-40.0, pitch=25.0, distance=7.0)


@pytest.fixture
def two_quads(stage: Stage) -> Stage:
    """A square at the origin and a smaller one before and right of it, each of two triangles."""
    near = model_node("near", transform=Transform(position=(0.8, 0.0, 1.0)))
    stage.show({"far": model_of(quad()), "near": model_of(quad(1.0, 1.0))}, model_node("far"), near)
    return stage


def pick_at(stage: Stage, camera: Camera, point: tuple[float, float, float]) -> Pick | None:
    x, y = pixel_of(camera, SIZE, point)
    return stage.engine.pick(camera, SIZE, x, y)


@pytest.mark.parametrize("camera", [FRONT, FLAT, TURNED])
@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((-0.3, 1.0, 0.0), Pick("far", 0)),
        ((0.0, 0.8, 0.0), Pick("far", 0)),
        ((-0.6, 2.0, 0.0), Pick("far", 1)),
        ((-0.3, 2.2, 0.0), Pick("far", 1)),
        ((1.0, 1.3, 1.0), Pick("near", 0)),
        ((0.6, 1.7, 1.0), Pick("near", 1)),
        ((-2.0, 1.5, 0.0), None),
        ((0.0, 3.2, 0.0), None),
    ],
)
def test_what_is_under_a_pixel(two_quads: Stage, camera: Camera, point: tuple, expected: Pick | None) -> None:
    assert pick_at(two_quads, camera, point) == expected


def test_the_nearer_of_two_is_picked_whatever_their_order(two_quads: Stage) -> None:
    """Behind the smaller square lies the larger one."""
    assert pick_at(two_quads, FRONT, (0.9, 1.4, 1.0)) == Pick("near", 0)
    near = model_node("near", transform=Transform(position=(0.8, 0.0, 1.0)))
    two_quads.look(near, model_node("far"))
    assert pick_at(two_quads, FRONT, (0.9, 1.4, 1.0)) == Pick("near", 0)


def test_a_hidden_node_lets_the_click_through(two_quads: Stage) -> None:
    two_quads.look(model_node("far"), model_node("near", visible=False))
    assert pick_at(two_quads, FRONT, (0.6, 1.4, 1.0)) == Pick("far", 0)


def test_what_is_missed_by_a_few_pixels_is_picked(two_quads: Stage) -> None:
    """The edge of the far square at x = -1."""
    column, row = pixel_of(FRONT, SIZE, (-1.0, 1.5, 0.0))
    engine = two_quads.engine
    found = [engine.pick(FRONT, SIZE, column - step, row) for step in range(REACH + 4)]
    assert found[0] is not None
    assert found[REACH - 1] is not None
    assert found[REACH + 2] is None


def test_outside_of_the_picture_is_nothing(two_quads: Stage) -> None:
    for x, y in ((-50, 60), (500, 60), (80, -50), (80, 500)):
        assert two_quads.engine.pick(FRONT, SIZE, x, y) is None


def test_a_culled_face_is_not_picked(stage: Stage) -> None:
    from_behind = msgspec.structs.replace(FRONT, yaw=180.0)
    stage.show({"model": model_of(quad())}, model_node(double_sided=DoubleSided.OFF))
    assert stage.engine.pick(FRONT, SIZE, 80, 60) is not None
    assert stage.engine.pick(from_behind, SIZE, 80, 60) is None


def test_a_mirrored_model_shows_the_same_faces(stage: Stage) -> None:
    """A negative scale turns the winding over; the face that pointed to the camera still does."""
    mirrored = Transform(scale=(-1.0, 1.0, 1.0))
    stage.show({"model": model_of(quad())}, model_node(double_sided=DoubleSided.OFF, transform=mirrored))
    assert stage.engine.pick(FRONT, SIZE, 80, 60) is not None


def test_triangles_count_over_the_whole_mesh(stage: Stage) -> None:
    corners = [[[x, 1.0, 0.0], [x + 0.4, 1.0, 0.0], [x, 2.0, 0.0]] for x in (-1.0, -0.5, 0.0, 0.5)]
    stage.show({"model": model_of(mesh_of(corners, range(12)))})
    for triangle, x in enumerate((-1.0, -0.5, 0.0, 0.5)):
        assert pick_at(stage, FRONT, (x + 0.1, 1.2, 0.0)) == Pick("model", triangle)


def test_in_the_split_view_each_half_is_picked_as_it_is_shown(stage: Stage) -> None:
    """Blending matrices thins the middle of the bar; the sides that dual quaternions keep are only on the right."""
    stage.show({"model": twisted_bar(175.0)}, model_node(), time=0.999, comparison=SkinningComparison.SPLIT)
    column, row = pixel_of(FRONT, SIZE, (0.32, 1.0, 0.0))
    mirrored, _ = pixel_of(FRONT, SIZE, (-0.32, 1.0, 0.0))
    assert stage.engine.pick(FRONT, SIZE, column, row) is not None
    assert stage.engine.pick(FRONT, SIZE, mirrored, row) is None
