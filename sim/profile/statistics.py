"""Percentiles of what frames cost."""

from dataclasses import dataclass

import numpy as np

from sim.profile.history import Float64


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
