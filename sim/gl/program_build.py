import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.shader_lines import compiled_lines
from sinew.sim.gl.shader_source import ShaderSource

Stage = Literal["vertex", "geometry", "fragment", "compute"]

# Mesa "0:12(5): error: ...", NVIDIA "0(12) : error C1008: ...", AMD, Intel and Apple "ERROR: 0:12: ...".
LOCATIONS = (
    re.compile(r"^\s*\d+:(?P<line>\d+)\(\d+\):\s*(?:preprocessor\s+)?(?P<text>.*)$"),
    re.compile(r"^\s*\d+\((?P<line>\d+)\)\s*:\s*(?P<text>.*)$"),
    re.compile(r"^\s*(?P<severity>ERROR|WARNING):\s*\d+:(?P<line>\d+):\s*(?P<text>.*)$"),
)

STAGES: dict[str, int] = {
    "vertex": GL.GL_VERTEX_SHADER,
    "geometry": GL.GL_GEOMETRY_SHADER,
    "fragment": GL.GL_FRAGMENT_SHADER,
    "compute": GL.GL_COMPUTE_SHADER,
}


@dataclass(frozen=True, slots=True)
class ProgramSources:
    stages: Mapping[Stage, ShaderSource]  # At least a vertex or a compute stage
    captures: tuple[str, ...] = ()  # Outputs for transform feedback, in order
    separate: bool = False  # Whether each output has its own buffer

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file for source in self.stages.values() for file in source.files))

    def uniforms(self) -> frozenset[str]:
        return frozenset().union(*(source.uniforms() for source in self.stages.values()))


def build_program(sources: ProgramSources, *, retrievable: bool = False) -> int:
    """Compiles all stages and links them; the caller owns the name.

    With `retrievable` the driver keeps the linked program for `ProgramBinaries`.  Raises ShaderError with the messages
    of all stages that failed, or of the linker.
    """
    shaders = _compile_all(sources)
    try:
        return _link(shaders, sources, retrievable=retrievable)
    finally:
        for shader in shaders:
            GL.glDeleteShader(shader)


def _compile_all(sources: ProgramSources) -> list[int]:
    shaders: list[int] = []
    messages: list[ShaderMessage] = []
    for stage, source in sources.stages.items():
        shader = GL.glCreateShader(STAGES[stage])
        shaders.append(shader)
        GL.glShaderSource(shader, source.text)
        GL.glCompileShader(shader)
        if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
            messages += parse_log(_text(GL.glGetShaderInfoLog(shader)), source)
    if messages:
        for shader in shaders:
            GL.glDeleteShader(shader)
        raise ShaderError(messages, sources.files)
    return shaders


def _link(shaders: Sequence[int], sources: ProgramSources, *, retrievable: bool) -> int:
    program = GL.glCreateProgram()
    if retrievable:
        GL.glProgramParameteri(program, GL.GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL.GL_TRUE)
    for shader in shaders:
        GL.glAttachShader(program, shader)
    if sources.captures:
        names = [ctypes.create_string_buffer(name.encode("ascii")) for name in sources.captures]
        pointers = (ctypes.POINTER(ctypes.c_char) * len(names))(
            *(ctypes.cast(name, ctypes.POINTER(ctypes.c_char)) for name in names)
        )
        mode = GL.GL_SEPARATE_ATTRIBS if sources.separate else GL.GL_INTERLEAVED_ATTRIBS
        GL.glTransformFeedbackVaryings(program, len(names), pointers, mode)
    GL.glLinkProgram(program)
    linked = bool(GL.glGetProgramiv(program, GL.GL_LINK_STATUS))
    log = _text(GL.glGetProgramInfoLog(program))
    for shader in shaders:
        GL.glDetachShader(program, shader)
    if not linked:
        GL.glDeleteProgram(program)
        root = next(iter(sources.stages.values()))
        texts = [line.strip() for line in log.splitlines() if line.strip()] or ["the driver gave no reason"]
        raise ShaderError([ShaderMessage(root.name, 1, f"link: {text}") for text in texts], sources.files)
    return int(program)


def _text(log: bytes | str) -> str:
    return log.decode("utf-8", "replace") if isinstance(log, bytes) else log


def parse_log(log: str, source: ShaderSource) -> list[ShaderMessage]:
    """Returns the messages of a compile log by original file; warnings only if there is nothing else.

    Lines without a position belong to the message before them, or to line 1 of the stage.
    """
    messages: list[ShaderMessage] = []
    for line in log.replace("\0", "").splitlines():
        match = next((match for pattern in LOCATIONS if (match := pattern.match(line))), None)
        if match is not None:
            severity = f"{match.groupdict().get('severity', '')}: ".lower().lstrip(": ")
            place = source.origin(statement_line(int(match["line"]), match["text"], source))
            messages.append(ShaderMessage(*place, severity + match["text"].strip()))
        elif line.strip() and messages:
            last = messages[-1]
            messages[-1] = ShaderMessage(last.file, last.line, f"{last.text} {line.strip()}")
        elif line.strip():
            messages.append(ShaderMessage(source.name, 1, line.strip()))
    errors = [message for message in messages if not message.text.lower().startswith(("warning", "note"))]
    return errors or messages or [ShaderMessage(source.name, 1, "the driver gave no reason")]


def statement_line(line: int, message: str, source: ShaderSource) -> int:
    """Returns the line of a fault: compilers report a missing semicolon at the next token that they see."""
    if "';'" not in message.partition("expecting")[2]:
        return line
    lines, compiled = source.text.splitlines(), compiled_lines(source)
    for number in range(min(line - 1, len(lines)), 0, -1):
        if is_code(lines[number - 1]) and source.origins[number - 1] in compiled:
            return line if lines[number - 1].partition("//")[0].rstrip()[-1] in ";{}" else number
    return line


def is_code(line: str) -> bool:
    """Returns False for comments, directives and empty lines."""
    code = line.partition("//")[0].strip()
    return bool(code) and not code.startswith("#")
