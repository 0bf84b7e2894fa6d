"""The simulation advances in steps of one length at any frame rate, so that results depend on settings alone.

Steps that do not fit into a frame are dropped and reported, never queued: a slow frame must not slow down the next.
"""

import itertools
import math
from collections import deque
from dataclasses import dataclass

_ROUNDING = 1e-9
"""Rounding error of a sum of elapsed times, as a fraction of a step."""


STEP_TIME = 1.0 / 60.0
"""Scene time of one simulation step [s], for all systems; smaller steps are substeps."""


def step_end(start: float, step: int) -> float:
    """Returns the scene time [s] of the end of a step, bit-identical to a clock that steps by `STEP_TIME`."""
    while len(_SUMS) <= step:
        _SUMS.append(_SUMS[-1] + STEP_TIME)
    return start + (_SUMS[step] if step >= 0 else step * STEP_TIME)


def step_at(start: float, time: float) -> int:
    """Returns the step whose end is nearest to a scene time [s]; negative before the start."""
    return round((time - start) / STEP_TIME)


_SUMS = [0.0]


@dataclass(frozen=True, slots=True)
class FrameTime:
    steps: int
    alpha: float  # Fraction of a step since the last one, 0 to 1; drawing blends the last two states
    dropped: int  # Steps that were due and are skipped


class FixedStep:
    """Counter of fixed steps in real time; raises ValueError if `dt` [s] or `max_steps` is not positive.

    Source: Fiedler 2004, "Fix your timestep!".
    """

    def __init__(self, dt: float, max_steps: int) -> None:
        if not (dt > 0.0 and math.isfinite(dt)) or max_steps < 1:
            raise ValueError(f"a clock needs a positive step and count, not {dt} s and {max_steps}")
        self.dt = dt
        self.max_steps = max_steps
        self._left = 0.0

    def advance(self, elapsed: float) -> FrameTime:
        """Advances by real time [s]; time that runs backwards or is not a number counts as none."""
        if 0.0 < elapsed < math.inf:
            self._left += elapsed / self.dt
        due = int(self._left + _ROUNDING)
        self._left = max(self._left - due, 0.0)
        steps = min(due, self.max_steps)
        return FrameTime(steps, self.share, due - steps)

    @property
    def share(self) -> float:
        """Fraction of a step that has passed since the last one, 0 to 1."""
        return min(self._left, 1.0)

    def reset(self) -> None:
        self._left = 0.0


@dataclass(frozen=True, slots=True)
class FrameRate:
    per_second: float  # 0 before the second frame
    longest: float  # Longest time between two frames [s]
    dropped: int  # Frames that the target rate had room for and that were not drawn
    slow: bool  # More than a tenth of the frames were dropped: playback skips frames to keep real time


class FrameMeter:
    """Frame rate over a window [s]; raises ValueError if `target` or `window` is not positive."""

    def __init__(self, target: float = 60.0, window: float = 1.0) -> None:
        if not (target > 0.0 and window > 0.0):
            raise ValueError(f"a meter needs a positive rate and window, not {target} and {window}")
        self.target = target
        self.window = window
        self._times: deque[float] = deque()

    def drawn(self, now: float) -> FrameRate:
        """Notes a frame; times `now` [s] are of a monotonic clock."""
        if self._times and now < self._times[-1]:
            self._times.clear()
        self._times.append(now)
        while len(self._times) > 2 and now - self._times[0] > self.window:
            self._times.popleft()
        return self.rate()

    def rate(self) -> FrameRate:
        gaps = [later - earlier for earlier, later in itertools.pairwise(self._times)]
        span = sum(gaps)
        if span <= 0.0:
            return FrameRate(0.0, 0.0, 0, False)
        # A frame that comes a little late uses the next refresh; only whole missed ones count.
        dropped = sum(max(round(gap * self.target) - 1, 0) for gap in gaps)
        return FrameRate(len(gaps) / span, max(gaps), dropped, dropped > 0.1 * (len(gaps) + dropped))

    def pause(self) -> None:
        """Pauses the measurement; call this when drawing stops, so that the gap is not counted as dropped frames."""
        self._times.clear()
