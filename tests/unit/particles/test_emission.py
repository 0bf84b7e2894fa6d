import math

import numpy as np
import pytest

from sinew.sim.assets.model import CharacterModel
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, pcg, pcg3d, pcg4d, unit_numbers
from sinew.sim.scene.params import SettingsError
from sinew.sim.skin.surface_table import (
    SAMPLES,
    bone_density,
    face_at,
    face_brightness,
    face_table,
    surface_table,
    texture_density,
    triangle_shares,
    vertex_table,
)
from tests.oracles.emission import box_place, cap_direction, disc_place, sphere_place


def ks_distance(sample: np.ndarray, cumulative: np.ndarray) -> float:
    """Kolmogorov-Smirnov statistic √n D of a sample whose values have the cumulative probabilities given."""
    order = np.sort(cumulative)
    n = len(sample)
    above = np.arange(1, n + 1) / n - order
    below = order - np.arange(n) / n
    return math.sqrt(n) * float(max(above.max(), below.max()))


KS_LIMIT = 1.95  # √n D that a true sample exceeds once in a thousand times (Kolmogorov's limit distribution)


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    """Deviation of counts from what is expected, as a standard normal number (Wilson and Hilferty 1931)."""
    degrees = len(counts) - 1
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    third = 2.0 / (9.0 * degrees)
    return ((statistic / degrees) ** (1.0 / 3.0) - (1.0 - third)) / math.sqrt(third)


CHI_LIMIT = 3.3  # exceeded once in two thousand times, either way
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
    table = vertex_table(3, [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(table[:, 1:], [[0, 0, 0], [2, 2, 2]])
    assert table[0, 0] == pytest.approx(0.25 * 2**32, rel=1e-6)


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
    with pytest.raises(SettingsError, match="area"):
        face_table(np.zeros((3, 3)), [[0, 1, 2]])
    with pytest.raises(SettingsError, match="vertex"):
        vertex_table(0)


WHOLE = 2.0**32


def shares(table: np.ndarray) -> np.ndarray:
    return np.diff(np.concatenate([[0.0], table[:, 0] / WHOLE]))


def areas(model: CharacterModel, corners: np.ndarray) -> np.ndarray:
    first, second, third = (model.mesh.positions[corners[:, index]].astype(np.float64) for index in range(3))
    return 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1)


def test_without_a_density_faces_emit_by_their_areas(humanoid: CharacterModel) -> None:
    table = surface_table(humanoid)
    found = areas(humanoid, table[:, 1:].astype(np.intp))
    np.testing.assert_allclose(shares(table), found / found.sum(), atol=1e-8)
    assert len(surface_table(humanoid, vertices=True)) == humanoid.mesh.vertex_count
    assert len(surface_table(humanoid, bone="tail")) == len(table)


def test_a_bone_makes_faces_emit_by_area_and_weight(humanoid: CharacterModel) -> None:
    weights = bone_density(humanoid, "hand_l")
    assert weights.max() > 0.9
    total = sum(bone_density(humanoid, name) for name in humanoid.skeleton.names)
    np.testing.assert_allclose(total, 1.0, atol=1e-6)
    table = surface_table(humanoid, bone="hand_l")
    corners = table[:, 1:].astype(np.intp)
    expected = areas(humanoid, corners) * weights[corners].mean(axis=1)
    np.testing.assert_allclose(shares(table), expected / expected.sum(), atol=1e-8)
    assert len(table) < 0.2 * humanoid.mesh.triangle_count
    vertices = surface_table(humanoid, vertices=True, bone="hand_l")
    np.testing.assert_array_equal(vertices[:, 1], np.flatnonzero(weights > 0.0))


def test_the_brightness_of_a_face_is_a_mean_over_it() -> None:
    np.testing.assert_allclose(SAMPLES.sum(axis=1), 1.0)
    ramp = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (4, 1, 3))
    corners = np.array([[[0.0, 0.0], [0.9, 0.0], [0.0, 0.9]], [[0.5, 0.5]] * 3, [[1.5, 0.5]] * 3])
    np.testing.assert_allclose(face_brightness(ramp, corners), [0.3, 0.5, 0.5], atol=3e-3)


