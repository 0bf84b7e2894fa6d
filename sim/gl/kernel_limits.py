"""Limits of the text of a kernel, checked before any compiler gets it; without OpenGL.

Few lines can stand for an endless program: macros that name each other, functions that call each other, since a
compiler puts every function where it is called, and arrays.  Whatever escapes the checks meets the limits of the
process that compiles it first.
"""

import ast
import itertools
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sinew.sim.gl.shader_source import BLOCK_COMMENT, ShaderSource
from sinew.sim.printable import shortened

WORDS_MAX = 1 << 18
"""Words of the text after preprocessing; shipped programs are below a tenth."""

WORK_MAX = 1 << 20
"""Words that macros produce on the way."""

INLINED_MAX = 1 << 18
"""Words of a function with the words of all that it calls; shipped programs are below a tenth."""

DEPTH_MAX = 64
"""Macros within macros, and functions within functions."""

ELEMENTS_MAX = 1 << 14
"""Elements of an array."""

_WORD = re.compile(r"\w+|<<|[^\w\s]")
_DIRECTIVE = re.compile(r"\s*#\s*(\w*)(.*)", re.DOTALL)
_MACRO = re.compile(r"\s*(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
_CONSTANT = re.compile(r"\bconst\s+u?int\s+(\w+)\s*=\s*([^;,]+);")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uU]?")
_SUFFIX = re.compile(r"(?<=\d)[uU]\b")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv}


