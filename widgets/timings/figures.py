"""Figures of every band over a region: what the table shows."""

from dataclasses import dataclass

import numpy as np

from sim.profile.history import Float64, Quantity
from sim.profile.statistics import Summary, summary
from widgets.timings.bands import Band, Level
from widgets.timings.frames import Frames

TOTAL = ""
"""Path of the row of all passes together."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One row.

    Attributes:
        path: Path of the band; `TOTAL` for all together.
        label: What the user reads.
        times: Summary of its times [s].
        share: Part of all times, 0 to 1.
    """

    path: str
    label: str
    times: Summary
    share: float


@dataclass(frozen=True, slots=True)
class RegionFigures:
    """What the frames of a region cost.

    Attributes:
        rows: The total first, then the bands from the bottom of the stack up; those that never took time are left out.
        frames: How many frames there are.
        rate: Mean frames a second, pauses left out; NaN where no interval is known.
        seconds: From the begin of the first to the end of the last one [s].
    """

    rows: tuple[Figures, ...]
    frames: int
    rate: float
    seconds: float


def figures_of(frames: Frames, level: Level, quantity: Quantity, where: slice) -> RegionFigures:
    """Figures of some frames.

    Args:
        frames: All frames.
        level: How far groups are taken apart.
        quantity: Which times.
        where: Indices of the region.
    """
    total = frames.total(quantity, where)
    whole = float(np.nansum(total))
    rows = [Figures(TOTAL, "Total", summary(total), 1.0 if whole > 0.0 else 0.0)]
    for band in frames.bands(level):
        times = frames.values(band, quantity, where)
        if not is_empty_rest(band, times):
            spent = float(np.nansum(times))
            rows.append(Figures(band.path, band.label, summary(times), spent / whole if whole > 0.0 else 0.0))
    intervals = frames.intervals[where]
    known = intervals[~np.isnan(intervals)]
    spent = float(known.sum())
    begins = frames.begins[where]
    seconds = float(begins[-1] - begins[0]) if len(begins) else 0.0
    return RegionFigures(tuple(rows), len(begins), len(known) / spent if spent > 0.0 else np.nan, seconds)


def values_of(frames: Frames, level: Level, path: str, quantity: Quantity, where: slice) -> Float64:
    """Times of a band, or of all together for `TOTAL`; 0 for a band that is not there [s]."""
    if path == TOTAL:
        return frames.total(quantity, where)
    band = next((band for band in frames.bands(level) if band.path == path), None)
    return np.zeros(len(frames.begins[where])) if band is None else frames.values(band, quantity, where)


def is_empty_rest(band: Band, times: Float64) -> bool:
    """Whether the parts of a group leave nothing of it."""
    return bool(band.minus) and not bool((times > 1e-9).any())
