"""What the renderer draws: draws, clears and copies, with programs, targets, textures and buffers as GL names.

The renderer runs unchanged: calls of `GL` are watched, and the driver is asked for the state of each draw.
"""

import ctypes
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from sinew.sim.gl.bootstrap import (
    GL,
    glGetActiveUniformBlockiv,
    glGetFramebufferAttachmentParameteriv,
    glGetInteger64i_v,
    glGetIntegeri_v,
    glGetRenderbufferParameteriv,
    glGetTexLevelParameteriv,
    glGetTexParameteriv,
    glGetVertexAttribfv,
    glGetVertexAttribiv,
    glGetVertexAttribPointerv,
)
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import get_integer
from sinew.sim.gl.program import Program
from sinew.sim.gl.reflection import UniformInfo
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import SRGB_SKIP_DECODE, TEXTURE_SRGB_DECODE
from sinew.sim.gl.trace import PIXELS, uniform_value

HEAD = 3
"""Words of a draw before its uniforms: first, count and instances; offsets of targets of transform feedback follow."""

COLOURS = 4
"""Most colours of a target that are looked for."""


@dataclass(frozen=True, slots=True)
class DrawnTexture:
    name: int
    decodes: bool = True  # sRGB


@dataclass(frozen=True, slots=True)
class BufferUse:
    """A buffer as an attribute reads it, as a texture with a format, or as a block or indices.

    `stride` is of an attribute; the rest is of `glVertexAttribPointer` or the type of the indices.
    """

    name: str
    buffer: int
    stride: int = 0  # [byte]
    pixels: str = ""
    rest: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetPart:
    name: int
    format: str
    samples: int | None  # None for a texture


@dataclass(frozen=True, slots=True)
class Target:
    size: tuple[int, int]  # [px]
    colours: tuple[TargetPart, ...]
    depth: TargetPart | None


@dataclass(frozen=True, slots=True)
class DrawCall:
    """A draw without its numbers; either into `target` with `state`, or by transform feedback into `feeds`."""

    program: int
    mode: int
    indices: BufferUse | None
    attributes: tuple[BufferUse, ...]
    constants: tuple[tuple[str, tuple[float, ...]], ...]  # Of attributes without a buffer
    buffers: tuple[BufferUse, ...]  # Textures of buffers
    textures: tuple[tuple[str, DrawnTexture], ...]
    blocks: tuple[BufferUse, ...]
    feeds: tuple[int, ...] = ()
    target: Target | None = None
    state: PipelineState | None = None

    @property
    def reads(self) -> tuple[BufferUse, ...]:
        return (*([self.indices] if self.indices else ()), *self.attributes, *self.buffers, *self.blocks)

    @property
    def names(self) -> tuple[int, ...]:
        """All buffers, in the order of `renamed`."""
        return (*(one.buffer for one in self.reads), *self.feeds)

    def renamed(self, names: Iterable[int]) -> "DrawCall":
        """Returns the draw with other buffers."""
        left = iter(names)

        def of(uses: tuple[BufferUse, ...]) -> tuple[BufferUse, ...]:
            return tuple(replace(one, buffer=next(left)) for one in uses)

        indices = replace(self.indices, buffer=next(left)) if self.indices else None
        attributes, buffers, blocks = of(self.attributes), of(self.buffers), of(self.blocks)
        feeds = tuple(next(left) for _ in self.feeds)
        return replace(self, indices=indices, attributes=attributes, buffers=buffers, blocks=blocks, feeds=feeds)


@dataclass(frozen=True, slots=True)
class Clear:
    target: Target | None
    is_depth: bool
    attachment: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Blit:
    source: Target | None
    target: Target | None
    mask: int
    attachment: int


Command = DrawCall | Clear | Blit


@dataclass(slots=True)
class DrawnImage:
    """Commands, with the numbers of each draw as words: `HEAD`, offsets of `feeds`, and the values of its uniforms."""

    commands: list[Command] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)

    def add(self, command: Command, words: bytes = b"") -> None:
        self.commands.append(command)
        self.words.append(words)


