"""Edits of stops: values at positions of a life, 0 to 1. The module is independent of Qt.

A stop is a position and one or more values. There is always at least one stop; values are constant before the first and
after the last one.
"""

import math
from bisect import bisect_right
from collections.abc import Callable

from sinew.sim.scene.vectors import STOP_MAX, values_at

Stop = tuple[float, ...]
Stops = tuple[Stop, ...]

_DIGITS = 3
_VALUE_DIGITS = 5


def moved(stops: Stops, index: int, share: float, values: tuple[float, ...] | None = None) -> Stops:
    """Moves a stop between its neighbours; `values` of None keeps its values."""
    lo = stops[index - 1][0] if index > 0 else 0.0
    hi = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    # Rounded first: the typed position of a neighbour may have more digits.
    place = min(max(round(share, _DIGITS), lo), hi)
    return _replaced(stops, index, (place, *(stops[index][1:] if values is None else values)))


def with_share(stops: Stops, index: int, share: float) -> tuple[Stops, int]:
    """Moves a stop to a typed position, past neighbours if need be; returns the stops and its new index."""
    rest = stops[:index] + stops[index + 1 :]
    place = bisect_right([stop[0] for stop in rest], share)
    # A stop that stays between its neighbours keeps its index, also among equal positions.
    before = stops[index - 1][0] if index > 0 else 0.0
    after = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    place = index if before <= share <= after else place
    return (*rest[:place], (share, *stops[index][1:]), *rest[place:]), place


def with_values(stops: Stops, index: int, values: tuple[float, ...]) -> Stops:
    return _replaced(stops, index, (stops[index][0], *values))


def inserted(stops: Stops, share: float, values: tuple[float, ...] | None = None) -> tuple[Stops, int]:
    """Inserts a stop, with interpolated values for None; with `STOP_MAX` stops, returns them and the nearest index."""
    share = round(share, _DIGITS)
    place = bisect_right([stop[0] for stop in stops], share)
    if len(stops) >= STOP_MAX:
        return stops, min(place, len(stops) - 1)
    there = tuple(round(float(value), _VALUE_DIGITS) for value in values_at(stops, [share])[0])
    fresh = (share, *(there if values is None else values))
    return (*stops[:place], fresh, *stops[place:]), place


def removed(stops: Stops, index: int) -> tuple[Stops, int]:
    """Removes a stop, except for the last one; returns the stops and the index of the neighbour."""
    if len(stops) == 1:
        return stops, 0
    return stops[:index] + stops[index + 1 :], max(index - 1, 0)


def gap_beside(stops: Stops, index: int) -> float:
    """Returns the middle of the gap after a stop, or before it if it is the last one at the end of the life."""
    share = stops[index][0]
    after = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    if after > share:
        return 0.5 * (share + after)
    before = stops[index - 1][0] if index > 0 else 0.0
    return 0.5 * (before + share)


def _replaced(stops: Stops, index: int, stop: Stop) -> Stops:
    return (*stops[:index], stop, *stops[index + 1 :])


_STEPS = 8  # straight pieces of an easing


EASINGS: dict[str, Callable[[float], float]] = {
    "Linear": lambda t: t,
    "Smooth": lambda t: t * t * (3.0 - 2.0 * t),
    "Ease in": lambda t: t * t,
    "Ease out": lambda t: t * (2.0 - t),
    "Step": lambda t: math.floor(2.0 * t),
}
"""Interpolation factors from the first to the last value by time, 0 to 1; Smooth is the cubic Hermite step."""

PRESETS: dict[str, tuple[tuple[float, float], ...]] = {
    "Constant": ((0.0, 1.0),),
    "Fade in": ((0.0, 0.0), (1.0, 1.0)),
    "Fade out": ((0.0, 1.0), (1.0, 0.0)),
    "In and out": ((0.0, 0.0), (0.2, 1.0), (0.8, 1.0), (1.0, 0.0)),
    "Peak": ((0.0, 0.0), (0.5, 1.0), (1.0, 0.0)),
    "Pulse": ((0.0, 0.0), (0.4, 0.0), (0.45, 1.0), (0.55, 1.0), (0.6, 0.0), (1.0, 0.0)),
}
"""Presets of stops: positions, and values relative to the largest one."""


def eased(stops: Stops, easing: str) -> Stops:
    """Eases values from the first to the last stop; a single stop is unchanged. Raises KeyError without the easing."""
    (start, low), (end, high) = stops[0], stops[-1]
    shape = EASINGS[easing]
    if len(stops) == 1:
        return stops
    if easing == "Step":
        middle = round(0.5 * (start + end), _DIGITS)
        return (start, low), (middle, low), (middle, high), (end, high)
    count = 1 if easing == "Linear" else _STEPS
    inner = ((index / count, shape(index / count)) for index in range(1, count))
    between = [
        (round(start + t * (end - start), _DIGITS), round(low + y * (high - low), _VALUE_DIGITS)) for t, y in inner
    ]
    return (start, low), *between, (end, high)


def preset(stops: Stops, name: str, fallback: float) -> Stops:
    """Returns a preset as high as the highest stop, or as `fallback` if all are zero; raises KeyError without it."""
    height = max(value for _, value in stops) or fallback
    return tuple((share, round(height * part, _VALUE_DIGITS)) for share, part in PRESETS[name])
