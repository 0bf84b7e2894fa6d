"""The frames of the last minute as columns of numbers, one column for each pass.

Views of it are contiguous arrays, oldest frame first; what comes later does not change them.
"""

import dataclasses
import enum
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sim.profile.sample import FrameSample, TimerStatus, TimeSource, Vsync

SECONDS = 60.0
FRAMES_MAX = 60 * 240
"""A minute at 240 pictures a second."""

Float64 = npt.NDArray[np.float64]


SAME_MOMENT = 1e-6
"""Two times of one begin differ by less [s]."""


class Quantity(enum.Enum):
    """Which time of a pass."""

    GPU = "gpu"
    CPU = "cpu"


class Column:
    """Numbers of the frames in one contiguous piece of an array twice as long as what is kept."""

    def __init__(self, filled: int, blank: float) -> None:
        self._values = np.full(1024, blank)
        self._blank = blank
        self.end = 0
        for _ in range(filled):
            self.append(blank)

    def append(self, value: float) -> None:
        """Adds the number of the newest frame."""
        if self.end == len(self._values):
            self._grow()
        self._values[self.end] = value
        self.end += 1

    def last(self, count: int) -> Float64:
        """Numbers of the newest frames, shape (count,)."""
        return self._values[self.end - count : self.end]

    def _grow(self) -> None:
        keep = min(self.end, FRAMES_MAX)
        # A new piece, never the old one again: those who look at its numbers may still do so.
        values = np.full(min(2 * len(self._values), 2 * FRAMES_MAX), self._blank)
        values[:keep] = self._values[self.end - keep : self.end]
        self._values = values
        self.end = keep


class QuantityHistory:
    """What the last frames cost.

    Args:
        seconds: How long frames are kept [s].

    Attributes:
        version: Changes with every frame.
        paths: Every pass that was ever seen, in the order of their first runs.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds, self.version = seconds, -1
        self.clear()

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> FrameSample:
        return self._samples[index]

    def append(self, sample: FrameSample) -> None:
        """Adds a frame that is newer than all others; those that are too old leave."""
        sums = {path: [0.0, 0.0] for path in self.paths}
        for one in sample.slices:
            if one.path not in sums:
                self._add(one.path)
                sums[one.path] = [0.0, 0.0]
            sums[one.path][0] += one.gpu
            sums[one.path][1] += one.cpu
        self._begins.append(sample.begin)
        self._before.append(self._interval_before(sample))
        for path, (gpu, cpu) in sums.items():
            self._columns[path, Quantity.GPU].append(gpu)
            self._columns[path, Quantity.CPU].append(cpu)
        self._samples.append(sample)
        while self._samples[0].begin < sample.begin - self._seconds:
            self._samples.popleft()
        self.version += 1

    def clear(self) -> None:
        """Forgets every frame and every pass."""
        self.version += 1
        self.paths: list[str] = []
        self._samples: deque[FrameSample] = deque(maxlen=FRAMES_MAX)
        self._columns: dict[tuple[str, Quantity], Column] = {}
        self._begins = Column(0, np.nan)
        self._before = Column(0, np.nan)  # Interval of the frame before each

    @property
    def samples(self) -> list[FrameSample]:
        return list(self._samples)

    def begins(self) -> Float64:
        """Monotonic times of their begins [s], shape (F,)."""
        return self._begins.last(len(self))

    def intervals(self) -> Float64:
        """Times to the next frames [s], shape (F,), NaN where nothing was drawn between."""
        return np.append(self._before.last(len(self))[1:], [self._samples[-1].interval] if self._samples else [])

    def inclusive(self, path: str, quantity: Quantity) -> Float64:
        """Times of a pass with all its parts [s], shape (F,): 0 where it did not run, NaN where its time was lost."""
        return self._columns[path, quantity].last(len(self))

    def _interval_before(self, sample: FrameSample) -> float:
        """Interval of the newest frame so far, which learns it from the one that follows it at once [s]."""
        last = self._samples[-1] if self._samples else None
        if last is None:
            return np.nan
        if abs(last.begin + sample.since - sample.begin) < SAME_MOMENT:
            last = self._samples[-1] = dataclasses.replace(last, interval=sample.since)
        return last.interval

    def _add(self, path: str) -> None:
        """Takes a pass that was not there before; in older frames it took no time."""
        self.paths.append(path)
        filled = min(self._begins.end, len(self))
        for quantity in Quantity:
            column = Column(filled, 0.0)
            self._columns[path, quantity] = column


@dataclass(frozen=True, slots=True)
class Summary:
    """What numbers have in common; those that were lost (NaN) are left out.

    Percentiles are interpolated linearly between the sorted numbers (Hyndman and Fan 1996, definition 7). All figures
    are NaN where nothing is known.
    """

    count: int  # Numbers that are known
    lost: int  # Numbers that are not
    # mean, p50, p95, p99, maximum: In the unit of the numbers
    mean: float
    p50: float
    p95: float
    p99: float
    maximum: float


def summary(values: Float64) -> Summary:
    """Count, mean, percentiles and maximum of numbers, shape (N,)."""
    known = values[~np.isnan(values)]
    lost = len(values) - len(known)
    if not len(known):
        return Summary(0, lost, np.nan, np.nan, np.nan, np.nan, np.nan)
    p50, p95, p99 = np.percentile(known, (50.0, 95.0, 99.0))
    return Summary(len(known), lost, float(known.mean()), float(p50), float(p95), float(p99), float(known.max()))


Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Buckets:
    """Runs of neighbouring frames; empty buckets are left out."""

    starts: Int64  # Index of the first frame of each, shape (N,), ascending
    begins: Float64  # Time at which each bucket begins [s], shape (N,)
    stop: int  # Index after the last frame of the last one
    length: float  # Of each in time [s]


def buckets(times: Float64, begin: float, end: float, count: int) -> Buckets:
    """Buckets over the frames from `begin` up to `end`.

    Args:
        times: Times of all frames [s], ascending, shape (F,).
        begin, end: The window [s].
        count: About how many buckets, usually one for each pixel; there is one more where the window begins
            within one.

    Raises:
        ValueError: If the window or the count is not positive.
    """
    if not end > begin or count < 1:
        raise ValueError(f"window {begin} to {end} in {count} buckets is empty")
    # Windows of one size have one length, whatever the rounding of their ends.
    length = float(f"{(end - begin) / count:.9g}")
    first, stop = np.searchsorted(times, (begin, end), side="left")
    numbers = np.floor(times[first:stop] / length)
    is_first = np.ones(len(numbers), dtype=bool)
    is_first[1:] = numbers[1:] != numbers[:-1]
    return Buckets(np.flatnonzero(is_first) + first, numbers[is_first] * length, int(stop), length)


def peaks(total: Float64, into: Buckets) -> Int64:
    """Index of the frame with the largest total of each bucket, shape (N,).

    A stack that is drawn from these frames keeps its peaks, and its parts still add up. Where several are equal it is
    the first; where all totals of a bucket are lost it is the bucket's first frame.
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


