import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import proximity
from sinew.sim.colliders.state import ColliderShape

Float64 = npt.NDArray[np.float64]


def signed_distance(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Signed distance [m] of points (n, 3) in the frame of the shape, negative inside, shape (n,)."""
    return proximity(shape, size, points)[0]


def outward_normal(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Outward unit normals at the surface points closest to points (n, 3), shape (n, 3)."""
    return proximity(shape, size, points)[1]


def closest_point(shape: ColliderShape, size: Float64, points: Float64) -> Float64:
    """Surface points closest to points (n, 3), shape (n, 3); where several are closest, one of them."""
    distance, normal = proximity(shape, size, points)
    return points - distance[:, None] * normal
