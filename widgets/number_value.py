"""Numbers as people read, drag and step them; knows no Qt."""

import math
from dataclasses import dataclass

from sim.scene.params import Scale

_SIGNIFICANT = 4
_FINER = 0.1
_COARSER = 10.0
_STEPS_PER_PIXEL = 0.5
_STEPS_PER_SPAN = 200.0
_PIXELS_PER_LOG_SPAN = 300.0
_DECADES_PER_KEY = 0.1
_LOG_DIGITS = 3


def format_number(value: float, decimals: int | None, decimals_max: int | None = None) -> str:
    """`value` as text.

    Args:
        value: A finite number.
        decimals: Digits always shown after the point; None shows four significant digits.
        decimals_max: Digits shown where the value has them; the same as `decimals` by default.
    """
    if decimals is None:
        text = f"{value:.{_SIGNIFICANT}g}"
    else:
        text = f"{value:.{max(decimals, decimals_max or 0)}f}"
        while text[-1] == "0" and len(text.partition(".")[2]) > decimals:
            text = text[:-1]
        text = text.rstrip(".")
    return "0" + text[2:] if text.startswith("-0") and float(text) == 0.0 else text


def gain(finer: bool, coarser: bool) -> float:
    """Factor on every movement for the modifier keys."""
    return (_FINER if finer else 1.0) * (_COARSER if coarser else 1.0)


def nice_step(rough: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not above `rough` (positive)."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next((n for n in (5.0, 2.0) if n * power <= rough * (1.0 + 1e-9)), 1.0)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Bounds and step of a number."""

    # lo, hi: Hard bounds, None where there is none
    lo: float | None = None
    hi: float | None = None
    soft: tuple[float, float] | None = None  # Span a drag stays in; the hard range where it is None
    step: float | None = None  # Linear: amount of one arrow key and grid of a drag; None derives it from the span
    scale: Scale = Scale.LINEAR  # Logarithmic scales move by factors and need a `soft` with a positive lower end
    whole: bool = False  # Only integers

    def clamped(self, value: float) -> float:
        """`value` within the hard bounds, rounded if only integers are allowed."""
        value = float(round(value)) if self.whole else value
        if self.lo is not None:
            value = max(value, self.lo)
        if self.hi is not None:
            value = min(value, self.hi)
        return value

    @property
    def span(self) -> tuple[float | None, float | None]:
        return self.soft if self.soft is not None else (self.lo, self.hi)

    @property
    def is_log(self) -> bool:
        """Whether movements multiply; false where the span holds no positive decade."""
        lo, hi = self.span
        return self.scale is Scale.LOG and lo is not None and hi is not None and 0.0 < lo < hi

    @property
    def unit_step(self) -> float:
        if self.step is not None and self.step > 0.0:
            return self.step
        lo, hi = self.span
        step = nice_step((hi - lo) / _STEPS_PER_SPAN) if lo is not None and hi is not None and hi > lo else 0.01
        return max(step, 1.0) if self.whole else step

    def moved(self, value: float, pixels: float, factor: float) -> float:
        """`value` dragged by `pixels`, neither rounded nor clamped; `factor` comes from `gain`."""
        if not self.is_log:
            return value + pixels * self.unit_step * _STEPS_PER_PIXEL * factor
        lo, hi = self._log_span()
        decades = math.log10(hi / lo) * pixels / _PIXELS_PER_LOG_SPAN * factor
        return max(value, lo * 0.1) * math.pow(10.0, decades)

    def stepped(self, value: float, count: float, factor: float) -> float:
        """`value` after `count` arrow keys, on the grid and within bounds."""
        if not self.is_log:
            amount = max(self.unit_step * factor, 1.0) if self.whole else self.unit_step * factor
            return self.clamped(round(value + count * amount, 12))
        start = max(value, self._log_span()[0] * 0.1)
        return self.settled(start * 10.0 ** (count * _DECADES_PER_KEY * factor), start=value, factor=factor)

    def settled(self, raw: float, *, start: float, factor: float) -> float:
        """The value a drag to `raw` shows: on the grid, inside the soft span widened to hold `start`."""
        grid = self.unit_step * min(factor, 1.0)
        value = self._log_rounded(raw, factor) if self.is_log else round(round(raw / grid) * grid, 12)
        lo, hi = self.span
        if self.is_log and self.lo is not None and self.lo <= 0.0 and lo is not None and raw < lo:
            return self.lo
        if lo is not None:
            value = max(value, min(lo, start))
        if hi is not None:
            value = min(value, max(hi, start))
        return self.clamped(value)

    def _log_span(self) -> tuple[float, float]:
        lo, hi = self.span
        assert lo is not None
        assert hi is not None
        return lo, hi

    @staticmethod
    def _log_rounded(raw: float, factor: float) -> float:
        digits = _LOG_DIGITS + (1 if factor < 1.0 else 0)
        return float(f"{raw:.{digits - 1}e}")
