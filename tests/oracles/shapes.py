"""Signed distance, outward normal and closest surface point of every shape, in its own frame, double precision.

Sphere, capsule and box are one formula: a core box (a point, a segment, or the box itself) with a rounding radius.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.state import ColliderShape, core
from tests.oracles.ellipsoid import ellipsoid_distance

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Proximity:
    """Where points are relative to a surface."""

    distance: Float64  # signed distance [m], negative inside, shape (n,)
    normal: Float64  # outward unit normal at the closest surface point, shape (n, 3)
    closest: Float64  # closest surface point, shape (n, 3)


def proximity(shape: ColliderShape, size: Float64, points: Float64) -> Proximity:
    """Distance, normal and closest point for points (n, 3) in the frame of the shape, `size` as in `Solid.size`.

    Where several surface points are closest (on the axis of a capsule, say) one of them is taken.
    """
    if shape is ColliderShape.PLANE:
        distance, normal = points[:, 1].copy(), np.broadcast_to([0.0, 1.0, 0.0], points.shape).copy()
    elif shape is ColliderShape.ELLIPSOID:
        distance, normal = ellipsoid_distance(points, size)
    else:
        distance, normal = rounded_box_distance(points, *core(shape, size))
    return Proximity(distance, normal, points - distance[:, None] * normal)


def signed_distance(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Signed distance [m] of points (n, 3) in the frame of the shape, negative inside, shape (n,)."""
    return proximity(shape, size, points).distance


def outward_normal(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Outward unit normals at the surface points closest to points (n, 3), shape (n, 3)."""
    return proximity(shape, size, points).normal


def closest_point(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Surface points closest to points (n, 3), shape (n, 3)."""
    return proximity(shape, size, points).closest


def rounded_box_distance(points: Float64, half_sizes: Float64, radius: float) -> tuple[Float64, Float64]:
    """Signed distance (n,) and outward normal (n, 3) of a box of `half_sizes` (3,) swollen by `radius`.

    Inside the core the nearest face counts; of equally near ones the first of x, y, z.
    """
    outside = points - np.clip(points, -half_sizes, half_sizes)
    length = np.linalg.norm(outside, axis=1)
    depth = half_sizes - np.abs(points)
    face = np.eye(3)[np.argmin(depth, axis=1)] * np.where(points < 0.0, -1.0, 1.0)
    inside = length == 0.0
    normal = np.where(inside[:, None], face, outside / np.where(inside, 1.0, length)[:, None])
    return np.where(inside, -depth.min(axis=1), length) - radius, normal


def safe_depth(shape: ColliderShape, size: Float64) -> float:
    """Depth [m] below any place of the surface, along its normal, from which the way out leads to the same side.

    A point that is only pushed out where it is found, without a look at its path, cannot pass through while it moves
    less than this in a substep relative to the collider: half the least thickness of a box, the least radius of
    curvature of the others.  Infinite for a plane.
    """
    if shape is ColliderShape.PLANE:
        return float("inf")
    if shape is ColliderShape.ELLIPSOID:
        return float(np.min(size) ** 2 / np.max(size))
    return float(np.min(size) if shape is ColliderShape.BOX else size[0])
