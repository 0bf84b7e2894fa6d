"""How the curl noise of shaders/common/curl_noise.glsl changes over time."""

import math
from dataclasses import dataclass

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
