"""Where particles start and which way: statistics of every source with fixed seeds."""

import numpy as np
import pytest

from sinew.sim.kinds.emitter.handles import angle_direction
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, unit_numbers
from sinew.sim.scene.params import SettingsError
from sinew.sim.skin.surface_table import face_at, face_table, texture_density, triangle_shares, vertex_table
from tests.oracles.emission import about_normal, box_place, cap_direction, disc_place, sphere_place, unit_or_up
from tests.unit.particles.statistics import CHI_LIMIT, KS_LIMIT, chi_square, ks_distance

COUNT = 50_000
NUMBERS = np.arange(COUNT)


def random(group: RandomStream, seed: int = 4) -> np.ndarray:
    return birth_numbers(seed, NUMBERS, group)


def assert_even(sample: np.ndarray, low: float, high: float) -> None:
    assert ks_distance(sample, (sample - low) / (high - low)) < KS_LIMIT


@pytest.mark.parametrize("half_angle", [1e-3, 10.0, 90.0, 180.0])
def test_directions_are_even_on_the_cap(half_angle: float) -> None:
    rise = 2.0 * np.sin(0.5 * np.radians(half_angle)) ** 2
    found = cap_direction(rise, random(RandomStream.DIRECTION)[:, :2])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)
    across = found[:, 0] ** 2 + found[:, 2] ** 2
    height = across / (1.0 + found[:, 1]) if half_angle < 90.0 else 1.0 - found[:, 1]
    assert_even(height, 0.0, rise)
    turns = np.arctan2(found[:, 2], found[:, 0]) / (2.0 * np.pi) % 1.0
    counts = np.bincount((turns * 36).astype(int), minlength=36)
    assert abs(chi_square(counts, np.full(36, COUNT / 36))) < CHI_LIMIT


def test_a_closed_cone_points_along_its_axis() -> None:
    np.testing.assert_array_equal(cap_direction(0.0, random(RandomStream.DIRECTION)[:5, :2]), [[0.0, 1.0, 0.0]] * 5)


def test_yaw_and_pitch_are_even_in_their_spans() -> None:
    angles = np.radians([30.0, 80.0, 45.0, 20.0])
    found = angle_direction(angles, random(RandomStream.DIRECTION)[:, :2])
    assert_even(np.degrees(np.arcsin(found[:, 1])), 35.0, 55.0)
    assert_even(np.degrees(np.arctan2(-found[:, 0], found[:, 2])), -10.0, 70.0)


