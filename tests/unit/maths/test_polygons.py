import numpy as np
import pytest

from sinew.sim.maths.polygons import triangulated


def area(points: np.ndarray) -> np.ndarray:
    return 0.5 * np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)


def star(count: int, seed: int) -> np.ndarray:
    """A star-shaped polygon around the origin, counter-clockwise in the plane z = 0."""
    random = np.random.default_rng(seed)
    angle, radius = np.sort(random.uniform(0.0, 2.0 * np.pi, count)), random.uniform(0.2, 1.0, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def spiral(count: int) -> np.ndarray:
    angle = np.linspace(0.0, 10.0 * np.pi, count // 2)
    inner, outer = (
        np.stack([(1.0 + angle + width) * np.cos(angle), (1.0 + angle + width) * np.sin(angle), 0.0 * angle], axis=1)
        for width in (0.0, 2.0)
    )
    return np.concatenate([outer, inner[::-1]])


LETTER_E = np.array(
    [[0, 0], [4, 0], [4, 1], [1, 1], [1, 2], [3, 2], [3, 3], [1, 3], [1, 4], [4, 4], [4, 5], [0, 5]], float
) @ [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]

TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


@pytest.mark.parametrize("outline", [LETTER_E, spiral(300), *(star(count, count) for count in (4, 5, 6, 9, 80, 1200))])
@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_triangles_of_a_concave_polygon_face_its_way_and_cover_it_once(outline, start) -> None:
    points = np.roll(outline, start, axis=0) @ TURN
    triangles, polygon = triangulated(points, np.array([0]), np.array([len(points)]))
    assert triangles.shape == (len(points) - 2, 3)
    assert not polygon.any()
    whole = area(points)
    parts = np.array([area(points[corners]) for corners in triangles])
    np.testing.assert_allclose(parts.sum(axis=0), whole, atol=1e-12 * len(points) * np.abs(points).max() ** 2)
    assert (parts @ whole >= -1e-6 * whole @ whole).all()


def test_a_polygon_whose_fan_covers_it_stays_a_fan() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0.2], [1, 1, 0], [0, 1, 0.2]], float)
    points = np.concatenate([square, square[:3], square[:2], star(6, 1)])
    first, count = np.array([0, 4, 7, 9]), np.array([4, 3, 2, 6])
    triangles, polygon = triangulated(points, first, count)
    assert triangles[:3].tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6]]
    assert polygon.tolist() == [0, 0, 1, 3, 3, 3, 3]


def test_a_polygon_that_meets_itself_has_as_many_triangles_as_others() -> None:
    points = np.random.default_rng(2).uniform(-1.0, 1.0, (60, 3))
    points[10:20] = points[30:40]
    triangles, _ = triangulated(points, np.array([0, 60]), np.array([60, 0]))
    assert triangles.shape == (58, 3)
    assert set(triangles.ravel().tolist()) == set(range(60))
