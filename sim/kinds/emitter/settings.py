"""Settings of a particle emitter: emission, motion, collision and look.  Pure; knows no OpenGL."""

import enum
from typing import Annotated, ClassVar

import msgspec

from sim.assets.formats import IMAGE_FORMATS
from sim.kinds.emitter.emission import EmissionSettings
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect, Role, Scale, param
from sim.scene.vectors import FAR, MOST, STOP_MAX, Amounts, Place, UnitFloat

SUBSTEPS_MAX = 256
SIZE_FACTOR_MAX = 100.0

ColourStop = tuple[UnitFloat, UnitFloat, UnitFloat, UnitFloat]
"""Share of the life, then linear red, green and blue."""
ValueStop = tuple[UnitFloat, Annotated[float, msgspec.Meta(ge=0.0, le=SIZE_FACTOR_MAX)]]
"""Share of the life, then the value."""
OpacityStop = tuple[UnitFloat, UnitFloat]
_STOPS = msgspec.Meta(min_length=1, max_length=STOP_MAX)


class CollisionResponse(enum.Enum):
    """What happens to a particle that meets a collider."""

    NONE = "none"
    BOUNCE = "bounce"
    DIE = "die"
    STICK = "stick"


class ParticleLook(enum.Enum):
    """Form of a particle: a soft round spot, a picture of an atlas, or a streak along its velocity."""

    ROUND = "round"
    TEXTURED = "textured"
    STREAK = "streak"


class AtlasMode(enum.Enum):
    """Which picture of an atlas a particle shows: one for all its life, or one after the other."""

    RANDOM = "random"
    OVER_LIFE = "over life"


class Blending(enum.Enum):
    """How a particle covers what is behind it."""

    ADDITIVE = "additive"
    ALPHA = "alpha"
    OPAQUE = "opaque"


