"""Stamps: times at which the graphics card gets to a place in the stream of its work.

Two ways: a timer of the card, whose answers arrive some pictures later, and a wall clock after all work was waited for.
"""

from collections.abc import Callable
from typing import Any, Protocol

from sim.profile.sample import TimeSource


class Stamps(Protocol):
    """What a recorder measures with; a stamp is an opaque value.

    Attributes:
        source: What the times are.
    """

    source: TimeSource

    def stamp(self) -> Any:
        """Puts a stamp behind all work that was handed out."""

    def time_of(self, stamp: Any) -> float | None:
        """When the work before a stamp was done, by the clock of the stamps [s]; None while that is not known."""

    def give_back(self, stamp: Any) -> None:
        """Says that a stamp is not needed any more."""

    def offset(self) -> tuple[float, float]:
        """By how much the clock of the stamps is ahead of the processor's, and how far off that may be [s]."""

    def release(self) -> None:
        """Deletes what stamps are made of."""


class ClockStamps:
    """Times of finished work: waits for all that was handed out, then reads the processor's clock.

    Args:
        finish: Returns when all work is done.
        clock: Monotonic time [s].
    """

    source = TimeSource.CLOCK

    def __init__(self, finish: Callable[[], object], clock: Callable[[], float]) -> None:
        self._finish, self._clock = finish, clock

    def stamp(self) -> float:
        """The time, once all work is done [s]."""
        self._finish()
        return self._clock()

    def time_of(self, stamp: float) -> float | None:
        """The stamp itself [s]."""
        return stamp

    def give_back(self, stamp: float) -> None:
        """Nothing to do."""

    def offset(self) -> tuple[float, float]:
        """Nothing: it is the same clock."""
        return 0.0, 0.0

    def release(self) -> None:
        """Nothing to delete."""
