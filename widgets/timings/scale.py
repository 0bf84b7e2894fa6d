"""The vertical scale of a stack: round upper ends that do not dance."""

import math

TARGETS = ((1.0 / 60.0, "16.7 ms (60 fps)", "60 fps"), (1.0 / 30.0, "33.3 ms (30 fps)", "30 fps"))
"""Times of a frame that are aimed at [s], and what they are called, long and short."""

_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_HEADROOM = 1.08
_SHRINKS_BELOW = 0.4
LEAST = 1e-5
"""Shortest scale [s]."""


def round_top(peak: float) -> float:
    """A round number a little above a peak."""
    wanted = max(peak * _HEADROOM, LEAST)
    size = 10.0 ** math.floor(math.log10(wanted))
    return next((step * size for step in _ROUND if step * size >= wanted), 10.0 * size)


def next_top(current: float, peak: float) -> float:
    """The upper end for a new peak: at once where it is too small, later where it is too large."""
    if not math.isfinite(peak) or peak <= 0.0:
        return current
    return current if _SHRINKS_BELOW * current < peak * _HEADROOM <= current else round_top(peak)
