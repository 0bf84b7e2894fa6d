"""Compiling and linking: sources in, a GL program name or a ShaderError out."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sim.gl.bootstrap import GL
from sim.gl.shader_log import ShaderError, ShaderMessage, parse_log
from sim.gl.shader_source import ShaderSource

Stage = Literal["vertex", "geometry", "fragment", "compute"]

STAGES: dict[str, int] = {
    "vertex": GL.GL_VERTEX_SHADER,
    "geometry": GL.GL_GEOMETRY_SHADER,
    "fragment": GL.GL_FRAGMENT_SHADER,
    "compute": GL.GL_COMPUTE_SHADER,
}


@dataclass(frozen=True, slots=True)
class ProgramSources:
    """Everything a program is made of."""

    stages: Mapping[Stage, ShaderSource]  # Resolved text by stage; a vertex or a compute stage at least
    captures: tuple[str, ...] = ()  # Outputs that transform feedback writes, in order
    separate: bool = False  # Whether each goes into a buffer of its own

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file for source in self.stages.values() for file in source.files))

    def uniforms(self) -> frozenset[str]:
        return frozenset().union(*(source.uniforms() for source in self.stages.values()))


def build_program(sources: ProgramSources, *, retrievable: bool = False) -> int:
    """Compile all stages and link.

    Args:
        sources: What is compiled.
        retrievable: Whether the driver is asked for the linked program afterwards.

    Returns:
        The program name; the caller owns it.

    Raises:
        ShaderError: With the messages of all stages that failed, or of the linker.
    """
    shaders: list[int] = []
    try:
        shaders = _compile_all(sources)
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
