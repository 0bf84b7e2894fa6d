"""Resolved includes, injected definitions, and the origin of every line. The module does not use OpenGL."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sinew.shaders import path_of
from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.kernel_text import NOTHING, KernelText

INCLUDE = re.compile(r"^\s*#\s*include\b(?P<rest>.*)$")
QUOTED = re.compile(r'^\s*"(?P<name>[^"]+)"\s*(//.*)?$')
VERSION = re.compile(r"^\s*#\s*version\b")
BLOCK_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
UNIFORM = re.compile(r"\buniform\s+(?:(?:lowp|mediump|highp)\s+)?\w+\s+(?P<names>\w[^;{]*);")

INJECTED = "<definitions>"


@dataclass(frozen=True, slots=True)
class ShaderSource:
    """Resolved text of one stage; `origins` has the (file, line) of every line."""

    name: str
    text: str
    origins: tuple[tuple[str, int], ...]
    files: tuple[str, ...]

    def origin(self, line: int) -> tuple[str, int]:
        """Returns file and line of a line from 1; the nearest one when out of range."""
        if not self.origins:
            return self.name, 1
        return self.origins[min(max(line, 1), len(self.origins)) - 1]

    def uniforms(self) -> frozenset[str]:
        """Returns the names declared as uniform, whether or not the compiler keeps them."""
        names: set[str] = set()
        for match in UNIFORM.finditer(BLOCK_COMMENT.sub(" ", self.text)):
            for part in match["names"].split(","):
                names.add(re.split(r"[\s\[=]", part.strip(), maxsplit=1)[0])
        return frozenset(names)


class _Resolver:
    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self.lines: list[str] = []
        self.origins: list[tuple[str, int]] = []
        self.files: list[str] = []

    def add(self, name: str, chain: tuple[str, ...]) -> None:
        self.files.append(name)
        chain = (*chain, name)
        for number, line in enumerate(self._read(name).splitlines(), start=1):
            match = INCLUDE.match(line) if "#" in line else None
            if match is None:
                self.lines.append(line)
                self.origins.append((name, number))
            else:
                self._include(match["rest"], number, chain)

    def _include(self, rest: str, line: int, chain: tuple[str, ...]) -> None:
        def error(reason: str) -> ShaderError:
            return ShaderError([ShaderMessage(chain[-1], line, reason)], tuple(dict.fromkeys(self.files)))

        quoted = QUOTED.match(rest)
        if quoted is None:
            raise error('expected #include "folder/file.glsl"')
        target = quoted["name"]
        if PurePosixPath(target).is_absolute() or ".." in PurePosixPath(target).parts or "\\" in target:
            raise error(f"include {target!r} must be a path below the shader folder")
        if target in chain:
            raise error(f"include cycle: {' -> '.join((*chain, target))}")
        if target in self.files:
            return
        try:
            self.add(target, chain)
        except (OSError, UnicodeDecodeError) as failure:
            reason = getattr(failure, "strerror", None) or str(failure)
            raise error(f"cannot include {target!r}: {reason}") from failure


def resolve(
    name: str,
    read: Callable[[str], str],
    defines: Mapping[str, object] | None = None,
    around: KernelText = NOTHING,
) -> ShaderSource:
    """Resolves the includes of a file and injects definitions after its #version line.

    Args:
        read: Returns the text of a file by its name; raises OSError when there is none.
        defines: Macro to value; True defines without a value, False and None skip the macro.
        around: Lines before and after all others; errors in the latter are reported at the end of the file.

    Raises:
        ShaderError: With file and line, for a missing file, a malformed include or an include cycle; for a kernel that
            does not set an output.
    """
    resolver = _Resolver(read)
    try:
        resolver.add(name, ())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ShaderError([ShaderMessage(name, 1, f"cannot read: {reason}")], (name,)) from error
    code = BLOCK_COMMENT.sub(" ", "\n".join(resolver.lines))
    if missing := [output for output in around.outputs if not re.search(rf"\b{output}\b", code)]:
        reason = f"sets no {' and no '.join(missing)}; a kernel sets all fields of its output records"
        raise ShaderError([ShaderMessage(name, 1, reason)], tuple(dict.fromkeys(resolver.files)))
    define_lines = [
        f"#define {key}" if value is True else f"#define {key} {value}"
        for key, value in (defines or {}).items()
        if value is not None and value is not False
    ]
    injected, ending = [*around.head.splitlines(), *define_lines], around.tail.splitlines()
    at = next((index + 1 for index, line in enumerate(resolver.lines) if VERSION.match(line)), 0)
    lines = [*resolver.lines[:at], *injected, *resolver.lines[at:], *ending]
    fake = [(INJECTED, number) for number in range(1, len(injected) + 1)]
    last = resolver.origins[-1] if resolver.origins else (name, 1)
    origins = [*resolver.origins[:at], *fake, *resolver.origins[at:], *[last] * len(ending)]
    return ShaderSource(name, "\n".join(lines) + "\n", tuple(origins), tuple(dict.fromkeys(resolver.files)))


def reader(root: Path) -> Callable[[str], str]:
    return lambda name: path_of(name, root).read_text(encoding="utf-8")
