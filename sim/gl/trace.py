"""What steps execute by transform feedback: draws, copies and uploads, in order, with the buffers that they start from.

The engine runs unchanged: calls of `GL` are watched, and the driver is asked for the state of each draw.
"""

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import get_integer
from sinew.sim.gl.program import Program
from sinew.sim.gl.reflection import UniformInfo
from sinew.sim.gl.texture import FORMATS

PIXELS = {pixels.internal: name for name, pixels in FORMATS.items()}
WATCHED = ("glBeginTransformFeedback", "glEndTransformFeedback", "glDrawArrays", "glBufferData", "glBufferSubData",
           "glCopyBufferSubData", "glDispatchCompute")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    buffer: int
    size: int
    type: int
    stride: int
    offset: int
    is_integer: bool
    is_normalised: bool


@dataclass(frozen=True)
class Draw:
    """A draw that is captured, without the values of its uniforms; buffers are GL names."""

    program: int
    mode: int
    first: int
    count: int
    samplers: tuple[tuple[str, int, str], ...]  # Name, buffer and pixel format
    blocks: tuple[tuple[str, int], ...]
    attributes: tuple[Attribute, ...]
    targets: tuple[tuple[int, int, int], ...]  # Buffers, offset and size of what is written [byte]
    problem: str = ""  # Why a page cannot repeat it

    @cached_property
    def reads(self) -> frozenset[int]:
        return frozenset((*(one[1] for one in self.samplers), *(one[1] for one in self.blocks),
                          *(one.buffer for one in self.attributes)))  # fmt: skip

    @cached_property
    def writes(self) -> frozenset[int]:
        return frozenset(name for name, _, _ in self.targets)


@dataclass(frozen=True, slots=True)
class Copy:
    source: int
    target: int
    source_offset: int
    target_offset: int
    size: int

    @property
    def reads(self) -> frozenset[int]:
        return frozenset((self.source,))

    @property
    def writes(self) -> frozenset[int]:
        return frozenset((self.target,))


@dataclass(frozen=True, slots=True)
class Upload:
    buffer: int
    offset: int
    data: bytes

    @property
    def reads(self) -> frozenset[int]:
        return frozenset()

    @property
    def writes(self) -> frozenset[int]:
        return frozenset((self.buffer,))


Values = tuple[bytes, ...]
"""Values of the uniforms of a program, in the order of `TracedProgram.uniforms`."""

Command = tuple[Draw | Copy | Upload, Values]
"""A command with the values of its uniforms; () if it draws nothing."""


@dataclass(frozen=True, slots=True)
class TracedProgram:
    program: Program
    uniforms: tuple[UniformInfo, ...]
    sizes: tuple[int, ...]  # Bytes that a vertex writes to each target


