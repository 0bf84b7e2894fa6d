"""Curl noise in double precision, as in shaders/common/curl_noise.glsl.

Source: R. Bridson et al. 2007, "Curl-noise for procedural fluid flow"; K. Perlin 2001, "Noise hardware", for the
simplices.
"""

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.curl_noise import PHASES, Pattern
from sinew.sim.maths.hash import pcg4d
from sinew.sim.maths.quaternion import cross

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

CURL_NOISE_SCALE = 25.3  # makes the root mean square 1; measured
_WORD = 1 << 32


def curl_noise(places: Float64, pattern: Pattern, seed: int) -> Float64:
    """Velocities (n, 3), of root mean square 1, at places in cells (n, 3)."""
    skewed = places + places.sum(axis=1, keepdims=True) / 3.0 - np.array(pattern.shift)
    cell = np.floor(skewed)
    inside = skewed - cell
    first = inside - inside.sum(axis=1, keepdims=True) / 6.0
    larger = (first >= first[:, [1, 2, 0]]).astype(np.float64)
    smaller = 1.0 - larger[:, [2, 0, 1]]
    total: Float64 = np.zeros_like(places)
    sides = (np.zeros(3), np.minimum(larger, smaller), np.maximum(larger, smaller), np.ones(3))
    for index, side in enumerate(sides):
        corner = (cell.astype(np.int64) + side.astype(np.int64) - np.array(pattern.origin)) % _WORD
        slopes = potential_slopes(corner.astype(np.uint32), seed, pattern.phases)
        total += corner_curl(slopes, first - side + index / 6.0)
    total *= CURL_NOISE_SCALE
    return total


def potential_slopes(corner: UInt32, seed: int, phases: tuple[int, int, int]) -> Float64:
    """Slopes of the potential at corners of the lattice (n, 3), shape (n, component, direction), -1 to 1."""
    counted = np.concatenate([corner, np.full((len(corner), 1), seed, np.uint32)], axis=1)
    bits = pcg4d(counted)[:, :3]
    parts = [
        ((bits >> np.uint32(shift)) + np.uint32(phase)) & np.uint32(PHASES - 1)
        for shift, phase in zip((2, 12, 22), phases, strict=True)
    ]
    return np.abs(np.stack(parts, axis=2).astype(np.float64) - 512.0) / 256.0 - 1.0


def corner_curl(slopes: Float64, offset: Float64) -> Float64:
    """Curl of the part of the potential that belongs to one corner, from which places are `offset` (n, 3) away."""
    near = np.maximum(0.5 - np.sum(offset**2, axis=1), 0.0)[:, None]
    turn = np.stack(
        [
            slopes[:, 2, 1] - slopes[:, 1, 2],
            slopes[:, 0, 2] - slopes[:, 2, 0],
            slopes[:, 1, 0] - slopes[:, 0, 1],
        ],
        axis=1,
    )
    potential = np.einsum("nij,nj->ni", slopes, offset)
    curl: Float64 = near**3 * (near * turn - 8.0 * cross(offset, potential))
    return curl
