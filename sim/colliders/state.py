import enum

import msgspec
import numpy as np

from sinew.sim.maths.arrays import Float64

SMALLEST_SIZE = 1e-4
"""Smallest size of a collider [m]."""


class ColliderShape(enum.Enum):
    """Shapes, centred on the origin of their frame, and the skin of a character."""

    PLANE = "plane"
    SPHERE = "sphere"
    ELLIPSOID = "ellipsoid"
    CAPSULE = "capsule"
    BOX = "box"
    SKIN = "skin"


RIGID_SHAPES = tuple(shape for shape in ColliderShape if shape is not ColliderShape.SKIN)


class ColliderPlacement(msgspec.Struct, frozen=True, eq=False):
    shape: ColliderShape  # A sphere with an uneven scale is an ellipsoid here
    size: Float64  # Sizes including the scale [m], shape (3,), as in `ColliderState`
    world_from_collider: Float64  # Rigid transform, shape (4, 4)
    friction: float
    restitution: float
    yields: bool = False


class ColliderState(msgspec.Struct, frozen=True, eq=False):
    """A collider over one step."""

    shape: ColliderShape
    # In the frame of the collider [m], shape (3,): unused for a plane; (radius, 0, 0) for a sphere; the semi-axes
    # of an ellipsoid; (radius, half of the straight length, 0) for a capsule; half extents of a box
    size: Float64
    # Rigid transform at the start of the step, shape (4, 4)
    world_from_start: Float64 = msgspec.field(default_factory=lambda: np.eye(4))
    world_from_end: Float64 = msgspec.field(default_factory=lambda: np.eye(4))
    friction: float = 0.0  # Coulomb coefficient
    restitution: float = 0.0  # Part of the approach speed that a bounce returns, 0 to 1
    yields: bool = False  # Whether it pushes cloth with a limited acceleration, before the firm ones


def bounding_radius(shape: ColliderShape, size: Float64) -> float:
    """Returns the bounding radius about the origin [m]; infinite for a plane."""
    if shape is ColliderShape.PLANE:
        return float("inf")
    if shape is ColliderShape.BOX:
        return float(np.linalg.norm(size))
    if shape is ColliderShape.CAPSULE:
        return float(size[0] + size[1])
    return float(size[0] if shape is ColliderShape.SPHERE else np.max(size))


def core(shape: ColliderShape, size: Float64) -> tuple[Float64, float]:
    """Returns half extents (3,) and rounding radius of a sphere, capsule or box as a rounded box."""
    if shape is ColliderShape.BOX:
        return size, 0.0
    straight = size[1] if shape is ColliderShape.CAPSULE else 0.0
    return np.array([0.0, straight, 0.0]), float(size[0])
