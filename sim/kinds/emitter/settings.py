import enum
import functools
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.kinds.air import field_weight_param
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.vectors import FAR, MOST, STOP_MAX, Amounts, Place, UnitFloat

Length = Annotated[float, msgspec.Meta(ge=0.0, le=1e4)]
Lengths = tuple[Length, Length, Length]

CAPACITY_MAX = 1 << 24
SHORTEST_LIFE = 1e-3


class EmitterSource(enum.Enum):
    POINT = "point"
    SPHERE = "sphere"
    BOX = "box"
    DISC = "disc"
    LINE = "line"
    VERTICES = "vertices"
    FACES = "faces"


SURFACE_SOURCES = (EmitterSource.VERTICES, EmitterSource.FACES)


class EmissionMode(enum.Enum):
    RATE = "rate"
    BURST = "burst"
    FULL = "always full"


class EmissionAim(enum.Enum):
    AXIS = "axis"
    OUTWARD = "outward"
    ANGLES = "yaw and pitch"


SUBSTEPS_MAX = 256
SIZE_FACTOR_MAX = 100.0

ColourStop = tuple[UnitFloat, UnitFloat, UnitFloat, UnitFloat]
"""Colour at a share of the life: the share, then linear red, green and blue."""
ValueStop = tuple[UnitFloat, Annotated[float, msgspec.Meta(ge=0.0, le=SIZE_FACTOR_MAX)]]
OpacityStop = tuple[UnitFloat, UnitFloat]
_STOPS = msgspec.Meta(min_length=1, max_length=STOP_MAX)


class CollisionResponse(enum.Enum):
    NONE = "none"
    BOUNCE = "bounce"
    DIE = "die"
    STICK = "stick"


class ParticleLook(enum.Enum):
    ROUND = "round"
    TEXTURED = "textured"
    STREAK = "streak"


class AtlasMode(enum.Enum):
    RANDOM = "random"
    OVER_LIFE = "over life"


class Blending(enum.Enum):
    ADDITIVE = "additive"
    ALPHA = "alpha"
    OPAQUE = "opaque"


_source = functools.partial(param, group="Source")
_emission = functools.partial(param, group="Emission")
_motion = functools.partial(param, group="Motion")
_collision = functools.partial(param, group="Collision")
_look = functools.partial(param, group="Look", effect=Effect.VIEW)


