"""Signed distance functions of the shapes from which the sample characters are modelled.

All functions take points of shape (N, 3) [m] and return distances (N,), negative inside.  Lofts and ellipsoids are
accurate near their surface and only proportional to the distance far from it, which is all that modelling needs.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Distances = npt.NDArray[np.float64]
Field = Callable[[Points], Distances]


def smooth_union(first: Distances, second: Distances, width: float) -> Distances:
    """Union whose crease is filled where both distances differ by less than `width` [m].

    Source: Quilez, "smooth minimum", quadratic form.
    """
    overlap = np.maximum(width - np.abs(first - second), 0.0) / width
    return np.minimum(first, second) - overlap * overlap * width * 0.25


def smooth_intersection(first: Distances, second: Distances, width: float) -> Distances:
    """Intersection whose edge is rounded over about `width` [m]."""
    return -smooth_union(-first, -second, width)


def smooth_cut(body: Distances, tool: Distances, width: float) -> Distances:
    """Removes `tool` from `body`; the edge is rounded over about `width` [m]."""
    return smooth_intersection(body, -tool, width)


def capsule(points: Points, start: Sequence[float], end: Sequence[float], r0: float, r1: float) -> Distances:
    """The radius changes from `r0` to `r1` [m]."""
    a = np.asarray(start, dtype=np.float64)
    axis = np.asarray(end, dtype=np.float64) - a
    offset = points - a
    along = np.clip((offset * axis).sum(axis=1) / (axis @ axis), 0.0, 1.0)
    distance: Distances = np.sqrt(((offset - along[:, None] * axis) ** 2).sum(axis=1)) - (r0 + (r1 - r0) * along)
    return distance


def sphere(points: Points, centre: Sequence[float], radius: float) -> Distances:
    distance: Distances = np.sqrt(((points - np.asarray(centre)) ** 2).sum(axis=1)) - radius
    return distance


def ellipsoid(points: Points, centre: Sequence[float], radii: Sequence[float], axes: Points | None = None) -> Distances:
    """Half axes `radii` along the rows of `axes` (3, 3), or along x, y, z."""
    offset = points - np.asarray(centre)
    if axes is not None:
        offset = (offset[:, None, :] * axes).sum(axis=2)
    scaled = offset / np.asarray(radii)
    rho = np.sqrt((scaled**2).sum(axis=1)) + 1e-9
    slope = np.sqrt(((scaled / np.asarray(radii)) ** 2).sum(axis=1)) + 1e-9
    distance: Distances = rho * (rho - 1.0) / slope
    return distance


def plane(points: Points, origin: Sequence[float] | Points, normal: Sequence[float] | Points) -> Distances:
    """Half space below the plane through `origin`; `normal` need not be unit."""
    direction = np.asarray(normal, dtype=np.float64)
    direction = direction / np.sqrt((direction**2).sum())
    distance: Distances = ((points - np.asarray(origin)) * direction).sum(axis=1)
    return distance


class Profile:
    """Curves through stations along an axis, C1 (Catmull-Rom), constant beyond the ends.

    Each row of the table is a station followed by the values there.
    """

    def __init__(self, table: Sequence[Sequence[float]]) -> None:
        rows = np.asarray(table, dtype=np.float64)
        self._at = rows[:, 0]
        self._values = rows[:, 1:]
        self._slopes = np.gradient(self._values, self._at, axis=0)
        self._slopes[0] = self._slopes[-1] = 0.0

    def __call__(self, station: Distances) -> Points:
        """Values at `station` (N,), shape (N, columns)."""
        s = np.clip(station, self._at[0], self._at[-1])
        i = np.clip(np.searchsorted(self._at, s, side="right") - 1, 0, len(self._at) - 2)
        span = self._at[i + 1] - self._at[i]
        t = ((s - self._at[i]) / span)[:, None]
        h = span[:, None]
        values: Points = (
            (1 + 2 * t) * (1 - t) ** 2 * self._values[i]
            + t * (1 - t) ** 2 * h * self._slopes[i]
            + t * t * (3 - 2 * t) * self._values[i + 1]
            + t * t * (t - 1) * h * self._slopes[i + 1]
        )
        return values


def loft(points: Points, profile: Profile, axes: tuple[int, int, int], exponent: float = 2.0) -> Distances:
    """Endless tube along an axis with superelliptic sections.

    Args:
        profile: Columns: centre on the second axis, centre on the third, half size on the second, half size towards
            plus and towards minus of the third [m].
        axes: Axis of the tube, second and third axis of the section.
        exponent: 2 is an ellipse, more is boxier.
    """
    along, across, depth = axes
    centre_u, centre_v, half_u, plus_v, minus_v = profile(points[:, along]).T
    du = points[:, across] - centre_u
    dv = points[:, depth] - centre_v
    half_v = np.where(dv > 0.0, plus_v, minus_v)
    a, b = np.abs(du) / half_u + 1e-9, np.abs(dv) / half_v + 1e-9
    rho = (a**exponent + b**exponent) ** (1.0 / exponent)
    slope = np.hypot((a / rho) ** (exponent - 1.0) / half_u, (b / rho) ** (exponent - 1.0) / half_v)
    distance: Distances = (rho - 1.0) / slope
    return distance


def mirrored(points: Points, softness: float = 0.0) -> Points:
    """Replaces x by its absolute value, for shapes that are symmetric about x = 0.

    Shapes that cross the middle get a crease there, which `softness` [m] rounds.
    """
    folded = points.copy()
    folded[:, 0] = np.sqrt(folded[:, 0] ** 2 + softness**2)
    return folded


def gradient(field: Field, points: Points, step: float = 2e-4) -> Points:
    """Central differences of `field`, shape (N, 3)."""
    result = np.empty_like(points)
    for axis in range(3):
        offset = np.zeros(3)
        offset[axis] = step
        result[:, axis] = (field(points + offset) - field(points - offset)) / (2.0 * step)
    return result
