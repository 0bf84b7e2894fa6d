"""The frames of a history at one moment, and the figures of every band over a region of them.

Later frames do not change them: holding the view is keeping this.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.profile.history import Float64, Quantity, QuantityHistory, Summary, summary
from sim.profile.sample import FrameSample
from widgets.timings.choice import Band, Level, bands_of, roots_of

Index = slice | npt.NDArray[np.int64]
ALL = slice(None)
_LASTS_AT_LEAST = 0.25
"""A frame with no successor in sight is drawn no longer than this [s], or than it cost."""

TOTAL = ""
"""Path of the row of all passes together."""


class FrameTable:
    """Columns of frames, oldest first.

    Args:
        history: Where they are; the frames that it has now.

    Attributes:
        paths: Every pass.
        begins: When each frame began [s], monotonic, shape (F,).
        intervals: Times to the next frames [s], NaN where nothing was drawn between, shape (F,).
    """

    def __init__(self, history: QuantityHistory) -> None:
        self.paths = tuple(history.paths)
        self.begins, self.intervals = history.begins(), history.intervals()
        self._columns = {
            (path, quantity): history.inclusive(path, quantity) for quantity in Quantity for path in self.paths
        }  # fmt: skip
        self._history, self._version = history, history.version
        self._cached: list[FrameSample] | None = None

    def cached(self) -> "FrameTable":
        """Itself, with its frames for as long as they are wanted; call it before the history goes on."""
        self._cached = self._history.samples
        return self

    def sample(self, index: int) -> FrameSample:
        """A frame; where it has left the history meanwhile and was not kept, the oldest one there is.

        Raises:
            IndexError: If there is no frame.
        """
        if self._cached is not None:
            return self._cached[index]
        if self._version == self._history.version:
            return self._history[index]
        return self._history[int(np.searchsorted(self._history.begins(), self.begins[index], "left"))]

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def now(self) -> float:
        """When the newest frame began [s]; 0 without one."""
        return float(self.begins[-1]) if len(self) else 0.0

    def bands(self, level: Level) -> tuple[Band, ...]:
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
        # Where something was drawn between, however slowly, there is no gap.
        followed = ~np.isnan(self.intervals)
        following = np.append(self.begins[1:], np.inf)
        if len(self) > 1:
            longest[-1] = min(longest[-1], self.begins[-1] + np.median(np.diff(self.begins[-64:])))
        return np.where(followed, following, np.minimum(following, longest))

    def region(self, begin: float, end: float) -> slice:
        """Frames that began at `begin` or later and not after `end` (monotonic times [s])."""
        first = int(np.searchsorted(self.begins, begin, "left"))
        return slice(first, max(first, int(np.searchsorted(self.begins, end, "right"))))

    def at(self, moment: float) -> int | None:
        """Index of the frame that is shown at a time [s]; None where there is none."""
        index = int(np.searchsorted(self.begins, moment, "right")) - 1
        return index if index >= 0 and moment < self.ends[index] else None

    def _sum(self, paths: tuple[str, ...], quantity: Quantity, where: Index) -> Float64:
        if not paths:
            return np.zeros(len(self.begins[where]))
        times = self._columns[paths[0], quantity][where]
        for path in paths[1:]:
            times = times + self._columns[path, quantity][where]
        return times


@dataclass(frozen=True, slots=True)
class FrameStatistics:
    """One row."""

    path: str  # Path of the band; `TOTAL` for all together
    label: str  # What the user reads
    times: Summary  # Summary of its times [s]
    share: float  # Part of all times, 0 to 1


@dataclass(frozen=True, slots=True)
class RegionStatistics:
    """What the frames of a region cost."""

    # The total first, then the bands from the bottom of the stack up; those that never took time are left out
    rows: tuple[FrameStatistics, ...]
    frames: int  # How many frames there are
    rate: float  # Mean frames a second, pauses left out; NaN where no interval is known
    seconds: float  # From the begin of the first to the end of the last one [s]


def statistics_of(frames: FrameTable, level: Level, quantity: Quantity, where: slice) -> RegionStatistics:
    """Figures of some frames.

    Args:
        frames: All frames.
        level: How far groups are taken apart.
        quantity: Which times.
        where: Indices of the region.
    """
    total = frames.total(quantity, where)
    whole = float(np.nansum(total))
    rows = [FrameStatistics(TOTAL, "Total", summary(total), 1.0 if whole > 0.0 else 0.0)]
    for band in frames.bands(level):
        times = frames.values(band, quantity, where)
        if not is_empty_rest(band, times):
            spent = float(np.nansum(times))
            rows.append(FrameStatistics(band.path, band.label, summary(times), spent / whole if whole > 0.0 else 0.0))
    intervals = frames.intervals[where]
    known = intervals[~np.isnan(intervals)]
    spent = float(known.sum())
    begins = frames.begins[where]
    seconds = float(begins[-1] - begins[0]) if len(begins) else 0.0
    return RegionStatistics(tuple(rows), len(begins), len(known) / spent if spent > 0.0 else np.nan, seconds)


def values_of(frames: FrameTable, level: Level, path: str, quantity: Quantity, where: slice) -> Float64:
    """Times of a band, or of all together for `TOTAL`; 0 for a band that is not there [s]."""
    if path == TOTAL:
        return frames.total(quantity, where)
    band = next((band for band in frames.bands(level) if band.path == path), None)
    return np.zeros(len(frames.begins[where])) if band is None else frames.values(band, quantity, where)


def is_empty_rest(band: Band, times: Float64) -> bool:
    """Whether the parts of a group leave nothing of it."""
    return bool(band.minus) and not bool((times > 1e-9).any())
