"""Settings of the emission of particles: from where, how many, and with what life, speed and size.  Pure."""

import enum
from typing import Annotated

import msgspec

from sim.assets.formats import IMAGE_FORMATS
from sim.scene.params import Effect, Role, Scale, Settings, param

Length = Annotated[float, msgspec.Meta(ge=0.0, le=1e4)]
Lengths = tuple[Length, Length, Length]

CAPACITY_MAX = 1 << 24
SHORTEST_LIFE = 1e-3


class EmitterSource(enum.Enum):
    """What particles come out of; vertices and faces are those of the model that the emitter rides on, as it moves."""

    POINT = "point"
    SPHERE = "sphere"
    BOX = "box"
    DISC = "disc"
    LINE = "line"
    VERTICES = "vertices"
    FACES = "faces"


SURFACE_SOURCES = (EmitterSource.VERTICES, EmitterSource.FACES)
"""Sources that are the skin of a model."""


class EmissionMode(enum.Enum):
    """How many are born: a steady stream (and bursts), bursts alone, or one wherever one has died."""

    RATE = "rate"
    BURST = "burst"
    FULL = "always full"


class EmissionAim(enum.Enum):
    """Which way particles start: about the y axis of the emitter, away from the source, or by yaw and pitch."""

    AXIS = "axis"
    OUTWARD = "outward"
    ANGLES = "yaw and pitch"


class EmissionSettings(Settings, frozen=True, kw_only=True):
    """From where particles come and how they start."""

    source: Annotated[
        EmitterSource,
        param(
            "What particles come out of: a shape, or the vertices or the faces of the model it rides on.",
            group="Source",
            effect=Effect.REBUILD,
        ),
    ] = EmitterSource.POINT
    source_radius: Annotated[
        float,
        param("Radius of a sphere or a disc.", unit="m", lo=0.0, hi=1e4, soft=(0.0, 5.0), step=0.01, group="Source",
              label="Radius"),
    ] = 0.25  # fmt: skip
    source_hollow: Annotated[
        float,
        param("Part of the radius that is empty; 1 leaves only the surface.", lo=0.0, hi=1.0, step=0.05,
              group="Source", label="Hollow"),
    ] = 0.0  # fmt: skip
    source_size: Annotated[
        Lengths,
        param("Edges of a box; the first one is also the length of a line.", unit="m", lo=0.0, hi=1e4, step=0.01,
              group="Source", label="Size", bounded=False),
    ] = (0.5, 0.5, 0.5)  # fmt: skip
    density_bone: Annotated[
        str,
        param("Bone whose weights say where the surface emits; empty for everywhere.", group="Source",
              role=Role.BONE, effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    density_texture: Annotated[
        str,
        param("Image whose brightness says where the surface emits; stored relative to the project.", group="Source",
              role=Role.PATH, suffixes=IMAGE_FORMATS.suffixes, effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    mode: Annotated[
        EmissionMode,
        param("A steady stream and bursts, bursts alone, or a new particle wherever one has died.", group="Emission",
              effect=Effect.REBUILD),
    ] = EmissionMode.RATE  # fmt: skip
    rate: Annotated[
        float,
        param("Particles born each second.", unit="1/s", lo=0.0, hi=1e8, soft=(1.0, 1e5), scale=Scale.LOG,
              group="Emission"),
    ] = 500.0  # fmt: skip
    bursts: Annotated[
        str,
        param("Bursts as second:count; 0:100 1.5:300 are 100 particles at the start and 300 after 1.5 s.",
              group="Emission",
              effect=Effect.RESET),
    ] = ""  # fmt: skip
    burst_period: Annotated[
        float,
        param("Time after which all the bursts come again; 0 for never.", unit="s", lo=0.0, hi=1e4, soft=(0.0, 10.0),
              step=0.1, group="Emission", effect=Effect.RESET),
    ] = 0.0  # fmt: skip
    capacity: Annotated[
        int,
        param("Most particles at a time; beyond it the oldest give way.", lo=1, hi=CAPACITY_MAX, soft=(100, 1_000_000),
              scale=Scale.LOG, group="Emission", effect=Effect.REBUILD),
    ] = 10_000  # fmt: skip
    seed: Annotated[
        int,
        param("Which of the random streams is used; the same number gives the same particles.", lo=0, hi=2**31 - 1,
              soft=(0, 100), group="Emission", effect=Effect.RESET),
    ] = 1  # fmt: skip
    lifetime: Annotated[
        float,
        param("Time that a particle lives.", unit="s", lo=SHORTEST_LIFE, hi=1e4, soft=(0.1, 10.0), scale=Scale.LOG,
              group="Emission"),
    ] = 2.0  # fmt: skip
    lifetime_variance: Annotated[
        float,
        param("Spread of the lifetime; at 0.2 particles live 80 to 120 % of it.", lo=0.0, hi=0.95, step=0.05,
              group="Emission",
              label="Lifetime spread"),
    ] = 0.2  # fmt: skip
    speed: Annotated[
        float,
        param("Speed that a particle starts with.", unit="m/s", lo=0.0, hi=1e4, soft=(0.0, 20.0), step=0.1,
              group="Emission"),
    ] = 3.0  # fmt: skip
    speed_variance: Annotated[
        float,
        param("Spread of the speed; at 0.2 particles start with 80 to 120 % of it.", lo=0.0, hi=1.0, step=0.05,
              group="Emission",
              label="Speed spread"),
    ] = 0.2  # fmt: skip
    aim: Annotated[
        EmissionAim,
        param("Which way particles start: about the y axis, away from the source, or by yaw and pitch.",
              group="Emission"),
    ] = EmissionAim.AXIS  # fmt: skip
    cone_angle: Annotated[
        float,
        param("Half the opening of the cone that particles start in; 180 for all directions.",
              unit="°", lo=0.0, hi=180.0,
              step=1.0, group="Emission"),
    ] = 20.0  # fmt: skip
    yaw: Annotated[
        float,
        param("Middle of the angles about the y axis.", unit="°", lo=-360.0, hi=360.0, step=1.0, group="Emission"),
    ] = 0.0  # fmt: skip
    yaw_spread: Annotated[
        float,
        param("Span of the angles about the y axis.", unit="°", lo=0.0, hi=360.0, step=1.0, group="Emission"),
    ] = 360.0  # fmt: skip
    pitch: Annotated[
        float,
        param("Middle of the angles above the horizontal; 90 is up.", unit="°", lo=-360.0, hi=360.0, step=1.0,
              group="Emission"),
    ] = 90.0  # fmt: skip
    pitch_spread: Annotated[
        float,
        param("Span of the angles above the horizontal.", unit="°", lo=0.0, hi=360.0, step=1.0, group="Emission"),
    ] = 90.0  # fmt: skip
    inherited_velocity: Annotated[
        float,
        param("Part of the velocity of the source that a particle takes along; 1 for all of it.",
              lo=-10.0, hi=10.0, soft=(0.0, 1.0),
              step=0.05, group="Emission"),
    ] = 0.0  # fmt: skip
    size: Annotated[
        float,
        param("Width of a particle.", unit="m", lo=1e-5, hi=1e3, soft=(1e-3, 1.0), scale=Scale.LOG, group="Emission"),
    ] = 0.05  # fmt: skip
    size_variance: Annotated[
        float,
        param("Spread of the size; at 0.2 particles have 80 to 120 % of it.", lo=0.0, hi=0.95, step=0.05,
              group="Emission",
              label="Size spread"),
    ] = 0.2  # fmt: skip
