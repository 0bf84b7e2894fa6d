"""Cameras of the scene as viewpoints, and the cuts between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.kinds.camera.kind import new_camera, transform_of
from sinew.sim.kinds.camera.placed import camera_in_cuts, placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.camera.view import frustum
from sinew.sim.kinds.contract import AddPlace
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.view_state import ViewState

ANGLE = st.floats(-180.0, 180.0)


@given(st.tuples(ANGLE, ANGLE, ANGLE), st.tuples(*[st.floats(-5.0, 5.0)] * 3))
def test_a_camera_sees_what_its_node_faces(rotation: tuple, position: tuple) -> None:
    matrix = node_matrix(Transform(position=position, rotation=rotation, scale=(2.0, 2.0, 2.0)))
    camera = placed_camera(CameraSettings(field_of_view=55.0), matrix)
    assert camera.field_of_view == 55.0
    assert np.array(camera.position()) == pytest.approx(np.array(position), abs=1e-9)
    axes = np.array([list(axis) for axis in camera.rotation()]).T
    assert axes == pytest.approx(matrix[:3, :3] / 2.0, abs=1e-6)
    again = node_matrix(transform_of(camera))
    assert again[:3, :3] == pytest.approx(axes, abs=1e-6)


def test_a_new_camera_has_the_view_and_a_target_turns_it() -> None:
    view = Camera(target=(1.0, 2.0, 3.0), yaw=130.0, pitch=-35.0, distance=7.0, field_of_view=33.0)
    node = new_camera(AddPlace(Scene(), ViewState(camera=view)))
    assert isinstance(node.settings, CameraSettings)
    camera = placed_camera(node.settings, node_matrix(node.transform))
    assert np.array(camera.position()) == pytest.approx(np.array(view.position()), abs=1e-9)
    assert (camera.yaw, camera.pitch, camera.roll) == (pytest.approx(130.0), pytest.approx(-35.0), 0.0)
    tracking = CameraSettings(tracks=True, target=(0.0, 1.0, 0.0))
    turned = placed_camera(tracking, node_matrix(Transform(position=(0.0, 1.0, 5.0), rotation=(10.0, 70.0, 30.0))))
    assert (turned.yaw, turned.pitch, turned.distance) == (pytest.approx(0.0), pytest.approx(0.0), pytest.approx(5.0))
    inside = placed_camera(tracking, node_matrix(Transform(position=tracking.target)))
    assert np.isfinite(frustum(inside, 0.1, 1.0, 0.5)).all()


def test_an_orthographic_camera_shows_its_height() -> None:
    view = Camera(orthographic=True, distance=6.0, field_of_view=25.0)
    node = new_camera(AddPlace(Scene(), ViewState(camera=view)))
    assert isinstance(node.settings, CameraSettings)
    camera = placed_camera(node.settings, node_matrix(node.transform))
    assert camera.orthographic
    assert camera.tangent * camera.distance == pytest.approx(view.tangent * view.distance)
    assert np.array(camera.position()) == pytest.approx(np.array(view.position()), abs=1e-9)
    settings = CameraSettings(orthographic=True, height=2.0)
    corners = frustum(placed_camera(settings, np.eye(4)), 0.1, 5.0, 0.5)
    assert corners[4] == pytest.approx([-16.0 / 9.0, -1.0, -5.0])
    assert corners[2] == pytest.approx([16.0 / 9.0, 1.0, -0.1])


def test_cuts_show_the_camera_that_was_switched_on_last() -> None:
    def camera(name: str, *keys: tuple) -> Node:
        switch = Curve(part="camera", field="cut", keys=tuple(Key(time, on, KeyMode.STEP) for time, on in keys))
        return Node(id=name, settings=CameraSettings(), curves=(switch,) if keys else ())

    scene = Scene(nodes=(camera("a", (0.0, True), (2.0, False), (3.0, True)), camera("b", (1.0, True)), camera("c")))
    found = [camera_in_cuts(scene, KeyedScene(step=0.0).at(scene, time), time) for time in (0.0, 1.0, 2.5, 3.0)]
    assert found == ["a", "b", "b", "a"]
    assert camera_in_cuts(Scene(nodes=(camera("c"),)), Scene(nodes=(camera("c"),)), 0.0) is None
