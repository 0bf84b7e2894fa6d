"""The frames of the last minute as columns of numbers, one column for each pass.

Views of it are contiguous arrays, oldest frame first; what comes later does not change them.
"""

import dataclasses
import enum
from collections import deque

import numpy as np
import numpy.typing as npt

from sim.profile.sample import FrameSample

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
