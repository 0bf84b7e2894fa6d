"""Comparison of recordings: whether one is slower than another, and by how much.

The difference of the medians comes with a confidence interval by the circular block bootstrap (Politis and Romano,
"A circular block-resampling procedure for stationary data", 1992): consecutive frames cost alike, so whole blocks
of neighbours are drawn, not single frames.  The block length follows from the memory of the frames (Politis and
White, "Automatic block-length selection for the dependent bootstrap", 2004, as corrected by Patton, Politis and
White 2009), computed for whether a frame is above the median, because that moves a median.  The median of a drawn
series is read off the sorted frames at the drawn share (Bahadur, "A note on quantiles in large samples", 1966),
which needs only sums of blocks.  Few blocks widen the interval as Student's t does.  The draws are the same every
time.
"""

import math
from dataclasses import dataclass

import numpy as np

from sinew.sim.maths.arrays import Float64

CONFIDENCE = 0.95
DRAWS = 2000
FRAMES_MIN = 20
"""Minimum number of frames that determine their median."""
_PERCENT = f"{CONFIDENCE * 100.0:g} %"
_SEED = 20
_MEMORY_SHARE = 3
"""Divisor of the number of frames that gives the maximum length of a block."""


@dataclass(frozen=True, slots=True)
class RecordingComparison:
    # median_a, median_b: Of the frames whose times are known [s]; NaN without any
    median_a: float
    median_b: float
    difference: float  # Of the medians, B less A [s]
    # lo, hi: Ends of its interval of confidence [s]; NaN where there are too few frames
    lo: float
    hi: float
    frames_a: int
    frames_b: int

    @property
    def is_significant(self) -> bool:
        """True if the interval excludes 0."""
        return self.lo > 0.0 or self.hi < 0.0

    @property
    def change(self) -> float:
        """Difference as a fraction of A's median; NaN if that is 0."""
        return self.difference / self.median_a if self.median_a > 0.0 else math.nan


def compare(a: Float64, b: Float64) -> RecordingComparison:
    """Compares times of frames [s], shapes (A,) and (B,), in the order of measurement; NaN is left out."""
    series = [values[~np.isnan(values)] for values in (a, b)]
    medians = [float(np.median(values)) if len(values) else math.nan for values in series]
    blocks = [block_length(values) for values in series]
    lo = hi = math.nan
    if min(map(len, series)) >= FRAMES_MIN:
        random = np.random.default_rng(_SEED)
        drawn_a, drawn_b = (_drawn_medians(values, block, random) for values, block in zip(series, blocks, strict=True))
        tail = 50.0 * (1.0 - CONFIDENCE)
        lo, hi = (float(end) for end in np.percentile(drawn_b - drawn_a, (tail, 100.0 - tail)))
    return RecordingComparison(medians[0], medians[1], medians[1] - medians[0], lo, hi, *map(len, series))


def verdict(comparison: RecordingComparison, a: str = "A", b: str = "B") -> str:
    """Returns one sentence, in milliseconds; `a` and `b` are names of the recordings."""
    if math.isnan(comparison.lo):
        counts = f"{comparison.frames_a} and {comparison.frames_b}"
        return f"Too few frames to compare: {counts}, {FRAMES_MIN} of each are needed"
    lo, hi, difference = (1e3 * seconds for seconds in (comparison.lo, comparison.hi, comparison.difference))
    if not comparison.is_significant:
        reported = f"{_digits(difference, '+')} ms, {_PERCENT} CI {_digits(lo, '+')} to {_digits(hi, '+')} ms"
        return f"No significant difference between {a} and {b}: {reported}"
    word = "slower" if difference > 0.0 else "faster"
    share = "" if math.isnan(comparison.change) else f" ({_digits(abs(comparison.change) * 100.0)} %)"
    least, most = sorted((abs(lo), abs(hi)))
    interval = f"{_PERCENT} CI {_digits(least)} to {_digits(most)} ms"
    return f"{b} is {_digits(abs(difference))} ms{share} {word} than {a}; {interval}"


