import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, Int64

_BITS = 10


def nearest_to_ray(points: npt.ArrayLike, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
    """Returns the nearest of points (N, 3) to the line through `origin` (3,) along `direction` (3,)."""
    along = np.asarray(direction) / np.linalg.norm(direction)
    offsets = np.asarray(points, np.float64) - np.asarray(origin)
    return int(np.argmin(np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)))


def triangle_areas(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> Float64:
    """Returns areas (T,) of triangles (T, 3) of vertices (V, 3)."""
    points, corners = np.asarray(positions, np.float64), np.asarray(triangles, np.int64).reshape(-1, 3)
    first, second, third = (points[corners[:, corner]] for corner in range(3))
    areas: Float64 = 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1)
    return areas


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


_POINTS, _VERTICES = 64, 32
"""Numbers of points, and of vertices, that are compared as a whole."""

_SLACK = 1e-12


def nearest_vertices(points: Float64, vertices: Float64) -> Int64:
    """Returns the vertex (V, 3) nearest to each point (P, 3), the first one of several; seconds for 100 000 of each."""
    blocks, middles, sizes = _blocks(vertices, _VERTICES)
    groups, centres, reaches = _blocks(points, _POINTS)
    found = np.empty(len(points), np.int64)
    for group, centre, reach in zip(groups, centres, reaches, strict=True):
        part = points[group]
        away = np.linalg.norm(middles - centre, axis=1)
        near = np.flatnonzero(away - sizes <= (away + sizes).min() + 2.0 * reach + _SLACK)
        away = _distances(part, middles[near])
        first = blocks[near[np.argmin(away + sizes[near], axis=1)]]
        most = np.linalg.norm(part[:, None] - vertices[first], axis=2).min(axis=1, keepdims=True)
        near = near[(away - sizes[near] <= most + _SLACK).any(axis=0)]
        chosen = np.unique(blocks[near])
        found[group] = chosen[_distances(part, vertices[chosen]).argmin(axis=1)]
    return found


def _blocks(points: Float64, size: int) -> tuple[Int64, Float64, Float64]:
    """Returns neighbours together, the last ones repeated, (B, size); their centres (B, 3) and radii (B,)."""
    order = np.argsort(places_on_curve(points), kind="stable")
    rows = np.pad(order, (0, -len(order) % size), "edge").reshape(-1, size)
    centres = points[rows].mean(axis=1)
    return rows, centres, np.linalg.norm(points[rows] - centres[:, None], axis=2).max(axis=1)


def _distances(points: Float64, others: Float64) -> Float64:
    squares = np.zeros((len(points), len(others)))
    for axis in range(3):
        squares += (points[:, axis, None] - others[:, axis]) ** 2
    return np.sqrt(squares)


FAN = 4
"""Children of each inner node of the trees around particles and triangles."""


def first_of_level(level: int) -> int:
    """Returns the number of nodes above a level of a tree, whose root is level 0."""
    return int((FAN**level - 1) // (FAN - 1))
