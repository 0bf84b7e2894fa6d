"""Force fields in double precision, as in shaders/common/fields.glsl, written from the settings.

Sources: W. J. M. Rankine 1858 and H. Lamb, C. W. Oseen 1911 for the vortices; see curl_noise.py for the turbulence.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.kinds.field.settings import FieldSettings, FieldSource, VortexProfile
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.curl_noise import pattern_at
from sinew.sim.scene.clock import STEP_TIME
from tests.oracles.curl_noise import curl_noise


class FieldValues(NamedTuple):
    acceleration: Float64  # (N, 3)
    drag: Float64  # (N,)
    air: Float64  # (N, 3)


def fields_at(fields: Sequence[tuple[FieldSettings, Float64]], points: Float64, time: float = 0.0) -> FieldValues:
    """Settings and rigid placements (4, 4) of fields, at points (N, 3) and the start of a step."""
    total = FieldValues(np.zeros_like(points), np.zeros(len(points)), np.zeros_like(points))
    for settings, world_from_field in fields:
        found = field_at(settings, world_from_field, points, time)
        total = FieldValues(*(one + other for one, other in zip(total, found, strict=True)))
    return total


def field_at(settings: FieldSettings, world_from_field: Float64, points: Float64, time: float) -> FieldValues:
    none, turn = np.zeros_like(points), world_from_field[:3, :3]
    offset = points - world_from_field[:3, 3]
    share = falloff_share(settings, offset @ turn)[:, None]
    along = (offset @ turn[:, 1:2]) * turn[:, 1]
    away = {FieldSource.POINT: offset, FieldSource.LINE: offset - along, FieldSource.PLANE: along}[settings.source]
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    match settings.type:
        case FieldType.WIND:
            return FieldValues(
                none, none[:, 0], share * wind(settings, offset @ turn[:, 1], time)[:, None] * turn[:, 1]
            )
        case FieldType.ATTRACTOR:
            softened = (distance**2 + settings.core**2) ** (-0.5 * (settings.power + 1.0))
            return FieldValues(-share * settings.strength * away * softened, none[:, 0], none)
        case FieldType.VORTEX:
            across = offset - along
            radius = np.linalg.norm(across, axis=1, keepdims=True)
            direction = np.cross(turn[:, 1], across) / np.maximum(radius, 1e-300)
            return FieldValues(none, none[:, 0], share * vortex_speed(settings, radius) * direction)
        case FieldType.TURBULENCE:
            pattern = pattern_at(time, settings.change, (0.0, 0.0, 0.0), settings.scale)
            noise = curl_noise(offset / settings.scale, pattern, settings.seed)
            return FieldValues(none, none[:, 0], share * settings.speed * noise)
        case FieldType.DRAG:
            return FieldValues(none, share[:, 0] * settings.drag, none)
        case FieldType.PULSE:
            direction = away / np.maximum(distance, 1e-300)
            return FieldValues(share * pulse_mean(settings, distance, time) * direction, none[:, 0], none)


def falloff_share(settings: FieldSettings, local: Float64) -> Float64:
    """Of points (N, 3) in the frame of the field."""
    match settings.shape:
        case FieldShape.INFINITE:
            return np.ones(len(local))
        case FieldShape.SPHERE:
            outside = np.linalg.norm(local, axis=1) - settings.radius
        case FieldShape.CAPSULE:
            nearest = np.zeros_like(local)
            nearest[:, 1] = np.clip(local[:, 1], -0.5 * settings.length, 0.5 * settings.length)
            outside = np.linalg.norm(local - nearest, axis=1) - settings.radius
        case FieldShape.BOX:
            apart = np.abs(local) - settings.half_sizes
            outside = np.linalg.norm(np.maximum(apart, 0.0), axis=1) + np.minimum(apart.max(axis=1), 0.0)
    s = np.clip(1.0 - outside / max(settings.falloff, 1e-6), 0.0, 1.0)
    share: Float64 = s * s * (3.0 - 2.0 * s)
    return share


def wind(settings: FieldSettings, along: Float64, time: float) -> Float64:
    """U (1 + g Σ sin(ω t - k x + φ) sqrt(2 / 3)), with ω = k U."""
    random = np.random.default_rng(settings.seed)
    numbers = 2.0 * np.pi / settings.scale * 2.0 ** random.uniform(-1.0, 1.0, 3)
    phases = random.uniform(0.0, 2.0 * np.pi, 3)
    gusts = np.sin(numbers * settings.speed * time - numbers * along[:, None] + phases).sum(axis=1)
    speed: Float64 = settings.speed * (1.0 + settings.gusts * np.sqrt(2.0 / 3.0) * gusts)
    return speed


def vortex_speed(settings: FieldSettings, radius: Float64) -> Float64:
    rate = settings.circulation / (2.0 * np.pi)
    if settings.profile is VortexProfile.RANKINE:
        speed: Float64 = rate * np.minimum(radius / settings.core**2, 1.0 / np.maximum(radius, 1e-300))
        return speed
    return -rate / np.maximum(radius, 1e-300) * np.expm1(-((radius / settings.core) ** 2))


def pulse_mean(settings: FieldSettings, distance: Float64, time: float) -> Float64:
    """Mean over a step of S sech²((r - V t) / σ)."""
    speed = max(abs(settings.speed), 1e-3)
    fronts = [speed * (moment - settings.start) for moment in (time, time + STEP_TIME)]
    first, last = (np.tanh((distance - front) / settings.scale) for front in fronts)
    mean: Float64 = settings.strength * settings.scale / (speed * STEP_TIME) * (first - last)
    return mean