class TooLargeError(Exception):
    """Error of a text beyond a limit, at a line of the text."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Macro:
    parameters: tuple[str, ...] | None
    words: list[str]


@dataclass(slots=True)
class _Expansion:
    macros: Mapping[str, _Macro]
    line: int = 0
    name: str = ""
    work: int = 0

    def spend(self, count: int) -> None:
        self.work += count
        if self.work > WORK_MAX:
            raise self._error(f"the macro {shortened(self.name)} expands to more than {WORK_MAX:,} words")

    def expanded(self, words: Sequence[str], hidden: frozenset[str] = frozenset()) -> list[str]:
        if len(hidden) > DEPTH_MAX:
            raise self._error(f"the macro {shortened(self.name)} is nested deeper than {DEPTH_MAX} levels")
        self.spend(len(words))
        found: list[str] = []
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            macro = self.macros.get(word)
            if macro is None or word in hidden:
                found.append(word)
            elif macro.parameters is None:
                found += self.expanded(macro.words, hidden | {word})
            elif place < len(words) and words[place] == "(":
                place, given = _arguments(words, place)
                inner = [self.expanded(part, hidden | {""}) for part in given]
                values = dict(zip(macro.parameters, inner, strict=False))
                self.spend(sum(len(values.get(one, "1")) for one in macro.words))
                put = [part for one in macro.words for part in values.get(one, (one,))]
                found += self.expanded(put, hidden | {word})
            else:
                found.append(word)
        self.spend(len(found))
        return found

    def _error(self, reason: str) -> TooLargeError:
        return TooLargeError(self.line, reason)


@dataclass(slots=True)
class _Function:
    line: int
    words: int = 0
    calls: list[str] = field(default_factory=list)


def check_limits(source: ShaderSource) -> None:
    """Raises TooLargeError for a text beyond a limit; all lines count, also those that a condition leaves out."""
    macros, lines = _parsed(source.text)
    expansion = _Expansion(macros)
    words: list[str] = []
    at: list[int] = []
    for number, written in lines:
        expansion.line = number
        expansion.name = next((word for word in written if word in macros), "")
        expansion.work = 0
        found = expansion.expanded(written) if expansion.name else written
        words += found
        at += [number] * len(found)
        if len(words) > WORDS_MAX:
            raise TooLargeError(number, f"has more than {WORDS_MAX:,} words after preprocessing")
    _check_arrays(words, at)
    _check_calls(words, at)


def _parsed(text: str) -> tuple[dict[str, _Macro], list[tuple[int, list[str]]]]:
    """Returns all macros, the longest one of each name, and the words of the other lines with their numbers."""
    text = BLOCK_COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", text)
    macros: dict[str, _Macro] = {}
    lines: list[tuple[int, list[str]]] = []
    continued = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.endswith("\\"):
            continued += line[:-1]
            continue
        line, continued = continued + line, ""
        directive = _DIRECTIVE.fullmatch(line) if "#" in line else None
        if directive is None:
            words = _WORD.findall(line)
            # A call of a macro may go over several lines.
            if lines and words and words[0] == "(":
                lines[-1][1].extend(words)
            elif words:
                lines.append((number, words))
        elif directive[1] == "define" and (macro := _MACRO.fullmatch(directive[2])):
            names = tuple(name.strip() for name in macro[3].split(",")) if macro[2] else None
            made = _Macro(names, _WORD.findall(macro[4]))
            if macro[1] not in macros or len(made.words) > len(macros[macro[1]].words):
                macros[macro[1]] = made
        elif directive[1] in ("if", "elif"):
            lines.append((number, _WORD.findall(directive[2])))
    return macros, lines


def _arguments(words: Sequence[str], place: int) -> tuple[int, list[list[str]]]:
    """Returns the place after the closing bracket, and the arguments of a call whose bracket opens at `place`."""
    depth, found = 0, [list[str]()]
    for end in range(place, len(words)):
        word = words[end]
        depth += (word in "([{") - (word in ")]}")
        if depth == 0:
            return end + 1, found
        if depth == 1 and word == ",":
            found.append([])
        elif end > place:
            found[-1].append(word)
    return len(words), found


def _check_arrays(words: Sequence[str], at: Sequence[int]) -> None:
    constants = dict(_CONSTANT.findall(" ".join(words)))
    place, elements = 0, 1
    while place < len(words):
        if words[place] != "[":
            place, elements = place + 1, 1
            continue
        end, inner = _arguments(words, place)
        size = _value(" ".join(inner[0]), constants)
        elements *= max(size, 1)
        if elements > ELEMENTS_MAX:
            raise TooLargeError(at[place], f"has an array of {elements:,} elements; allowed: {ELEMENTS_MAX:,}")
        place = end


def _value(text: str, constants: Mapping[str, str], depth: int = 0) -> int:
    """Returns the value of a size; 0 if it is not known."""
    if (number := _INTEGER.fullmatch(text.strip())) is not None:
        return int(number[1][:20], 0) if number[1][:1] != "0" or number[1][1:2] in "xX" else int(number[1][:20])
    if text.strip() in constants and depth < DEPTH_MAX:
        return _value(constants[text.strip()], constants, depth + 1)
    if len(text) > 200 or depth >= DEPTH_MAX:
        return 0
    try:
        return _computed(ast.parse(_SUFFIX.sub("", text).strip(), mode="eval").body, constants, depth)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError):
        return 0


def _computed(node: ast.expr, constants: Mapping[str, str], depth: int) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return _value(name, constants, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return int(_OPERATORS[type(op)](_computed(left, constants, depth), _computed(right, constants, depth)))
        case ast.BinOp(left=left, op=ast.LShift(), right=right):
            return _computed(left, constants, depth) << min(_computed(right, constants, depth), 64)
    raise ValueError


def _check_calls(words: Sequence[str], at: Sequence[int]) -> None:
    functions = _functions(words, at)
    sizes: dict[str, int] = {}

    def size(name: str, depth: int) -> int:
        if name in sizes:
            return sizes[name]
        if depth > DEPTH_MAX:
            line = functions[name][0].line
            raise TooLargeError(line, f"the function {shortened(name)} calls others deeper than {DEPTH_MAX} levels")
        sizes[name] = 0  # of a call of itself, which compilers refuse
        found = 0
        for one in functions[name]:
            found = max(found, one.words + sum(size(called, depth + 1) for called in one.calls if called in functions))
            if found > INLINED_MAX:
                most = f"{INLINED_MAX:,} words with the functions that it calls"
                reason = f"the function {shortened(name)} has more than {most}"
                raise TooLargeError(one.line, reason)
        sizes[name] = found
        return found

    for name in functions:
        size(name, 0)


def _functions(words: Sequence[str], at: Sequence[int]) -> dict[str, list[_Function]]:
    """Returns the definitions of every function."""
    found: dict[str, list[_Function]] = {}
    place = 0
    while place < len(words):
        if words[place] == "{":  # of a structure or a block
            place, _ = _arguments(words, place)
            continue
        if words[place] == "(" and place:
            end, _ = _arguments(words, place)
            if end < len(words) and words[end] == "{":
                last, _ = _arguments(words, end)
                inner = words[end:last]
                called = [one for one, after in itertools.pairwise(inner) if after == "("]
                found.setdefault(words[place - 1], []).append(_Function(at[place], len(inner), called))
                end = last
            place = end
            continue
        place += 1
    return found
