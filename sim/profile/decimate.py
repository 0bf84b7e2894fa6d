"""Fewer points for a plot without losing its peaks.

Frames are put into buckets of equal length in time. Buckets begin at multiples of their length, so that a frame stays
with its neighbours and a plot that scrolls does not shimmer.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.profile.history import Float64

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
