import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sinew.sim.maths.arrays import Float64

if TYPE_CHECKING:
    from sinew.sim.gl.program import Program
    from sinew.sim.gl.texture import BufferTexture


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

    @property
    def has_bounds(self) -> bool:
        return self.radius < ENDLESS


@dataclass(frozen=True, slots=True)
class Fields:
    """The force fields that act on one node over a step, at least one."""

    texture: "BufferTexture"  # Records of `pack_fields`
    ends: tuple[int, ...]  # As of `pack_fields`
    has_bounds: bool = True  # One of them has a shape

    @property
    def defines(self) -> dict[str, object]:
        """For a program with shaders/common/fields.glsl."""
        starts = (0, *self.ends[:-1])
        types = {
            f"FIELD_{kind.name}": end > start for kind, start, end in zip(FieldType, starts, self.ends, strict=True)
        }
        return {**types, "FIELD_BOUNDS": self.has_bounds}

    def set(self, program: "Program") -> None:
        """Sets the uniforms of shaders/common/fields.glsl."""
        program["u_field_records"] = self.texture
        program["u_field_ends"], program["u_field_later_ends"] = self.ends[:3], self.ends[3:]
