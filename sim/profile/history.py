import dataclasses
import enum
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sinew.sim.maths.arrays import Float64, Int64
from sinew.sim.profile.sample import FrameSample, TimerStatus, TimeSource, Vsync

SECONDS = 60.0
ENDLESS = float("inf")
FRAMES_MAX = 60 * 240
"""Maximum number of frames, a minute at 240 fps."""


SAME_MOMENT = 1e-6
"""Maximum difference of two times of one begin [s]."""

_BEGIN, _INTERVAL_BEFORE, _FIXED_ROWS = 0, 1, 2
"""Rows of the table that belong to no pass."""


class Quantity(enum.Enum):
    GPU = "gpu"
    CPU = "cpu"


class QuantityHistory:
    """Table with a row for each quantity of each pass, a column for each frame; drops frames older than `seconds`.

    Arrays that are returned are contiguous views, oldest frame first.  Later frames do not change them.

    Attributes:
        version: Changes with every frame.
        paths: Every pass so far, in the order of their first runs.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds, self.version = seconds, -1
        self.clear()

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> FrameSample:
        return self._samples[index]

    def append(self, sample: FrameSample) -> None:
        """Appends a frame, which must be newer than all others; drops frames that are too old."""
        self._add_passes(dict.fromkeys(part.path for part in sample.slices if part.path not in self._rows))
        values = [0.0] * len(self._table)
        values[_BEGIN], values[_INTERVAL_BEFORE] = sample.begin, self._interval_before(sample)
        for part in sample.slices:
            row = self._rows[part.path]
            values[row] += part.gpu
            values[row + 1] += part.cpu
        if self._end == self._table.shape[1]:
            self._grow()
        self._table[:, self._end] = values
        self._end += 1
        self._samples.append(sample)
        while self._samples[0].begin < sample.begin - self._seconds:
            self._samples.popleft()
        self.version += 1

    def clear(self) -> None:
        self.version += 1
        self.paths: list[str] = []
        self._samples: deque[FrameSample] = deque(maxlen=FRAMES_MAX)
        self._rows: dict[str, int] = {}  # of the GPU time of each pass; the CPU time is in the next one
        self._table = np.zeros((_FIXED_ROWS, 1024))
        self._end = 0  # column after the newest frame

    @property
    def samples(self) -> list[FrameSample]:
        return list(self._samples)

    def begins(self) -> Float64:
        """Returns the monotonic times of the frames [s], shape (F,)."""
        return self._newest(_BEGIN)

    def intervals(self) -> Float64:
        """Returns times to the next frames [s], shape (F,), NaN where nothing was drawn between."""
        newest = [self._samples[-1].interval] if self._samples else []
        return np.append(self._newest(_INTERVAL_BEFORE)[1:], newest)

    def inclusive(self, path: str, quantity: Quantity) -> Float64:
        """Returns times of a pass with all its parts [s], (F,): 0 where it did not run, NaN where they were lost."""
        return self._newest(self._rows[path] + (quantity is Quantity.CPU))

    def _newest(self, row: int) -> Float64:
        return self._table[row, self._end - len(self) : self._end]

    def _interval_before(self, sample: FrameSample) -> float:
        """Returns the interval of the newest frame so far [s], known once the frame that follows at once arrives."""
        last = self._samples[-1] if self._samples else None
        if last is None:
            return np.nan
        if abs(last.begin + sample.since - sample.begin) < SAME_MOMENT:
            last = self._samples[-1] = dataclasses.replace(last, interval=sample.since)
        return last.interval

    def _add_passes(self, paths: Iterable[str]) -> None:
        """Adds passes, which took no time in older frames."""
        for path in paths:
            self._rows[path] = _FIXED_ROWS + 2 * len(self.paths)
            self.paths.append(path)
        height, width = self._table.shape
        if height < _FIXED_ROWS + 2 * len(self.paths):
            table = np.zeros((_FIXED_ROWS + 2 * len(self.paths), width))
            table[:height, : self._end] = self._table[:, : self._end]
            self._table = table

    def _grow(self) -> None:
        """Enlarges the table by a new array, so that views of the old one stay valid."""
        height, width = self._table.shape
        stored = min(self._end, FRAMES_MAX)
        table = np.zeros((height, min(2 * width, 2 * FRAMES_MAX)))
        table[:, :stored] = self._table[:, self._end - stored : self._end]
        self._table, self._end = table, stored


@dataclass(frozen=True)
class TimingRecording:
    name: str
    samples: tuple[FrameSample, ...]  # Oldest first; at most `FRAMES_MAX`
    # State at the end; `dropped` and `warmup_discarded` count for this recording
    status: TimerStatus = field(default_factory=TimerStatus)
    origin: str = ""  # File it was imported from, or ""
    table: QuantityHistory | None = field(default=None, repr=False, compare=False)  # Of `samples`, if there is one

    def __post_init__(self) -> None:
        if len(self.samples) > FRAMES_MAX:
            raise ValueError(f"a recording has {len(self.samples)} frames, at most {FRAMES_MAX} are possible")

    def renamed(self, name: str) -> "TimingRecording":
        return replace(self, name=name, table=self.__dict__.get("history", self.table))

    @cached_property
    def history(self) -> QuantityHistory:
        """Table of the frames, made at the first access, which is slow for many frames."""
        if self.table is not None:
            return self.table
        history = QuantityHistory(ENDLESS)
        for sample in self.samples:
            history.append(sample)
        return history

    @property
    def seconds(self) -> float:
        return self.samples[-1].begin - self.samples[0].begin if self.samples else 0.0

    @property
    def summary(self) -> str:
        """Text such as "612 frames · 10.2 s · GPU timer"."""
        return f"{len(self.samples)} frames · {self.seconds:.1f} s · {source_text(self.samples) or 'nothing'}"


def source_text(samples: tuple[FrameSample, ...]) -> str:
    """Returns the source of times, several names if it changed, "" without frames."""
    sources = {sample.source for sample in samples}
    return " and ".join(source.value for source in TimeSource if source in sources)


def conditions(recording: TimingRecording) -> dict[str, str]:
    status = recording.status
    return {
        "recording": recording.name,
        "renderer": status.renderer or "unknown",
        "source": source_text(recording.samples),
        "reason": status.reason,
        "vsync": status.vsync.value,
        "latency": f"{status.latency_frames} frames",
        "dropped": f"{status.dropped} GPU times",
        "warm-up": f"{status.warmup_discarded} frames discarded",
        "own cost": f"{status.own_cost_us_per_frame:.1f} us per frame, waiting included",
        "waiting": f"{status.waiting_us_per_frame:.1f} us per frame for the work of passes",
    }


def status_of(texts: dict[str, str], source: TimeSource) -> TimerStatus:
    """Returns the inverse of `conditions`; a text that is missing or malformed leaves the default."""
    vsync = texts.get("vsync", "")
    return TimerStatus(
        source=source,
        reason=texts.get("reason", "imported"),
        renderer=texts.get("renderer", ""),
        latency_frames=int(_leading_number(texts.get("latency", ""))),
        dropped=int(_leading_number(texts.get("dropped", ""))),
        warmup_discarded=int(_leading_number(texts.get("warm-up", ""))),
        vsync=Vsync(vsync) if vsync in {state.value for state in Vsync} else Vsync.UNKNOWN,
        own_cost_us_per_frame=_leading_number(texts.get("own cost", "")),
        waiting_us_per_frame=_leading_number(texts.get("waiting", "")),
    )


def _leading_number(text: str) -> float:
    try:
        value = float(text.split()[0]) if text.split() else 0.0
    except ValueError:
        return 0.0
    return value if 0.0 <= value < 1e15 else 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of numbers; NaN is left out, and all are NaN if nothing else is left.

    Percentiles are interpolated linearly between the sorted numbers (Hyndman and Fan 1996, definition 7).
    """

    count: int  # Numbers that are known
    lost: int  # Numbers that are NaN
    # mean, p50, p95, p99, maximum: In the unit of the numbers
    mean: float
    p50: float
    p95: float
    p99: float
    maximum: float


