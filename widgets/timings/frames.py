"""The frames of a history at one moment, which later ones do not change: holding the view is keeping this."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.profile.history import Float64, History, Quantity
from sim.profile.sample import FrameSample
from widgets.timings.bands import Band, Level, bands_of, roots_of

Index = slice | npt.NDArray[np.int64]
ALL = slice(None)
_LASTS_AT_LEAST = 0.25
"""A frame with no successor in sight is drawn no longer than this [s], or than it cost."""


@dataclass(frozen=True)
class Frames:
    """Columns of frames, oldest first.

    Attributes:
        paths: Every pass.
        begins: When each frame began [s], monotonic, shape (F,).
        samples: The frames themselves.
    """

    paths: tuple[str, ...]
    begins: Float64
    samples: Sequence[FrameSample]
    _columns: dict[tuple[str, Quantity], Float64] = field(repr=False)

    @classmethod
    def of(cls, history: History) -> "Frames":
        """All frames of a history."""
        paths = tuple(history.paths)
        columns = {(path, quantity): history.inclusive(path, quantity) for quantity in Quantity for path in paths}
        return cls(paths, history.begins(), history.samples, columns)

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def now(self) -> float:
        """When the newest frame began [s]; 0 without one."""
        return float(self.begins[-1]) if len(self) else 0.0

    def bands(self, level: Level) -> tuple[Band, ...]:
        """What its stack is made of."""
        return bands_of(self.paths, level)

    def values(self, band: Band, quantity: Quantity, where: Index = ALL) -> Float64:
        """Times of a band in some frames [s]; NaN where they were lost."""
        times = self._sum(band.plus, quantity, where)
        for path in band.minus:
            times = times - self._columns[path, quantity][where]
        # Rounding must not leave less than nothing.
        return np.maximum(times, 0.0) if band.minus else times

    def total(self, quantity: Quantity, where: Index = ALL) -> Float64:
        """Times of all passes together in some frames [s]."""
        return self._sum(roots_of(self.paths), quantity, where)

    @functools.cached_property
    def ends(self) -> Float64:
        """Up to when each frame is shown [s], shape (F,): to the next one, unless nothing was drawn between."""
        cost = np.fmax(self.total(Quantity.GPU), self.total(Quantity.CPU))
        longest = self.begins + np.fmax(1.5 * np.nan_to_num(cost), _LASTS_AT_LEAST)
        ends = np.append(self.begins[1:], np.inf)
        if len(self) > 1:
            ends[-1] = self.begins[-1] + np.median(np.diff(self.begins[-64:]))
        return np.minimum(ends, longest)

    def region(self, begin: float, end: float) -> slice:
        """Frames that began at `begin` or later and not after `end` (monotonic times [s])."""
        first = int(np.searchsorted(self.begins, begin, "left"))
        return slice(first, max(first, int(np.searchsorted(self.begins, end, "right"))))

    def at(self, moment: float) -> int | None:
        """Index of the frame that is shown at a time [s]; None where there is none."""
        index = int(np.searchsorted(self.begins, moment, "right")) - 1
        return index if index >= 0 and moment < self.ends[index] else None

    def intervals(self, where: slice) -> Float64:
        """Times since the frames before [s], NaN where nothing was drawn between."""
        return np.array([self.samples[index].interval for index in range(*where.indices(len(self)))])

    def _sum(self, paths: tuple[str, ...], quantity: Quantity, where: Index) -> Float64:
        if not paths:
            return np.zeros(len(self.begins[where]))
        times = self._columns[paths[0], quantity][where]
        for path in paths[1:]:
            times = times + self._columns[path, quantity][where]
        return times
