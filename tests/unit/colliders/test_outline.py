"""Drawn meshes lie on the true surfaces, closed and facing outwards."""

import numpy as np
import pytest

from sinew.sim.colliders.outline import PLANE_HALF_SIZE, Outline, outline
from sinew.sim.colliders.state import ColliderShape
from tests.oracles.shapes import proximity
from tests.unit.colliders.cases import SIZES, SOLIDS


def made(shape: ColliderShape) -> tuple[Outline, np.ndarray, np.ndarray]:
    """Outline, and corners (T, 3, 3) and face normals (T, 3) of its triangles."""
    mesh = outline(shape, np.array(SIZES[shape]))
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    return mesh, corners, np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@pytest.mark.parametrize("shape", ColliderShape)
def test_vertices_lie_on_the_surface_with_its_normals(shape: ColliderShape) -> None:
    mesh, _, _ = made(shape)
    points, normals = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    near = proximity(shape, np.array(SIZES[shape]), points + 0.05 * normals)
    np.testing.assert_allclose(near.closest, points, atol=1e-6)
    np.testing.assert_allclose(near.distance, 0.05, atol=1e-6)


@pytest.mark.parametrize("shape", ColliderShape)
def test_triangles_face_outwards_and_have_an_area(shape: ColliderShape) -> None:
    mesh, _, faces = made(shape)
    mean = mesh.normals.astype(np.float64)[mesh.triangles].mean(axis=1)
    assert np.all(np.sum(faces * mean, axis=1) > 1e-7)


@pytest.mark.parametrize("shape", SOLIDS)
def test_solids_are_closed(shape: ColliderShape) -> None:
    """Every edge, by place, is walked once in each direction."""
    _, corners, _ = made(shape)
    _, place = np.unique(np.round(corners.reshape(-1, 3) / 1e-5).astype(np.int64), axis=0, return_inverse=True)
    loop = place.reshape(-1, 3)
    edges = np.concatenate([loop[:, [0, 1]], loop[:, [1, 2]], loop[:, [2, 0]]])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(edge) for edge in edges} == {tuple(edge[::-1]) for edge in edges}


@pytest.mark.parametrize("shape", SOLIDS)
def test_the_volume_is_nearly_that_of_the_solid(shape: ColliderShape) -> None:
    size, (_, corners, _) = np.array(SIZES[shape]), made(shape)
    volume = np.linalg.det(corners).sum() / 6.0
    ball = 4.0 / 3.0 * np.pi
    expected = {
        ColliderShape.SPHERE: ball * size[0] ** 3,
        ColliderShape.ELLIPSOID: ball * size.prod(),
        ColliderShape.CAPSULE: ball * size[0] ** 3 + 2.0 * np.pi * size[0] ** 2 * size[1],
        ColliderShape.BOX: 8.0 * size.prod(),
    }[shape]
    assert volume == pytest.approx(expected, rel=0.025)


def test_a_plane_is_a_square_that_faces_up() -> None:
    mesh, _, faces = made(ColliderShape.PLANE)
    assert np.abs(mesh.positions).max() == PLANE_HALF_SIZE
    assert np.all(faces[:, 1] > 0.0)


@pytest.mark.parametrize("shape", ColliderShape)
def test_wires_lie_on_the_surface_and_show_it_from_every_side(shape: ColliderShape) -> None:
    mesh, corners, _ = made(shape)
    places = mesh.positions[mesh.lines].astype(np.float64)
    lengths = np.linalg.norm(places[:, 1] - places[:, 0], axis=1)
    assert np.all(lengths > 1e-6)
    middles = proximity(shape, np.array(SIZES[shape]), places.mean(axis=1))
    assert np.abs(middles.distance).max() < 0.1 * np.ptp(corners.reshape(-1, 3), axis=0).max()
    used = np.unique(mesh.lines)
    extent = np.ptp(mesh.positions, axis=0)
    np.testing.assert_allclose(np.ptp(mesh.positions[used], axis=0), extent, atol=1e-5 * extent.max())