def summary(values: Float64) -> Summary:
    known = values[~np.isnan(values)]
    lost = len(values) - len(known)
    if not len(known):
        return Summary(0, lost, np.nan, np.nan, np.nan, np.nan, np.nan)
    p50, p95, p99 = np.percentile(known, (50.0, 95.0, 99.0))
    return Summary(len(known), lost, float(known.mean()), float(p50), float(p95), float(p99), float(known.max()))


@dataclass(frozen=True, slots=True)
class Buckets:
    """Runs of neighbouring frames for a plot; empty buckets are left out."""

    starts: Int64  # Index of the first frame of each, shape (N,), ascending
    begins: Float64  # Time at which each bucket begins [s], shape (N,)
    stop: int  # Index after the last frame of the last one
    length: float  # Of each in time [s]


def buckets(times: Float64, begin: float, end: float, count: int) -> Buckets:
    """Returns buckets of equal length in time over the frames from `begin` up to `end`.

    They begin at multiples of their length, so that a frame stays with its neighbours and a plot that scrolls does not
    shimmer.

    Args:
        times: Times of all frames [s], ascending, shape (F,).
        begin, end: The window [s].
        count: About how many buckets, usually one for each pixel; one more if the window begins within one.

    Raises:
        ValueError: If the window or the count is not positive.
    """
    if not end > begin or count < 1:
        raise ValueError(f"window {begin} to {end} in {count} buckets is empty")
    # Rounding of the ends must not change the length of windows of one size.
    length = float(f"{(end - begin) / count:.9g}")
    first, stop = np.searchsorted(times, (begin, end), side="left")
    numbers = np.floor(times[first:stop] / length)
    is_first = np.ones(len(numbers), dtype=bool)
    is_first[1:] = numbers[1:] != numbers[:-1]
    return Buckets(np.flatnonzero(is_first) + first, numbers[is_first] * length, int(stop), length)


def peaks(total: Float64, into: Buckets) -> Int64:
    """Returns the frame with the largest total of each bucket, shape (N,).

    A stack that is drawn from these frames keeps its peaks, and its parts still add up.  The first of several equal
    frames wins; a bucket whose totals are all NaN gives its first frame.
    """
    if not len(into.starts):
        return np.empty(0, dtype=np.int64)
    origin = into.starts[0]
    inside = total[origin : into.stop]
    known = np.where(np.isnan(inside), -np.inf, inside)
    highest = np.maximum.reduceat(known, into.starts - origin)
    bucket = np.repeat(np.arange(len(into.starts)), np.diff(into.starts, append=into.stop))
    found = np.flatnonzero(known == highest[bucket])
    first = np.empty(len(into.starts), dtype=np.int64)
    # Later writes win, so that going backwards leaves the first.
    first[bucket[found[::-1]]] = found[::-1]
    first += origin
    return first
