import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, Int64

_BITS = 10


def nearest_to_ray(points: npt.ArrayLike, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
    """Returns the nearest of points (N, 3) to the line through `origin` (3,) along `direction` (3,)."""
    along = np.asarray(direction) / np.linalg.norm(direction)
    offsets = np.asarray(points, np.float64) - np.asarray(origin)
    return int(np.argmin(np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)))


def places_on_curve(points: Float64) -> Int64:
    """Orders points (P, 3), at least one, on a curve that fills their box and keeps neighbours together.

    Source: Morton 1966, "A computer oriented geodetic data base".
    """
    low = points.min(axis=0)
    span = max(float((points.max(axis=0) - low).max()), 1e-12)
    cells = ((points - low) / span * ((1 << _BITS) - 1)).astype(np.int64)
    out = np.zeros(len(points), np.int64)
    for bit in range(_BITS):
        for axis in range(3):
            out |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return out


FAN = 4
"""Children of each inner node of the trees around particles and triangles."""


def first_of_level(level: int) -> int:
    """Returns the number of nodes above a level of a tree, whose root is level 0."""
    return int((FAN**level - 1) // (FAN - 1))