class EmitterSettings(Settings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "emitter"

    source: Annotated[EmitterSource, _source(
        "Shape that emits, or the vertices or faces of the parent model.", effect=Effect.REBUILD,
    )] = EmitterSource.POINT  # fmt: skip
    source_radius: Annotated[float, _source(
        "Radius of a sphere or a disc.", unit="m", lo=0.0, hi=1e4, soft=(0.0, 5.0), step=0.01, label="Radius",
    )] = 0.25  # fmt: skip
    source_hollow: Annotated[float, _source(
        "Inner radius as a part of the radius; 1 emits from the surface only.", lo=0.0, hi=1.0, step=0.05,
        label="Inner radius ratio",
    )] = 0.0  # fmt: skip
    source_size: Annotated[Lengths, _source(
        "Edges of a box; the first one is also the length of a line.", unit="m", lo=0.0, hi=1e4, step=0.01,
        label="Size", bounded=False,
    )] = (0.5, 0.5, 0.5)  # fmt: skip
    density_bone: Annotated[str, _source(
        "Bone whose weights control where the surface emits; empty for everywhere.", role=Role.BONE,
        effect=Effect.REBUILD,
    )] = ""  # fmt: skip
    density_texture: Annotated[str, _source(
        "Image whose brightness controls where the surface emits; stored relative to the project.", role=Role.PATH,
        suffixes=IMAGE_FORMATS.suffixes, effect=Effect.REBUILD,
    )] = ""  # fmt: skip
    mode: Annotated[EmissionMode, _emission(
        "A steady stream with bursts, only bursts, or a new particle for each that dies.", effect=Effect.REBUILD,
    )] = EmissionMode.RATE  # fmt: skip
    rate: Annotated[float, _emission(
        "Particles spawned each second.", unit="1/s", lo=0.0, hi=1e8, soft=(1.0, 1e5), scale=Scale.LOG, midway=True,
    )] = 500.0  # fmt: skip
    bursts: Annotated[str, _emission(
        "Bursts as second:count; 0:100 1.5:300 are 100 particles at the start and 300 after 1.5 s.",
        effect=Effect.RESET,
    )] = ""  # fmt: skip
    burst_period: Annotated[float, _emission(
        "Time after which all bursts repeat; 0 for never.", unit="s", lo=0.0, hi=1e4, soft=(0.0, 10.0), step=0.1,
        effect=Effect.RESET,
    )] = 0.0  # fmt: skip
    capacity: Annotated[int, _emission(
        "Most particles at a time; beyond it the oldest are replaced.", lo=1, hi=CAPACITY_MAX, soft=(100, 1_000_000),
        scale=Scale.LOG, effect=Effect.REBUILD,
    )] = 10_000  # fmt: skip
    seed: Annotated[int, _emission(
        "Seed of the random numbers; the same seed gives the same particles.", lo=0, hi=2**31 - 1, soft=(0, 100),
        effect=Effect.RESET,
    )] = 1  # fmt: skip
    lifetime: Annotated[float, _emission(
        "Lifetime of a particle.", unit="s", lo=SHORTEST_LIFE, hi=1e4, soft=(0.1, 10.0), scale=Scale.LOG,
    )] = 2.0  # fmt: skip
    lifetime_variance: Annotated[float, _emission(
        "Variation of the lifetime; at 0.2 particles live 80 to 120 % of it.", lo=0.0, hi=0.95, step=0.05,
        label="Lifetime variation",
    )] = 0.2  # fmt: skip
    speed: Annotated[float, _emission(
        "Initial speed of a particle.", unit="m/s", lo=0.0, hi=1e4, soft=(0.0, 20.0), step=0.1,
    )] = 3.0  # fmt: skip
    speed_variance: Annotated[float, _emission(
        "Variation of the speed; at 0.2 particles start with 80 to 120 % of it.", lo=0.0, hi=1.0, step=0.05,
        label="Speed variation",
    )] = 0.2  # fmt: skip
    aim: Annotated[EmissionAim, _emission(
        "Initial direction: around the y axis, away from the source, or by yaw and pitch.", label="Direction",
    )] = EmissionAim.AXIS  # fmt: skip
    cone_angle: Annotated[float, _emission(
        "Half the opening angle of the cone of directions; 180 for all directions.", unit="°", lo=0.0, hi=180.0,
        step=1.0,
    )] = 20.0  # fmt: skip
    yaw: Annotated[float, _emission(
        "Middle of the angles about the y axis.", unit="°", lo=-360.0, hi=360.0, step=1.0,
    )] = 0.0  # fmt: skip
    yaw_spread: Annotated[float, _emission(
        "Range of the angles about the y axis.", label="Yaw variation", unit="°", lo=0.0, hi=360.0, step=1.0,
    )] = 360.0  # fmt: skip
    pitch: Annotated[float, _emission(
        "Middle of the angles above the horizontal; 90 is up.", unit="°", lo=-360.0, hi=360.0, step=1.0,
    )] = 90.0  # fmt: skip
    pitch_spread: Annotated[float, _emission(
        "Range of the angles above the horizontal.", label="Pitch variation", unit="°", lo=0.0, hi=360.0, step=1.0,
    )] = 90.0  # fmt: skip
    inherited_velocity: Annotated[float, _emission(
        "Part of the velocity of the source that a particle inherits; 1 for all of it.", lo=-10.0, hi=10.0,
        soft=(0.0, 1.0), step=0.05,
    )] = 0.0  # fmt: skip
    size: Annotated[float, _emission(
        "Width of a particle.", unit="m", lo=1e-5, hi=1e3, soft=(1e-3, 1.0), scale=Scale.LOG,
    )] = 0.05  # fmt: skip
    size_variance: Annotated[float, _emission(
        "Variation of the size; at 0.2 particles have 80 to 120 % of it.", lo=0.0, hi=0.95, step=0.05,
        label="Size variation",
    )] = 0.2  # fmt: skip

    gravity: Annotated[Amounts, _motion(
        "Acceleration of all particles.", unit="m/s²", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, -9.81, 0.0)  # fmt: skip
    drag: Annotated[float, _motion(
        "How fast particles approach the velocity of the air; at 1 they lose 63 % of the difference in a second.",
        unit="1/s", lo=0.0, hi=1e4, soft=(0.0, 10.0), step=0.05,
    )] = 0.1  # fmt: skip
    wind: Annotated[Amounts, _motion(
        "Velocity of the air; without drag it has no effect.", unit="m/s", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, 0.0, 0.0)  # fmt: skip
    turbulence: Annotated[float, _motion(
        "Mean speed of the turbulence of the air; without drag it has no effect.", unit="m/s", lo=0.0, hi=1000.0,
        soft=(0.0, 10.0), step=0.1,
    )] = 0.0  # fmt: skip
    turbulence_scale: Annotated[float, _motion(
        "Size of the turbulence.", unit="m", lo=1e-3, hi=1e3, soft=(0.05, 10.0), scale=Scale.LOG,
    )] = 0.5  # fmt: skip
    turbulence_change: Annotated[float, _motion(
        "How often the turbulence changes.", unit="Hz", lo=0.0, hi=100.0, soft=(0.0, 5.0), step=0.1,
    )] = 1.0  # fmt: skip
    turbulence_seed: Annotated[int, _motion(
        "Seed of the turbulence; the same seed gives the same turbulence.", lo=0, hi=2**31 - 1, soft=(0, 100),
    )] = 1  # fmt: skip
    field_weight: Annotated[float, field_weight_param(group="Motion")] = 1.0
    attractor: Annotated[Place, _motion(
        "Position of the attractor and the vortex in the world.", unit="m", lo=-FAR, hi=FAR, step=0.05, bounded=False,
    )] = (0.0, 1.0, 0.0)  # fmt: skip
    attractor_radius: Annotated[float, _motion(
        "Size of the soft core of the attractor and the vortex.", unit="m", lo=1e-3, hi=1e3, soft=(0.01, 5.0),
        scale=Scale.LOG,
    )] = 0.5  # fmt: skip
    attraction: Annotated[float, _motion(
        "Strength of the attractor; far away it is this times (radius / distance)². Negative values repel.",
        unit="m/s²", lo=-1e4, hi=1e4, soft=(-50.0, 50.0), step=0.1,
    )] = 0.0  # fmt: skip
    vortex: Annotated[float, _motion(
        "Strength of the force around the axis, with the same falloff.", unit="m/s²", lo=-1e4, hi=1e4,
        soft=(-50.0, 50.0), step=0.1,
    )] = 0.0  # fmt: skip
    vortex_axis: Annotated[Amounts, _motion(
        "Axis of the vortex.", lo=-MOST, hi=MOST, step=0.1, bounded=False,
    )] = (0.0, 1.0, 0.0)  # fmt: skip
    stateless: Annotated[bool, _motion(
        "Compute positions from the time alone: follows scrubbing, without collisions, turbulence or attractors.",
        effect=Effect.REBUILD,
    )] = False  # fmt: skip
    substeps: Annotated[int, _motion(
        "Substeps of a step; more for fast particles and strong forces.", lo=1, hi=SUBSTEPS_MAX, soft=(1, 16),
    )] = 1  # fmt: skip

    collision: Annotated[CollisionResponse, _collision(
        "What happens to a particle that hits a collider.", label="On collision",
    )] = CollisionResponse.BOUNCE  # fmt: skip
    clearance: Annotated[float, _collision(
        "Distance kept from colliders.", unit="m", lo=0.0, hi=10.0, soft=(0.0, 0.2), step=0.005,
    )] = 0.01  # fmt: skip

    look: Annotated[ParticleLook, _look(
        "A soft round spot, an image, or a streak along the velocity.", label="Render as",
    )] = ParticleLook.ROUND  # fmt: skip
    texture: Annotated[str, _look(
        "Image of a textured particle; stored relative to the project.", role=Role.PATH,
        suffixes=IMAGE_FORMATS.suffixes,
    )] = ""  # fmt: skip
    atlas_columns: Annotated[int, _look("Columns of frames in the image.", lo=1, hi=64, soft=(1, 16))] = 1
    atlas_rows: Annotated[int, _look("Rows of frames in the image.", lo=1, hi=64, soft=(1, 16))] = 1
    atlas_mode: Annotated[AtlasMode, _look(
        "One frame of the image for each particle, or all frames in order over its life.", label="Flipbook mode",
    )] = AtlasMode.RANDOM  # fmt: skip
    picture_turn: Annotated[float, _look(
        "Largest random rotation of the image.", label="Random rotation", unit="°", lo=0.0, hi=180.0, step=5.0,
    )] = 0.0  # fmt: skip
    streak_time: Annotated[float, _look(
        "Length of a streak, as the time in which the particle travels it.", label="Streak length", unit="s", lo=0.0,
        hi=1.0, soft=(0.0, 0.1), step=0.005,
    )] = 0.03  # fmt: skip
    blending: Annotated[Blending, _look(
        "Additive brightens the background, alpha covers it by the opacity, opaque hides it.",
    )] = Blending.ADDITIVE  # fmt: skip
    brightness: Annotated[float, _look(
        "Factor of the colours; values above 1 glow.", lo=0.0, hi=1e4, soft=(0.1, 20.0), scale=Scale.LOG,
    )] = 1.0  # fmt: skip
    brightness_variance: Annotated[float, _look(
        "Variation of the brightness; at 0.2 particles are 80 to 120 % as bright.", lo=0.0, hi=1.0, step=0.05,
        label="Brightness variance",
    )] = 0.0  # fmt: skip
    colour_over_life: Annotated[tuple[ColourStop, ...], _STOPS, _look(
        "Colour of a particle from birth to death.", role=Role.GRADIENT, bounded=False,
    )] = ((0.0, 1.0, 0.9, 0.6), (1.0, 1.0, 0.25, 0.05))  # fmt: skip
    opacity_over_life: Annotated[tuple[OpacityStop, ...], _STOPS, _look(
        "Opacity of a particle from birth to death.", lo=0.0, hi=1.0, role=Role.CURVE, bounded=False,
    )] = ((0.0, 1.0), (0.7, 0.8), (1.0, 0.0))  # fmt: skip
    size_over_life: Annotated[tuple[ValueStop, ...], _STOPS, _look(
        "Factor of the size of a particle from birth to death.", lo=0.0, hi=SIZE_FACTOR_MAX, soft=(0.0, 2.0),
        role=Role.CURVE, bounded=False,
    )] = ((0.0, 1.0), (1.0, 1.0))  # fmt: skip
    softness: Annotated[float, _look(
        "Distance from surfaces and the drawn ground over which particles fade; 0 for off.", unit="m", lo=0.0, hi=10.0,
        soft=(0.0, 1.0), step=0.01,
    )] = 0.1  # fmt: skip

    @property
    def is_on_surface(self) -> bool:
        return self.source in SURFACE_SOURCES

    @property
    def substep_time(self) -> float:
        return STEP_TIME / self.substeps

    @property
    def longest_life(self) -> float:
        return self.lifetime * (1.0 + self.lifetime_variance)
