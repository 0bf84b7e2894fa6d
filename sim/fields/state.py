import enum
from collections.abc import Callable
from dataclasses import dataclass

from sinew.sim.maths.arrays import Float64


class FieldType(enum.Enum):
    """In the order of the records."""

    WIND = "wind"
    ATTRACTOR = "attractor"
    VORTEX = "vortex"
    TURBULENCE = "turbulence"
    DRAG = "drag"
    PULSE = "pulse"


class FieldShape(enum.Enum):
    INFINITE = "infinite"
    SPHERE = "sphere"
    BOX = "box"
    CAPSULE = "capsule"


ENDLESS = 1e18
"""Radius of a field without bounds [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldPlacement:
    """A force field at one moment; compared by identity.

    The shape is a box swollen by a radius: a sphere has no half extents, a capsule one along y.

    Attributes:
        world_from_field: Rigid, shape (4, 4).
        half_extents: Of the box [m].
        radius: By which the box is swollen [m]; `ENDLESS` without bounds.
        falloff: Distance outside of the shape at which the field ends [m].
        numbers: Returns the numbers of the type, see shaders/common/fields.glsl, at a time since the start of the
            simulation [s]; all of the field is proportional to the first one.
    """

    type: FieldType
    world_from_field: Float64
    half_extents: tuple[float, float, float]
    radius: float
    falloff: float
    numbers: Callable[[float], tuple[float, ...]]
