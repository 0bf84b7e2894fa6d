"""Numbers that follow from the settings of an emitter and stay the same from step to step."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.clock import STEP_TIME

Float64 = npt.NDArray[np.float64]

_SLOW_DRAG = 1e-5


@dataclass(frozen=True, slots=True)
class EmitterConstants:
    """Derived numbers.

    Attributes:
        left: What drag leaves of a velocity over a substep.
        gain: Time of a substep that counts for an acceleration [s].
        life: Mean lifetime [steps].
        rise: 1 - cosine of half the opening of the cone.
        angles: Middle and span of yaw, middle and span of pitch [rad].
        attraction: Strength of the pull times the square of its radius [m³/s²].
        vortex: Axis of length 1 times strength and square of the radius.
    """

    left: float
    gain: float
    life: float
    rise: float
    angles: tuple[float, float, float, float]
    attraction: float
    vortex: tuple[float, float, float]


def constants_of(settings: EmitterSettings) -> EmitterConstants:
    """The numbers of these settings; an axis without a length is y."""
    axis = np.asarray(settings.vortex_axis, np.float64)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 1e-12 else np.array([0.0, 1.0, 0.0])
    square = settings.attractor_radius**2
    left, gain, _ = chunk_budget_of(settings.drag, settings.substep_time)
    yaw, yaw_span, pitch, pitch_span = (
        math.radians(angle) for angle in (settings.yaw, settings.yaw_spread, settings.pitch, settings.pitch_spread)
    )
    x, y, z = (axis * settings.vortex * square).tolist()
    return EmitterConstants(
        left=left,
        gain=gain,
        life=settings.lifetime / STEP_TIME,
        rise=2.0 * math.sin(0.5 * math.radians(settings.cone_angle)) ** 2,
        angles=(yaw, yaw_span, pitch, pitch_span),
        attraction=settings.attraction * square,
        vortex=(x, y, z),
    )


def chunk_budget_of(drag: float, time: float) -> tuple[float, float, float]:
    """What drag leaves of a velocity after a time [s], and how an acceleration counts for velocity and place.

    exp(-c t), y = (1 - exp(-c t)) / c and z = (t - y) / c; 1, t and t² / 2 without drag.
    """
    x = drag * time
    if x < _SLOW_DRAG:
        return math.exp(-x), time * (1.0 - x * (0.5 - x / 6.0)), time * time * (0.5 - x * (1.0 / 6.0 - x / 24.0))
    gain = -math.expm1(-x) / drag
    return math.exp(-x), gain, (time - gain) / drag
