"""Keys of a setting over scene time.  Before the first key and after the last one the value is constant."""

import enum
import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

import msgspec

from sinew.sim.assets.clip import eased
from sinew.sim.assets.model import Interpolation

KEYS_MAX = 100_000
CURVES_MAX = 1000
TIME_MAX = 1e6

KeyValue = bool | float | str
"""A number, or for settings that change by steps a boolean or the value of an enumeration."""


class KeyMode(enum.Enum):
    """Interpolation from a key to the next one."""

    STEP = "step"
    LINEAR = "linear"
    HERMITE = "hermite"
    QUADRATIC = "quadratic"
    SMOOTH = "smooth"
    EXPONENTIAL = "exponential"


class Key(msgspec.Struct, frozen=True, array_like=True):
    time: Annotated[float, msgspec.Meta(ge=-TIME_MAX, le=TIME_MAX)]  # Scene time [s]
    value: KeyValue
    mode: KeyMode = KeyMode.HERMITE
    # Per second; None chooses a slope without overshoot
    slope_in: float | None = None
    slope_out: float | None = None


class Curve(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Keys of one number of a node, in ascending order of their times."""

    part: str  # As `ParamRef.part`
    field: str
    component: int = -1  # Of a vector or colour; -1 for other values
    keys: Annotated[tuple[Key, ...], msgspec.Meta(min_length=1, max_length=KEYS_MAX)]

    @property
    def address(self) -> tuple[str, str, int]:
        return self.part, self.field, self.component

    @property
    def is_number(self) -> bool:
        return not any(isinstance(key.value, bool | str) for key in self.keys)

    def value(self, time: float) -> KeyValue:
        place = bisect_right(self._times, time) - 1
        if place < 0 or place >= len(self.keys) - 1 or self.keys[place].mode is KeyMode.STEP or not self.is_number:
            return self.keys[max(place, 0)].value
        a, b, h, m0, m1 = self._span(place)
        s = (time - self.keys[place].time) / h
        mode = self.keys[place].mode
        if mode is not KeyMode.HERMITE:
            return a + (b - a) * eased(Interpolation(mode.value), s)
        square, cube = s * s, s * s * s
        return (
            a * (2.0 * cube - 3.0 * square + 1.0)
            + b * (3.0 * square - 2.0 * cube)
            + h * m0 * (cube - 2.0 * square + s)
            + h * m1 * (cube - square)
        )

    def integral(self, start: float, end: float) -> float:
        """Returns the integral of a number from `start` to `end` [s]."""
        return self._integral_to(end) - self._integral_to(start)

    def slopes(self, place: int) -> tuple[float, float]:
        """Returns the slopes of a number before and after a key [1/s]."""
        key, own = self.keys[place], self._slopes[place]
        return (
            own if key.slope_in is None else key.slope_in,
            own if key.slope_out is None else key.slope_out,
        )

    @cached_property
    def range(self) -> tuple[float, float]:
        """Returns the smallest and largest value of a number."""
        found = [float(key.value) for key in self.keys]
        for place, key in enumerate(self.keys[:-1]):
            if key.mode is KeyMode.HERMITE:
                found += [float(self.value(time)) for time in self._turns(place)]
        return min(found), max(found)

    def jumps(self, start: float, end: float) -> bool:
        """Returns whether the value changes suddenly after `start` and not after `end` [s]."""
        first, last = bisect_right(self._times, start), bisect_right(self._times, end)
        return any(
            self.keys[place - 1].mode is KeyMode.STEP and self.keys[place - 1].value != self.keys[place].value
            for place in range(max(first, 1), last)
        )

    def _turns(self, place: int) -> list[float]:
        """Returns times between two keys at which a Hermite span has an extremum."""
        a, b, h, m0, m1 = self._span(place)
        square, linear, constant = (
            6.0 * (a - b) + 3.0 * h * (m0 + m1),
            6.0 * (b - a) - h * (4.0 * m0 + 2.0 * m1),
            h * m0,
        )
        if square == 0.0:
            roots = [-constant / linear] if linear else []
        else:
            below = linear * linear - 4.0 * square * constant
            roots = (
                [(-linear + sign * math.sqrt(below)) / (2.0 * square) for sign in (-1.0, 1.0)] if below >= 0.0 else []
            )
        return [self.keys[place].time + s * h for s in roots if 0.0 < s < 1.0]

    def _integral_to(self, time: float) -> float:
        """Returns the integral from the first key to a time [s]."""
        place = bisect_right(self._times, time) - 1
        if place < 0:
            return float(self.keys[0].value) * (time - self._times[0])
        past = self._sums[place]
        if place == len(self.keys) - 1:
            return past + float(self.keys[-1].value) * (time - self._times[-1])
        return past + self._part(place, (time - self._times[place]) / (self._times[place + 1] - self._times[place]))

    def _part(self, place: int, s: float) -> float:
        """Returns the integral from a key over the fraction `s` of its span."""
        a, b, h, m0, m1 = self._span(place)
        square, cube, fourth = s * s / 2.0, s**3, s**4
        match self.keys[place].mode:
            case KeyMode.HERMITE:
                return h * (
                    a * (s - cube + fourth / 2.0)
                    + b * (cube - fourth / 2.0)
                    + h * m0 * (square - 2.0 * cube / 3.0 + fourth / 4.0)
                    + h * m1 * (fourth / 4.0 - cube / 3.0)
                )
            case KeyMode.STEP:
                share = 0.0
            case KeyMode.LINEAR:
                share = square
            case KeyMode.QUADRATIC:
                share = cube / 3.0
            case KeyMode.SMOOTH:
                share = cube - fourth / 2.0
            case KeyMode.EXPONENTIAL:
                share = (math.expm1(10.0 * s * math.log(2.0)) / (10.0 * math.log(2.0)) - s) / (2.0**10 - 1.0)
        return h * (a * s + (b - a) * share)

    def _span(self, place: int) -> tuple[float, float, float, float, float]:
        """Returns values of a key and the next one, time between them [s], and slopes at both."""
        now, then = self.keys[place], self.keys[place + 1]
        slopes = self.slopes(place)[1], self.slopes(place + 1)[0]
        return float(now.value), float(then.value), then.time - now.time, *slopes

    @cached_property
    def _times(self) -> list[float]:
        return [key.time for key in self.keys]

    @cached_property
    def _sums(self) -> list[float]:
        """Returns the integral from the first key to each key."""
        sums = [0.0]
        for place in range(len(self.keys) - 1):
            sums.append(sums[-1] + self._part(place, 1.0))
        return sums

    @cached_property
    def _slopes(self) -> list[float]:
        return monotone_slopes(self._times, [float(key.value) for key in self.keys])


def monotone_slopes(times: Sequence[float], values: Sequence[float]) -> list[float]:
    """Returns slopes of a cubic Hermite spline that keeps values between their neighbours; 0 at both ends.

    Source: F. N. Fritsch, J. Butland 1984, "A method for constructing local monotone piecewise cubic interpolants".
    """
    slopes = [0.0] * len(times)
    for place in range(1, len(times) - 1):
        before, after = times[place] - times[place - 1], times[place + 1] - times[place]
        rise, next_rise = (values[place] - values[place - 1]) / before, (values[place + 1] - values[place]) / after
        if rise * next_rise > 0.0:
            share = (before + 2.0 * after) / (3.0 * (before + after))
            slopes[place] = rise * next_rise / (share * next_rise + (1.0 - share) * rise)
    return slopes


def with_key(curve: Curve, key: Key) -> Curve:
    """Adds a key, or replaces the key at its time."""
    rest = [other for other in curve.keys if other.time != key.time]
    return msgspec.structs.replace(curve, keys=tuple(sorted((*rest, key), key=lambda one: one.time)))
