"""Compiler and linker logs as messages with file and line.  Pure text; knows no OpenGL."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sim.gl.shader_source import ShaderSource

# Mesa "0:12(5): error: ...", NVIDIA "0(12) : error C1008: ...", AMD, Intel and Apple "ERROR: 0:12: ...".
LOCATIONS = (
    re.compile(r"^\s*\d+:(?P<line>\d+)\(\d+\):\s*(?:preprocessor\s+)?(?P<text>.*)$"),
    re.compile(r"^\s*\d+\((?P<line>\d+)\)\s*:\s*(?P<text>.*)$"),
    re.compile(r"^\s*(?P<severity>ERROR|WARNING):\s*\d+:(?P<line>\d+):\s*(?P<text>.*)$"),
)


@dataclass(frozen=True, slots=True)
class ShaderMessage:
    """One line of a log; `str()` reads `file:line: text`."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class ShaderError(Exception):
    """A shader did not compile or link.

    Attributes:
        messages: What the driver or the include resolver said.
        files: Files whose change may cure it.
    """

    def __init__(self, messages: Sequence[ShaderMessage], files: Sequence[str]) -> None:
        super().__init__("\n".join(map(str, messages)))
        self.messages = tuple(messages)
        self.files = tuple(files)


def parse_log(log: str, source: ShaderSource) -> list[ShaderMessage]:
    """Messages of a compile log, mapped to the files the lines came from; warnings only if there is nothing else.

    Lines that carry no position belong to the message before them, or to line 1 of the stage.
    """
    messages: list[ShaderMessage] = []
    for line in log.replace("\0", "").splitlines():
        match = next((found for found in (pattern.match(line) for pattern in LOCATIONS) if found), None)
        if match is not None:
            severity = f"{match.groupdict().get('severity', '')}: ".lower().lstrip(": ")
            messages.append(ShaderMessage(*source.origin(int(match["line"])), severity + match["text"].strip()))
        elif line.strip() and messages:
            last = messages[-1]
            messages[-1] = ShaderMessage(last.file, last.line, f"{last.text} {line.strip()}")
        elif line.strip():
            messages.append(ShaderMessage(source.name, 1, line.strip()))
    errors = [message for message in messages if not message.text.lower().startswith(("warning", "note"))]
    return errors or messages or [ShaderMessage(source.name, 1, "the driver gave no reason")]


def parse_source_error(text: str) -> ShaderMessage:
    """The message of a resolver error, whose text reads `file:line: reason`."""
    file, line, reason = text.split(":", 2)
    return ShaderMessage(file, int(line), reason.strip())
