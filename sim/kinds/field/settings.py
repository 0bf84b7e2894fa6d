import enum
import functools
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.scene.params import Role, Scale, Settings, param
from sinew.sim.scene.scene import NodeId

SMALLEST_SIZE, LARGEST_SIZE = 1e-3, 1e4

Length = Annotated[float, msgspec.Meta(ge=SMALLEST_SIZE, le=LARGEST_SIZE)]
Lengths = tuple[Length, Length, Length]


class FieldSource(enum.Enum):
    POINT = "point"
    LINE = "line"
    PLANE = "plane"


class VortexProfile(enum.Enum):
    RANKINE = "rankine"
    LAMB_OSEEN = "lamb-oseen"


_field = functools.partial(param, group="Field")
_shape = functools.partial(param, group="Shape")
_length = functools.partial(_shape, unit="m", lo=SMALLEST_SIZE, hi=LARGEST_SIZE, soft=(0.01, 10.0), scale=Scale.LOG)
_target = functools.partial(param, group="Acts on", role=Role.TARGET)


class FieldSettings(Settings, frozen=True, kw_only=True):
    """A force field that acts on cloth, hair and particles.

    Its axis is the y axis of the node.  The scale of the node multiplies the sizes of the shape and the falloff.
    """

    kind: ClassVar[str] = "field"

    type: Annotated[FieldType, _field(
        "Wind, vortex and turbulence move the air; an attractor and a pulse accelerate; drag slows down.",
    )] = FieldType.WIND  # fmt: skip
    speed: Annotated[float, _field(
        "Speed of the wind along the axis, RMS speed of the turbulence, or speed of the front of a pulse.", unit="m/s",
        lo=-1e3, hi=1e3, soft=(0.0, 20.0), step=0.1,
    )] = 3.0  # fmt: skip
    gusts: Annotated[float, _field(
        "RMS of the gusts, as a part of the speed.", lo=0.0, hi=10.0, soft=(0.0, 1.0), step=0.05,
    )] = 0.0  # fmt: skip
    strength: Annotated[float, _field(
        "Acceleration towards the source at a distance of 1 m, which is negative to repel; or the largest of a pulse,"
        " away from its source.", unit="m/s²", lo=-1e4, hi=1e4, soft=(-50.0, 50.0), step=0.1,
    )] = 10.0  # fmt: skip
    power: Annotated[float, _field(
        "How fast an attractor weakens: with this power of the distance.", lo=0.0, hi=4.0, step=0.1,
    )] = 2.0  # fmt: skip
    circulation: Annotated[float, _field(
        "Circulation of the vortex: the speed at a distance, times the length of the circle.", unit="m²/s", lo=-1e4,
        hi=1e4, soft=(-20.0, 20.0), step=0.1,
    )] = 6.0  # fmt: skip
    profile: Annotated[VortexProfile, _field(
        "Speed near the axis: a core that turns as a solid body, or a smooth one.",
    )] = VortexProfile.LAMB_OSEEN  # fmt: skip
    source: Annotated[FieldSource, _field(
        "The centre, the axis, or the plane across the axis.",
    )] = FieldSource.POINT  # fmt: skip
    core: Annotated[float, _field(
        "Radius of the soft core of an attractor or a vortex.", unit="m", lo=1e-3, hi=1e3, soft=(0.01, 5.0),
        scale=Scale.LOG, label="Core radius",
    )] = 0.2  # fmt: skip
    scale: Annotated[float, _field(
        "Size of the gusts or of the turbulence, or width of a pulse.", unit="m", lo=1e-3, hi=1e3, soft=(0.05, 10.0),
        scale=Scale.LOG, label="Size",
    )] = 0.5  # fmt: skip
    change: Annotated[float, _field(
        "How often the turbulence changes.", unit="Hz", lo=0.0, hi=100.0, soft=(0.0, 5.0), step=0.1,
    )] = 0.5  # fmt: skip
    drag: Annotated[float, _field(
        "How fast objects approach the velocity of the air; at 1 they lose 63 % of the difference in a second.",
        unit="1/s", lo=0.0, hi=1e4, soft=(0.0, 20.0), step=0.1,
    )] = 4.0  # fmt: skip
    start: Annotated[float, _field(
        "When the pulse leaves its source, after the start of the simulation.", unit="s", lo=-1e4, hi=1e4,
        soft=(0.0, 10.0), step=0.1,
    )] = 0.5  # fmt: skip
    seed: Annotated[int, _field(
        "Random seed; the same seed gives the same gusts and turbulence.", lo=0, hi=2**31 - 1, soft=(0, 100),
    )] = 1  # fmt: skip

    shape: Annotated[FieldShape, _shape("Where the field acts.")] = FieldShape.INFINITE
    radius: Annotated[float, _length("Radius of a sphere or of a capsule.")] = 0.5
    length: Annotated[float, _length("Length of a capsule between the centres of its round ends.")] = 1.0
    half_sizes: Annotated[Lengths, _shape(
        "Half extents of a box.", unit="m", lo=SMALLEST_SIZE, hi=LARGEST_SIZE, step=0.01, label="Half extents",
        bounded=False,
    )] = (0.5, 0.5, 0.5)  # fmt: skip
    falloff: Annotated[float, _shape(
        "Distance from the shape over which the field fades; 0 for a sharp edge.", unit="m", lo=0.0, hi=LARGEST_SIZE,
        soft=(0.0, 5.0), step=0.01,
    )] = 0.25  # fmt: skip

    objects: Annotated[tuple[NodeId, ...], _target(
        "Objects and groups that the field acts on; all if none is chosen.",
    )] = ()  # fmt: skip
    on_cloth: Annotated[bool, _target("Act on cloth.", label="Cloth")] = True
    on_hair: Annotated[bool, _target("Act on hair.", label="Hair")] = True
    on_particles: Annotated[bool, _target("Act on particles of emitters.", label="Particles")] = True
    on_others: Annotated[bool, _target("Act on simulated objects of all other kinds.", label="Others")] = True


NUMBERS_OF_TYPE: dict[FieldType, tuple[str, ...]] = {
    FieldType.WIND: ("speed", "gusts", "scale", "seed"),
    FieldType.ATTRACTOR: ("strength", "power", "source", "core"),
    FieldType.VORTEX: ("circulation", "profile", "core"),
    FieldType.TURBULENCE: ("speed", "scale", "change", "seed"),
    FieldType.DRAG: ("drag",),
    FieldType.PULSE: ("speed", "strength", "source", "scale", "start"),
}

SIZES_OF_FIELD: dict[FieldShape, tuple[str, ...]] = {
    FieldShape.INFINITE: (),
    FieldShape.SPHERE: ("radius", "falloff"),
    FieldShape.BOX: ("half_sizes", "falloff"),
    FieldShape.CAPSULE: ("radius", "length", "falloff"),
}
