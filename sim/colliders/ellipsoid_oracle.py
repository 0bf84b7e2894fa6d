"""Closest point on an ellipsoid, in double precision.

Source: D. Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid" (2013), section 3.7, with
the multiplier counted from its pole: s = t + (smallest semi-axis)², which keeps points near the centre exact.
"""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_ITERATIONS = 64
_SETTLED = 1e-15
"""Relative step of the multiplier below which it is found; rounding keeps it moving by half of this for ever."""

_CENTRE = 1e-14
"""Coordinates below this part of the smallest semi-axis count as this: the medial disc has a limit on either side."""


def ellipsoid_distance(points: Float64, semi_axes: Float64) -> tuple[Float64, Float64]:
    """Returns the signed distance [m] (n,), negative inside, and the outward normal (n, 3) of the closest point.

    With w_i = y_i / (s + a_i² - a_min²) the closest point is a_i² w_i, where s > 0 solves |a w| = 1; w is along the
    normal, and the point lies (s - a_min²) w from the surface.
    """
    smallest = semi_axes.min()
    y = np.maximum(np.abs(points), _CENTRE * smallest)
    gaps = semi_axes**2 - smallest**2
    s = _multiplier(semi_axes * y, gaps)
    w = y / (s[:, None] + gaps)
    length = np.linalg.norm(w, axis=1)
    normal = np.where(points < 0.0, -w, w) / length[:, None]
    return (s - smallest**2) * length, normal


def _multiplier(scaled: Float64, gaps: Float64) -> Float64:
    """Returns the root s (n,) of |a y / (s + gaps)| = 1 for `scaled` = a y (n, 3), all positive.

    Newton on the reciprocal length, which is concave and nearly linear, from below: every step stays below the root,
    and a bracket guards against rounding.
    """
    low: Float64 = np.max(scaled - gaps, axis=1)
    high: Float64 = np.linalg.norm(scaled, axis=1)
    s = low.copy()
    for _ in range(_ITERATIONS):
        terms = scaled / (s[:, None] + gaps)
        square = np.sum(terms**2, axis=1)
        slope = np.sum(terms**2 / (s[:, None] + gaps), axis=1)
        step = square * (np.sqrt(square) - 1.0) / slope
        low, high = np.where(step >= 0.0, s, low), np.where(step <= 0.0, s, high)
        following = s + step
        following = np.where((following < low) | (following > high), 0.5 * (low + high), following)
        if np.all(np.abs(following - s) <= _SETTLED * s):
            return following
        s = following
    return s
