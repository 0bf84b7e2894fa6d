"""The uniform block of an emitter: its settings and one step of it, as shaders/emitter/emitter.glsl reads them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.gl.uniform_block import UniformBlock
from sim.kinds.emitter.births import Segment, generation_of, slot_of
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


PHASES = 1024
RATES = (1.0, 0.7548776662, 1.3247179572)
"""Three rates of change without a common period, so that the whirls never come back."""

_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class Pattern:
    """The whirls at one moment."""

    phases: tuple[int, int, int]  # How far the slopes have changed, 0 to 1023
    # How far they went with the wind in the skewed lattice, as part of a cell, shape (3,)
    shift: tuple[float, float, float]
    origin: tuple[int, int, int]  # And in whole cells


def pattern_at(time: float, change: float, wind: tuple[float, float, float], scale: float) -> Pattern:
    """The pattern at a time [s], changing `change` times a second, carried by the wind [m/s], in cells of `scale`."""
    x, y, z = (int(time * change * rate * PHASES) % PHASES for rate in RATES)
    gone = [component * time / scale for component in wind]
    skew = sum(gone) / 3.0
    cells = [math.floor(part + skew) for part in gone]
    shift = [part + skew - cell for part, cell in zip(gone, cells, strict=True)]
    origin = [(cell + _WORD // 2) % _WORD - _WORD // 2 for cell in cells]
    return Pattern((x, y, z), (shift[0], shift[1], shift[2]), (origin[0], origin[1], origin[2]))


SEGMENT_MAX = 64

FIELDS: dict[str, str | tuple[str, int]] = {
    "world_from_start": "mat4",
    "world_from_end": "mat4",
    "world_from_aim": "mat4",
    "gravity": "vec4",
    "air": "vec4",
    "pace": "vec4",
    "whirl": "vec4",
    "whirl_shift": "vec4",
    "attractor": "vec4",
    "pull": "vec4",
    "angles": "vec4",
    "shape": "vec4",
    "cone": "vec4",
    "life": "vec4",
    "numbers": "ivec4",
    "whirl_cells": "ivec4",
    "whirl_phases": "ivec4",
    "births": "ivec4",
    "counts": "ivec4",
    "segments": ("vec4", SEGMENT_MAX),
}


class EmitterBlock:
    """Writes the block; what did not change costs nothing."""

    def __init__(self, context: Context) -> None:
        self._block = UniformBlock(context, "Emitter", FIELDS)
        self._block["world_from_start"] = self._block["world_from_end"] = np.eye(4)
        self._block["world_from_aim"] = np.eye(4)
        self._placed: tuple[Float64 | None, ...] = (None, None, None)
        self._counts = [0, 0, 0, 0]

    def set_settings(self, settings: EmitterSettings) -> None:
        """Take everything that stays the same from step to step."""
        constants, block = constants_of(settings), self._block
        block["gravity"] = (*settings.gravity, settings.drag)
        block["air"] = (*settings.wind, settings.inherited_velocity)
        block["pace"] = (constants.left, constants.gain, STEP_TIME, settings.clearance)
        block["attractor"] = (*settings.attractor, settings.attractor_radius**2)
        block["pull"] = (*constants.vortex, constants.attraction)
        block["angles"] = constants.angles
        block["shape"] = (*settings.source_size, settings.source_radius)
        block["cone"] = (constants.rise, settings.source_hollow, 0.0, 0.0)
        block["life"] = (constants.life, settings.lifetime_variance, settings.speed, settings.speed_variance)
        block["numbers"] = (settings.seed, settings.capacity, settings.turbulence_seed, 0)
        block["whirl"] = (1.0 / settings.turbulence_scale, settings.turbulence, 0.0, 0.0)

    def set_source(self, start: Float64, end: Float64, aim: Float64 | None = None) -> None:
        """Placements (4, 4) of the source at the start and at the end of the step, and of the axes that aim from skin.

        Without the last one these are those of the source at the end.
        """
        aim = end if aim is None else aim
        if self._placed[0] is not start:
            self._block["world_from_start"] = start
        if self._placed[1] is not end:
            self._block["world_from_end"] = end
        if self._placed[2] is not aim:
            self._block["world_from_aim"] = aim
        self._placed = (start, end, aim)

    def set_surface(self, face_count: int, texels_per_vertex: int) -> None:
        self._counts[1:3] = face_count, texels_per_vertex
        self._block["counts"] = self._counts

    def set_pattern(self, pattern: Pattern) -> None:
        self._block["whirl_phases"] = (*pattern.phases, 0)
        self._block["whirl_shift"] = (*pattern.shift, 0.0)
        self._block["whirl_cells"] = (*pattern.origin, 0)

    def set_births(self, segments: Sequence[Segment], capacity: int, origin: float) -> None:
        """Births of a span, whose moments count from `origin` [steps since the start].

        Of more births than slots only the last ones are taken, and of too many segments likewise.
        """
        segments = segments[-SEGMENT_MAX:]
        if not segments:
            self._block.edit("births")[0] = 0
            return
        first = segments[0].first
        count = segments[-1].first + segments[-1].count - first
        skipped = max(count - capacity, 0)
        begin = first + skipped
        births = slot_of(begin, capacity), count - skipped, generation_of(begin, capacity), skipped
        self._block.edit("births")[0] = births
        table = [(one.first - first, one.moment - origin, one.spacing, 0.0) for one in segments]
        self._block.edit("segments")[: len(table)] = table
        if self._counts[0] != len(segments):
            self._counts[0] = len(segments)
            self._block["counts"] = self._counts

    def bind(self) -> None:
        self._block.bind()

    def release(self) -> None:
        self._block.release()