def test_a_frame_about_a_normal_is_a_rotation() -> None:
    normal = unit_or_up(np.random.default_rng(1).normal(size=(1000, 3)))
    normal[:3] = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]
    columns = [about_normal(normal, np.tile(axis, (1000, 1))) for axis in np.eye(3)]
    frames = np.stack(columns, axis=2)
    np.testing.assert_allclose(frames[:, :, 1], normal, atol=1e-12)
    np.testing.assert_allclose(frames.transpose(0, 2, 1) @ frames, np.tile(np.eye(3), (1000, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, atol=1e-12)


def test_vectors_without_a_direction_point_up() -> None:
    np.testing.assert_array_equal(unit_or_up(np.zeros((1, 3))), [[0.0, 1.0, 0.0]])


@pytest.mark.parametrize("hollow", [0.0, 0.5, 1.0])
def test_a_sphere_is_filled_evenly(hollow: float) -> None:
    points, normals = sphere_place(2.0, hollow, random(RandomStream.PLACE))
    radius = np.linalg.norm(points, axis=1)
    np.testing.assert_allclose(points, radius[:, None] * normals, atol=1e-9)
    if hollow < 1.0:
        assert_even(radius**3, (2.0 * hollow) ** 3, 8.0)
    else:
        np.testing.assert_allclose(radius, 2.0)
    for axis in normals.T:
        assert_even(axis, -1.0, 1.0)


def test_a_box_is_filled_evenly() -> None:
    points = box_place(np.array([1.0, 2.0, 4.0]), random(RandomStream.PLACE))
    for axis, edge in zip(points.T, (1.0, 2.0, 4.0), strict=True):
        assert_even(axis, -edge / 2.0, edge / 2.0)


@pytest.mark.parametrize("hollow", [0.0, 0.7])
def test_a_disc_is_filled_evenly(hollow: float) -> None:
    points = disc_place(3.0, hollow, random(RandomStream.PLACE))
    np.testing.assert_array_equal(points[:, 1], 0.0)
    assert_even(np.sum(points**2, axis=1), (3.0 * hollow) ** 2, 9.0)
    turns = np.arctan2(points[:, 2], points[:, 0]) / (2.0 * np.pi) % 1.0
    assert_even(turns, 0.0, 1.0)


def test_faces_are_chosen_by_their_areas() -> None:
    source = np.random.default_rng(2)
    positions = source.normal(size=(60, 3))
    triangles = source.integers(0, 60, (100, 3))
    triangles[7] = 3, 3, 9
    table = face_table(positions, triangles)
    chosen = table[face_at(table[:, 0], birth_bits(4, NUMBERS, RandomStream.PLACE)[:, 0]), 1:]
    a, b, c = positions[triangles].transpose(1, 0, 2)
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    keys = {tuple(corners): index for index, corners in enumerate(triangles.tolist())}
    counts = np.bincount([keys[tuple(corners)] for corners in chosen.tolist()], minlength=100)
    emits = areas > 0.0
    assert counts[~emits].sum() == 0
    assert abs(chi_square(counts[emits], COUNT * areas[emits] / areas.sum())) < CHI_LIMIT


def test_points_of_a_triangle_are_even_over_it() -> None:
    shares = triangle_shares(unit_numbers(birth_bits(4, NUMBERS, RandomStream.PLACE))[:, 1:])
    assert shares.min() >= 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    # Cut into 16 equal triangles by lines at quarters of the height.
    cells = np.floor(shares * 4.0).clip(0, 3).astype(int)
    names, counts = np.unique(cells, axis=0, return_counts=True)
    assert len(names) == 16
    assert abs(chi_square(counts, np.full(16, COUNT / 16))) < CHI_LIMIT


def test_a_density_multiplies_the_areas() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 0, 0], [6, 0, 0], [5, 1, 0]], np.float64)
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    table = face_table(positions, triangles, [0.25, 0.25, 0.25, 0.75, 0.75, 0.75])
    np.testing.assert_array_equal(table[:, 1:], triangles)
    assert table[0, 0] == pytest.approx(0.25 * 2**32, rel=1e-6)
    assert table[1, 0] == 2**32 - 1
    only = face_table(positions, triangles, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(only[:, 1:], [[3, 4, 5]])


def test_vertices_are_chosen_by_their_density() -> None:
    table = vertex_table(3, [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(table[:, 1:], [[0, 0, 0], [2, 2, 2]])
    chosen = table[face_at(table[:, 0], birth_bits(4, NUMBERS, RandomStream.PLACE)[:, 0]), 1]
    counts = np.bincount(chosen, minlength=3)
    assert abs(chi_square(counts[[0, 2]], np.array([0.25, 0.75]) * COUNT)) < CHI_LIMIT


def test_brightness_of_a_texture() -> None:
    pixels = np.zeros((2, 4, 4), np.uint8)
    pixels[1, 3, :3] = 255, 255, 0
    found = texture_density(pixels, [[0.1, 0.1], [0.9, 0.9], [1.9, -0.1], [1.0, 0.0]])
    np.testing.assert_allclose(found, [0.0, 2.0 / 3.0, 2.0 / 3.0, 0.0])


@pytest.mark.parametrize("density", [[0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [np.nan, 1.0, 1.0]])
def test_a_surface_that_cannot_emit_is_refused(density: list[float]) -> None:
    with pytest.raises(SettingsError):
        face_table(np.eye(3), [[0, 1, 2]], density)
    with pytest.raises(SettingsError):
        vertex_table(3, density)


def test_a_surface_without_area_is_refused() -> None:
    with pytest.raises(SettingsError, match="area"):
        face_table(np.zeros((3, 3)), [[0, 1, 2]])
    with pytest.raises(SettingsError, match="area"):
        face_table(np.zeros((0, 3)), np.zeros((0, 3), int))
    with pytest.raises(SettingsError, match="vertex"):
        vertex_table(0)
