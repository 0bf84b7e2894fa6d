import math

import numpy as np
import pytest

from sinew.sim.assets.environment import (
    IRRADIANCE_EDGE,
    directions,
    harmonics_of,
    octahedron_directions,
    panorama,
    polynomials,
    reduced,
    solid_angles,
    studio,
)
from sinew.sim.assets.model import reflectance_of_phong, roughness_of_exponent
from sinew.sim.render.environment_pass import SPLIT_SIZE, split_sum


def irradiance(harmonics: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return math.pi * np.sum([c * p for c, p in zip(harmonics, polynomials(*direction, *direction**2), strict=True)], 0)


def test_roughness_of_exponents() -> None:
    for exponent, roughness in ((10, 0.63894), (32, 0.49248), (100, 0.37420), (1000, 0.21137)):
        assert roughness_of_exponent(exponent) == pytest.approx(roughness, abs=5e-6)
    assert reflectance_of_phong((0.5, 2.0, 0.0)) == (0.04, 0.08, 0.0)


def test_harmonics_of_a_bright_hemisphere() -> None:
    up = np.maximum(directions(256, 512)[..., 1:2], 0.0).repeat(3, axis=2).astype(np.float32)
    found = harmonics_of(up)
    for angle, value in ((0, 2.078033), (30, 1.845696), (60, 1.278317), (90, 0.662680), (180, -0.016362)):
        turn = math.radians(angle)
        for direction in ([math.sin(turn), math.cos(turn), 0.0], [0.0, math.cos(turn), math.sin(turn)]):
            np.testing.assert_allclose(irradiance(found, np.array(direction)), value, atol=3e-5)
    tile = panorama(up).irradiance[..., 0] * math.pi
    angles = np.arccos(np.clip(octahedron_directions(IRRADIANCE_EDGE)[..., 1], -1.0, 1.0))
    exact = 2.0 / 3.0 * ((math.pi - angles) * np.cos(angles) + np.sin(angles))
    np.testing.assert_allclose(tile, exact, atol=0.01)


def test_even_light_gives_pi_everywhere() -> None:
    even = np.ones((64, 128, 3), np.float32)
    np.testing.assert_allclose(irradiance(harmonics_of(even), np.array([0.36, 0.48, 0.8])), math.pi, atol=1e-6)
    np.testing.assert_allclose(panorama(even).irradiance * math.pi, math.pi, rtol=1e-3)


def test_reduction_keeps_the_light() -> None:
    image = np.random.default_rng(1).random((101, 203, 3), np.float32)
    before = (image * solid_angles(101, 203)[:, None, None]).sum(axis=(0, 1))
    small = reduced(image, 29, 17)
    assert small.shape == (17, 29, 3)
    rows, columns = np.arange(17) * 101 // 17, np.arange(29) * 203 // 29
    angles = np.add.reduceat(solid_angles(101, 203), rows)[:, None] * np.diff([*columns, 203])[None]
    np.testing.assert_allclose((small * angles[..., None]).sum(axis=(0, 1)), before, rtol=1e-5)


def test_the_middle_looks_along_z_and_minus_x_is_right_of_it() -> None:
    around = directions(64, 128)
    np.testing.assert_allclose(around[31:33, 63:65].mean(axis=(0, 1)), [0.0, 0.0, 1.0], atol=1e-3)
    assert around[32, 96, 0] < -0.99
    assert around[0, 0, 1] > 0.99
    assert studio().harmonics.shape == (9, 3)


def test_the_table_of_the_split_sum() -> None:
    table = split_sum()

    def at(cosine: float, roughness: float) -> np.ndarray:
        x, y = cosine * (SPLIT_SIZE - 1), roughness * (SPLIT_SIZE - 1)
        i, j = min(int(x), SPLIT_SIZE - 2), min(int(y), SPLIT_SIZE - 2)
        rows = table[j : j + 2, i] * (1.0 - x + i) + table[j : j + 2, i + 1] * (x - i)
        return rows[0] * (1.0 - y + j) + rows[1] * (y - j)

    for cosine, roughness, sums in (
        (0.5, 0.5, (0.83492, 0.02235)), (0.3, 0.75, (0.69928, 0.02245)), (0.7, 0.25, (0.98989, 0.00327)),
    ):  # fmt: skip
        np.testing.assert_allclose(at(cosine, roughness), sums, atol=1e-3)
    for cosine, total in ((1.0, 0.306853), (0.5, 0.450694)):
        assert total == pytest.approx(1.0 - cosine * math.log(1.0 + 1.0 / cosine), abs=1e-6)
        assert at(cosine, 1.0).sum() == pytest.approx(total, abs=1e-3)


@pytest.mark.parametrize("roughness", [0.045, 0.3, 1.0])
def test_the_facets_of_a_surface_cover_it(roughness: float) -> None:
    """The distribution of shaders/viewport/surface.glsl: its projected areas add up to the area."""
    alpha = roughness * roughness
    nodes, weights = np.polynomial.legendre.leggauss(64)
    # The tangent of the angle in units of alpha, from an even variable.
    even = (nodes + 1.0) * math.pi / 4.0
    tangent = alpha * np.tan(even)
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    density = alpha**2 / (math.pi * ((1.0 - cosine**2) + alpha**2 * cosine**2) ** 2)
    sine_step = tangent * cosine * alpha / np.cos(even) ** 2 * cosine**2
    total = 2.0 * math.pi * math.pi / 4.0 * np.sum(weights * density * cosine * sine_step)
    assert total == pytest.approx(1.0, abs=1e-9)