def test_a_density_that_leaves_nothing_is_refused(humanoid: CharacterModel) -> None:
    black = np.zeros((2, 2, 4), np.uint8)
    with pytest.raises(SettingsError, match="no face with an area is left where bone 'hand_l' and the image would"):
        surface_table(humanoid, bone="hand_l", pixels=black)
    with pytest.raises(SettingsError, match="no vertex of the surface is left where the image would have it"):
        surface_table(humanoid, vertices=True, pixels=black)


BIRTHS = 100_000


def pcg_by_hand(words: list[int], order: list[tuple[int, int, int]]) -> list[int]:
    """The published formula with whole numbers of any length, cut to 32 bits by hand."""
    v = [(word * 1664525 + 1013904223) & 0xFFFFFFFF for word in words]
    for shift in (True, False):
        for target, a, b in order:
            v[target] = (v[target] + v[a] * v[b]) & 0xFFFFFFFF
        if shift:
            v = [word ^ (word >> 16) for word in v]
    return v


def test_the_hashes_are_those_of_the_paper() -> None:
    three = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    four = [(0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)]
    for words in ([0, 0, 0], [1, 2, 3], [0xFFFFFFFF, 0x80000000, 12345]):
        assert pcg3d(np.array([words], np.uint32))[0].tolist() == pcg_by_hand(words, three)
        more = [*words, 77]
        assert pcg4d(np.array([more], np.uint32))[0].tolist() == pcg_by_hand(more, four)


def test_no_two_numbers_have_the_same_hash() -> None:
    assert len(np.unique(pcg(np.arange(1 << 20, dtype=np.uint32)))) == 1 << 20
    assert pcg(np.array([0], np.uint32))[0] == 129708002
    assert pcg(np.array([1], np.uint32))[0] == 2831084092


def test_numbers_are_exact_in_single_precision_and_below_one() -> None:
    numbers = birth_numbers(3, np.arange(BIRTHS), RandomStream.LIFE)
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    np.testing.assert_array_equal(numbers, numbers.astype(np.float32).astype(np.float64))
    assert unit_numbers(np.array([0xFFFFFFFF], np.uint32))[0] == 1.0 - 2.0**-24


@pytest.mark.parametrize("seed", [0, 2**31 - 1])
@pytest.mark.parametrize("group", list(RandomStream))
def test_every_channel_is_even(seed: int, group: RandomStream) -> None:
    numbers = birth_numbers(seed, np.arange(BIRTHS), group)
    for channel in numbers.T:
        assert ks_distance(channel, channel) < KS_LIMIT * 1.15
        counts = np.bincount((channel * 256).astype(int), minlength=256)
        assert abs(chi_square(counts, np.full(256, BIRTHS / 256))) < CHI_LIMIT + 0.5


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1]) * np.sqrt(len(a))


def test_neighbouring_births_and_channels_are_not_correlated() -> None:
    numbers = np.concatenate([birth_numbers(1, np.arange(BIRTHS), group) for group in RandomStream], axis=1)
    worst = 0.0
    for lag in (1, 2, 3, 7, 64, 1000, 10_000):
        for column in numbers.T:
            worst = max(worst, abs(correlation(column[:-lag], column[lag:])))
    for first in range(12):
        for second in range(first):
            worst = max(worst, abs(correlation(numbers[:, first], numbers[:, second])))
    # 150 standard normal numbers; one above 4.5 in a thousand tries.
    assert worst < 4.5


def test_an_image_darkens_faces_and_knows_which_way_is_up(humanoid: CharacterModel) -> None:
    pixels = np.zeros((16, 16, 4), np.uint8)
    pixels[:8, :, :3] = 255
    top, bottom = (surface_table(humanoid, vertices=True, pixels=pixels, is_bottom_up=flag) for flag in (False, True))
    v = humanoid.mesh.texcoords[:, 1] % 1.0
    assert np.all(v[top[:, 1]] <= 0.5)
    assert np.all(v[bottom[:, 1]] >= 0.5)
    faces = surface_table(humanoid, pixels=pixels)
    assert np.all(humanoid.mesh.texcoords[:, 1][faces[:, 1:].astype(np.intp)].min(axis=1) <= 0.5)
