"""Ties held particles to what moves: a bone, or the nearest points of a surface."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

_CHUNK = 2_000_000
"""Pairs of points and triangles that are looked at together."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Foot points of particles on a surface.

    Attributes:
        particles: shape (H,).
        corners: Vertices of the triangle of each, shape (H, 3).
        weights: Barycentric weights of the foot point, shape (H, 3).
        heights: Height above it along the triangle's normal [m], shape (H,).
    """

    particles: Int32
    corners: Int32
    weights: Float64
    heights: Float64


def attach(particles: Int32, points: Float64, positions: Float64, triangles: npt.NDArray[np.uint32]) -> Attachment:
    """Foot points on the nearest triangles.

    The foot point is that in the plane of the triangle, beside it if need be, so that a particle stays where it is as
    long as the surface does.

    Args:
        particles: Numbers, shape (H,).
        points: Their places [m], shape (H, 3).
        positions: Vertices of the surface [m], shape (V, 3).
        triangles: Corners, shape (T, 3), at least one.
    """
    corners = positions[triangles.astype(np.intp)]
    nearest = _nearest(points, corners)
    chosen = corners[nearest]
    weights = _plane_weights(points, chosen[:, 0], chosen[:, 1], chosen[:, 2])
    area = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
    normal = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    foot = np.einsum("hc,hcx->hx", weights, chosen)
    heights = np.sum((points - foot) * normal, axis=1)
    return Attachment(particles, triangles[nearest].astype(np.int32), weights, heights)


def joined(first: Attachment, second: Attachment, held: npt.NDArray[np.bool_]) -> Attachment:
    """Both together, of the first only the particles that are still held; `held` has shape (P,)."""
    kept = held[first.particles]
    return Attachment(
        np.concatenate([first.particles[kept], second.particles]),
        np.concatenate([first.corners[kept], second.corners]),
        np.concatenate([first.weights[kept], second.weights]),
        np.concatenate([first.heights[kept], second.heights]),
    )


def attached_points(attachment: Attachment, positions: Float64) -> Float64:
    """Places [m] of the particles on a surface that has moved, shape (H, 3)."""
    corners = positions[attachment.corners]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    foot = np.einsum("hc,hcx->hx", attachment.weights, corners)
    points: Float64 = foot + attachment.heights[:, None] * normal
    return points


def _nearest(points: Float64, corners: Float64) -> npt.NDArray[np.intp]:
    """Nearest triangle of each point."""
    nearest = np.empty(len(points), np.intp)
    size = max(1, _CHUNK // max(len(corners), 1))
    for first in range(0, len(points), size):
        part = points[first : first + size]
        found = closest_weights(part[:, None, :], corners[None])
        foot = np.einsum("ptc,tcx->ptx", found, corners)
        square = np.sum((part[:, None, :] - foot) ** 2, axis=2)
        nearest[first : first + size] = square.argmin(axis=1)
    return nearest


def closest_weights(points: Float64, corners: Float64) -> Float64:
    """Barycentric weights (..., 3) of the point of a triangle (..., 3, 3) that is nearest to a point (..., 3).

    Of the foot points on the plane and on the three edges, the nearest that lies on the triangle.
    """
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
