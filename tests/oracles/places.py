"""Places that particles start from, with the direction away from the source there, in double precision.

The functions and their names are those of shaders/emitter/place.glsl; all take random numbers (n, k), 0 up to 1.
"""

import numpy as np
import numpy.typing as npt

from tests.oracles.directions import cap_direction

Float64 = npt.NDArray[np.float64]


def sphere_place(radius: float, hollow: float, random: Float64) -> tuple[Float64, Float64]:
    """Points and outward normals (n, 3), uniform in volume between the `hollow` part of the radius and the radius."""
    normal = cap_direction(2.0, random)
    share = hollow**3 + (1.0 - hollow**3) * random[:, 2]
    return radius * np.cbrt(share)[:, None] * normal, normal


def box_place(size: Float64, random: Float64) -> Float64:
    """Points (n, 3), uniform in a box of edges `size` (3,) about the origin; a line is a box without width."""
    points: Float64 = (random - 0.5) * size
    return points


def disc_place(radius: float, hollow: float, random: Float64) -> Float64:
    """Points (n, 3) of the xz plane, uniform in area between the `hollow` part of the radius and the radius."""
    turn = 2.0 * np.pi * random[:, 0]
    reach = radius * np.sqrt(hollow**2 + (1.0 - hollow**2) * random[:, 1])
    return np.stack([reach * np.cos(turn), np.zeros(len(turn)), reach * np.sin(turn)], axis=1)
