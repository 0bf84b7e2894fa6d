from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, Int32
from sinew.sim.maths.points import places_on_curve

_BLOCK = 64

_SLACK = 1e-9
"""Tolerance of equal distances [m]."""


@dataclass(frozen=True, slots=True)
class SurfaceAttachment:
    particles: Int32  # Shape (H,)
    corners: Int32  # Vertices of each triangle, shape (H, 3)
    weights: Float64  # Barycentric weights of the foot point, shape (H, 3)
    heights: Float64  # Above the foot point along the triangle's normal [m], shape (H,)


def attach(
    particles: Int32, points: Float64, positions: Float64, triangles: npt.NDArray[np.uint32]
) -> SurfaceAttachment:
    """Binds particles to the nearest triangles of a surface.

    The foot point is in the plane of the triangle, possibly outside it, so that a particle stays exactly in place while
    the surface rests.

    Args:
        particles: Numbers, shape (H,).
        points: Positions of the particles [m], shape (H, 3).
        positions: Vertices of the surface [m], shape (V, 3).
        triangles: Corners, shape (T, 3), at least one.
    """
    corners = positions[triangles.astype(np.intp)]
    nearest = _nearest(points, corners)
    weights, heights = over_triangles(points, corners[nearest])
    return SurfaceAttachment(particles, triangles[nearest].astype(np.int32), weights, heights)


def over_triangles(points: Float64, corners: Float64) -> tuple[Float64, Float64]:
    """Returns weights of the corners (H, 3) and heights (H,) [m] of points (H, 3) over their triangles (H, 3, 3)."""
    weights = _plane_weights(points, corners[:, 0], corners[:, 1], corners[:, 2])
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    foot = np.einsum("hc,hcx->hx", weights, corners)
    return weights, np.sum((points - foot) * normal, axis=1)


def joined(first: SurfaceAttachment, second: SurfaceAttachment, held: npt.NDArray[np.bool_]) -> SurfaceAttachment:
    """Joins attachments; keeps particles of the first where `held` (P,) is True."""
    cached = held[first.particles]
    return SurfaceAttachment(
        np.concatenate([first.particles[cached], second.particles]),
        np.concatenate([first.corners[cached], second.corners]),
        np.concatenate([first.weights[cached], second.weights]),
        np.concatenate([first.heights[cached], second.heights]),
    )


def _nearest(points: Float64, corners: Float64) -> npt.NDArray[np.intp]:
    nearest = np.empty(len(points), np.intp)
    if not len(points):
        return nearest
    middles = corners.mean(axis=1)
    sizes = np.sqrt(np.sum((corners - middles[:, None]) ** 2, axis=2).max(axis=1))
    order = np.argsort(places_on_curve(points), kind="stable")
    for first in range(0, len(points), _BLOCK):
        rows = order[first : first + _BLOCK]
        part = points[rows]
        middle = part.mean(axis=0)
        reach = float(np.sqrt(np.sum((part - middle) ** 2, axis=1).max()))
        away = np.sqrt(np.sum((middles - middle) ** 2, axis=1))
        among = np.flatnonzero(away - sizes <= (away + sizes).min() + 2.0 * reach + _SLACK)
        nearest[rows] = among[_nearest_of(part, corners[among], middles[among], sizes[among])]
    return nearest


def _nearest_of(points: Float64, corners: Float64, middles: Float64, sizes: Float64) -> npt.NDArray[np.intp]:
    away = np.zeros((len(points), len(corners)))
    for axis in range(3):
        away += (points[:, axis, None] - middles[:, axis]) ** 2
    away = np.sqrt(away)
    row, column = np.nonzero(away - sizes <= (away + sizes).min(axis=1, keepdims=True) + _SLACK)
    chosen = corners[column]
    foot = np.einsum("pc,pcx->px", closest_weights(points[row], chosen), chosen)
    square = np.sum((points[row] - foot) ** 2, axis=1)
    least = np.minimum.reduceat(square, np.searchsorted(row, np.arange(len(points))))
    best = np.flatnonzero(square == least[row])
    _, first = np.unique(row[best], return_index=True)
    return column[best[first]]


def closest_weights(points: Float64, corners: Float64) -> Float64:
    """Returns barycentric weights (..., 3) of the point of a triangle (..., 3, 3) nearest to a point (..., 3)."""
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    candidates = [_edge_weights(points, *ends) for ends in ((a, b, 0, 1), (b, c, 1, 2), (c, a, 2, 0))]
    candidates.append(_plane_weights(points, a, b, c))
    weights = np.stack(np.broadcast_arrays(*candidates), axis=-2)
    feet = np.einsum("...kc,...cx->...kx", weights, np.broadcast_to(corners, (*weights.shape[:-2], 3, 3)))
    square = np.sum((points[..., None, :] - feet) ** 2, axis=-1)
    square = np.where((weights >= 0.0).all(axis=-1), square, np.inf)
    best = square.argmin(axis=-1)
    chosen: Float64 = np.take_along_axis(weights, best[..., None, None], axis=-2)[..., 0, :]
    return chosen


def _edge_weights(points: Float64, start: Float64, end: Float64, first: int, second: int) -> Float64:
    along = end - start
    square = np.maximum(np.sum(along * along, axis=-1), 1e-300)
    share = np.clip(np.sum((points - start) * along, axis=-1) / square, 0.0, 1.0)
    weights = np.zeros((*share.shape, 3))
    weights[..., first], weights[..., second] = 1.0 - share, share
    return weights


def _plane_weights(points: Float64, a: Float64, b: Float64, c: Float64) -> Float64:
    area = np.cross(b - a, c - a)
    square = np.maximum(np.sum(area * area, axis=-1), 1e-300)
    second = np.sum(np.cross(points - a, c - a) * area, axis=-1) / square
    third = np.sum(np.cross(b - a, points - a) * area, axis=-1) / square
    return np.stack([1.0 - second - third, second, third], axis=-1)
