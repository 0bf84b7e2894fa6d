"""A collider as the solvers see it: shape, size and motion over one step, in the world, free of the scene."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.kinds.collider.settings import SMALLEST_SIZE, ColliderSettings, ColliderShape

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColliderState:
    """One collider over one step of the simulation.

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
    world_from_start: Float64 = field(default_factory=lambda: np.eye(4))
    world_from_end: Float64 = field(default_factory=lambda: np.eye(4))
    friction: float = 0.0
    restitution: float = 0.0


def sized(settings: ColliderSettings, scale: Float64) -> tuple[ColliderShape, Float64]:
    """Shape and size (3,) of a collider whose node is scaled by `scale` (3,), as `ColliderSettings` defines it.

    Mirroring does not matter, these shapes being symmetric.  No size gets smaller than the smallest allowed one.
    """
    factor = np.abs(np.asarray(scale, dtype=np.float64))
    shape = settings.shape
    if shape is ColliderShape.PLANE:
        return shape, np.zeros(3)
    if shape is ColliderShape.CAPSULE:
        radius = settings.radius * np.sqrt(factor[0] * factor[2])
        return shape, np.array([_positive(radius), _positive(0.5 * settings.length * factor[1]), 0.0])
    if shape is ColliderShape.SPHERE:
        if factor[0] == factor[1] == factor[2]:
            return shape, np.array([_positive(settings.radius * factor[0]), 0.0, 0.0])
        return ColliderShape.ELLIPSOID, _positive(settings.radius * factor)
    sizes = settings.semi_axes if shape is ColliderShape.ELLIPSOID else settings.half_sizes
    return shape, _positive(np.asarray(sizes) * factor)


def bounding_radius(shape: ColliderShape, size: Float64) -> float:
    """Radius of the sphere about the origin that holds the shape [m]; infinite for a plane."""
    if shape is ColliderShape.PLANE:
        return float("inf")
    if shape is ColliderShape.BOX:
        return float(np.linalg.norm(size))
    if shape is ColliderShape.CAPSULE:
        return float(size[0] + size[1])
    return float(size[0] if shape is ColliderShape.SPHERE else np.max(size))


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


def _positive(value: npt.ArrayLike) -> Float64:
    return np.maximum(value, SMALLEST_SIZE)
