"""Percentiles of what frames cost, over all of a history or a region of it."""

from dataclasses import dataclass

import numpy as np

from sim.profile.history import Float64, History, Quantity


@dataclass(frozen=True, slots=True)
class Summary:
    """What numbers have in common; those that were lost (NaN) are left out.

    Percentiles are interpolated linearly between the sorted numbers (Hyndman and Fan 1996, definition 7). All figures
    are NaN where nothing is known.

    Attributes:
        count: Numbers that are known.
        lost: Numbers that are not.
        mean, p50, p95, p99, maximum: In the unit of the numbers.
    """

    count: int
    lost: int
    mean: float
    p50: float
    p95: float
    p99: float
    maximum: float


@dataclass(frozen=True, slots=True)
class PassSummary:
    """Times of one pass [s].

    Attributes:
        path: The pass.
        inclusive: With all its parts.
        exclusive: Without its parts.
        share: Part of the exclusive times in those of all passes, 0 to 1; 0 where these took no time.
    """

    path: str
    inclusive: Summary
    exclusive: Summary
    share: float


@dataclass(frozen=True, slots=True)
class RegionSummary:
    """What the frames of a region cost.

    Attributes:
        passes: Every pass of the history, in its order.
        total: Times of all passes together [s].
        interval: Times between frames [s]; not known across pauses.
        frames: How many frames there are.
        rate: Mean frames a second, pauses left out; NaN where no interval is known.
    """

    passes: tuple[PassSummary, ...]
    total: Summary
    interval: Summary
    frames: int
    rate: float


def summary(values: Float64) -> Summary:
    """Count, mean, percentiles and maximum of numbers, shape (N,)."""
    known = values[~np.isnan(values)]
    lost = len(values) - len(known)
    if not len(known):
        return Summary(0, lost, np.nan, np.nan, np.nan, np.nan, np.nan)
    p50, p95, p99 = np.percentile(known, (50.0, 95.0, 99.0))
    return Summary(len(known), lost, float(known.mean()), float(p50), float(p95), float(p99), float(known.max()))


def region(history: History, begin: float, end: float) -> slice:
    """Indices of the frames that began at `begin` or later and before `end` (monotonic times [s])."""
    begins = history.begins()
    first, last = np.searchsorted(begins, (begin, end), side="left")
    return slice(int(first), int(last))


def summarise(history: History, quantity: Quantity, frames: slice = slice(None)) -> RegionSummary:
    """Figures of the frames with these indices, for every pass and for all together."""
    intervals = np.array([sample.interval for sample in history.samples[frames]])
    known = intervals[~np.isnan(intervals)]
    exclusive = {path: history.exclusive(path, quantity)[frames] for path in history.paths}
    spent = {path: float(np.nansum(values)) for path, values in exclusive.items()}
    whole = sum(spent.values())
    passes = tuple(
        PassSummary(
            path,
            summary(history.inclusive(path, quantity)[frames]),
            summary(values),
            spent[path] / whole if whole > 0.0 else 0.0,
        )
        for path, values in exclusive.items()
    )
    rate = len(known) / float(known.sum()) if len(known) and known.sum() > 0.0 else np.nan
    return RegionSummary(
        passes, summary(history.total(quantity)[frames]), summary(intervals), len(intervals), float(rate)
    )
