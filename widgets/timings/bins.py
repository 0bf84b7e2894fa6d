"""Bins of histograms of times."""

import numpy as np

from sim.profile.history import Float64

BINS_MAX = 80
_CUT = 99.5
_TAIL = 1.6


def bin_edges(*series: Float64, count: int = BINS_MAX) -> Float64:
    """Edges of bins of equal width for several series of times [s], shape (N + 1,).

    A few frames far beyond the others do not squeeze these into one bin: the last bin holds whatever is beyond
    it, which `counts` does.
    """
    known = [values[~np.isnan(values)] for values in series]
    pooled = np.concatenate([np.empty(0), *known])
    if not len(pooled):
        return np.array([0.0, 1e-3])
    low, high = float(pooled.min()), float(pooled.max())
    cut = max(float(np.percentile(values, _CUT)) for values in known if len(values))
    high = min(high, low + _TAIL * (cut - low)) if cut > low else high
    middle = max(high, 1e-9)
    if high - low < 1e-3 * middle:
        low, high = 0.95 * low, 1.05 * middle
    return np.linspace(low, high, count + 1)


def counts(values: Float64, edges: Float64) -> Float64:
    """Share of the known times in each bin, shape (N,); the outer bins hold those beyond them."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(edges) - 1)
    # Times equal to the last edge belong to the last bin, though clipping may round below the first.
    found, _ = np.histogram(np.clip(known, edges[0], edges[-1]), edges)
    return found / len(known)