ENDLESS = float("inf")


@dataclass(frozen=True)
class TimingRecording:
    """Frames that follow each other, and how they were measured."""

    name: str  # What the user calls it
    samples: tuple[FrameSample, ...]  # The frames, oldest first; at most `FRAMES_MAX`
    # How they were measured, at their end; `dropped` and `warmup_discarded` count those of the recording
    status: TimerStatus = field(default_factory=TimerStatus)
    origin: str = ""  # File it was imported from, or ""

    def __post_init__(self) -> None:
        if len(self.samples) > FRAMES_MAX:
            raise ValueError(f"a recording has {len(self.samples)} frames, at most {FRAMES_MAX} are possible")

    @classmethod
    def of(cls, name: str, history: QuantityHistory, status: TimerStatus) -> "TimingRecording":
        recording = cls(name, tuple(history.samples), status)
        recording.__dict__["history"] = history
        return recording

    def renamed(self, name: str) -> "TimingRecording":
        """The same under another name; columns that were made already are not made again."""
        renamed = replace(self, name=name)
        if "history" in self.__dict__:
            renamed.__dict__["history"] = self.history
        return renamed

    def prepared(self) -> "TimingRecording":
        """Itself, with its columns made, which takes long where it has many frames."""
        len(self.history)  # makes and keeps them
        return self

    @cached_property
    def history(self) -> QuantityHistory:
        """Its frames as columns, whatever time they span."""
        history = QuantityHistory(ENDLESS)
        for sample in self.samples:
            history.append(sample)
        return history

    @property
    def seconds(self) -> float:
        """From the begin of the first to the begin of the last frame [s]."""
        return self.samples[-1].begin - self.samples[0].begin if self.samples else 0.0

    @property
    def summary(self) -> str:
        """Length and source, such as "612 frames · 10.2 s · GPU timer"."""
        return f"{len(self.samples)} frames · {self.seconds:.1f} s · {source_text(self.samples) or 'nothing'}"


def source_text(samples: tuple[FrameSample, ...]) -> str:
    """Where the GPU times of frames come from; both names where it changed, "" without frames."""
    sources = {sample.source for sample in samples}
    return " and ".join(source.value for source in TimeSource if source in sources)


def conditions(recording: TimingRecording) -> dict[str, str]:
    """How it was measured, as names and texts for the head of a file."""
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
    """What `conditions` wrote; a text that is missing or strange leaves its default."""
    vsync = texts.get("vsync", "")
    return TimerStatus(
        source=source,
        reason=texts.get("reason", "imported"),
        renderer=texts.get("renderer", ""),
        latency_frames=int(_number(texts.get("latency", ""))),
        dropped=int(_number(texts.get("dropped", ""))),
        warmup_discarded=int(_number(texts.get("warm-up", ""))),
        vsync=Vsync(vsync) if vsync in {one.value for one in Vsync} else Vsync.UNKNOWN,
        own_cost_us_per_frame=_number(texts.get("own cost", "")),
        waiting_us_per_frame=_number(texts.get("waiting", "")),
    )


def _number(text: str) -> float:
    """The number a text begins with; 0 where it begins with none."""
    try:
        value = float(text.split()[0]) if text.split() else 0.0
    except ValueError:
        return 0.0
    return value if 0.0 <= value < 1e15 else 0.0
