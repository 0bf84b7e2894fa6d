"""The lines that the preprocessor leaves, without OpenGL."""

import ast
import operator
import re
from dataclasses import dataclass

from sinew.sim.gl.shader_source import BLOCK_COMMENT, ShaderSource

_DIRECTIVE = re.compile(r"^\s*#\s*(?P<word>\w+)\s*(?P<rest>.*)$")
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_COMPARED = {ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq,
             ast.NotEq: operator.ne}  # fmt: skip
_OPENING = "if", "ifdef", "ifndef"
_DEEPEST = 8  # Macros that stand for macros


@dataclass(slots=True)
class _Branch:
    is_reached: bool  # The lines around it are compiled
    was_taken: bool = False
    is_taken: bool = False

    def enter(self, holds: bool) -> None:
        self.is_taken = self.is_reached and holds and not self.was_taken
        self.was_taken |= self.is_taken


def compiled_lines(source: ShaderSource) -> frozenset[tuple[str, int]]:
    """Returns files and lines that are compiled; conditions that cannot be evaluated here count as true."""
    macros: dict[str, str] = {}
    branches = [_Branch(is_reached=True, is_taken=True)]
    found = set()
    for line, origin in zip(source.text.splitlines(), source.origins, strict=True):
        match = _DIRECTIVE.match(line)
        word, rest = (match["word"], BLOCK_COMMENT.sub("", match["rest"]).strip()) if match else ("", "")
        if word in _OPENING:
            branches.append(_Branch(is_reached=branches[-1].is_taken))
        if word in _OPENING or word in ("elif", "else"):
            branches[-1].enter(_holds(word, rest, macros))
        here = branches[-1]
        is_condition = word in _OPENING or word in ("elif", "else", "endif")
        if here.is_reached if is_condition else here.is_taken:
            found.add(origin)
        if word == "endif" and len(branches) > 1:
            branches.pop()
        elif here.is_taken and word == "define":
            name, _, value = rest.partition(" ")
            macros[name] = value
        elif here.is_taken and word == "undef":
            macros.pop(rest, None)
    return frozenset(found)


def _holds(word: str, rest: str, macros: dict[str, str]) -> bool:
    if word == "else":
        return True
    if word in ("ifdef", "ifndef"):
        return (rest in macros) is (word == "ifdef")
    text = _DEFINED.sub(lambda match: str(int((match[1] or match[2]) in macros)), rest)
    for _ in range(_DEEPEST):
        text = _NAME.sub(lambda match: macros.get(match[0], "0") or "0", text)
    text = text.replace("&&", " and ").replace("||", " or ")
    try:
        return bool(_value(ast.parse(re.sub(r"!(?!=)", " not ", text).strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _value(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(_value, values))
        case ast.BoolOp(values=values):
            return any(map(_value, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand)
        case ast.Compare(left=left, ops=[compare], comparators=[right]) if type(compare) in _COMPARED:
            return bool(_COMPARED[type(compare)](_value(left), _value(right)))
    raise ValueError(ast.dump(node))
