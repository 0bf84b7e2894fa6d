"""Distances, normals and closest points against what they mean, by search and by known answers."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from sinew.sim.colliders.state import ColliderShape
from tests.oracles.ellipsoid import ellipsoid_distance
from tests.oracles.shapes import Float64, closest_point, outward_normal, proximity, signed_distance
from tests.unit.colliders.cases import SIZES, SOLIDS

EVERY_SHAPE = pytest.mark.parametrize("shape", ColliderShape)


def points_around(shape: ColliderShape, count: int = 2000) -> Float64:
    random = np.random.default_rng(3)
    return random.normal(size=(count, 3)) * random.uniform(0.05, 1.5, (count, 1))


def implicit(shape: ColliderShape, p: Float64) -> Float64:
    """Independent inside-outside function: negative inside, zero on the surface."""
    size = np.array(SIZES[shape])
    if shape is ColliderShape.PLANE:
        return p[:, 1]
    if shape is ColliderShape.SPHERE:
        return np.linalg.norm(p, axis=1) - size[0]
    if shape is ColliderShape.ELLIPSOID:
        return np.sum((p / size) ** 2, axis=1) - 1.0
    if shape is ColliderShape.BOX:
        return np.max(np.abs(p) - size, axis=1)
    past_end = np.maximum(np.abs(p[:, 1]) - size[1], 0.0)
    return np.sqrt(p[:, 0] ** 2 + p[:, 2] ** 2 + past_end**2) - size[0]


@EVERY_SHAPE
def test_sign_tells_inside_from_outside(shape: ColliderShape) -> None:
    points = points_around(shape)
    inside = implicit(shape, points) < 0.0
    assert inside.any()
    assert not inside.all()
    np.testing.assert_array_equal(signed_distance(shape, np.array(SIZES[shape]), points) < 0.0, inside)


@EVERY_SHAPE
def test_closest_points_lie_on_the_surface_at_that_distance(shape: ColliderShape) -> None:
    points = points_around(shape)
    near = proximity(shape, np.array(SIZES[shape]), points)
    np.testing.assert_allclose(implicit(shape, near.closest), 0.0, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(points - near.closest, axis=1), np.abs(near.distance), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(near.normal, axis=1), 1.0, atol=1e-13)


@EVERY_SHAPE
def test_no_surface_point_is_closer(shape: ColliderShape) -> None:
    """Against a dense cloud of surface points, found from anywhere."""
    size = np.array(SIZES[shape])
    cloud = closest_point(shape, size, points_around(shape, 4000))
    points = points_around(shape, 200)
    apart = np.linalg.norm(points[:, None] - cloud[None], axis=2).min(axis=1)
    distance = np.abs(signed_distance(shape, size, points))
    assert np.all(distance <= apart + 1e-12)
    assert np.quantile(apart - distance, 0.9) < 0.02


@EVERY_SHAPE
def test_normal_is_the_gradient_of_the_distance(shape: ColliderShape) -> None:
    size, points, step = np.array(SIZES[shape]), points_around(shape, 300), 1e-6
    gradient = np.stack(
        [
            (signed_distance(shape, size, points + step * axis) - signed_distance(shape, size, points - step * axis))
            / (2.0 * step)
            for axis in np.eye(3)
        ],
        axis=1,
    )
    normal = outward_normal(shape, size, points)
    smooth = np.abs(np.linalg.norm(gradient, axis=1) - 1.0) < 1e-3  # not across an edge of the distance field
    assert smooth.mean() > 0.98
    np.testing.assert_allclose(gradient[smooth], normal[smooth], atol=2e-4)


@pytest.mark.parametrize("shape", SOLIDS)
def test_points_of_symmetry_have_an_answer(shape: ColliderShape) -> None:
    size = np.array(SIZES[shape])
    points = np.concatenate([np.zeros((1, 3)), np.eye(3) * 0.1, np.eye(3) * 5.0, -np.eye(3) * 5.0])
    near = proximity(shape, size, points)
    assert np.isfinite(near.distance).all()
    np.testing.assert_allclose(np.linalg.norm(near.normal, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(implicit(shape, near.closest), 0.0, atol=1e-11)
    smallest = {ColliderShape.SPHERE: 0.7, ColliderShape.ELLIPSOID: 0.4, ColliderShape.CAPSULE: 0.3}.get(shape, 0.2)
    assert near.distance[0] == pytest.approx(-smallest, abs=1e-12)


def test_the_inside_of_a_box_goes_to_its_nearest_face() -> None:
    near = proximity(ColliderShape.BOX, np.array([0.9, 0.2, 0.5]), np.array([[0.85, 0.0, 0.1], [0.0, -0.15, 0.3]]))
    np.testing.assert_allclose(near.distance, [-0.05, -0.05])
    np.testing.assert_allclose(near.normal, [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def test_a_round_ellipsoid_is_a_sphere() -> None:
    points = points_around(ColliderShape.SPHERE)
    distance, normal = ellipsoid_distance(points, np.full(3, 0.7))
    np.testing.assert_allclose(distance, np.linalg.norm(points, axis=1) - 0.7, atol=1e-13)
    np.testing.assert_allclose(normal, points / np.linalg.norm(points, axis=1, keepdims=True), atol=1e-12)


def test_the_middle_of_a_flat_ellipsoid_goes_to_its_flat_side() -> None:
    # On the focal disc the closest points are a pair: x = a² x0 / (a² - c²), z = ±c sqrt(1 - x² / a²).
    a, c, x0 = 2.0, 0.5, 1.0
    x = a**2 * x0 / (a**2 - c**2)
    z = c * np.sqrt(1.0 - x**2 / a**2)
    distance, normal = ellipsoid_distance(np.array([[x0, 0.0, 0.0]]), np.array([a, a, c]))
    assert distance[0] == pytest.approx(-np.hypot(x - x0, z), abs=1e-12)
    assert normal[0, 2] == pytest.approx(z / c**2 / np.hypot(x / a**2, z / c**2), abs=1e-7)


@given(
    arrays(np.float64, 3, elements=st.floats(-3.0, 3.0)),
    st.tuples(*[st.floats(0.01, 10.0)] * 3),
)
def test_any_ellipsoid_satisfies_the_conditions_of_the_closest_point(point: Float64, axes: tuple[float, ...]) -> None:
    size = np.array(axes)
    distance, normal = ellipsoid_distance(point[None], size)
    closest = point - distance[0] * normal[0]
    scale = max(size.max(), 3.0)
    assert np.sum((closest / size) ** 2) == pytest.approx(1.0, abs=1e-8 * scale / size.min())
    gradient = closest / size**2
    np.testing.assert_allclose(normal[0], gradient / np.linalg.norm(gradient), atol=1e-7 * scale / size.min())