@dataclass(slots=True)
class Trace:
    """Steps of an engine, of which each is a list of commands.

    Attributes:
        is_on: Whether commands are noted.
        initial: Contents of the buffers before the first command that uses them.
        sizes: Largest sizes of the buffers [byte].
        programs: By GL name.
    """

    library: ShaderLibrary
    steps: list[list[Command]] = field(default_factory=lambda: [[]])
    initial: dict[int, bytes] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    programs: dict[int, TracedProgram] = field(default_factory=dict)
    is_on: bool = True
    _known: dict[Any, Any] = field(default_factory=dict)
    _mode: int | None = None

    def end_step(self) -> None:
        self.steps.append([])

    @property
    def written(self) -> frozenset[int]:
        return frozenset().union(*(command.writes for command in self.commands))

    @property
    def finished(self) -> list[list[Command]]:
        return self.steps[:-1]

    @property
    def commands(self) -> list[Draw | Copy | Upload]:
        """Commands of finished steps, equal draws and copies once."""
        return list({id(command): command for step in self.finished for command, _ in step}.values())

    # --- watched calls ----------------------------------------------------------------------------------

    def glBeginTransformFeedback(self, mode: int) -> None:
        self._mode = int(mode)

    def glEndTransformFeedback(self) -> None:
        self._mode = None

    def glDrawArrays(self, mode: int, first: int, count: int) -> None:
        if self._mode is None:
            return
        traced = self._program(get_integer(GL.GL_CURRENT_PROGRAM))
        active = get_integer(GL.GL_ACTIVE_TEXTURE)
        new = self._draw(traced, int(mode), int(first), int(count))
        GL.glActiveTexture(active)
        draw = self._same(new)
        if draw is new:
            for name in sorted(draw.reads | draw.writes):
                self.use(name)
        name = traced.program.name
        values = tuple(self._same(uniform_value(name, info)) for info in traced.uniforms)
        self.steps[-1].append((draw, values))

    def glBufferData(self, target: int, size: int, pointer: Any, _usage: int) -> None:
        name = _bound(target)
        self.sizes[name] = max(self.sizes.get(name, 0), size)
        self.initial.setdefault(name, b"")
        if pointer:
            self.steps[-1].append((Upload(name, 0, ctypes.string_at(pointer, size)), ()))

    def glBufferSubData(self, target: int, offset: int, size: int, pointer: Any) -> None:
        name = _bound(target)
        self.use(name)
        self.steps[-1].append((Upload(name, offset, ctypes.string_at(pointer, size)), ()))

    def glCopyBufferSubData(self, source: int, target: int, source_offset: int, target_offset: int, size: int) -> None:
        copy = Copy(_bound(source), _bound(target), source_offset, target_offset, size)
        self.use(copy.source)
        self.use(copy.target)
        self.steps[-1].append((self._same(copy), ()))

    def glDispatchCompute(self, *_groups: int) -> None:
        raise AssertionError("a compute kernel runs in a trace of transform feedback")

    # --- state ------------------------------------------------------------------------------------------

    def _same(self, value: Any) -> Any:
        return self._known.setdefault(value, value)

    def use(self, name: int) -> None:
        """Keeps the contents of a buffer before the first command that uses it."""
        if name not in self.initial:
            self.initial[name] = contents = buffer_contents(name)
            self.sizes[name] = len(contents)

    def _program(self, name: int) -> TracedProgram:
        known = self.programs.get(name)
        if known is None or known.program.name != name:
            kernel = next(one for one in self.library.kernels if one.program.name == name)
            infos = kernel.program.reflection.uniforms.values()
            uniforms = tuple(info for info in infos if info.type.sampler_target is None)
            sizes = tuple(size * kernel.per_vertex for size in kernel.sizes)
            known = self.programs[name] = TracedProgram(kernel.program, uniforms, sizes)
        return known

    def _draw(self, traced: TracedProgram, mode: int, first: int, count: int) -> Draw:
        program, problem = traced.program, ""
        samplers, blocks = [], []
        for info in program.reflection.uniforms.values():
            if info.type.sampler_target is None:
                continue
            GL.glActiveTexture(GL.GL_TEXTURE0 + program.unit(info.name))
            if info.type.sampler_target != GL.GL_TEXTURE_BUFFER:
                problem = f"{program.label} reads an image"
                continue
            buffer, internal = (_texture_buffer(what) for what in (
                GL.GL_TEXTURE_BUFFER_DATA_STORE_BINDING, GL.GL_TEXTURE_INTERNAL_FORMAT))  # fmt: skip
            samplers.append((info.name, buffer, PIXELS[internal]))
        for name in program.reflection.blocks:
            blocks.append((name, _indexed(GL.GL_UNIFORM_BUFFER_BINDING, program.context.block_binding(name))))
        attributes = tuple(_attribute(one.name, one.location, one.integer) for one in program.reflection.attributes)
        if not all(one.buffer for one in attributes):
            problem = f"{program.label} has an attribute without a buffer"
        targets = tuple(
            (_indexed(GL.GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, index),
             _indexed(GL.GL_TRANSFORM_FEEDBACK_BUFFER_START, index), count * size)
            for index, size in enumerate(traced.sizes)
        )  # fmt: skip
        return Draw(program.name, mode, first, count, tuple(samplers), tuple(blocks), attributes, targets, problem)


