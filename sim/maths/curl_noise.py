"""Patterns of shaders/common/curl_noise.glsl, computed in double precision."""

import math
from dataclasses import dataclass

PHASES = 1024
RATES = (1.0, 0.7548776662, 1.3247179572)
"""Three rates of change without a common period, so that the turbulence never repeats."""

_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class Pattern:
    phases: tuple[int, int, int]  # Change of the slopes, 0 to 1023
    shift: tuple[float, float, float]  # Travel with the wind in the skewed lattice, as a part of a cell
    origin: tuple[int, int, int]  # The same in whole cells


def pattern_at(time: float, change: float, wind: tuple[float, float, float], scale: float) -> Pattern:
    """At `time` [s], with `change` [1/s], wind [m/s] and cells of `scale` [m]."""
    x, y, z = (int(time * change * rate * PHASES) % PHASES for rate in RATES)
    travel = [component * time / scale for component in wind]
    skew = sum(travel) / 3.0
    cells = [math.floor(part + skew) for part in travel]
    shift = [part + skew - cell for part, cell in zip(travel, cells, strict=True)]
    origin = [(cell + _WORD // 2) % _WORD - _WORD // 2 for cell in cells]
    return Pattern((x, y, z), (shift[0], shift[1], shift[2]), (origin[0], origin[1], origin[2]))
