"""A solid as the solvers see it: shape, size and motion over one step, in the world, free of the scene."""

import enum

import msgspec
import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


SMALLEST_SIZE = 1e-4
"""Least size of a solid [m]."""


class ColliderShape(enum.Enum):
    """Form of a solid in its own frame, centred on the origin."""

    PLANE = "plane"
    SPHERE = "sphere"
    ELLIPSOID = "ellipsoid"
    CAPSULE = "capsule"
    BOX = "box"


class ColliderPlacement(msgspec.Struct, frozen=True, eq=False):
    """A solid at one moment.

    Attributes:
        shape: Which of the forms; a sphere that is scaled unevenly has become an ellipsoid.
        size: Sizes with the scale in them [m], shape (3,), as in `ColliderState`.
        world_from_collider: Rigid placement, shape (4, 4).
        friction, restitution: As in the settings.
    """

    shape: ColliderShape
    size: Float64
    world_from_collider: Float64
    friction: float
    restitution: float


class ColliderState(msgspec.Struct, frozen=True, eq=False):
    """One solid over one step of the simulation.

    Attributes:
        shape: Which of the five forms.
        size: Sizes in the frame of the collider [m], shape (3,): nothing for a plane; (radius, 0, 0) for a sphere; the
            semi-axes of an ellipsoid; (radius, half of the straight length, 0) for a capsule; half sizes of a box.
        world_from_start: Rigid placement at the start of the step, shape (4, 4).
        world_from_end: Rigid placement at its end.
        friction: Coulomb coefficient.
        restitution: Part of the approach speed that a bounce gives back, 0 to 1.
    """

    shape: ColliderShape
    size: Float64
    world_from_start: Float64 = msgspec.field(default_factory=lambda: np.eye(4))
    world_from_end: Float64 = msgspec.field(default_factory=lambda: np.eye(4))
    friction: float = 0.0
    restitution: float = 0.0


def bounding_radius(shape: ColliderShape, size: Float64) -> float:
    """Radius of the sphere about the origin that holds the shape [m]; infinite for a plane."""
    if shape is ColliderShape.PLANE:
        return float("inf")
    if shape is ColliderShape.BOX:
        return float(np.linalg.norm(size))
    if shape is ColliderShape.CAPSULE:
        return float(size[0] + size[1])
    return float(size[0] if shape is ColliderShape.SPHERE else np.max(size))


def core(shape: ColliderShape, size: Float64) -> tuple[Float64, float]:
    """Half sizes (3,) of the core box and rounding radius of a sphere, capsule or box."""
    if shape is ColliderShape.BOX:
        return size, 0.0
    straight = size[1] if shape is ColliderShape.CAPSULE else 0.0
    return np.array([0.0, straight, 0.0]), float(size[0])
