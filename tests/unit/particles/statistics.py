"""Tests of distributions: how likely a sample is, if the numbers are drawn as they should be."""

import math

import numpy as np


def ks_distance(sample: np.ndarray, cumulative: np.ndarray) -> float:
    """Kolmogorov-Smirnov statistic √n D of a sample whose values have the cumulative probabilities given."""
    order = np.sort(cumulative)
    n = len(sample)
    above = np.arange(1, n + 1) / n - order
    below = order - np.arange(n) / n
    return math.sqrt(n) * float(max(above.max(), below.max()))


KS_LIMIT = 1.95
"""√n D that a true sample exceeds once in a thousand times (Kolmogorov's limit distribution)."""


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    """Deviation of counts from what is expected, as a standard normal number (Wilson and Hilferty 1931)."""
    degrees = len(counts) - 1
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    third = 2.0 / (9.0 * degrees)
    return ((statistic / degrees) ** (1.0 / 3.0) - (1.0 - third)) / math.sqrt(third)


CHI_LIMIT = 3.3
"""Exceeded once in two thousand times, either way."""
