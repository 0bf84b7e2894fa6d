"""The last minute of what a cloth reports, for the plots."""

from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

SPAN = 60.0
"""What is kept [s] of simulated time."""

CAPACITY = 4096
"""Most samples; a minute of the fastest reports has fewer."""

CHANNELS = ("kinetic", "elastic", "potential", "total", "strain")


@dataclass(frozen=True, slots=True)
class PlotSample:
    """A cloth at one moment."""

    time: float  # Since the start of the simulation [s]
    # kinetic, elastic, potential: Energies [J]
    kinetic: float
    elastic: float
    potential: float
    strain: float  # Largest lengthening of a thread over its rest length


class PlotRing:
    """Samples in order of time; where time goes back, those before it stay, and what follows is recorded anew."""

    def __init__(self) -> None:
        self._records = np.zeros((CAPACITY, 5))
        self._first = self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, sample: PlotSample) -> bool:
        """Keeps a sample; returns whether it is a new one.  What is not finite is left out."""
        record = np.array(astuple(sample))
        if not np.isfinite(record).all():
            return False
        if self._count:
            last = self._records[(self._first + self._count - 1) % CAPACITY, 0]
            if sample.time == last:
                return False
            if sample.time < last:
                self._go_back(sample.time)
        self._records[(self._first + self._count) % CAPACITY] = record
        self._count += 1
        while self._count > CAPACITY - 1 or self._records[self._first, 0] < sample.time - SPAN:
            self._first = (self._first + 1) % CAPACITY
            self._count -= 1
        return True

    def _go_back(self, time: float) -> None:
        """Forgets this moment, and what followed it."""
        order = (self._first + np.arange(self._count)) % CAPACITY
        self._count = int(np.searchsorted(self._records[order, 0], time))

    def clear(self) -> None:
        """Forgets everything."""
        self._first = self._count = 0

    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """Arrays of "time" [s] and of every channel: energies [J], strain [%], oldest first."""
        order = (self._first + np.arange(self._count)) % CAPACITY
        time, kinetic, elastic, potential, strain = self._records[order].T
        total = kinetic + elastic + potential
        values = (kinetic, elastic, potential, total, 100.0 * strain)
        return {"time": time, **dict(zip(CHANNELS, values, strict=True))}