class DrawWatch:
    """Watches the draws of a context, which must be current, with all kernels on transform feedback.

    Attributes:
        programs: Of the draws, by GL name.
        has_wide_lines: Whether lines wider than a pixel were drawn, which are not noted.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.programs: dict[int, Program] = {}
        self.has_wide_lines = False
        self._context, self._library = context, library
        self._image = DrawnImage()
        self._only: frozenset[str] = frozenset()
        self._skips = self._feeds = False

    @contextmanager
    def watching(self, image: DrawnImage, *, skips: bool = False, only: Iterable[str] = ()) -> Iterator[None]:
        """Notes draws in an image; `skips` notes pixels without drawing them, `only` kernels of these files."""
        self._image, self._skips, self._only = image, skips, frozenset(only)
        notes: dict[str, Callable[..., bool | None]] = {
            "glDrawArrays": self._draw,
            "glDrawArraysInstanced": self._draw,
            "glDrawElements": lambda mode, count, kind, at: self._draw(mode, at.value or 0, count, 0, kind),
            "glDrawElementsInstanced": lambda mode, count, kind, at, many: self._draw(
                mode, at.value or 0, count, many, kind
            ),
            "glBeginTransformFeedback": lambda _: self._feed(True),
            "glEndTransformFeedback": lambda: self._feed(False),
        }
        if not self._only:
            notes |= {"glClearBufferfv": self._clear, "glBlitFramebuffer": self._blit}
        real = {name: getattr(GL, name) for name in notes}

        def noted(name: str, note: Callable[..., bool | None]) -> Callable[..., object]:
            return lambda *values: None if note(*values) is False else real[name](*values)

        try:
            for name, note in notes.items():
                setattr(GL, name, noted(name, note))
            yield
        finally:
            for name, function in real.items():
                setattr(GL, name, function)

    # --- watched calls, which return False if they shall not be made ----------------------------------------------

    def _feed(self, feeds: bool) -> None:
        self._feeds = feeds

    def _draw(self, mode: int, first: int, count: int, instances: int = 0, kind: int = 0) -> bool:
        is_made = self._feeds or not self._skips
        program = self._program(get_integer(GL.GL_CURRENT_PROGRAM))
        if program is None or (self._only and self._only.isdisjoint(program.sources.files)):
            return is_made
        call, offsets = self._call(program, int(mode), int(kind))
        head = np.array((first, count, instances, *offsets), np.uint32).tobytes()
        values = (uniform_value(program.name, info) for info in uniforms_of(program))
        self._image.add(call, head + b"".join(values))
        return is_made

    def _clear(self, kind: int, attachment: int, values: "np.ndarray") -> bool:
        numbers = tuple(float(value) for value in values)
        self._image.add(Clear(target_of(GL.GL_DRAW_FRAMEBUFFER), kind == GL.GL_DEPTH, int(attachment), numbers))
        return not self._skips

    def _blit(self, *values: int) -> bool:
        attachment = max(get_integer(GL.GL_READ_BUFFER) - GL.GL_COLOR_ATTACHMENT0, 0)
        targets = target_of(GL.GL_READ_FRAMEBUFFER), target_of(GL.GL_DRAW_FRAMEBUFFER)
        self._image.add(Blit(*targets, int(values[8]), attachment))
        return not self._skips

    # --- state ----------------------------------------------------------------------------------------------------

    def _program(self, name: int) -> Program | None:
        """Returns a program of the library; None for others, and for wide lines, since WebGL lacks geometry shaders."""
        if name not in self.programs:
            found = self._library.program_named(name)
            if found is None:
                return None
            if "geometry" in found.sources.stages:
                self.has_wide_lines = True
                return None
            self.programs[name] = found
        return self.programs[name]

    def _call(self, program: Program, mode: int, kind: int) -> tuple[DrawCall, list[int]]:
        buffers, textures = [], []
        active = get_integer(GL.GL_ACTIVE_TEXTURE)
        for info in program.reflection.uniforms.values():
            if info.type.sampler_target is not None:
                GL.glActiveTexture(GL.GL_TEXTURE0 + program.unit(info.name))
                if info.type.sampler_target == GL.GL_TEXTURE_BUFFER:
                    buffers.append(_buffer_texture(info.name))
                elif bound := get_integer(GL.GL_TEXTURE_BINDING_2D):
                    textures.append((info.name, _image_texture(bound)))
        GL.glActiveTexture(active)
        blocks = []
        for index, name in enumerate(program.reflection.blocks):
            place = _ask(glGetActiveUniformBlockiv, program.name, index, GL.GL_UNIFORM_BLOCK_BINDING)
            blocks.append(BufferUse(name, _ask(glGetIntegeri_v, GL.GL_UNIFORM_BUFFER_BINDING, place)))
        attributes, constants = list[BufferUse](), list[tuple[str, tuple[float, ...]]]()
        for one in program.reflection.attributes:
            found = _attribute(one.name, one.location, is_integer=one.integer)
            if isinstance(found, BufferUse):
                attributes.append(found)
            else:
                constants.append(found)
        indices = BufferUse("indices", get_integer(GL.GL_ELEMENT_ARRAY_BUFFER_BINDING), rest=(kind,)) if kind else None
        call = DrawCall(
            program.name, mode, indices, tuple(attributes), tuple(constants), tuple(buffers), tuple(textures),
            tuple(blocks),
        )  # fmt: skip
        if not self._feeds:
            target, state = target_of(GL.GL_DRAW_FRAMEBUFFER), self._context.applied_state
            if state is not None and state.scissor and not (target and state.scissor[3] == target.size[1]):
                state = replace(state, scissor=None)  # it only saves time
            return replace(call, target=target, state=state), []
        captured = range(len(program.sources.captures) if program.sources.separate else 1)
        feeds, offsets = (
            [_ask(glGetInteger64i_v, what, index, kind=ctypes.c_int64) for index in captured]
            for what in (GL.GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL.GL_TRANSFORM_FEEDBACK_BUFFER_START)
        )
        return replace(call, feeds=tuple(feeds)), offsets


def uniforms_of(program: Program) -> list[UniformInfo]:
    """Returns the uniforms that are no samplers, in the order of their values."""
    return [info for info in program.reflection.uniforms.values() if info.type.sampler_target is None]


def words_of(info: UniformInfo) -> int:
    """Returns the words of one element of a uniform."""
    return int(np.prod(info.type.shape, dtype=int))


def texture_asker(texture: int) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """Binds a texture; returns functions that return parameters of its largest level, and its own."""
    GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
    level = functools.partial(_ask, glGetTexLevelParameteriv, GL.GL_TEXTURE_2D, 0)
    return level, functools.partial(_ask, glGetTexParameteriv, GL.GL_TEXTURE_2D)


def target_of(binding: int) -> Target | None:
    """Returns the framebuffer that is bound for reading or drawing; None for the one of the window."""
    of_reading = binding == GL.GL_READ_FRAMEBUFFER
    if not get_integer(GL.GL_READ_FRAMEBUFFER_BINDING if of_reading else GL.GL_DRAW_FRAMEBUFFER_BINDING):
        return None
    points = [GL.GL_COLOR_ATTACHMENT0 + index for index in range(COLOURS)]
    *colours, depth = (_attachment(binding, point) for point in (*points, GL.GL_DEPTH_ATTACHMENT))
    present = [one for one in colours if one is not None]
    (_, size), *_ = (one for one in (*present, depth) if one is not None)
    return Target(size, tuple(one for one, _ in present), depth[0] if depth else None)


def _attachment(binding: int, point: int) -> tuple[TargetPart, tuple[int, int]] | None:
    ask = functools.partial(_ask, glGetFramebufferAttachmentParameteriv, binding, point)
    kind = ask(GL.GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE)
    if kind == GL.GL_NONE:
        return None
    name = ask(GL.GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME)
    if kind == GL.GL_RENDERBUFFER:
        GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, name)
        level = functools.partial(_ask, glGetRenderbufferParameteriv, GL.GL_RENDERBUFFER)
        pixels, samples = PIXELS[level(GL.GL_RENDERBUFFER_INTERNAL_FORMAT)], level(GL.GL_RENDERBUFFER_SAMPLES)
        return TargetPart(name, pixels, samples), (level(GL.GL_RENDERBUFFER_WIDTH), level(GL.GL_RENDERBUFFER_HEIGHT))
    before = get_integer(GL.GL_TEXTURE_BINDING_2D)
    of_texture, _ = texture_asker(name)
    size = of_texture(GL.GL_TEXTURE_WIDTH), of_texture(GL.GL_TEXTURE_HEIGHT)
    pixels = PIXELS[of_texture(GL.GL_TEXTURE_INTERNAL_FORMAT)]
    GL.glBindTexture(GL.GL_TEXTURE_2D, before)
    return TargetPart(name, pixels, None), size


def _buffer_texture(name: str) -> BufferUse:
    ask = functools.partial(_ask, glGetTexLevelParameteriv, GL.GL_TEXTURE_BUFFER, 0)
    return BufferUse(
        name, ask(GL.GL_TEXTURE_BUFFER_DATA_STORE_BINDING), pixels=PIXELS[ask(GL.GL_TEXTURE_INTERNAL_FORMAT)]
    )


def _image_texture(name: int) -> DrawnTexture:
    level, ask = texture_asker(name)
    is_srgb = level(GL.GL_TEXTURE_INTERNAL_FORMAT) == GL.GL_SRGB8_ALPHA8
    return DrawnTexture(name, not (is_srgb and ask(TEXTURE_SRGB_DECODE) == SRGB_SKIP_DECODE))


def _attribute(name: str, location: int, *, is_integer: bool) -> BufferUse | tuple[str, tuple[float, ...]]:
    """Returns the buffer of an attribute, with components, type, stride, offset, divisor and form, or its constant.

    The form is 2 for integers, 1 for numbers that are normalised, else 0.
    """
    ask = functools.partial(_ask, glGetVertexAttribiv, location)
    if not ask(GL.GL_VERTEX_ATTRIB_ARRAY_ENABLED):
        value = (ctypes.c_float * 4)()
        glGetVertexAttribfv(location, GL.GL_CURRENT_VERTEX_ATTRIB, value)
        return name, tuple(value)
    stride = ask(GL.GL_VERTEX_ATTRIB_ARRAY_STRIDE)
    offset = _ask(glGetVertexAttribPointerv, location, GL.GL_VERTEX_ATTRIB_ARRAY_POINTER, kind=ctypes.c_void_p)
    form = 2 if is_integer else ask(GL.GL_VERTEX_ATTRIB_ARRAY_NORMALIZED)
    rest = (ask(GL.GL_VERTEX_ATTRIB_ARRAY_SIZE), ask(GL.GL_VERTEX_ATTRIB_ARRAY_TYPE), stride, offset,
            ask(GL.GL_VERTEX_ATTRIB_ARRAY_DIVISOR), form)  # fmt: skip
    return BufferUse(name, ask(GL.GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING), stride, rest=rest)


def _ask(function: Callable[..., object], *arguments: object, kind: type = ctypes.c_int) -> int:
    value = kind()
    function(*arguments, ctypes.byref(value))
    return int(value.value or 0)