@contextmanager
def tracing(library: ShaderLibrary) -> Iterator[Trace]:
    """Watches what the programs of a library execute; all kernels must run by transform feedback."""
    trace = Trace(library)
    real: dict[str, Callable[..., Any]] = {name: getattr(GL, name) for name in WATCHED}
    try:
        for name, function in real.items():
            setattr(GL, name, _watched(trace, function, getattr(trace, name)))
        yield trace
    finally:
        for name, function in real.items():
            setattr(GL, name, function)


def _watched(trace: Trace, function: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        if trace.is_on:
            note(*arguments)
        return function(*arguments)

    return call


def buffer_contents(name: int) -> bytes:
    """Returns all bytes of a buffer; waits for the GPU."""
    GL.glBindBuffer(GL.GL_COPY_READ_BUFFER, name)
    size = np.zeros(1, np.int32)
    GL.glGetBufferParameteriv(GL.GL_COPY_READ_BUFFER, GL.GL_BUFFER_SIZE, size)
    out = np.zeros(int(size[0]), np.uint8)
    if len(out):
        GL.glGetBufferSubData(GL.GL_COPY_READ_BUFFER, 0, len(out), ctypes.c_void_p(out.ctypes.data))
    return out.tobytes()


def uniform_value(program: int, info: UniformInfo) -> bytes:
    """Returns the value of a uniform as float32, int32 or uint32, matrices by columns, elements of arrays in a row."""
    size = math.prod(info.type.shape)
    get = {"f": GL.glGetUniformfv, "i": GL.glGetUniformiv, "u": GL.glGetUniformuiv}[info.type.dtype.kind]
    found = np.zeros((info.size, size), info.type.dtype)
    for index in range(info.size):
        location = GL.glGetUniformLocation(program, f"{info.name}[{index}]") if info.size > 1 else info.location
        get(program, location, found[index])
    return found.tobytes()


def _bound(target: int) -> int:
    bindings = {GL.GL_COPY_WRITE_BUFFER: GL.GL_COPY_WRITE_BUFFER_BINDING,
                GL.GL_COPY_READ_BUFFER: GL.GL_COPY_READ_BUFFER_BINDING}  # fmt: skip
    return get_integer(bindings[target])


def _indexed(parameter: int, index: int) -> int:
    value = np.zeros(1, np.int64)
    GL.glGetInteger64i_v(parameter, index, value)
    return int(value[0])


def _texture_buffer(parameter: int) -> int:
    value = np.zeros(1, np.int32)
    GL.glGetTexLevelParameteriv(GL.GL_TEXTURE_BUFFER, 0, parameter, value)
    return int(value[0])


def _attribute(name: str, location: int, is_integer: bool) -> Attribute:
    def parameter(what: int) -> int:
        value = (ctypes.c_int * 4)()
        GL.glGetVertexAttribiv(location, what, value)
        return int(value[0])

    pointer = ctypes.c_void_p()
    GL.glGetVertexAttribPointerv(location, GL.GL_VERTEX_ATTRIB_ARRAY_POINTER, ctypes.byref(pointer))
    is_on = parameter(GL.GL_VERTEX_ATTRIB_ARRAY_ENABLED)
    return Attribute(
        name, parameter(GL.GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) if is_on else 0,
        parameter(GL.GL_VERTEX_ATTRIB_ARRAY_SIZE), parameter(GL.GL_VERTEX_ATTRIB_ARRAY_TYPE),
        parameter(GL.GL_VERTEX_ATTRIB_ARRAY_STRIDE), pointer.value or 0, is_integer,
        bool(parameter(GL.GL_VERTEX_ATTRIB_ARRAY_NORMALIZED)),
    )  # fmt: skip
