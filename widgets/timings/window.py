"""Which part of time and of cost a plot shows: a piece of the last minute, and round upper ends that do not dance."""

import math
from dataclasses import dataclass, replace

TARGETS = ((1.0 / 60.0, "16.7 ms (60 fps)", "60 fps"), (1.0 / 30.0, "33.3 ms (30 fps)", "30 fps"))
"""Times of a frame that are aimed at [s], and what they are called, long and short."""

_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_HEADROOM = 1.08
_SHRINKS_BELOW = 0.4
LEAST = 1e-5
"""Shortest scale [s]."""

SPAN_MAX = 60.0
SPAN_MIN = 0.05
_SLACK = 0.02


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


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A piece of time."""

    # left, right: Its ends [s] relative to the newest frame, at most 0
    left: float = -10.0
    right: float = 0.0

    @property
    def span(self) -> float:
        """Its length [s]."""
        return self.right - self.left

    def zoomed(self, factor: float, at: float) -> "TimeWindow":
        """Longer by a factor, with `at` staying where it is."""
        span = min(max(self.span * factor, SPAN_MIN), SPAN_MAX)
        share = (at - self.left) / self.span
        left = at - share * span
        return TimeWindow(left, left + span).held()

    def panned(self, seconds: float) -> "TimeWindow":
        """Moved towards the newest frames, or back for a negative number."""
        return replace(self, left=self.left + seconds, right=self.right + seconds).held()

    def live(self) -> "TimeWindow":
        return TimeWindow(-self.span, 0.0)

    def showing(self, time: float) -> "TimeWindow":
        """Moved as little as needed to have a time well inside."""
        margin = 0.1 * self.span
        if time < self.left + margin:
            return self.panned(time - margin - self.left)
        return self.panned(max(0.0, time + margin - self.right))

    def held(self) -> "TimeWindow":
        """Within the minute that is kept, with a little room on both sides."""
        slack = _SLACK * self.span
        left = min(max(self.left, -SPAN_MAX - slack), slack - self.span)
        return TimeWindow(left, left + self.span)
