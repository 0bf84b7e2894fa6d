"""Curves through keys for motion: smooth, and never beyond the keys, so that planted feet stay planted."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]


def frame_times(count: int, step: float) -> Float64:
    """Times of `count` frames, `step` seconds apart, shape (count,)."""
    return np.arange(count, dtype=np.float64) * step


class Curve:
    """C1 curve through (time, value) keys that is monotone between them.

    With a `period` the curve repeats, and keys need not include its end.  Otherwise it is constant beyond the keys.

    Source: Fritsch and Butland 1984, "A method for constructing local monotone piecewise cubic interpolants".
    """

    def __init__(self, keys: Sequence[tuple[float, float]], period: float | None = None) -> None:
        times, values = np.asarray(keys, dtype=np.float64).T
        self._period = period
        if period is not None:
            times = np.concatenate([times - period, times, times + period])
            values = np.tile(values, 3)
        self._times, self._values = times, values
        rise = np.diff(values) / np.diff(times)
        product = rise[:-1] * rise[1:]
        total = rise[:-1] + rise[1:]
        inner = np.where(product > 0.0, 2.0 * product / np.where(product > 0.0, total, 1.0), 0.0)
        self._slopes = np.concatenate([[0.0], inner, [0.0]])

    def __call__(self, time: npt.ArrayLike) -> Float64:
        """Values at the times, same shape."""
        t = np.asarray(time, dtype=np.float64)
        if self._period is not None:
            t = t % self._period
        t = np.clip(t, self._times[0], self._times[-1])
        i = np.clip(np.searchsorted(self._times, t, side="right") - 1, 0, len(self._times) - 2)
        span = self._times[i + 1] - self._times[i]
        s = (t - self._times[i]) / span
        return hermite(s, self._values[i], self._values[i + 1], span * self._slopes[i], span * self._slopes[i + 1])


def hermite(s: Float64, start: Float64, end: Float64, leave: Float64, arrive: Float64) -> Float64:
    """Cubic from `start` to `end` with the given tangents; `s` runs from 0 to 1."""
    value: Float64 = (
        (1 + 2 * s) * (1 - s) ** 2 * start
        + s * (1 - s) ** 2 * leave
        + s * s * (3 - 2 * s) * end
        + s * s * (s - 1) * arrive
    )
    return value


def eased(time: Float64, start: float, end: float) -> Float64:
    """0 before `start`, 1 after `end`, with zero velocity and acceleration at both."""
    s = np.clip((time - start) / (end - start), 0.0, 1.0)
    value: Float64 = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return value


def blended(first: Float64, second: Float64, share: Float64) -> Float64:
    """Turns from `first` to `second`, shape (F, 4), for shares of shape (F,)."""
    shape = (len(share), 4)
    return quaternion.slerp(np.broadcast_to(first, shape), np.broadcast_to(second, shape), share)
