"""Cost of each frame of the scene over the loops in which it was drawn.

A measured frame counts for the nearest frame of the scene.  Bands are passes down to a depth, each without the
bands that are parts of it, so that they add up to the total.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, Int64
from sinew.sim.profile.sample import SEPARATOR, FrameSample, parent_of

LOOPS = 32
"""Number of newest measurements of a frame that its median is taken of."""

BINS_MAX = 4096
"""Maximum number of bins; longer animations put several frames together."""

_TOTAL = ""


@dataclass(frozen=True, slots=True)
class FrameCosts:
    frames: Float64  # Frame at the middle of each bin, shape (N,), ascending
    stride: int  # Frames in a bin
    pictures: Int64  # Measurements of each bin, shape (N,)
    # Median of each pass over the newest measurements [s], shape (N,) each; groups in the order of their first runs
    bands: dict[str, Float64]
    median: Float64  # Of the total [s], shape (N,)
    worst: Float64  # Largest total since the start [s], shape (N,)
    worst_number: Int64  # Number of the measured frame that had it, shape (N,)

    def bin_at(self, frame: float) -> int | None:
        """Returns the bin of a fractional frame; None if it was not measured."""
        if not len(self.frames):
            return None
        nearest = int(np.argmin(np.abs(self.frames - frame)))
        return nearest if abs(self.frames[nearest] - frame) <= 0.5 * self.stride else None

    def stacked(self) -> dict[str, Float64]:
        """Returns bands scaled to add up to the median of the total: medians of parts alone do not."""
        whole = np.sum([np.zeros(len(self.median)), *self.bands.values()], axis=0)
        scale = np.divide(self.median, whole, out=np.zeros(len(self.median)), where=whole > 0.0)
        return {path: band * scale for path, band in self.bands.items()}


class FrameCollector:
    """Collector of measured frames, cheap for every pass; a band has at most `depth` names of a path."""

    def __init__(self, depth: int = 2) -> None:
        self._depth = depth
        self.version = 0
        self.clear()

    def clear(self, frame_count: int = 0) -> None:
        """Clears the measurements; `frame_count` is of the next animation, 0 if unknown."""
        self._stride = max(math.ceil(frame_count / BINS_MAX), 1)
        # By path and for the total: the newest measurements of each bin, shape (bins, LOOPS), and their medians
        self._rings = {_TOTAL: np.empty((0, LOOPS), dtype=np.float32)}
        self._medians: dict[str, Float64] = {_TOTAL: np.empty(0)}
        self._worst = np.empty(0)
        self._number, self._pictures = (np.empty(0, dtype=np.int64) for _ in range(2))
        self._stale: set[int] = set()
        self.version += 1

    def add(self, sample: FrameSample, frame: float) -> None:
        """Adds a measured frame; ignores frames with lost times or outside, `frame` is fractional."""
        if not sample.is_whole or not 0.0 <= frame < BINS_MAX * self._stride:
            return
        where = int(frame + 0.5) // self._stride
        self._make_room(where)
        bands = _bands(sample, self._depth)
        bands[_TOTAL] = total = sum(bands.values())
        for path in [path for path in bands if path not in self._rings]:
            # It did not run in earlier frames.
            self._rings[path] = np.where(np.isnan(self._rings[_TOTAL]), np.nan, np.float32(0.0)).astype(np.float32)
            self._medians[path] = np.where(self._pictures > 0, 0.0, np.nan)
        column = int(self._pictures[where]) % LOOPS
        for path, ring in self._rings.items():
            ring[where, column] = bands.get(path, 0.0)
        if not self._pictures[where] or total > self._worst[where]:
            self._worst[where], self._number[where] = total, sample.number
        self._pictures[where] += 1
        self._stale.add(where)
        self.version += 1

    def costs(self) -> FrameCosts:
        """Returns the costs; computes medians only of frames that were added since the last call."""
        rows = np.array(sorted(self._stale), dtype=np.int64)
        self._stale.clear()
        for path, ring in self._rings.items():
            self._medians[path][rows] = _medians(ring[rows])
        known = np.flatnonzero(self._pictures)
        return FrameCosts(
            frames=np.asarray(known * self._stride + 0.5 * (self._stride - 1), dtype=np.float64),
            stride=self._stride,
            pictures=self._pictures[known],
            bands={path: self._medians[path][known] for path in _grouped([path for path in self._medians if path])},
            median=self._medians[_TOTAL][known],
            worst=self._worst[known],
            worst_number=self._number[known],
        )

    def _make_room(self, where: int) -> None:
        size = len(self._pictures)
        if where < size:
            return
        more = min(max(where + 1, 2 * size, 64), BINS_MAX + 1) - size
        rows, blank, zeros = np.full((more, LOOPS), np.nan, np.float32), np.full(more, np.nan), np.zeros(more, np.int64)
        self._rings = {path: np.concatenate([ring, rows]) for path, ring in self._rings.items()}
        self._medians = {path: np.concatenate([medians, blank]) for path, medians in self._medians.items()}
        self._worst = np.concatenate([self._worst, blank])
        self._number, self._pictures = (np.concatenate([values, zeros]) for values in (self._number, self._pictures))


def _bands(sample: FrameSample, depth: int) -> dict[str, float]:
    """Returns times of the passes down to a depth, each without the times of its parts."""
    bands: dict[str, float] = {}
    for part in sample.slices:
        if part.path.count(SEPARATOR) < depth:
            bands[part.path] = bands.get(part.path, 0.0) + part.gpu
            if parent_of(part.path) in bands:
                bands[parent_of(part.path)] -= part.gpu
    return {path: max(time, 0.0) for path, time in bands.items()}


def _grouped(paths: Collection[str]) -> list[str]:
    groups = list(dict.fromkeys(path.split(SEPARATOR)[0] for path in paths))
    return sorted(paths, key=lambda path: groups.index(path.split(SEPARATOR)[0]))


def _medians(rings: npt.NDArray[np.float32]) -> Float64:
    ordered = np.sort(rings, axis=1)  # NaN comes last
    known = np.maximum(np.count_nonzero(~np.isnan(rings), axis=1), 1)
    rows = np.arange(len(rings))
    low, high = (ordered[rows, middle].astype(np.float64) for middle in ((known - 1) // 2, known // 2))
    return np.asarray(0.5 * (low + high))