class EmitterSettings(EmissionSettings, frozen=True, kw_only=True):
    """A source of particles, and what becomes of them."""

    kind: ClassVar[str] = "emitter"

    gravity: Annotated[
        Amounts, param("Acceleration of everything.", unit="m/s²", lo=-MOST, hi=MOST, step=0.1, group="Motion",
                       bounded=False)
    ] = (0.0, -9.81, 0.0)  # fmt: skip
    drag: Annotated[
        float,
        param("How fast particles take on the velocity of the air; at 1 they lose 63 % of the difference in a second.",
              unit="1/s", lo=0.0, hi=1e4,
              soft=(0.0, 10.0), step=0.05, group="Motion"),
    ] = 0.1  # fmt: skip
    wind: Annotated[
        Amounts, param("Velocity of the air; it acts through the drag and does nothing without.", unit="m/s",
                       lo=-MOST, hi=MOST, step=0.1, group="Motion", bounded=False)
    ] = (0.0, 0.0, 0.0)  # fmt: skip
    turbulence: Annotated[
        float,
        param("Mean speed of the whirls in the air; they act through the drag and do nothing without.",
              unit="m/s", lo=0.0,
              hi=1000.0, soft=(0.0, 10.0), step=0.1, group="Motion"),
    ] = 0.0  # fmt: skip
    turbulence_scale: Annotated[
        float,
        param("Size of the whirls.", unit="m", lo=1e-3, hi=1e3, soft=(0.05, 10.0), scale=Scale.LOG, group="Motion",
              label="Whirl size"),
    ] = 0.5  # fmt: skip
    turbulence_change: Annotated[
        float,
        param("How often the whirls change into others.", unit="Hz", lo=0.0, hi=100.0, soft=(0.0, 5.0),
              step=0.1, group="Motion",
              label="Whirl change"),
    ] = 1.0  # fmt: skip
    turbulence_seed: Annotated[
        int, param("Which of the random winds blows; the same number gives the same whirls.", lo=0, hi=2**31 - 1,
                   soft=(0, 100), group="Motion",
                   label="Whirl seed")
    ] = 1  # fmt: skip
    attractor: Annotated[
        Place, param("Place that attracts and that the vortex turns about, in the world.", unit="m", lo=-FAR, hi=FAR,
                     step=0.05, group="Motion", bounded=False)
    ] = (0.0, 1.0, 0.0)  # fmt: skip
    attractor_radius: Annotated[
        float,
        param("Size of the soft core of attractor and vortex.", unit="m", lo=1e-3, hi=1e3, soft=(0.01, 5.0),
              scale=Scale.LOG, group="Motion"),
    ] = 0.5  # fmt: skip
    attraction: Annotated[
        float,
        param("Strength of the pull; far away it is this times (radius / distance)². Negative pushes.", unit="m/s²",
              lo=-1e4, hi=1e4, soft=(-50.0, 50.0), step=0.1, group="Motion"),
    ] = 0.0  # fmt: skip
    vortex: Annotated[
        float,
        param("Strength of the push around the axis, with the same fall with distance.", unit="m/s²", lo=-1e4,
              hi=1e4, soft=(-50.0, 50.0), step=0.1, group="Motion"),
    ] = 0.0  # fmt: skip
    vortex_axis: Annotated[
        Amounts, param("Axis of the vortex.", lo=-MOST, hi=MOST, step=0.1, group="Motion", bounded=False)
    ] = (0.0, 1.0, 0.0)  # fmt: skip
    stateless: Annotated[
        bool,
        param("Places come from the time alone: they follow every scrub, but know no collisions, whirls or attractors.",
              group="Motion", effect=Effect.REBUILD),
    ] = False  # fmt: skip
    substeps: Annotated[
        int,
        param(
            "Parts that each step is solved in; more for fast particles and strong forces.",
            lo=1,
            hi=SUBSTEPS_MAX,
            soft=(1, 16),
            group="Motion",
        ),
    ] = 1

    collision: Annotated[
        CollisionResponse,
        param("What happens to a particle that meets a collider.", group="Collision", label="Response"),
    ] = CollisionResponse.BOUNCE
    clearance: Annotated[
        float,
        param("Distance that is kept from colliders.", unit="m", lo=0.0, hi=10.0, soft=(0.0, 0.2), step=0.005,
              group="Collision"),
    ] = 0.01  # fmt: skip

    look: Annotated[
        ParticleLook,
        param("A soft round spot, a picture, or a streak along the velocity.", group="Look", effect=Effect.VIEW),
    ] = ParticleLook.ROUND
    texture: Annotated[
        str,
        param("Image of a textured particle; stored relative to the project.", group="Look", role=Role.PATH,
              suffixes=IMAGE_FORMATS.suffixes, effect=Effect.VIEW),
    ] = ""  # fmt: skip
    atlas_columns: Annotated[
        int, param("Pictures side by side in the image.", lo=1, hi=64, soft=(1, 16), group="Look", effect=Effect.VIEW)
    ] = 1
    atlas_rows: Annotated[
        int, param("Rows of pictures in the image.", lo=1, hi=64, soft=(1, 16), group="Look", effect=Effect.VIEW)
    ] = 1
    atlas_mode: Annotated[
        AtlasMode,
        param("One picture of the image for each particle, or all of them in order over its life.", group="Look",
              label="Pictures", effect=Effect.VIEW),
    ] = AtlasMode.RANDOM  # fmt: skip
    picture_turn: Annotated[
        float,
        param("Largest angle by which pictures are turned at random.", unit="°", lo=0.0, hi=180.0, step=5.0,
              group="Look", effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    streak_time: Annotated[
        float,
        param("Length of a streak, as the time that the particle takes to fly it.",
              unit="s", lo=0.0, hi=1.0, soft=(0.0, 0.1), step=0.005,
              group="Look", effect=Effect.VIEW),
    ] = 0.03  # fmt: skip
    blending: Annotated[
        Blending,
        param(
            "Additive brightens what is behind, alpha covers it by its opacity, opaque hides it.",
            group="Look",
            effect=Effect.VIEW,
        ),
    ] = Blending.ADDITIVE
    brightness: Annotated[
        float,
        param("Factor of the colours; above 1 they glow.",
              lo=0.0, hi=1e4, soft=(0.1, 20.0), scale=Scale.LOG, group="Look",
              effect=Effect.VIEW),
    ] = 1.0  # fmt: skip
    brightness_variance: Annotated[
        float,
        param("Spread of the brightness; at 0.2 particles are 80 to 120 % as bright.", lo=0.0, hi=1.0,
              step=0.05, group="Look",
              label="Brightness spread", effect=Effect.VIEW),
    ] = 0.0  # fmt: skip
    colour_over_life: Annotated[
        tuple[ColourStop, ...],
        _STOPS,
        param("Colour of a particle from birth to death.", group="Look",
              role=Role.GRADIENT, effect=Effect.VIEW, bounded=False),
    ] = ((0.0, 1.0, 0.9, 0.6), (1.0, 1.0, 0.25, 0.05))  # fmt: skip
    opacity_over_life: Annotated[
        tuple[OpacityStop, ...],
        _STOPS,
        param("Opacity of a particle from birth to death.", lo=0.0, hi=1.0, group="Look", role=Role.CURVE,
              effect=Effect.VIEW, bounded=False),
    ] = ((0.0, 1.0), (0.7, 0.8), (1.0, 0.0))  # fmt: skip
    size_over_life: Annotated[
        tuple[ValueStop, ...],
        _STOPS,
        param("Factor of the size of a particle from birth to death.", lo=0.0, hi=SIZE_FACTOR_MAX, soft=(0.0, 2.0),
              group="Look", role=Role.CURVE, effect=Effect.VIEW, bounded=False),
    ] = ((0.0, 1.0), (1.0, 1.0))  # fmt: skip
    softness: Annotated[
        float,
        param("Distance from the scene, and from the ground where it is drawn, over which a particle fades; 0 for off.",
              unit="m", lo=0.0, hi=10.0,
              soft=(0.0, 1.0), step=0.01, group="Look", effect=Effect.VIEW),
    ] = 0.1  # fmt: skip

    @property
    def step_time(self) -> float:
        """Duration of a step [s]."""
        return STEP_TIME

    @property
    def substep_time(self) -> float:
        """Duration of a substep [s]."""
        return STEP_TIME / self.substeps

    @property
    def longest_life(self) -> float:
        """Longest lifetime that occurs [s]."""
        return self.lifetime * (1.0 + self.lifetime_variance)