def block_length(values: Float64) -> int:
    """Returns the number of neighbouring frames to draw together, for times without NaN, shape (N,)."""
    count = len(values)
    if count < FRAMES_MIN:
        return 1
    above = (values > np.median(values)).astype(float)
    above -= above.mean()
    variance = float(above @ above) / count
    if variance == 0.0:
        return 1
    insignificant = 2.0 * math.sqrt(math.log10(count) / count)
    run = max(5, math.ceil(math.sqrt(math.log10(count))))
    lags = min(math.ceil(math.sqrt(count)) + run, count - 1)
    covariance = _covariance(above, lags)
    reach = 2 * _memory(covariance / variance, insignificant, run)
    reach = min(reach, lags)
    k = np.arange(1, reach + 1)
    flat_top = np.minimum(1.0, 2.0 * (1.0 - k / max(reach, 1)))
    spectrum = covariance[0] + 2.0 * float(np.sum(flat_top * covariance[1 : reach + 1]))
    slope = 2.0 * float(np.sum(flat_top * k * covariance[1 : reach + 1]))
    spread = 4.0 / 3.0 * spectrum**2
    length = (2.0 * slope**2 / spread) ** (1.0 / 3.0) * count ** (1.0 / 3.0) if spread > 0.0 else 1.0
    return int(min(max(math.ceil(length), 1), math.ceil(count / _MEMORY_SHARE)))


def _covariance(values: Float64, lags: int) -> Float64:
    count = len(values)
    return np.array([float(values[: count - lag] @ values[lag:]) / count for lag in range(lags + 1)])


def _memory(correlation: Float64, insignificant: float, run: int) -> int:
    """Returns the lag after which `run` correlations in a row are insignificant, or the last significant one."""
    significant = np.abs(correlation[1:]) >= insignificant
    for lag in range(len(significant) - run + 1):
        if not significant[lag : lag + run].any():
            return max(lag, 1)
    found = np.flatnonzero(significant)
    return int(found[-1]) + 1 if len(found) else 1


def _drawn_medians(values: Float64, block: int, random: np.random.Generator) -> Float64:
    """Returns medians of `DRAWS` series of drawn blocks, shape (DRAWS,)."""
    count = len(values)
    ordered = np.sort(values)
    below = np.array(values <= ordered[(count - 1) // 2], dtype=float)
    circle = np.concatenate([[0.0], np.cumsum(np.concatenate([below, below[: block - 1]]))])
    sums = circle[block:] - circle[:-block]
    pieces = max(count // block, 1)
    # A draw adds one of few numbers, so it is enough to draw how often each occurs.
    kinds, often = np.unique(np.rint(sums), return_counts=True)
    shares = random.multinomial(pieces, often / count, DRAWS) @ kinds / (pieces * block)
    # A series with a smaller share below the median has its own median as much higher.
    level = 0.5 + (below.mean() - shares) * _widening(pieces)
    return np.asarray(np.quantile(ordered, np.clip(level, 0.0, 1.0)))


def _widening(blocks: int) -> float:
    """Returns the factor for an interval whose spread is estimated from a few blocks only.

    Student's t in place of the normal distribution (expansion: Abramowitz and Stegun 26.7.5), and the spread of a
    sample drawn from itself, which is too small.
    """
    z, freedom = 1.959964, max(blocks - 1, 1)
    student = z + (z**3 + z) / (4.0 * freedom) + (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / (96.0 * freedom**2)
    return student / z * math.sqrt(blocks / freedom)


def _digits(value: float, sign: str = "") -> str:
    size = math.floor(math.log10(abs(value))) if value else 0
    return f"{value:{sign if value else ''}.{min(max(2 - size, 0), 5)}f}".replace("-", "−")
