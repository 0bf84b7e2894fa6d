"""Frames of a timing history, the bands of the stack, and their statistics; independent of Qt."""

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64
from sinew.sim.profile.history import Quantity, QuantityHistory, Summary, summary
from sinew.sim.profile.sample import SEPARATOR, FrameSample


class Level(enum.Enum):
    """Number of path components that are distinguished."""

    GROUPS = 1
    KINDS = 2
    PASSES = 64

    @property
    def label(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Band:
    """One area of the stack: the times of some passes minus the times of others."""

    path: str  # The pass or group
    plus: tuple[str, ...]  # Passes that are added, with all their parts
    minus: tuple[str, ...] = ()  # Parts that are subtracted, because they are bands of their own

    @property
    def label(self) -> str:
        return f"{self.path} (other)" if self.minus else self.path


@functools.lru_cache(maxsize=256)
def bands_of(paths: tuple[str, ...], level: Level) -> tuple[Band, ...]:
    """Returns bands from the bottom of the stack up, a group before its parts; a part may occur without its group."""
    roots = _children(paths)
    bands: dict[str, tuple[list[str], list[str]]] = {}
    for path in paths:
        key = _cut(path, level)
        plus, minus = bands.setdefault(key, ([], []))
        above = _ancestor(path, paths)
        if above is None or _cut(above, level) != key:
            plus.append(path)
        minus += [child for child in roots.get(path, ()) if _cut(child, level) != key]
    return tuple(Band(key, *map(tuple, bands[key])) for key in _in_order(tuple(bands)))


@functools.lru_cache(maxsize=256)
def roots_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if _ancestor(path, paths) is None)


def _cut(path: str, level: Level) -> str:
    return SEPARATOR.join(path.split(SEPARATOR)[: level.value])


def _ancestor(path: str, paths: tuple[str, ...]) -> str | None:
    while path := path.rpartition(SEPARATOR)[0]:
        if path in paths:
            return path
    return None


