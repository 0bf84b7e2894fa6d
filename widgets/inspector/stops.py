"""Edits of stops: values at shares of a life, in the order of their shares.  Knows no Qt.

A stop is a share, 0 to 1, and one or more values.  There is always at least one stop; before the first and
after the last the values stay as they are there.
"""

from bisect import bisect_right

from sim.scene.vectors import STOP_MAX, values_at

Stop = tuple[float, ...]
Stops = tuple[Stop, ...]

_DIGITS = 3
_VALUE_DIGITS = 5


def moved(stops: Stops, index: int, share: float, values: tuple[float, ...] | None = None) -> Stops:
    """Stops of which one is moved, never past its neighbours, so that it stays the one that is held.

    Args:
        stops: The stops.
        index: Which one moves.
        share: Where to.
        values: Its new values; None for the same.
    """
    lo = stops[index - 1][0] if index > 0 else 0.0
    hi = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    # Rounding comes first: a neighbour's share was typed and may have more digits.
    place = min(max(round(share, _DIGITS), lo), hi)
    return _replaced(stops, index, (place, *(stops[index][1:] if values is None else values)))


def with_share(stops: Stops, index: int, share: float) -> tuple[Stops, int]:
    """Stops of which one has a share that was typed, past its neighbours if need be; and its index then."""
    rest = stops[:index] + stops[index + 1 :]
    place = bisect_right([stop[0] for stop in rest], share)
    # A stop that stays between its neighbours stays the one it was, also among equals.
    before = stops[index - 1][0] if index > 0 else 0.0
    after = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    place = index if before <= share <= after else place
    return (*rest[:place], (share, *stops[index][1:]), *rest[place:]), place


def with_values(stops: Stops, index: int, values: tuple[float, ...]) -> Stops:
    return _replaced(stops, index, (stops[index][0], *values))


def inserted(stops: Stops, share: float, values: tuple[float, ...] | None = None) -> tuple[Stops, int]:
    """Stops with one more, and its index; the same stops and the nearest index where there is no room for more.

    Args:
        stops: The stops.
        share: Where the new one stands.
        values: Its values; None for those that are there already, which changes nothing that is seen.
    """
    share = round(share, _DIGITS)
    place = bisect_right([stop[0] for stop in stops], share)
    if len(stops) >= STOP_MAX:
        return stops, min(place, len(stops) - 1)
    there = tuple(round(float(value), _VALUE_DIGITS) for value in values_at(stops, [share])[0])
    fresh = (share, *(there if values is None else values))
    return (*stops[:place], fresh, *stops[place:]), place


def removed(stops: Stops, index: int) -> tuple[Stops, int]:
    """Stops without one, and the index of the one beside it; the last one stays."""
    if len(stops) == 1:
        return stops, 0
    return stops[:index] + stops[index + 1 :], max(index - 1, 0)


def gap_beside(stops: Stops, index: int) -> float:
    """Share in the middle of the gap after a stop; before it where it is the last one and ends the life."""
    share = stops[index][0]
    after = stops[index + 1][0] if index + 1 < len(stops) else 1.0
    if after > share:
        return 0.5 * (share + after)
    before = stops[index - 1][0] if index > 0 else 0.0
    return 0.5 * (before + share)


def _replaced(stops: Stops, index: int, stop: Stop) -> Stops:
    return (*stops[:index], stop, *stops[index + 1 :])
