"""Signed distance, winding numbers and depths of points in float64, by trying all triangles."""

import numpy as np

from sinew.sim.maths.arrays import Float64
from sinew.sim.skin.attachment import closest_weights

_BLOCK = 64
_SLACK = 1e-6


def signed_distances(points: Float64, triangles: Float64) -> Float64:
    """Returns distances (P,), negative inside.

    The side is that of the nearest triangle; of equally near ones that which the point is farthest in front of or
    behind.

    Args:
        points: Shape (P, 3).
        triangles: Corners, shape (T, 3, 3), counter-clockwise from outside.
    """
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    middles = triangles.mean(axis=1)
    sizes = np.linalg.norm(triangles - middles[:, None], axis=2).max(axis=1)
    found = np.empty(len(points))
    for first in range(0, len(points), _BLOCK):
        block = points[first : first + _BLOCK]
        squares = (block**2).sum(1)[:, None] + (middles**2).sum(1) - 2.0 * block @ middles.T
        away = np.sqrt(np.maximum(squares, 0.0))
        may_be_nearest = away - sizes <= (away + sizes).min(axis=1, keepdims=True) + _SLACK
        for row, point in enumerate(block):
            among = np.flatnonzero(may_be_nearest[row])
            chosen = triangles[among]
            feet = np.einsum("tc,tcx->tx", closest_weights(point, chosen), chosen)
            distances = np.linalg.norm(point - feet, axis=1)
            least = distances.min()
            heights = np.sum((point - feet) * normals[among], axis=1)
            heights = np.where(distances <= least + 1e-9, heights, 0.0)
            found[first + row] = np.copysign(least, heights[np.abs(heights).argmax()])
    return found


def winding_numbers(points: Float64, triangles: Float64) -> Float64:
    """Returns how often closed surfaces enclose points (P, 3): 0 outside, 1 inside one of them.

    Source: A. Van Oosterom, J. Strackee 1983, "The solid angle of a plane triangle".
    """
    found = np.empty(len(points))
    for number, point in enumerate(points):
        a, b, c = np.moveaxis(triangles - point, 1, 0)
        x, y, z = (np.linalg.norm(one, axis=1) for one in (a, b, c))
        along = x * y * z + (a * b).sum(1) * z + (b * c).sum(1) * x + (c * a).sum(1) * y
        found[number] = np.arctan2((a * np.cross(b, c)).sum(1), along).sum() / (2.0 * np.pi)
    return found


def depths(points: Float64, triangles: Float64) -> Float64:
    """Returns distances of points (P, 3) from the nearest triangle whose front is outside, 0 for points outside."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    sizes = np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    fronts = triangles.mean(axis=1) + 1e-3 * np.sqrt(sizes) * across / sizes
    outer = triangles[winding_numbers(fronts, triangles) < 0.5]
    inside = winding_numbers(points, triangles) > 0.5
    found = np.zeros(len(points))
    for number in np.flatnonzero(inside):
        feet = np.einsum("tc,tcx->tx", closest_weights(points[number], outer), outer)
        found[number] = np.linalg.norm(points[number] - feet, axis=1).min()
    return found


def windings(points: Float64, triangles: Float64, block: int = 64) -> Float64:
    """As `winding_numbers`, in single precision and for many points."""
    corners, found = triangles.astype(np.float32), np.empty(len(points))
    for first in range(0, len(points), block):
        part = points[first : first + block, None, None].astype(np.float32)
        a, b, c = np.moveaxis(corners - part, 2, 0)
        x, y, z = (np.linalg.norm(one, axis=-1) for one in (a, b, c))
        along = x * y * z + (a * b).sum(-1) * z + (b * c).sum(-1) * x + (c * a).sum(-1) * y
        found[first : first + block] = np.arctan2((a * np.cross(b, c)).sum(-1), along).sum(1) / (2.0 * np.pi)
    return found
