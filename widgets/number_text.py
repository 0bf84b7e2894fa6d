"""Numbers as people type them: arithmetic, functions, other units, and changes of the present value; knows no Qt."""

import ast
import math
import operator
import re
from collections.abc import Callable

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
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048},
    "s": {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "°": {"deg": 1.0, "rad": 180.0 / math.pi, "turn": 360.0},
    "kg": {"g": 1e-3, "kg": 1.0, "lb": 0.45359237},
    "m/s": {"m/s": 1.0, "cm/s": 1e-2, "km/h": 1.0 / 3.6},
    "1/s": {"Hz": 1.0},
    "Hz": {"1/s": 1.0, "fps": 1.0, "kHz": 1e3},
    "": {"%": 1e-2},
}
"""Other units of a field's unit, as factors; longer ones are looked for first."""

_NUMBER = r"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_CHANGE = re.compile(r"(\+|-|\*|/)=|[*/](?!\*)")


class NumberTextError(ValueError):
    """Text that is no number; says why in one line."""


def is_change(text: str) -> bool:
    """Whether a text such as `*2` or `+=0.1` says how the present value changes, instead of another one."""
    return _CHANGE.match(text.strip().replace("×", "")) is not None


def parse_number(text: str, unit: str = "", present: float | None = None) -> float:
    """The number in `text`.

    Digits with a point or comma; arithmetic and functions such as `24*2 + sqrt(2)`, angles of sin, cos and tan in
    radians; other units such as `25 cm` where metres are shown; and changes of the present value such as `*2`,
    `/ 3`, `+=0.1` or `-=5 cm`.

    Args:
        text: As typed.
        unit: Unit of the field.
        present: Value that a change starts from; None for none.

    Raises:
        NumberTextError: If there is no finite number in it.
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
        # What multiplies has no unit of its own.
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
    if "(" not in plain:  # there, commas stand between arguments
        plain = plain.replace(",", ".")
    factors = {unit: 1.0, **_UNITS.get(unit, {})} if unit else _UNITS[""]
    names = "|".join(map(re.escape, sorted(factors, key=len, reverse=True)))
    named = re.compile(rf"{_NUMBER}\s*({names})(?!\w)")
    last = re.search(rf"\s*(?<![A-Za-z_])({names})\s*$", plain)
    if last is not None and len(named.findall(plain)) <= 1:  # one unit at the end is that of all before it
        plain, factor = plain[: last.start()], factors[last[1]]
    else:
        plain, factor = named.sub(lambda found: f"({found[1]}*{factors[found[2]]!r})", plain), 1.0
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
