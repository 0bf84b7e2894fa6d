"""Numbers as people type and read them; knows no Qt."""

import ast
import math
import operator
from collections.abc import Callable

_LENGTH_MAX = 64
_SIGNIFICANT = 4
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_MINUS = "\u2212"


class NumberTextError(ValueError):
    """Text that is no number; says why in one line."""


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


def parse_number(text: str, unit: str = "") -> float:
    """The number in `text`: digits with a point or comma, an optional unit, or arithmetic such as `24*2 + 1`.

    Raises:
        NumberTextError: If there is no finite number in it.
    """
    shown = text.strip()
    plain = shown.removesuffix(unit.strip()).strip().replace(_MINUS, "-").replace(",", ".")
    if not plain:
        raise NumberTextError("type a number")
    if len(plain) > _LENGTH_MAX:
        raise NumberTextError("this is too long for a number")
    try:
        value = _evaluated(ast.parse(plain.lstrip("0") or "0" if plain.isdigit() else plain, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError):
        raise NumberTextError(f"“{shown}” is not a number") from None
    except ZeroDivisionError:
        raise NumberTextError(f"“{shown}” divides by zero") from None
    if not math.isfinite(value):
        raise NumberTextError(f"“{shown}” is not a finite number")
    return value


def _evaluated(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluated(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluated(left), _evaluated(right))
    raise ValueError
