import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinew.sim.gl.context import Context
from sinew.sim.gl.uniform_block import UniformBlock
from sinew.sim.kinds.emitter.births import GENERATIONS, Segment
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.curl_noise import Pattern
from sinew.sim.scene.clock import STEP_TIME

_SLOW_DRAG = 1e-5


@dataclass(frozen=True, slots=True)
class EmitterConstants:
    pace: tuple[float, float, float]  # `drag_terms` of a substep
    life: float  # Mean lifetime [steps]
    rise: float  # 1 - cosine of half the opening of the cone
    angles: tuple[float, float, float, float]  # Middle and span of yaw, middle and span of pitch [rad]
    attraction: float  # Attraction times the square of its radius [m³/s²]
    vortex: tuple[float, float, float]  # Unit axis times strength and square of the radius


def constants_of(settings: EmitterSettings) -> EmitterConstants:
    """Returns constants of the shaders; a vortex axis without length is y."""
    axis = np.asarray(settings.vortex_axis, np.float64)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 1e-12 else np.array([0.0, 1.0, 0.0])
    square = settings.attractor_radius**2
    yaw, yaw_span, pitch, pitch_span = (
        math.radians(angle) for angle in (settings.yaw, settings.yaw_spread, settings.pitch, settings.pitch_spread)
    )
    x, y, z = (axis * settings.vortex * square).tolist()
    return EmitterConstants(
        pace=drag_terms(settings.drag, settings.substep_time),
        life=settings.lifetime / STEP_TIME,
        rise=2.0 * math.sin(0.5 * math.radians(settings.cone_angle)) ** 2,
        angles=(yaw, yaw_span, pitch, pitch_span),
        attraction=settings.attraction * square,
        vortex=(x, y, z),
    )


def drag_terms(drag: float, time: float) -> tuple[float, float, float]:
    """Returns factors of velocity and acceleration, for velocity and position, after `time` [s] with `drag` [1/s].

    exp(-c t), y = (1 - exp(-c t)) / c and z = (t - y) / c; 1, t and t² / 2 without drag.
    """
    x = drag * time
    if x < _SLOW_DRAG:
        return math.exp(-x), time * (1.0 - x * (0.5 - x / 6.0)), time * time * (0.5 - x * (1.0 / 6.0 - x / 24.0))
    gain = -math.expm1(-x) / drag
    return math.exp(-x), gain, (time - gain) / drag


SEGMENT_MAX = 64

FIELDS: dict[str, str | tuple[str, int]] = {
    "world_from_start": "mat4",
    "world_from_end": "mat4",
    "world_from_aim": "mat4",
    "gravity": "vec4",
    "air": "vec4",
    "pace": "vec4",
    "turbulence": "vec4",
    "turbulence_shift": "vec4",
    "attractor": "vec4",
    "pull": "vec4",
    "angles": "vec4",
    "shape": "vec4",
    "cone": "vec4",
    "life": "vec4",
    "numbers": "ivec4",
    "turbulence_cells": "ivec4",
    "turbulence_phases": "ivec4",
    "births": "ivec4",
    "counts": "ivec4",
    "segments": ("vec4", SEGMENT_MAX),
}


class EmitterBlock(UniformBlock):
    def __init__(self, context: Context) -> None:
        super().__init__(context, "Emitter", FIELDS)
        self["world_from_start"] = self["world_from_end"] = np.eye(4)
        self["world_from_aim"] = np.eye(4)
        self._placed: tuple[Float64 | None, ...] = (None, None, None)
        self._counts = [0, 0, 0, 0]

    def set_settings(self, settings: EmitterSettings) -> None:
        constants = constants_of(settings)
        self["gravity"] = (*settings.gravity, settings.drag)
        self["air"] = (*settings.wind, settings.inherited_velocity)
        self["pace"] = (*constants.pace, STEP_TIME)
        self["attractor"] = (*settings.attractor, settings.attractor_radius**2)
        self["pull"] = (*constants.vortex, constants.attraction)
        self["angles"] = constants.angles
        self["shape"] = (*settings.source_size, settings.source_radius)
        self["cone"] = (constants.rise, settings.source_hollow, settings.clearance, 0.0)
        self["life"] = (constants.life, settings.lifetime_variance, settings.speed, settings.speed_variance)
        self["numbers"] = (settings.seed, settings.capacity, settings.turbulence_seed, 0)
        self["turbulence"] = (1.0 / settings.turbulence_scale, settings.turbulence, 0.0, 0.0)

    def set_source(self, start: Float64, end: Float64, aim: Float64 | None = None) -> None:
        """Sets world transforms (4, 4) of source and aim, by default `end`; the same objects are not written again."""
        aim = end if aim is None else aim
        if self._placed[0] is not start:
            self["world_from_start"] = start
        if self._placed[1] is not end:
            self["world_from_end"] = end
        if self._placed[2] is not aim:
            self["world_from_aim"] = aim
        self._placed = (start, end, aim)

    def set_surface(self, face_count: int, texels_per_vertex: int) -> None:
        self._counts[1:3] = face_count, texels_per_vertex
        self["counts"] = self._counts

    def set_pattern(self, pattern: Pattern) -> None:
        self["turbulence_phases"] = (*pattern.phases, 0)
        self["turbulence_shift"] = (*pattern.shift, 0.0)
        self["turbulence_cells"] = (*pattern.origin, 0)

    def set_births(self, segments: Sequence[Segment], capacity: int, origin: float) -> None:
        """Sets births at times from `origin` [steps]; writes the last `capacity` births and `SEGMENT_MAX` segments."""
        segments = segments[-SEGMENT_MAX:]
        if not segments:
            self.edit("births")[0] = 0
            return
        first = segments[0].first
        count = segments[-1].first + segments[-1].count - first
        skipped = max(count - capacity, 0)
        begin = first + skipped
        generation, slot = divmod(begin, capacity)
        self.edit("births")[0] = slot, count - skipped, generation % GENERATIONS, skipped
        table = [(run.first - first, run.moment - origin, run.spacing, 0.0) for run in segments]
        self.edit("segments")[: len(table)] = table
        if self._counts[0] != len(segments):
            self._counts[0] = len(segments)
            self["counts"] = self._counts
