"""The last minute of what something simulated reports, for the plots."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

SPAN = 60.0
"""What is kept [s] of simulated time."""

CAPACITY = 4096
"""Most samples; a minute of the fastest reports has fewer."""


class PlotRing:
    """Samples in order of time; where time goes back, those before it stay, and what follows is recorded anew.

    Args:
        channels: Names of the values of a sample.
    """

    def __init__(self, channels: Sequence[str]) -> None:
        self._channels = tuple(channels)
        self._records = np.zeros((CAPACITY, 1 + len(self._channels)))
        self._first = self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, time: float, values: Mapping[str, float]) -> bool:
        """Keeps a sample at a time since the start [s]; returns whether it is a new one, of finite numbers."""
        record = np.array([time, *(values[name] for name in self._channels)])
        if not np.isfinite(record).all():
            return False
        if self._count:
            last = self._records[(self._first + self._count - 1) % CAPACITY, 0]
            if time == last:
                return False
            if time < last:
                self._go_back(time)
        self._records[(self._first + self._count) % CAPACITY] = record
        self._count += 1
        while self._count > CAPACITY - 1 or self._records[self._first, 0] < time - SPAN:
            self._first = (self._first + 1) % CAPACITY
            self._count -= 1
        return True

    def _go_back(self, time: float) -> None:
        order = (self._first + np.arange(self._count)) % CAPACITY
        self._count = int(np.searchsorted(self._records[order, 0], time))

    def clear(self) -> None:
        self._first = self._count = 0

    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """Arrays of "time" [s] and of every channel, oldest first."""
        order = (self._first + np.arange(self._count)) % CAPACITY
        return dict(zip(("time", *self._channels), self._records[order].T, strict=True))
