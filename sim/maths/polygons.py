import itertools

import numpy as np

from sinew.sim.maths.arrays import Float64, Int64

CLIPPED_MAX = 1 << 13
"""Largest number of corners of a polygon of which ears are cut; larger ones become fans."""


def triangulated(points: Float64, first: Int64, count: Int64) -> tuple[Int64, Int64]:
    """Divides polygons into triangles: fans of the first corner where these cover the polygon, else ears.

    Args:
        points: Positions of the corners of all polygons, shape (C, 3).
        first: First corner of each polygon, shape (F,).
        count: Number of corners of each polygon, shape (F,).

    Returns:
        Corners of the triangles, shape (T, 3), and the polygon of each, shape (T,).
    """
    fans = np.maximum(count - 2, 0)
    polygon = np.repeat(np.arange(len(count)), fans)
    start = np.cumsum(fans) - fans
    step = np.arange(len(polygon)) - start[polygon]
    triangles = first[polygon, None] + np.stack([np.zeros_like(step), step + 1, step + 2], axis=1)
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    areas = np.cross(b - a, c - a)
    normals = np.stack([np.bincount(polygon, areas[:, axis], len(count)) for axis in range(3)], axis=1)
    squares = np.einsum("ij,ij->i", normals, normals)[polygon]
    faces_away = np.einsum("ij,ij->i", areas, normals[polygon]) < -1e-6 * squares
    folded = np.bincount(polygon, faces_away, len(count)) > 0.0
    quads = np.flatnonzero(folded & (count == 4))
    for place, corners in enumerate(((1, 2, 3), (3, 0, 1))):
        triangles[start[quads] + place] = first[quads, None] + np.array(corners)
    for number in np.flatnonzero(folded & (count > 4) & (count <= CLIPPED_MAX)).tolist():
        polygon_points = points[first[number] : first[number] + count[number]]
        ears = _ears(polygon_points, normals[number])
        triangles[start[number] : start[number] + fans[number]] = first[number] + ears
    return triangles, polygon


def _ears(polygon: Float64, normal: Float64) -> Int64:
    """Cuts ears off a polygon, shape (N, 3), around its normal; shape (N - 2, 3). If it meets itself, some overlap."""
    along = int(np.argmax(np.abs(normal)))
    axes = [(along + 1) % 3, (along + 2) % 3]
    points = polygon[:, axes if normal[along] > 0.0 else axes[::-1]]
    count, places = len(points), points.tolist()
    before, after = [*range(-1, count - 1)], [*range(1, count), 0]
    before[0] = count - 1
    # Only corners that are not convex can be inside an ear: the others are NaN.
    x, y = points.T.copy()
    for corner in range(count):
        if _turn(places[before[corner]], places[corner], places[after[corner]]) > 0.0:
            x[corner] = np.nan
    left, waiting = dict.fromkeys(range(count)), [*range(count)]
    triangles = []
    while len(left) > 2:
        # A corner becomes an ear only when one beside it is cut off.
        while waiting:
            corner = waiting.pop()
            sides = places[before[corner]], places[corner], places[after[corner]]
            if corner in left and _turn(*sides) > 0.0 and not _is_inside(x, y, sides):
                break
        else:
            corner = next(iter(left))
        last, following = before[corner], after[corner]
        triangles.append((last, corner, following))
        del left[corner]
        before[following], after[last], x[corner] = last, following, np.nan
        for beside in (last, following):
            if _turn(places[before[beside]], places[beside], places[after[beside]]) > 0.0:
                x[beside] = np.nan
            waiting.append(beside)
    return np.array(triangles, np.int64)


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    """Returns twice the area of a triangle, positive if it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _is_inside(x: Float64, y: Float64, triangle: tuple[list[float], ...]) -> bool:
    """Whether a point is in a triangle or on its edges, and not at its corners."""
    inside = np.ones(len(x), np.bool_)
    for (ax, ay), (bx, by) in itertools.pairwise((*triangle, triangle[0])):
        inside &= ((bx - ax) * (y - ay) >= (by - ay) * (x - ax)) & ((x != ax) | (y != ay))
    return bool(inside.any())
