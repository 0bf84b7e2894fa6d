from typing import Any

import msgspec

from sinew.sim.kinds.emitter.settings import (
    Blending,
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
    ParticleLook,
)
from sinew.sim.scene.params import validated

_FRAME = 1.0 / 60.0

_FADE_IN_OUT = ((0.0, 0.0), (0.15, 1.0), (0.6, 0.7), (1.0, 0.0))


def _firework_size(share: float) -> tuple[float, float]:
    """Returns the point size over the life in a classic tutorial on vertex programs, relative to its largest."""
    return share, (-8.0 * share**2 + 8.0 * share + 1.0) / 3.0


PRESETS: dict[str, dict[str, Any]] = {
    "Demo fountain": {
        "mode": EmissionMode.FULL, "capacity": 10_000, "lifetime": 67.5 * _FRAME, "lifetime_variance": 7.5 / 67.5,
        "speed": 0.055 / _FRAME, "speed_variance": 0.005 / 0.055, "aim": EmissionAim.ANGLES, "yaw": 180.0,
        "yaw_spread": 360.0, "pitch": 112.5, "pitch_spread": 45.0, "gravity": (0.0, -0.001 / _FRAME**2, 0.0),
        "drag": 0.0, "collision": CollisionResponse.BOUNCE, "clearance": 0.0, "size": 0.012, "size_variance": 0.0,
        "look": ParticleLook.STREAK, "streak_time": 0.045, "blending": Blending.ADDITIVE, "brightness": 0.9,
        "brightness_variance": 0.6,
        "colour_over_life": ((0.0, 0.55, 0.8, 1.0), (0.5, 0.2, 0.5, 1.0), (1.0, 0.06, 0.2, 0.7)),
        "opacity_over_life": ((0.0, 0.3), (0.15, 0.55), (0.8, 0.45), (1.0, 0.0)), "softness": 0.0,
    },
    "Fire": {
        "source": EmitterSource.DISC, "source_radius": 0.25, "rate": 1_000.0, "capacity": 2_000, "lifetime": 1.0,
        "lifetime_variance": 0.55, "speed": 0.6, "speed_variance": 0.5, "cone_angle": 12.0, "size": 0.2,
        "size_variance": 0.4, "gravity": (0.0, 3.6, 0.0), "drag": 1.8, "turbulence": 1.6, "turbulence_scale": 0.3,
        "turbulence_change": 1.5, "look": ParticleLook.STREAK, "streak_time": 0.16, "blending": Blending.ADDITIVE,
        "brightness": 1.1, "brightness_variance": 0.4,
        "colour_over_life": (
            (0.0, 0.9, 0.35, 0.07), (0.15, 1.0, 0.42, 0.08), (0.5, 0.85, 0.2, 0.025), (0.8, 0.5, 0.06, 0.01),
            (1.0, 0.2, 0.015, 0.005),
        ),
        "opacity_over_life": ((0.0, 0.0), (0.12, 0.2), (0.4, 0.17), (0.7, 0.08), (1.0, 0.0)),
        "size_over_life": ((0.0, 0.8), (0.25, 1.0), (1.0, 0.5)), "softness": 0.2,
    },
    "Smoke": {
        "source": EmitterSource.DISC, "source_radius": 0.15, "rate": 110.0, "capacity": 800, "lifetime": 5.0,
        "lifetime_variance": 0.3, "speed": 0.5, "speed_variance": 0.3, "cone_angle": 15.0, "size": 0.36,
        "size_variance": 0.5, "gravity": (0.0, 0.5, 0.0), "drag": 0.8, "wind": (0.25, 0.0, 0.0), "turbulence": 0.6,
        "turbulence_scale": 0.6, "turbulence_change": 0.4, "blending": Blending.ALPHA, "brightness_variance": 0.45,
        "colour_over_life": ((0.0, 0.1, 0.09, 0.085), (0.4, 0.22, 0.215, 0.215), (1.0, 0.4, 0.4, 0.41)),
        "opacity_over_life": ((0.0, 0.0), (0.08, 0.4), (0.4, 0.22), (0.7, 0.09), (1.0, 0.0)),
        "size_over_life": ((0.0, 0.35), (0.3, 0.8), (1.0, 2.3)), "softness": 0.4,
    },
    "Snow": {
        "source": EmitterSource.BOX, "source_size": (8.0, 0.1, 8.0), "rate": 1_800.0, "capacity": 30_000,
        "lifetime": 14.0, "lifetime_variance": 0.15, "speed": 0.3, "speed_variance": 0.5, "cone_angle": 180.0,
        "size": 0.025, "size_variance": 0.5, "gravity": (0.0, -1.6, 0.0), "drag": 2.0, "wind": (0.3, 0.0, 0.1),
        "turbulence": 0.5, "turbulence_scale": 1.2, "turbulence_change": 0.5, "collision": CollisionResponse.STICK,
        "clearance": 0.005,
        "blending": Blending.ALPHA, "colour_over_life": ((0.0, 0.9, 0.95, 1.0),),
        "opacity_over_life": ((0.0, 0.0), (0.05, 0.9), (0.85, 0.9), (1.0, 0.0)), "softness": 0.0,
    },
    "Sparks": {
        "source": EmitterSource.POINT, "rate": 400.0, "capacity": 1_200, "lifetime": 1.6, "lifetime_variance": 0.5,
        "speed": 3.2, "speed_variance": 0.6, "cone_angle": 35.0, "size": 0.009, "size_variance": 0.5, "drag": 0.35,
        "inherited_velocity": 0.7, "collision": CollisionResponse.BOUNCE, "clearance": 0.004,
        "look": ParticleLook.STREAK, "streak_time": 0.045, "blending": Blending.ADDITIVE, "brightness": 3.5,
        "brightness_variance": 0.6,
        "colour_over_life": ((0.0, 1.0, 0.62, 0.25), (0.4, 1.0, 0.36, 0.06), (1.0, 0.6, 0.07, 0.01)),
        "opacity_over_life": ((0.0, 1.0), (0.7, 0.8), (1.0, 0.0)), "softness": 0.0,
    },
    "Fireworks": {
        "mode": EmissionMode.BURST, "bursts": "0:1000", "burst_period": 2.5, "capacity": 2_000, "lifetime": 2.2,
        "lifetime_variance": 0.15, "speed": 6.0, "speed_variance": 0.12, "cone_angle": 180.0, "size": 0.045,
        "size_variance": 0.4, "gravity": (0.0, -2.5, 0.0), "drag": 1.4, "stateless": True,
        "collision": CollisionResponse.NONE, "look": ParticleLook.STREAK, "streak_time": 0.14,
        "blending": Blending.ADDITIVE, "brightness": 3.0, "brightness_variance": 0.8,
        "colour_over_life": (
            (0.0, 1.0, 0.9, 0.7), (0.2, 1.0, 0.5, 0.15), (0.6, 0.9, 0.1, 0.22), (1.0, 0.35, 0.03, 0.45)
        ),
        "opacity_over_life": ((0.0, 1.0), (0.6, 0.9), (1.0, 0.0)),
        "size_over_life": tuple(_firework_size(index / 10.0) for index in range(11)), "softness": 0.0,
    },
    "Dust": {
        "source": EmitterSource.DISC, "source_radius": 0.1, "rate": 90.0, "capacity": 400, "lifetime": 2.2,
        "lifetime_variance": 0.4, "speed": 0.35, "speed_variance": 0.6, "cone_angle": 75.0, "size": 0.16,
        "size_variance": 0.4, "gravity": (0.0, -0.08, 0.0), "drag": 2.0, "turbulence": 0.25, "turbulence_scale": 0.3,
        "inherited_velocity": 0.15, "collision": CollisionResponse.BOUNCE, "clearance": 0.02,
        "blending": Blending.ALPHA, "brightness_variance": 0.3,
        "colour_over_life": ((0.0, 0.3, 0.24, 0.17), (1.0, 0.42, 0.36, 0.29)),
        "opacity_over_life": tuple((share, 0.2 * value) for share, value in _FADE_IN_OUT),
        "size_over_life": ((0.0, 0.4), (1.0, 1.8)), "softness": 0.15,
    },
}  # fmt: skip
"""Presets. "Demo fountain" is the fountain of the OpenGL cookbooks, with speeds and forces for 60 frames a second."""


def with_preset(settings: EmitterSettings, name: str) -> EmitterSettings:
    """Returns settings with a preset and the same `OWN_FIELDS`; raises KeyError for an unknown name."""
    cached = {field: getattr(settings, field) for field in OWN_FIELDS}
    return validated(msgspec.structs.replace(EmitterSettings(), **cached), **PRESETS[name])


OWN_FIELDS: tuple[str, ...] = (
    "density_bone", "density_texture", "seed", "attractor",
)  # fmt: skip
"""Fields that a preset does not change."""

PRESET_FIELDS: tuple[str, ...] = tuple(field for field in EmitterSettings.__struct_fields__ if field not in OWN_FIELDS)
