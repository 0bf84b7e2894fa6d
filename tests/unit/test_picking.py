"""Projection and picking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from sinew.sim.scene.camera import Camera
from sinew.sim.scene.picking import pick_joint, project_points, ray_plane

SIZE = (800.0, 600.0)
FRONT = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=10.0)
FLAT = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=10.0, orthographic=True)

# A chain along x with a branch upwards from the second joint.
POINTS = np.array([[-2.0, 0, 0], [0.0, 0, 0], [2.0, 0, 0], [0.0, 2.0, 0]])
PARENTS = [-1, 0, 1, 1]


def pixel(point: list[float], camera: Camera = FRONT) -> tuple[float, float]:
    x, y = project_points(camera, SIZE, [point])[0][0]
    return float(x), float(y)


@pytest.mark.parametrize("camera", [FRONT, FLAT, Camera(yaw=50.0, pitch=-20.0), Camera(pitch=90.0)])
def test_projection_is_the_one_that_draws(camera):
    points = np.random.default_rng(0).normal(size=(50, 3)) + camera.target
    matrix = np.asarray(camera.clip_from_world(SIZE[0] / SIZE[1], 0.01, 100.0))
    clip = np.concatenate([points, np.ones((50, 1))], axis=1) @ matrix.T
    ndc = clip[:, :2] / clip[:, 3:]
    pixels, depths = project_points(camera, SIZE, points)
    np.testing.assert_allclose(pixels[:, 0], (ndc[:, 0] + 1.0) * 400.0, atol=1e-9)
    np.testing.assert_allclose(pixels[:, 1], (1.0 - ndc[:, 1]) * 300.0, atol=1e-9)
    np.testing.assert_allclose(depths, (camera.position() - points) @ camera.rotation()[2], atol=1e-12)


def test_the_target_is_in_the_middle_and_up_is_a_smaller_row():
    assert pixel([0.0, 0.0, 0.0]) == pytest.approx((400.0, 300.0))
    assert pixel([1.0, 1.0, 0.0])[0] > 400.0
    assert pixel([1.0, 1.0, 0.0])[1] < 300.0


def test_points_behind_a_perspective_camera_have_no_pixel():
    pixels, depths = project_points(FRONT, SIZE, [[0.0, 0.0, 20.0], [0.0, 0.0, 0.0]])
    assert np.isnan(pixels[0]).all()
    assert depths.tolist() == pytest.approx([-10.0, 10.0])
    assert np.isfinite(project_points(FLAT, SIZE, [[0.0, 0.0, 20.0]])[0]).all()


@pytest.mark.parametrize("camera", [FRONT, FLAT])
@pytest.mark.parametrize("joint", range(4))
def test_the_dot_selects_its_joint(camera, joint):
    x, y = pixel(POINTS[joint].tolist(), camera)
    assert pick_joint(camera, SIZE, POINTS, PARENTS, (x + 2.0, y - 1.0), 10.0) == joint


@pytest.mark.parametrize("camera", [FRONT, FLAT])
@pytest.mark.parametrize(("child", "parent"), [(1, 0), (2, 1), (3, 1)])
def test_the_bone_selects_the_joint_it_starts_from(camera, child, parent):
    for share in (0.3, 0.5, 0.7):
        middle = POINTS[parent] + share * (POINTS[child] - POINTS[parent])
        x, y = pixel(middle.tolist(), camera)
        assert pick_joint(camera, SIZE, POINTS, PARENTS, (x + 3.0, y + 3.0), 10.0) == parent


def test_nothing_near_is_none():
    assert pick_joint(FRONT, SIZE, POINTS, PARENTS, (10.0, 10.0), 10.0) is None
    assert pick_joint(FRONT, SIZE, np.zeros((0, 3)), [], (10.0, 10.0), 10.0) is None


@pytest.mark.parametrize("camera", [FRONT, FLAT])
def test_of_equally_near_ones_the_front_one_wins(camera):
    points = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    assert pick_joint(camera, SIZE, points, [-1, -1, -1], (400.0, 300.0), 5.0) == 1
    bones = np.array([[-1.0, 0, -2], [1.0, 0, -2], [-1.0, 0, 2], [1.0, 0, 2]])
    assert pick_joint(camera, SIZE, bones, [-1, 0, -1, 2], (400.0, 301.0), 5.0) == 2


def test_a_bone_that_passes_the_camera_is_picked_where_it_is_seen():
    points = np.array([[0.0, -1.0, 0.0], [0.0, -1.0, 50.0]])
    x, y = pixel([0.0, -1.0, 8.0])
    assert pick_joint(FRONT, SIZE, points, [-1, 0], (x + 1.0, y), 5.0) == 0
    assert pick_joint(FRONT, SIZE, points, [-1, 0], (x, 2.0 * 300.0 - y), 5.0) is None


def test_joints_behind_or_not_finite_are_never_picked():
    points = np.array([[0.0, 0.0, 20.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0], [0.0, 0.0, 25.0]])
    assert pick_joint(FRONT, SIZE, points, [-1, 0, 1, 0], (400.0, 300.0), 1000.0) is None


def test_joints_in_one_place_do_not_hide_each_other():
    assert pick_joint(FRONT, SIZE, np.zeros((3, 3)), [-1, 0, 1], (401.0, 300.0), 8.0) in (0, 1, 2)


@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(1, 60))
def test_what_is_picked_is_within_the_radius(x, y, radius):
    found = pick_joint(FRONT, SIZE, POINTS, PARENTS, (400.0 + x, 300.0 + y), float(radius))
    pixels = project_points(FRONT, SIZE, POINTS)[0]
    samples = np.linspace(0.0, 1.0, 400)[:, None]
    bones = [pixels[parent] + samples * (pixels[child] - pixels[parent]) for child, parent in ((1, 0), (2, 1), (3, 1))]
    nearest = min(np.linalg.norm(line - [400.0 + x, 300.0 + y], axis=1).min() for line in bones)
    if nearest > radius + 0.5:
        assert found is None
    if nearest < radius - 0.5:
        assert found is not None


def test_ray_meets_the_plane():
    origin, point = glm.dvec3(0.0, 5.0, 0.0), glm.dvec3(7.0, 1.0, 7.0)
    met = ray_plane(origin, glm.dvec3(1.0, -2.0, 0.0), point, glm.dvec3(0.0, 3.0, 0.0))
    np.testing.assert_allclose(met, [2.0, 1.0, 0.0])


@pytest.mark.parametrize("direction", [glm.dvec3(1.0, 0.0, 0.0), glm.dvec3(0.0, 1.0, 0.0), glm.dvec3(0.0, 0.0, 0.0)])
def test_ray_that_is_parallel_or_leaves_the_plane_meets_nothing(direction):
    assert ray_plane(glm.dvec3(0.0, 5.0, 0.0), direction, glm.dvec3(0.0, 0.0, 0.0), glm.dvec3(0.0, 1.0, 0.0)) is None
