import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from sinew.sim.colliders.outline import Outline, outline
from sinew.sim.colliders.state import ColliderShape
from tests.oracles.ellipsoid import ellipsoid_distance
from tests.oracles.shapes import Float64, closest_point, outward_normal, proximity, signed_distance
from tests.unit.colliders.cases import SIZES, SOLIDS

EVERY_SHAPE = pytest.mark.parametrize("shape", ColliderShape)


def points_around(shape: ColliderShape, count: int = 2000) -> Float64:
    random = np.random.default_rng(3)
    return random.normal(size=(count, 3)) * random.uniform(0.05, 1.5, (count, 1))


def implicit(shape: ColliderShape, p: Float64) -> Float64:
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
def test_closest_points_lie_on_the_surface_at_that_distance(shape: ColliderShape) -> None:
    points = points_around(shape)
    near = proximity(shape, np.array(SIZES[shape]), points)
    np.testing.assert_array_equal(near.distance < 0.0, implicit(shape, points) < 0.0)
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


@given(arrays(np.float64, 3, elements=st.floats(-3.0, 3.0)), st.tuples(*[st.floats(0.01, 10.0)] * 3))
def test_any_ellipsoid_satisfies_the_conditions_of_the_closest_point(point: Float64, axes: tuple[float, ...]) -> None:
    size = np.array(axes)
    distance, normal = ellipsoid_distance(point[None], size)
    closest = point - distance[0] * normal[0]
    scale = max(size.max(), 3.0)
    assert np.sum((closest / size) ** 2) == pytest.approx(1.0, abs=1e-8 * scale / size.min())
    gradient = closest / size**2
    np.testing.assert_allclose(normal[0], gradient / np.linalg.norm(gradient), atol=1e-7 * scale / size.min())


def made(shape: ColliderShape) -> tuple[Outline, np.ndarray, np.ndarray]:
    """Outline, and corners (T, 3, 3) and face normals (T, 3) of its triangles."""
    mesh = outline(shape, np.array(SIZES[shape]))
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    return mesh, corners, np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@pytest.mark.parametrize("shape", ColliderShape)
def test_vertices_lie_on_the_surface_with_its_normals(shape: ColliderShape) -> None:
    mesh, _, faces = made(shape)
    mean = mesh.normals.astype(np.float64)[mesh.triangles].mean(axis=1)
    assert np.all(np.sum(faces * mean, axis=1) > 1e-7), "triangles face outwards"
    points, normals = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    near = proximity(shape, np.array(SIZES[shape]), points + 0.05 * normals)
    np.testing.assert_allclose(near.closest, points, atol=1e-6)
    np.testing.assert_allclose(near.distance, 0.05, atol=1e-6)


@pytest.mark.parametrize("shape", SOLIDS)
def test_solids_are_closed(shape: ColliderShape) -> None:
    """Every edge, by place, is walked once in each direction."""
    _, corners, _ = made(shape)
    _, place = np.unique(np.round(corners.reshape(-1, 3) / 1e-5).astype(np.int64), axis=0, return_inverse=True)
    loop = place.reshape(-1, 3)
    edges = np.concatenate([loop[:, [0, 1]], loop[:, [1, 2]], loop[:, [2, 0]]])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(edge) for edge in edges} == {tuple(edge[::-1]) for edge in edges}