def _children(paths: tuple[str, ...]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for path in paths:
        above = _ancestor(path, paths)
        if above is not None:
            children.setdefault(above, []).append(path)
    return children


def _in_order(keys: tuple[str, ...]) -> list[str]:
    """Returns groups in the order of their first pass, and their parts likewise."""
    first: dict[str, int] = {}
    for number, key in enumerate(keys):
        parts = key.split(SEPARATOR)
        for depth in range(1, len(parts) + 1):
            first.setdefault(SEPARATOR.join(parts[:depth]), number)

    def rank(key: str) -> list[int]:
        parts = key.split(SEPARATOR)
        return [first[SEPARATOR.join(parts[:depth])] for depth in range(1, len(parts) + 1)]

    return sorted(keys, key=rank)


class PlottedTimes(enum.Enum):
    GPU = "GPU"
    CPU = "CPU"
    BOTH = "Both"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return {PlottedTimes.GPU: (Quantity.GPU,), PlottedTimes.CPU: (Quantity.CPU,)}.get(
            self, (Quantity.GPU, Quantity.CPU)
        )


class Unit(enum.Enum):
    MILLISECONDS = "ms"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class TimingsOptions:
    shown: PlottedTimes = PlottedTimes.GPU
    unit: Unit = Unit.MILLISECONDS
    level: Level = Level.KINDS
    hidden: frozenset[str] = frozenset()  # Paths of hidden bands
    solo: str = ""  # Path of the only band that is shown, or ""

    def shows(self, path: str) -> bool:
        return path == self.solo if self.solo else path not in self.hidden

    def visible(self, bands: tuple[Band, ...]) -> tuple[Band, ...]:
        """Returns the visible bands; all if the solo band does not exist."""
        if self.solo and all(band.path != self.solo for band in bands):
            return replace(self, solo="").visible(bands)
        return tuple(band for band in bands if self.shows(band.path))

    def toggled(self, path: str) -> "TimingsOptions":
        """Returns options that show or hide one band; ends solo."""
        if self.solo:
            return replace(self, solo="" if path == self.solo else path)
        return replace(self, hidden=self.hidden ^ {path})

    def soloed(self, path: str) -> "TimingsOptions":
        """Returns options that show only one band, or end solo if it was that band."""
        return replace(self, solo="" if self.solo == path else path)

    @property
    def quantity(self) -> Quantity:
        return self.shown.quantities[0]

    def state(self) -> dict[str, str]:
        """Returns the options to save between sessions; hidden bands belong to a scene and are left out."""
        return {"shown": self.shown.name, "unit": self.unit.name, "level": self.level.name}

    def restored(self, state: Mapping[str, str]) -> "TimingsOptions":
        """Returns saved options; ignores missing and unknown settings."""
        shown = PlottedTimes.__members__.get(state.get("shown", ""), self.shown)
        unit = Unit.__members__.get(state.get("unit", ""), self.unit)
        level = Level.__members__.get(state.get("level", ""), self.level)
        return replace(self, shown=shown, unit=unit, level=level)


Index = slice | npt.NDArray[np.int64]
ALL = slice(None)
_LASTS_AT_LEAST = 0.25
"""A frame without a successor is displayed no longer than this [s], or than 1.5 times its cost."""

TOTAL = ""  # path of the sum of all passes


class FrameTable:
    """Columns of the current frames of a history, oldest first; later frames do not change it.

    Attributes:
        begins: Start time of each frame [s], monotonic, shape (F,).
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
        """Copies the frames of the history and returns itself; call it before the history gets more frames."""
        self._cached = self._history.samples
        return self

    def sample(self, index: int) -> FrameSample:
        """Returns a frame, or the oldest one left if it is no longer available; raises IndexError without frames."""
        if self._cached is not None:
            return self._cached[index]
        if self._version == self._history.version:
            return self._history[index]
        return self._history[int(np.searchsorted(self._history.begins(), self.begins[index], "left"))]

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def now(self) -> float:
        """Start time of the newest frame [s]; 0 without one."""
        return float(self.begins[-1]) if len(self) else 0.0

    def bands(self, level: Level) -> tuple[Band, ...]:
        return bands_of(self.paths, level)

    def values(self, band: Band, quantity: Quantity, where: Index = ALL) -> Float64:
        """Returns the times of a band [s]; NaN where they were lost."""
        times = self._sum(band.plus, quantity, where)
        for path in band.minus:
            times = times - self._columns[path, quantity][where]
        # Rounding may give negative times.
        return np.maximum(times, 0.0) if band.minus else times

    def total(self, quantity: Quantity, where: Index = ALL) -> Float64:
        """Returns the time of all passes together [s]."""
        return self._sum(roots_of(self.paths), quantity, where)

    @functools.cached_property
    def ends(self) -> Float64:
        """End of the display of each frame [s], shape (F,): the next frame, unless nothing was drawn between."""
        cost = np.fmax(self.total(Quantity.GPU), self.total(Quantity.CPU))
        longest = self.begins + np.fmax(1.5 * np.nan_to_num(cost), _LASTS_AT_LEAST)
        # No gap where frames were drawn, however slowly.
        followed = ~np.isnan(self.intervals)
        following = np.append(self.begins[1:], np.inf)
        if len(self) > 1:
            longest[-1] = min(longest[-1], self.begins[-1] + np.median(np.diff(self.begins[-64:])))
        return np.where(followed, following, np.minimum(following, longest))

    def region(self, begin: float, end: float) -> slice:
        """Returns the frames that start between two monotonic times [s], inclusive."""
        first = int(np.searchsorted(self.begins, begin, "left"))
        return slice(first, max(first, int(np.searchsorted(self.begins, end, "right"))))

    def at(self, moment: float) -> int | None:
        """Returns the index of the frame that is displayed at a time [s], or None."""
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
    path: str  # Path of the band, or `TOTAL`
    label: str
    times: Summary  # [s]
    share: float  # Share of the total time, 0 to 1


@dataclass(frozen=True, slots=True)
class RegionStatistics:
    # The total, then the bands from the bottom of the stack up, without those that took no time
    rows: tuple[FrameStatistics, ...]
    frames: int  # Number of frames
    rate: float  # Mean frames per second without pauses; NaN without known intervals
    seconds: float  # Duration [s]


def statistics_of(frames: FrameTable, level: Level, quantity: Quantity, where: slice) -> RegionStatistics:
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
    """Returns times of a band [s]; `TOTAL` means all passes; 0 for a band that does not exist."""
    if path == TOTAL:
        return frames.total(quantity, where)
    band = next((band for band in frames.bands(level) if band.path == path), None)
    return np.zeros(len(frames.begins[where])) if band is None else frames.values(band, quantity, where)


def is_empty_rest(band: Band, times: Float64) -> bool:
    """Returns True if the parts of a group account for all of its time."""
    return bool(band.minus) and not bool((times > 1e-9).any())
