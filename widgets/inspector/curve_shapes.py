"""Shapes that a curve of stops can take at once: easings between its ends, and presets.  Knows no Qt."""

import math
from collections.abc import Callable

from widgets.inspector.stops import Stops

_STEPS = 8
"""Straight pieces that an easing is drawn with."""

_DIGITS, _VALUE_DIGITS = 3, 5

EASINGS: dict[str, Callable[[float], float]] = {
    "Linear": lambda t: t,
    "Smooth": lambda t: t * t * (3.0 - 2.0 * t),
    "Ease in": lambda t: t * t,
    "Ease out": lambda t: t * (2.0 - t),
    "Step": lambda t: math.floor(2.0 * t),
}
"""Share of the way from the first value to the last one by share of the time; smooth is the cubic of Hermite."""

PRESETS: dict[str, tuple[tuple[float, float], ...]] = {
    "Constant": ((0.0, 1.0),),
    "Fade in": ((0.0, 0.0), (1.0, 1.0)),
    "Fade out": ((0.0, 1.0), (1.0, 0.0)),
    "In and out": ((0.0, 0.0), (0.2, 1.0), (0.8, 1.0), (1.0, 0.0)),
    "Peak": ((0.0, 0.0), (0.5, 1.0), (1.0, 0.0)),
    "Pulse": ((0.0, 0.0), (0.4, 0.0), (0.45, 1.0), (0.55, 1.0), (0.6, 0.0), (1.0, 0.0)),
}
"""Places and parts of the largest value."""


def eased(stops: Stops, easing: str) -> Stops:
    """A curve from the first to the last stop of another one by an easing; a single stop stays what it is.

    Raises:
        KeyError: If there is no such easing.
    """
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
    """A preset that is as high as the highest of some stops.

    Args:
        stops: The stops.
        name: The preset.
        fallback: Its height where all of them are zero.

    Raises:
        KeyError: If there is no such preset.
    """
    height = max(value for _, value in stops) or fallback
    return tuple((share, round(height * part, _VALUE_DIGITS)) for share, part in PRESETS[name])
