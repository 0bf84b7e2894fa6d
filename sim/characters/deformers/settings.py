"""A deformer is a struct here, a function of its name in `sinew.sim.characters.deformers.functions` and in
`shaders/model/deformers`, and a line in `DEFORMERS`.  All lengths are relative to the size of the model.
"""

import enum
import functools
import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.params import Effect, Role, Scale, param
from sinew.sim.scene.vectors import Colour

VALUES = 12

_SHORTEST = 1e-6
"""Shortest part of the model along an axis, as a part of its size."""


class DeformerAxis(enum.Enum):
    X = "x"
    Y = "y"
    Z = "z"


_UNIT = {DeformerAxis.X: (1.0, 0.0, 0.0), DeformerAxis.Y: (0.0, 1.0, 0.0), DeformerAxis.Z: (0.0, 0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Extent:
    box: Bounds  # In file space
    is_z_up: bool  # Whether z points up in the file

    @property
    def size(self) -> float:
        """Longest edge of the model; 1 for a model without size."""
        return self.box.extent or 1.0

    @property
    def centre(self) -> Float64:
        return (self.box.lo + self.box.hi) / 2.0

    def direction(self, axis: DeformerAxis) -> Float64:
        """Returns the direction of an axis in file space, shape (3,)."""
        x, y, z = _UNIT[axis]
        return np.array([x, -z, y]) if self.is_z_up else np.array([x, y, z])

    def span(self, direction: Float64, start: float, end: float) -> tuple[float, float]:
        """Returns start and length of a part of the model along a direction, from percentages of the whole."""
        reach = float(np.abs(direction) @ self.box.size)
        lowest = float(direction @ self.centre) - reach / 2.0
        length = max(0.01 * (end - start) * reach, _SHORTEST * self.size)
        return lowest + 0.01 * start * reach, length


_pose = functools.partial(param, effect=Effect.POSE)


class Deformer(msgspec.Struct, frozen=True, kw_only=True, tag_field="deformer"):
    label: ClassVar[str] = ""  # Name in the window
    function: ClassVar[str] = ""  # Name of its function; "" if it moves nothing

    muted: Annotated[bool, _pose("Disable the deformer.", group="Deformer", role=Role.HIDDEN)] = False
    bone: Annotated[str, _pose(
        "Bone whose weights limit the deformer; empty for everywhere.", role=Role.OWN_BONE, label="Where",
        empty="Everywhere",
    )] = ""  # fmt: skip

    def values(self, extent: Extent, time: float) -> Float64:
        """Returns the arguments of the function at scene time `time` [s], shape (VALUES,)."""
        raise NotImplementedError  # msgspec structs cannot have abstract methods


Frequency = Annotated[
    float,
    param("Oscillation frequency; 0 for a still deformation.", unit="Hz", lo=-60.0, hi=60.0, soft=(0.0, 4.0),
          effect=Effect.POSE),
]  # fmt: skip
Phase = Annotated[
    float, param("Phase of the oscillation at the start.", unit="°", lo=-3600.0, hi=3600.0, soft=(-180.0, 180.0),
                 effect=Effect.POSE),
]  # fmt: skip
Height = Annotated[
    float,
    param("Amplitude, relative to the size of the model.", unit="%", lo=-1000.0, hi=1000.0, soft=(0.0, 20.0),
          effect=Effect.POSE),
]  # fmt: skip
Start = Annotated[
    float,
    param("Start along the axis, relative to the model.", unit="%", lo=-1000.0, hi=1000.0,
          soft=(0.0, 100.0), effect=Effect.POSE),
]  # fmt: skip
End = Annotated[
    float,
    param("End along the axis, relative to the model.", unit="%", lo=-1000.0, hi=1000.0,
          soft=(0.0, 100.0), effect=Effect.POSE),
]  # fmt: skip
Along = Annotated[DeformerAxis, param("Axis of the deformation.", effect=Effect.POSE)]
Wavelength = Annotated[
    float,
    param("Wavelength, relative to the size of the model.", unit="%", lo=0.1, hi=1e5, soft=(5.0, 200.0),
          scale=Scale.LOG, effect=Effect.POSE),
]  # fmt: skip


class BulgeMode(enum.Enum):
    TRAVELLING = "travelling"
    STANDING = "standing"
    PULSE = "pulse"


class Bulge(Deformer, tag="bulge", frozen=True, kw_only=True):
    """A travelling or standing wave along the normals, or a pulse of the whole surface."""

    label: ClassVar[str] = "Bulge"
    function: ClassVar[str] = "bulge"

    mode: Annotated[BulgeMode, _pose(
        "A travelling wave, a standing wave, or the whole surface at once.",
    )] = BulgeMode.TRAVELLING  # fmt: skip
    axis: Along = DeformerAxis.Y
    height: Height = 3.0
    wavelength: Wavelength = 40.0
    frequency: Frequency = 1.0
    phase: Phase = 0.0

    def values(self, extent: Extent, time: float) -> Float64:
        turn, start = _turn(self.frequency, time), math.radians(self.phase)
        number = 0.0 if self.mode is BulgeMode.PULSE else _wave_number(self.wavelength, extent)
        standing = self.mode is BulgeMode.STANDING
        phase, swing = (start, math.cos(turn)) if standing else (start + turn, 1.0)
        return _packed((*extent.direction(self.axis), number), (0.01 * self.height * extent.size, phase, swing))


class Twist(Deformer, tag="twist", frozen=True, kw_only=True):
    """A rotation about an axis that increases along it."""

    label: ClassVar[str] = "Twist"
    function: ClassVar[str] = "twist"

    axis: Along = DeformerAxis.Y
    angle: Annotated[float, _pose(
        "Rotation of the end.", unit="°", lo=-36000.0, hi=36000.0, soft=(-360.0, 360.0),
    )] = 90.0  # fmt: skip
    start: Start = 0.0
    end: End = 100.0
    frequency: Frequency = 0.0
    phase: Phase = 90.0

    def values(self, extent: Extent, time: float) -> Float64:
        direction = extent.direction(self.axis)
        start, length = extent.span(direction, self.start, self.end)
        angle = math.radians(self.angle) * _swing(self.frequency, self.phase, time)
        return _packed((*direction, start), (*extent.centre, length), (angle / length,))


class Bend(Deformer, tag="bend", frozen=True, kw_only=True):
    """Bends a part of an axis to an arc."""

    label: ClassVar[str] = "Bend"
    function: ClassVar[str] = "bend"

    axis: Along = DeformerAxis.Y
    towards: Annotated[DeformerAxis, _pose("Axis towards which it bends; different from the first.")] = DeformerAxis.Z
    angle: Annotated[float, _pose("Angle of the arc.", unit="°", lo=-3600.0, hi=3600.0, soft=(-180.0, 180.0))] = 45.0
    start: Start = 0.0
    end: End = 100.0
    frequency: Frequency = 0.0
    phase: Phase = 90.0

    def values(self, extent: Extent, time: float) -> Float64:
        direction = extent.direction(self.axis)
        start, length = extent.span(direction, self.start, self.end)
        angle = math.radians(self.angle) * _swing(self.frequency, self.phase, time)
        towards = extent.direction(_other(self.towards, self.axis))
        return _packed((*direction, start), (*extent.centre, length), (*towards, angle / length))


class Taper(Deformer, tag="taper", frozen=True, kw_only=True):
    """Widens or narrows a part along an axis."""

    label: ClassVar[str] = "Taper"
    function: ClassVar[str] = "taper"

    axis: Along = DeformerAxis.Y
    factor: Annotated[float, _pose("Width at the end.", unit="×", lo=-100.0, hi=100.0, soft=(0.0, 2.0))] = 0.5
    start: Start = 0.0
    end: End = 100.0
    frequency: Frequency = 0.0
    phase: Phase = 90.0

    def values(self, extent: Extent, time: float) -> Float64:
        direction = extent.direction(self.axis)
        start, length = extent.span(direction, self.start, self.end)
        more = (self.factor - 1.0) * _swing(self.frequency, self.phase, time)
        return _packed((*direction, start), (*extent.centre, length), (more,))


class Wave(Deformer, tag="wave", frozen=True, kw_only=True):
    """A transverse wave along an axis."""

    label: ClassVar[str] = "Wave"
    function: ClassVar[str] = "wave"

    axis: Along = DeformerAxis.Y
    towards: Annotated[DeformerAxis, _pose("Axis of the oscillation.")] = DeformerAxis.X
    height: Height = 3.0
    wavelength: Wavelength = 50.0
    frequency: Frequency = 1.0
    phase: Phase = 0.0

    def values(self, extent: Extent, time: float) -> Float64:
        phase = math.radians(self.phase) + _turn(self.frequency, time)
        return _packed(
            (*extent.direction(self.axis), _wave_number(self.wavelength, extent)),
            (*extent.direction(self.towards), 0.01 * self.height * extent.size),
            (phase,),
        )


class EmissionPulse(Deformer, tag="emission-pulse", frozen=True, kw_only=True):
    """Pulsing emission of the surface."""

    label: ClassVar[str] = "Emission pulse"

    colour: Annotated[Colour, _pose("Colour of the emission.", role=Role.COLOUR)] = (1.0, 0.35, 0.1)
    strength: Annotated[float, _pose("Largest brightness.", lo=0.0, hi=1000.0, soft=(0.0, 2.0))] = 0.6
    frequency: Frequency = 1.0
    phase: Phase = -90.0

    def light(self, time: float) -> Float64:
        """Returns the emitted linear RGB at scene time `time` [s], shape (3,)."""
        part = 0.5 * (1.0 + math.sin(math.radians(self.phase) + _turn(self.frequency, time)))
        return self.strength * part * np.array(self.colour)


AnyDeformer = Bulge | Twist | Bend | Taper | Wave | EmissionPulse

DEFORMERS: tuple[type[Deformer], ...] = (Bulge, Twist, Bend, Taper, Wave, EmissionPulse)

FUNCTIONS = tuple(known.function for known in DEFORMERS if known.function)
"""Functions of deformers; the index of a name is its number in the shader."""


def _packed(*rows: tuple[float, ...]) -> Float64:
    packed = np.zeros((VALUES // 4, 4))
    for row, values in zip(packed, rows, strict=False):
        row[: len(values)] = values
    return packed.ravel()


def _turn(frequency: float, time: float) -> float:
    """Returns an angle after a time [rad], within one turn to stay exact."""
    return math.tau * math.fmod(frequency * time, 1.0)


def _swing(frequency: float, phase: float, time: float) -> float:
    """Returns the swing from -1 to 1; 1 without a frequency."""
    return math.sin(math.radians(phase) + _turn(frequency, time)) if frequency else 1.0


def _wave_number(wavelength: float, extent: Extent) -> float:
    return math.tau / (0.01 * wavelength * extent.size)


def _other(axis: DeformerAxis, taken: DeformerAxis) -> DeformerAxis:
    order = tuple(DeformerAxis)
    return axis if axis is not taken else order[(order.index(axis) + 1) % len(order)]
