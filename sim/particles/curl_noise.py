"""Whirls in double precision: the curl of a random vector potential; named as in shaders/common/curl_noise.glsl.

Source: R. Bridson et al. 2007, "Curl-noise for procedural fluid flow"; K. Perlin 2002, "Improving noise".
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.particles.hash import pcg4d

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

CURL_NOISE_SCALE = 0.817
"""Makes the root mean square 1; measured."""

_SEED_STEP = 2654435769
_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class Pattern:
    """The whirls at one moment.

    Attributes:
        number: Of the present pattern; the next one follows it.
        weights: Of the two; the sum of their squares is 1, so that the strength stays the same.
        shift: How far they went with the wind, as part of a cell, shape (3,).
        origin: And in whole cells.
    """

    number: int
    weights: tuple[float, float]
    shift: tuple[float, float, float]
    origin: tuple[int, int, int]


def pattern_at(time: float, change: float, wind: tuple[float, float, float], scale: float) -> Pattern:
    """The pattern at a time [s] that changes `change` times a second and goes with the wind [m/s] in cells of `scale`."""
    turns = time * change
    share = turns - math.floor(turns)
    share = share * share * (3.0 - 2.0 * share)
    length = math.hypot(share, 1.0 - share)
    gone = [component * time / scale for component in wind]
    cells = [math.floor(part) for part in gone]
    return Pattern(
        math.floor(turns) % _WORD,
        ((1.0 - share) / length, share / length),
        (gone[0] - cells[0], gone[1] - cells[1], gone[2] - cells[2]),
        (_signed(cells[0]), _signed(cells[1]), _signed(cells[2])),
    )


def curl_noise(places: Float64, pattern: Pattern, seed: int) -> Float64:
    """Velocities (n, 3), of root mean square 1, at places in cells (n, 3)."""
    shifted = places - np.array(pattern.shift)
    cell = np.floor(shifted)
    inside = shifted - cell
    fade = inside**3 * (inside * (inside * 6.0 - 15.0) + 10.0)
    fade_slope = 30.0 * inside**2 * (inside * (inside - 2.0) + 1.0)
    now = (pattern.number + seed * _SEED_STEP) % _WORD
    total = np.zeros_like(shifted)
    for index in range(8):
        far = np.array([index & 1, (index >> 1) & 1, index >> 2])
        corner = (cell.astype(np.int64) + far - np.array(pattern.origin)) % _WORD
        slopes = sum(
            weight * potential_slopes(corner.astype(np.uint32), (now + later) % _WORD)
            for later, weight in enumerate(pattern.weights)
        )
        share = np.where(far == 1, fade, 1.0 - fade)
        weight_slope = fade_slope * (2.0 * far - 1.0) * share[:, [1, 2, 0]] * share[:, [2, 0, 1]]
        total += corner_curl(np.asarray(slopes), inside - far, np.prod(share, axis=1), weight_slope)
    return CURL_NOISE_SCALE * total


def potential_slopes(corner: UInt32, pattern: int) -> Float64:
    """Slopes of the potential at corners of the lattice (n, 3), shape (n, component, direction), -1 to 1."""
    counted = np.concatenate([corner, np.full((len(corner), 1), pattern, np.uint32)], axis=1)
    bits = pcg4d(counted)[:, :3]
    parts = [(bits >> np.uint32(shift)) & np.uint32(1023) for shift in (2, 12, 22)]
    return np.stack(parts, axis=2).astype(np.float64) * (2.0 / 1023.0) - 1.0


def corner_curl(slopes: Float64, offset: Float64, weight: Float64, weight_slope: Float64) -> Float64:
    """Curl of the part of the potential that belongs to one corner: of weight times (slopes times offset)."""
    turn = np.stack(
        [
            slopes[:, 2, 1] - slopes[:, 1, 2],
            slopes[:, 0, 2] - slopes[:, 2, 0],
            slopes[:, 1, 0] - slopes[:, 0, 1],
        ],
        axis=1,
    )
    potential = np.einsum("nij,nj->ni", slopes, offset)
    curl: Float64 = np.cross(weight_slope, potential) + weight[:, None] * turn
    return curl


def _signed(value: int) -> int:
    """Modulo 2³² as a signed integer, as the shader takes it."""
    return (value + _WORD // 2) % _WORD - _WORD // 2
