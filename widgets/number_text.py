"""Numbers as text, their ranges and steps, independent of Qt."""

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from sinew.sim.scene.params import Scale

_SIGNIFICANT = 4
_FINER = 0.1
_COARSER = 10.0
_STEPS_PER_PIXEL = 0.5
_STEPS_PER_SPAN = 200.0
_PIXELS_PER_LOG_SPAN = 300.0
_DECADES_PER_KEY = 0.1
_LOG_DIGITS = 3


def format_number(value: float, decimals: int | None, decimals_max: int | None = None) -> str:
    """Returns a number as text; `decimals` of None are four digits, more if the value has them, to `decimals_max`."""
    if decimals is None:
        text = f"{value:.{_SIGNIFICANT}g}"
    else:
        text = f"{value:.{max(decimals, decimals_max or 0)}f}"
        while text[-1] == "0" and len(text.partition(".")[2]) > decimals:
            text = text[:-1]
        text = text.rstrip(".")
    return "0" + text[2:] if text.startswith("-0") and float(text) == 0.0 else text


def gain(finer: bool, coarser: bool) -> float:
    """Returns the factor of a movement for the modifier keys."""
    return (_FINER if finer else 1.0) * (_COARSER if coarser else 1.0)


def nice_step(rough: float) -> float:
    """Returns the largest of 1, 2 or 5 times a power of ten that is at most `rough` (positive)."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next((n for n in (5.0, 2.0) if n * power <= rough * (1.0 + 1e-9)), 1.0)


def nice_above(rough: float) -> float:
    """Returns the smallest of 1, 2 or 5 times a power of ten that is at least `rough` (positive)."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1.0, 2.0, 5.0, 10.0) if power * n >= rough * (1.0 - 1e-9))


@dataclass(frozen=True, slots=True)
class NumberRange:
    lo: float | None = None  # Hard bounds, or None
    hi: float | None = None
    soft: tuple[float, float] | None = None  # Range of a drag; the hard range for None
    step: float | None = None  # Step of the arrow keys and grid of a drag; derived from the range for None
    scale: Scale = Scale.LINEAR  # LOG moves by factors and needs a `soft` with a positive lower end
    whole: bool = False  # Only integers

    def clamped(self, value: float) -> float:
        """Returns `value` within the hard bounds, rounded if only integers are allowed."""
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
        """True if movements multiply: the scale is logarithmic and the span is positive."""
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
        """Returns a value after a drag by pixels, not rounded or clamped; `factor` comes from `gain`."""
        if not self.is_log:
            return value + pixels * self.unit_step * _STEPS_PER_PIXEL * factor
        lo, hi = self._log_span()
        decades = math.log10(hi / lo) * pixels / _PIXELS_PER_LOG_SPAN * factor
        return max(value, lo * 0.1) * math.pow(10.0, decades)

    def stepped(self, value: float, count: float, factor: float) -> float:
        """Returns a value after `count` arrow keys, on the grid and within the bounds."""
        if not self.is_log:
            amount = max(self.unit_step * factor, 1.0) if self.whole else self.unit_step * factor
            return self.clamped(round(value + count * amount, 12))
        start = max(value, self._log_span()[0] * 0.1)
        return self.settled(start * 10.0 ** (count * _DECADES_PER_KEY * factor), start=value, factor=factor)

    def settled(self, raw: float, *, start: float, factor: float) -> float:
        """Returns the value for a drag to `raw`: on the grid, within the soft span widened to contain `start`."""
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


_LENGTH_MAX = 64
_MINUS = "\u2212"
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "abs": abs, "min": min, "max": max, "round": round, "floor": math.floor, "ceil": math.ceil,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "tau": math.tau, "e": math.e}
_UNITS: dict[str, dict[str, float]] = {
    "mm": {"mm": 1.0, "cm": 10.0, "m": 1e3, "in": 25.4},
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048},
    "s": {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "°": {"deg": 1.0, "rad": 180.0 / math.pi, "turn": 360.0},
    "kg": {"g": 1e-3, "kg": 1.0, "lb": 0.45359237},
    "m/s": {"m/s": 1.0, "cm/s": 1e-2, "km/h": 1.0 / 3.6},
    "1/s": {"Hz": 1.0},
    "Hz": {"1/s": 1.0, "fps": 1.0, "kHz": 1e3},
    "": {"%": 1e-2},
}
"""Alternative units of a field's unit, as factors."""

_NUMBER = r"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_CHANGE = re.compile(r"(\+|-|\*|/)=|[*/](?!\*)")


class NumberTextError(ValueError):
    """Error in a text that is not a number; the message is one line."""


def is_change(text: str) -> bool:
    """Returns True for a relative change such as `*2` or `+=0.1`."""
    return _CHANGE.match(text.strip().replace("×", "")) is not None


def parse_number(text: str, unit: str = "", present: float | None = None) -> float:
    """Parses a decimal point or comma; arithmetic and functions such as `24*2 + sqrt(2)`, with angles in radians;
    other units such as `25 cm` for metres; and changes of the current value such as `*2`, `/ 3`, `+=0.1` or `-=5 cm`.

    Args:
        unit: Unit of the field.
        present: Current value for a change.

    Raises:
        NumberTextError: If the text is not a finite number.
    """
    shown = text.strip()
    plain = shown.replace(_MINUS, "-").replace("×", "")
    if not plain.strip():
        raise NumberTextError("type a number")
    if len(plain) > _LENGTH_MAX:
        raise NumberTextError("this is too long for a number")
    change = _CHANGE.match(plain)
    if change is not None:
        if present is None:
            raise NumberTextError("there is no number yet to change")
        sign, plain = change[0][0], plain[change.end() :]
    try:
        # A factor has no unit.
        value = _value(plain, "" if change is not None and sign in "*/" else unit.strip())
        if change is not None:
            assert present is not None
            value = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign](
                present, value
            )
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError):
        raise NumberTextError(f"“{shown}” is not a number") from None
    except ZeroDivisionError:
        raise NumberTextError(f"“{shown}” divides by zero") from None
    if not math.isfinite(value):
        raise NumberTextError(f"“{shown}” is not a finite number")
    return value


def _value(plain: str, unit: str) -> float:
    if "(" not in plain:  # commas separate arguments of functions
        plain = plain.replace(",", ".")
    factors = {unit: 1.0, **_UNITS.get(unit, {})} if unit else _UNITS[""]
    names = "|".join(map(re.escape, sorted(factors, key=len, reverse=True)))
    named = re.compile(rf"{_NUMBER}\s*({names})(?!\w)")
    last = re.search(rf"\s*(?<![A-Za-z_])({names})\s*$", plain)
    if last is not None and len(named.findall(plain)) <= 1:  # a single unit at the end applies to the whole expression
        plain, factor = plain[: last.start()], factors[last[1]]
    else:
        plain, factor = named.sub(lambda match: f"({match[1]}*{factors[match[2]]!r})", plain), 1.0
    plain = re.sub(r"(?<![\w.])0+(?=\d)", "", plain.strip())
    value = float(_evaluated(ast.parse(plain, mode="eval").body)) * factor
    return float(f"{value:.15g}")  # 70 cm are 0.7 m


def _evaluated(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluated(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluated(left), _evaluated(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS and arguments:
            return _FUNCTIONS[name](*map(_evaluated, arguments))
    raise ValueError
