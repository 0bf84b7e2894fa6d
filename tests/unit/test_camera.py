"""The camera: frames what it is asked to, and its rays go where its projection says."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.scene.camera import Camera

numbers = st.integers(-5000, 5000).map(lambda value: value / 100.0)
aspects = st.sampled_from([0.4, 1.0, 16 / 9, 3.0])


@st.composite
def cameras(draw):
    return Camera(
        target=(draw(numbers), draw(numbers), draw(numbers)),
        yaw=draw(st.integers(-360, 360)),
        pitch=draw(st.integers(-90, 90)),
        distance=draw(st.integers(1, 2000)) / 10.0,
        orthographic=draw(st.booleans()),
        field_of_view=draw(st.sampled_from([20.0, 40.0, 90.0])),
    )


def clip_points(camera: Camera, aspect: float, points: np.ndarray) -> np.ndarray:
    matrix = np.asarray(camera.clip_from_world(aspect, camera.distance * 1e-3, camera.distance * 1e3))
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    return homogeneous[:, :3] / homogeneous[:, 3:]


@given(cameras())
def test_view_is_rigid_and_puts_the_target_ahead(camera):
    view = np.asarray(camera.view_from_world())
    np.testing.assert_allclose(view[:3, :3] @ view[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view[:3, :3]) == pytest.approx(1.0)
    seen = view[:3, :3] @ camera.target + view[:3, 3]
    np.testing.assert_allclose(seen, [0.0, 0.0, -camera.distance], atol=1e-9)


@given(cameras(), aspects, st.tuples(numbers, numbers, numbers), st.tuples(*[st.integers(1, 5000)] * 3))
def test_a_framed_box_lies_in_the_picture_and_fills_it(camera, aspect, low, size):
    lo, hi = np.array(low), np.array(low) + np.array(size) / 100.0
    corners = np.array(
        [[(lo, hi)[i][0], (lo, hi)[j][1], (lo, hi)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    )
    framed = camera.framed(lo, hi, aspect)
    assert (framed.yaw, framed.pitch) == (camera.yaw, camera.pitch)
    np.testing.assert_allclose(framed.target, (lo + hi) / 2.0)
    seen = clip_points(framed, aspect, corners)
    assert 0.85 < np.abs(seen[:, :2]).max() < 0.95


@given(cameras(), aspects, st.integers(-90, 90), st.integers(-90, 90), st.integers(50, 300))
def test_the_ray_through_a_point_of_the_picture_meets_what_is_drawn_there(camera, aspect, x, y, far):
    origin, direction = camera.ray(x / 100.0, y / 100.0, aspect)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    point = origin + direction * (camera.distance * far / 100.0)
    np.testing.assert_allclose(clip_points(camera, aspect, np.array([point]))[0, :2], [x / 100.0, y / 100.0], atol=1e-6)


@pytest.mark.parametrize(
    ("yaw", "pitch", "right", "up", "forward"),
    [
        (0.0, 0.0, [1, 0, 0], [0, 1, 0], [0, 0, -1]),  # front
        (90.0, 0.0, [0, 0, -1], [0, 1, 0], [-1, 0, 0]),  # right
        (0.0, 90.0, [1, 0, 0], [0, 0, -1], [0, -1, 0]),  # top
        (180.0, 0.0, [-1, 0, 0], [0, 1, 0], [0, 0, 1]),  # back
    ],
)
def test_axes_of_the_usual_views(yaw, pitch, right, up, forward):
    camera = Camera(yaw=yaw, pitch=pitch, target=(1.0, 2.0, 3.0), distance=5.0)
    np.testing.assert_allclose([*camera.rotation()], [right, up, np.negative(forward)], atol=1e-15)
    np.testing.assert_allclose(camera.position(), np.array([1, 2, 3]) - 5.0 * np.array(forward), atol=1e-14)


def test_both_projections_show_the_plane_of_the_target_in_one_size():
    camera = Camera(yaw=20.0, pitch=30.0, distance=7.0)
    flat = msgspec.structs.replace(camera, orthographic=True)
    right, up, _ = camera.rotation()
    points = camera.target + np.array([[0.3, 0.2], [-1.0, 0.5]]) @ np.array([right, up])
    seen, flat_seen = clip_points(camera, 1.5, points), clip_points(flat, 1.5, points)
    np.testing.assert_allclose(seen[:, :2], flat_seen[:, :2], atol=1e-12)


@pytest.mark.parametrize("orthographic", [False, True])
def test_near_and_far_map_to_the_ends_of_the_depth_range(orthographic):
    camera = Camera(orthographic=orthographic, distance=5.0)
    points = camera.position() - camera.rotation()[2] * np.array([[0.5], [50.0]])
    matrix = np.asarray(camera.clip_from_world(1.0, 0.5, 50.0))
    homogeneous = np.concatenate([points, np.ones((2, 1))], axis=1) @ matrix.T
    np.testing.assert_allclose(homogeneous[:, 2] / homogeneous[:, 3], [-1.0, 1.0], atol=1e-12)


def test_a_box_without_size_is_framed_too():
    framed = Camera().framed([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert framed.target == (1.0, 2.0, 3.0)
    assert framed.distance > 0.0


def test_what_lies_flat_is_looked_at_from_above():
    camera = Camera()
    assert camera.over((0, 0, 0), (10, 0.1, 8)).pitch > 60.0
    assert camera.over((0, 0, 0), (10, 0, 8)).yaw == camera.yaw
    for box in ((10, 1, 8), (10, 0.1, 0.1), (0.1, 10, 8), (0, 0, 0)):
        assert camera.over((0, 0, 0), box) is camera
