"""Which part of the last minute a plot shows."""

from dataclasses import dataclass, replace

SPAN_MAX = 60.0
SPAN_MIN = 0.05
_SLACK = 0.02


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of time.

    Attributes:
        left, right: Its ends [s] relative to the newest frame, at most 0.
    """

    left: float = -10.0
    right: float = 0.0

    @property
    def span(self) -> float:
        """Its length [s]."""
        return self.right - self.left

    def zoomed(self, factor: float, at: float) -> "Window":
        """Longer by a factor, with `at` staying where it is."""
        span = min(max(self.span * factor, SPAN_MIN), SPAN_MAX)
        share = (at - self.left) / self.span
        left = at - share * span
        return Window(left, left + span).held()

    def panned(self, seconds: float) -> "Window":
        """Moved towards the newest frames, or back for a negative number."""
        return replace(self, left=self.left + seconds, right=self.right + seconds).held()

    def live(self) -> "Window":
        """As long, and up to the newest frame."""
        return Window(-self.span, 0.0)

    def showing(self, time: float) -> "Window":
        """Moved as little as needed to have a time well inside."""
        margin = 0.1 * self.span
        if time < self.left + margin:
            return self.panned(time - margin - self.left)
        return self.panned(max(0.0, time + margin - self.right))

    def held(self) -> "Window":
        """Within the minute that is kept, with a little room on both sides."""
        slack = _SLACK * self.span
        left = min(max(self.left, -SPAN_MAX - slack), slack - self.span)
        return Window(left, left + self.span)
