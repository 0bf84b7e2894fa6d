"""How a page draws: the draws of the renderer for one image, watched while it draws, as tables for `resources/page/draw.js`.

A draw list is the structure of an image: draws, clears and copies, with programs, targets, states, textures and
buffers.  What differs between images of equal structure are words of uniforms and contents of buffers.
"""

import contextlib
import ctypes
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from sinew.sim.gl.bootstrap import (
    GL,
    glGetActiveUniformBlockiv,
    glGetFramebufferAttachmentParameteriv,
    glGetInteger64i_v,
    glGetIntegeri_v,
    glGetRenderbufferParameteriv,
    glGetTexImage,
    glGetTexLevelParameteriv,
    glGetTexParameteriv,
    glGetUniformfv,
    glGetUniformiv,
    glGetVertexAttribPointerv,
    glGetVertexAttribfv,
    glGetVertexAttribiv,
)
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import get_integer
from sinew.sim.gl.program_build import ProgramSources
from sinew.sim.gl.reflection import Reflection, reflect
from sinew.sim.export.page.pack import Pack
from sinew.sim.export.page.recorded import recorded
from sinew.sim.gl.es_text import es_source
from sinew.sim.gl.state import BLENDS, COMPARES, FACES, PipelineState
from sinew.sim.gl.texture import FORMATS, SRGB_SKIP_DECODE, TEXTURE_SRGB_DECODE
from sinew.sim.gl.trace import buffer_contents

Command = tuple[Any, ...]
Words = np.ndarray[Any, np.dtype[np.uint32]]

FORMAT_NAMES = {known.internal: name for name, known in FORMATS.items()}
"""Names of `FORMATS` by the constant of OpenGL."""


def _ask(function: Callable[..., object], *arguments: object, kind: type = ctypes.c_int) -> int:
    value = kind()
    function(*arguments, ctypes.byref(value))
    return int(value.value or 0)


@dataclass(frozen=True, slots=True)
class DrawnTexture:
    name: int
    decodes: bool = True  # sRGB


@dataclass(slots=True)
class Image:
    """Draws of one image; `words` are the values of the uniforms of all draws, one after the other."""

    commands: list[Command] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)


class DrawWatch:
    """Watches the draws of a context; inside `watching` they are noted in `image`, and skipped unless `draws`.

    The context must be current, and kernels must run by transform feedback.

    Attributes:
        programs: Sources and reflection by name.
        skips: Whether draws that make pixels are noted only.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.image = Image()
        self.programs: dict[int, tuple[ProgramSources, Reflection]] = {}
        self.skips = False
        self._feedback = 0
        self._wanted: Callable[[ProgramSources], bool] = lambda _: True

    @contextlib.contextmanager
    def watching(self, image: Image, *, skips: bool = False, only: tuple[str, ...] = ()) -> Iterator[None]:
        """Notes draws in an image; with `only`, of kernels in these shader files."""
        self.image, self.skips = image, skips
        self._wanted = lambda sources: not only or not {*only}.isdisjoint(sources.files)
        notes = {
            "glDrawArrays": lambda mode, first, count: self._draw(mode, first, count),
            "glDrawArraysInstanced": lambda mode, first, count, many: self._draw(mode, first, count, many),
            "glDrawElements": lambda mode, count, kind, at: self._draw(mode, at.value or 0, count, 0, kind),
            "glDrawElementsInstanced": lambda mode, count, kind, at, many: self._draw(
                mode, at.value or 0, count, many, kind
            ),
            "glBeginTransformFeedback": self._begin,
            "glEndTransformFeedback": lambda: self._begin(0),
            "glClearBufferfv": self._clear,
            "glBlitFramebuffer": self._copy,
        }
        if only:  # kernels alone
            notes = {name: note for name, note in notes.items() if name not in ("glClearBufferfv", "glBlitFramebuffer")}
        real = {name: getattr(GL, name) for name in notes}

        def noted(name: str, note: Callable[..., bool | None]) -> Callable[..., object]:
            return lambda *values: real[name](*values) if note(*values) is not False else None

        for name, note in notes.items():
            setattr(GL, name, noted(name, note))
        try:
            yield
        finally:
            for name, function in real.items():
                setattr(GL, name, function)

    def _begin(self, mode: int) -> None:
        self._feedback = int(mode)

    def _known(self, name: int) -> tuple[ProgramSources, Reflection] | None:
        if name not in self.programs:
            found = self._library.sources_of(name)
            if found is None or "geometry" in found.stages:
                return None
            self.programs[name] = found, reflect(name)
        return self.programs[name]

    def _draw(self, mode: int, first: int, count: int, instances: int = 0, kind: int = 0) -> bool:
        program = get_integer(GL.GL_CURRENT_PROGRAM)
        known = self._known(program)
        feeds = self._feedback != 0
        if known is None or not self._wanted(known[0]):
            return feeds or not self.skips
        sources, reflection = known
        samplers, words = self._uniforms(program, reflection)
        blocks = {}
        for index, name in enumerate(reflection.blocks):
            place = _ask(glGetActiveUniformBlockiv, program, index, GL.GL_UNIFORM_BLOCK_BINDING)
            blocks[name] = _ask(glGetIntegeri_v, GL.GL_UNIFORM_BUFFER_BINDING, place)
        attributes = {one.name: _attribute(one.location, one.integer) for one in reflection.attributes}
        indices = (get_integer(GL.GL_ELEMENT_ARRAY_BUFFER_BINDING), int(kind)) if kind else None
        offsets = []
        if feeds:
            count_of_targets = range(len(sources.captures) if sources.separate else 1)
            names = tuple(
                _ask(glGetIntegeri_v, GL.GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, index) for index in count_of_targets
            )
            offsets = [
                _ask(glGetInteger64i_v, GL.GL_TRANSFORM_FEEDBACK_BUFFER_START, index, kind=ctypes.c_int64)
                for index in count_of_targets
            ]
            output, state = ("feedback", names), None
        else:
            target, state = target_of(self._context), self._context.applied_state
            if state is not None and state.scissor is not None and not (target and state.scissor[3] == target.size[1]):
                state = replace(state, scissor=None)  # such a rectangle only saves time
            output = "target", target
        self.image.commands.append((
            "draw", program, int(mode), indices, _items(attributes), _items(samplers), _items(blocks), output, state,
        ))  # fmt: skip
        self.image.words.append(np.array((first, count, instances, *offsets), np.uint32).tobytes() + words)
        return feeds or not self.skips

    def _uniforms(self, program: int, reflection: Reflection) -> tuple[dict[str, Any], bytes]:
        samplers: dict[str, Any] = {}
        words = []
        active = get_integer(GL.GL_ACTIVE_TEXTURE)
        for info in reflection.uniforms.values():
            if info.type.sampler_target is not None:
                unit = _ask(glGetUniformiv, program, info.location)
                GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
                samplers[info.name] = _texture(info.type.sampler_target)
                continue
            size = int(np.prod(info.type.shape, dtype=int))
            ask = glGetUniformfv if info.type.dtype == np.float32 else glGetUniformiv
            for index in range(info.size):
                at = GL.glGetUniformLocation(program, f"{info.name}[{index}]") if info.size > 1 else info.location
                value = (ctypes.c_uint32 * size)()
                ask(
                    program,
                    at,
                    ctypes.cast(value, ctypes.POINTER(ctypes.c_float if ask is glGetUniformfv else ctypes.c_int)),
                )
                words.append(bytes(value))
        GL.glActiveTexture(active)
        return samplers, b"".join(words)

    def _clear(self, kind: int, attachment: int, values: Any) -> bool:
        self.image.commands.append(
            ("clear", target_of(self._context), int(kind), int(attachment), tuple(float(v) for v in values))
        )
        self.image.words.append(b"")
        return not self.skips

    def _copy(self, *values: int) -> bool:
        source, target = target_of(self._context, GL.GL_READ_FRAMEBUFFER), target_of(self._context)
        index = get_integer(GL.GL_READ_BUFFER) - GL.GL_COLOR_ATTACHMENT0
        self.image.commands.append(("copy", source, target, int(values[8]), max(index, 0)))
        self.image.words.append(b"")
        return not self.skips


HEAD = 3
"""Words of a draw before its uniforms: first, count and instances; offsets of targets of transform feedback follow."""

ATTRIBUTE = 7
"""Numbers that describe an attribute with a buffer; one without has four components."""


def _items(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(values.items()))


def _texture(target: int) -> Any:
    """Returns the texture of the active unit, or the buffer of a buffer texture with its format; None without one."""
    if target == GL.GL_TEXTURE_BUFFER:
        buffer = _ask(glGetTexLevelParameteriv, target, 0, GL.GL_TEXTURE_BUFFER_DATA_STORE_BINDING)
        form = _ask(glGetTexLevelParameteriv, target, 0, GL.GL_TEXTURE_INTERNAL_FORMAT)
        return (buffer, FORMAT_NAMES[form]) if buffer else None
    name = get_integer(GL.GL_TEXTURE_BINDING_2D)
    if not name:
        return None
    is_srgb = _ask(glGetTexLevelParameteriv, target, 0, GL.GL_TEXTURE_INTERNAL_FORMAT) == GL.GL_SRGB8_ALPHA8
    skips = is_srgb and _ask(glGetTexParameteriv, target, TEXTURE_SRGB_DECODE) == SRGB_SKIP_DECODE
    return DrawnTexture(name, not skips)


def _attribute(location: int, integer: bool) -> tuple[Any, ...]:
    """Returns buffer, components, type, stride, offset, divisor and kind of an attribute, or its constant value."""
    ask = functools.partial(_ask, glGetVertexAttribiv, location)
    if not ask(GL.GL_VERTEX_ATTRIB_ARRAY_ENABLED):
        value = (ctypes.c_float * 4)()
        glGetVertexAttribfv(location, GL.GL_CURRENT_VERTEX_ATTRIB, value)
        return tuple(value)
    offset = _ask(glGetVertexAttribPointerv, location, GL.GL_VERTEX_ATTRIB_ARRAY_POINTER, kind=ctypes.c_void_p)
    return (
        ask(GL.GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING), ask(GL.GL_VERTEX_ATTRIB_ARRAY_SIZE),
        ask(GL.GL_VERTEX_ATTRIB_ARRAY_TYPE), ask(GL.GL_VERTEX_ATTRIB_ARRAY_STRIDE), offset,
        ask(GL.GL_VERTEX_ATTRIB_ARRAY_DIVISOR), 2 if integer else ask(GL.GL_VERTEX_ATTRIB_ARRAY_NORMALIZED),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attachment:
    texture: int  # 0 for a renderbuffer
    format: str
    samples: int


@dataclass(frozen=True, slots=True)
class Target:
    size: tuple[int, int]
    colours: tuple[Attachment, ...]
    depth: Attachment | None


def target_of(context: Context, binding: int = GL.GL_DRAW_FRAMEBUFFER) -> Target | None:
    """Returns the bound framebuffer as it is now; None for the one of the window."""
    name = get_integer(
        GL.GL_READ_FRAMEBUFFER_BINDING if binding == GL.GL_READ_FRAMEBUFFER else GL.GL_DRAW_FRAMEBUFFER_BINDING
    )
    if not name:
        return None
    points = [GL.GL_COLOR_ATTACHMENT0 + index for index in range(4)]
    found = [one for point in points if (one := _attachment(binding, point)) is not None]
    depth = _attachment(binding, GL.GL_DEPTH_ATTACHMENT)
    size = (found or [depth])[0][1]
    return Target(size, tuple(one for one, _ in found), depth[0] if depth else None)


def _attachment(binding: int, point: int) -> tuple[Attachment, tuple[int, int]] | None:
    ask = functools.partial(_ask, glGetFramebufferAttachmentParameteriv, binding, point)
    kind = ask(GL.GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE)
    if kind == GL.GL_NONE:
        return None
    name = ask(GL.GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME)
    if kind == GL.GL_RENDERBUFFER:
        GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, name)
        width, height, form, samples = (
            _ask(glGetRenderbufferParameteriv, GL.GL_RENDERBUFFER, what)
            for what in (GL.GL_RENDERBUFFER_WIDTH, GL.GL_RENDERBUFFER_HEIGHT, GL.GL_RENDERBUFFER_INTERNAL_FORMAT,
                         GL.GL_RENDERBUFFER_SAMPLES)
        )  # fmt: skip
        return Attachment(-name, FORMAT_NAMES[form], samples), (width, height)
    before = get_integer(GL.GL_TEXTURE_BINDING_2D)
    GL.glBindTexture(GL.GL_TEXTURE_2D, name)
    width, height, form = (
        _ask(glGetTexLevelParameteriv, GL.GL_TEXTURE_2D, 0, what)
        for what in (GL.GL_TEXTURE_WIDTH, GL.GL_TEXTURE_HEIGHT, GL.GL_TEXTURE_INTERNAL_FORMAT)
    )
    GL.glBindTexture(GL.GL_TEXTURE_2D, before)
    return Attachment(name, FORMAT_NAMES[form], 0), (width, height)


RECOMPUTED = ("model/skin.glsl", "hair/expand.glsl")
"""Kernels of steps that a page runs again, because their inputs are much smaller than their outputs."""


class Drawing:
    """Draws of the images of a page.

    Args:
        size: Of the images [px]; a page has any other size.

    Attributes:
        inputs: Buffers that the images read before they write them, with an attribute or sampler of each.
        images: Commands and words of each image.
        contents: Of the inputs of each image that differ from the image before.
    """

    def __init__(self, context: Context, library: ShaderLibrary, size: tuple[int, int]) -> None:
        self.watch = DrawWatch(context, library)
        self.size = size
        self.images: list[tuple[tuple[Command, ...], Words]] = []
        self._same: dict[tuple[Command, ...], tuple[Command, ...]] = {}
        self.contents: list[dict[int, bytes]] = []
        self._last: dict[int, bytes] = {}
        self.inputs: dict[int, str] = {}

    def add(self, advance: Callable[[], None], draw: Callable[[], None], *, skips: bool = True) -> None:
        """Notes an image that `draw` draws, and kernels in `advance`, which moves the scene, that the page repeats."""
        moved, image = Image(), Image()
        with self.watch.watching(moved, only=RECOMPUTED):
            advance()
        last = {command[7]: number for number, command in enumerate(moved.commands)}
        kept = sorted(last.values())
        with self.watch.watching(image, skips=skips):
            draw()
        commands = (*(moved.commands[number] for number in kept), *image.commands)
        words = b"".join([*(moved.words[number] for number in kept), *image.words])
        self.images.append((self._same.setdefault(commands, commands), np.frombuffer(words, np.uint32)))
        written, read = set[int](), dict[int, str]()
        for command in commands:
            if command[0] == "draw":
                read |= {name: use for name, use in _reads(command).items() if name not in written}
                written |= set(command[7][1]) if command[7][0] == "feedback" else set()
        self.inputs |= read
        self.contents.append({})
        for name in read:
            contents = buffer_contents(name)
            if self._last.get(name) != contents:
                self.contents[-1][name] = self._last[name] = contents

    def table(
        self, pack: Pack, live: Mapping[int, int], bound: float, count: int | None = None
    ) -> tuple[dict[str, Any], float]:
        """Returns the draws for the scene of a page, and the largest rounding of a position [m].

        Args:
            live: Buffers that the page simulates, with their numbers in its simulation.
            bound: Of rounding [m].
            count: Number of the first images that the page shows; by default all.
        """
        count = len(self.images) if count is None else count
        del self.images[count:], self.contents[count:]
        return Tables(pack, self, live, bound).made()


def _buffers(command: Command) -> Iterator[int]:
    """Yields the buffers of a draw, in the order of `_with_buffers`."""
    if command[0] == "draw":
        _, _, _, indices, attributes, samplers, blocks, (kind, output), _ = command
        yield from [indices[0]] if indices else ()
        yield from (place[0] for _, place in attributes if len(place) == ATTRIBUTE)
        yield from (place[0] for _, place in samplers if isinstance(place, tuple))
        yield from (name for _, name in blocks)
        yield from output if kind == "feedback" else ()


def _with_buffers(command: Command, names: Iterator[int]) -> Command:
    if command[0] != "draw":
        return command
    draw, program, mode, indices, attributes, samplers, blocks, (kind, output), state = command
    return (
        draw, program, mode, (next(names), *indices[1:]) if indices else None,
        tuple((name, (next(names), *place[1:]) if len(place) == ATTRIBUTE else place) for name, place in attributes),
        tuple((name, (next(names), *place[1:]) if isinstance(place, tuple) else place) for name, place in samplers),
        tuple((name, next(names)) for name, _ in blocks),
        (kind, tuple(next(names) for _ in output) if kind == "feedback" else output), state,
    )  # fmt: skip


def _reads(command: Command) -> dict[int, str]:
    """Returns the buffers that a draw reads, with the name of an attribute or sampler for each."""
    _, _, _, indices, attributes, samplers, blocks, _, _ = command
    found = {indices[0]: "indices"} if indices else {}
    found |= {place[0]: name for name, place in attributes if len(place) == ATTRIBUTE and place[0]}
    found |= {place[0]: name for name, place in samplers if isinstance(place, tuple)}
    return found | {name: block for block, name in blocks}


class Tables:
    """What `Renderer` of resources/page/draw.js takes."""

    def __init__(self, pack: Pack, drawing: Drawing, live: Mapping[int, Any], bound: float) -> None:
        self._pack, self._drawing, self._live, self._bound = pack, drawing, live, bound
        self._programs, self._textures, self._buffers = dict[int, int](), dict[Any, int](), dict[int, int]()
        self._targets, self._states = dict[Any, int](), dict[Any, int]()
        self._strides: dict[int, tuple[int, dict[int, str]]] = {}
        self._drawn: set[int] = set()
        self._roles: dict[int, dict[int, int]] = {}
        self._used: dict[int, set[int]] = {}
        changes = itertools.accumulate(drawing.contents, operator.or_)
        self._contents = list(changes)
        # Bytes of buffers that only attributes without indices read, and buffers that others read
        self._extents, self._whole = dict[int, int](), set[int]()
        self.rounding = 0.0

    def made(self) -> tuple[dict[str, Any], float]:
        layouts: dict[tuple[Any, ...], list[int]] = {}
        for number, (commands, _) in enumerate(self._drawing.images):
            # Images that draw the same from other buffers share a table of values.
            layouts.setdefault(tuple(_with_buffers(command, itertools.repeat(0)) for command in commands), []).append(
                number
            )
        lists, rows, of_list, places = dict[tuple[Command, ...], int](), [], [], dict[int, tuple[int, int]]()
        tables = []
        for layout, (_, numbers) in enumerate(layouts.items()):
            tables.append([self._drawing.images[number][1] for number in numbers])
            for row, (number, commands) in enumerate(zip(numbers, self._with_roles(numbers), strict=True)):
                if commands not in lists:
                    lists[commands] = len(lists)
                    of_list.append(layout)
                places[number] = lists[commands], row
                for name in {name for command in commands for name in _buffers(command)}:
                    self._used.setdefault(name, set()).add(number)
        for same in tables:
            table = np.stack(same)
            moving = np.flatnonzero((table != table[0]).any(axis=0))
            rows.append({
                "base": self._pack.add(table[0]), "moving": self._pack.add(moving.astype("<u4")[:, None], "rows"),
                "table": self._pack.add(table[:, moving], "rows"),
            })  # fmt: skip
        found = {
            "size": self._drawing.size, "layouts": rows,
            "lists": [{"commands": self._commands(commands, np.max(tables[layout], axis=0)), "layout": layout}
                      for commands, layout in zip(lists, of_list, strict=True)],
            "images": self._pack.add(np.array([places[number] for number in sorted(places)], "<u4"), "rows"),
            "programs": [self._program(name) for name in self._programs],
            "states": [self._state(state) for state in self._states],
            "buffers": [self._buffer(name) for name in self._buffers],
        }  # fmt: skip
        found["targets"] = [self._target(target) for target in list(self._targets)]
        found["textures"] = [self._texture(one) for one in list(self._textures)]
        return found, self.rounding

    def _with_roles(self, numbers: list[int]) -> list[tuple[Command, ...]]:
        """Returns the commands of images, in which buffers that take turns and are not live are one: a negative number.

        Places in the commands that name the same buffers in all images have one role.
        """
        images = [self._drawing.images[number][0] for number in numbers]
        slots = [[name for command in commands for name in _buffers(command)] for commands in images]
        made: list[list[int]] = [[] for _ in images]
        known: dict[tuple[int, ...], int] = {}
        for names in zip(*slots, strict=True):
            if len({*names}) == 1 or not self._live.keys().isdisjoint(names):
                roles = names
            else:
                roles = (known.setdefault(names, -1 - len(self._roles) - len(known)),) * len(names)
            for one, role in zip(made, roles, strict=True):
                one.append(role)
        for names, role in known.items():
            self._roles[role] = dict(zip(numbers, names, strict=True))
        return [
            tuple(_with_buffers(command, iterator) for command in commands)
            for commands, roles in zip(images, made, strict=True) for iterator in (iter(roles),)
        ]  # fmt: skip

    def _commands(self, commands: tuple[Command, ...], most: Words) -> list[dict[str, Any]]:
        """Returns commands as a page has them; `most` are the largest words in all images."""
        made, word = [], 0
        for command in commands:
            if command[0] == "clear":
                _, target, kind, attachment, values = command
                made.append({"clear": "depth" if kind == GL.GL_DEPTH else "colour", "o": self._target_number(target),
                             "k": attachment, "v": values})  # fmt: skip
                continue
            if command[0] == "copy":
                _, source, target, mask, attachment = command
                made.append({"copy": mask, "from": self._target_number(source), "o": self._target_number(target),
                             "k": attachment})  # fmt: skip
                continue
            _, program, mode, indices, attributes, samplers, blocks, (kind, output), state = command
            number = self._programs.setdefault(program, len(self._programs))
            one: dict[str, Any] = {"p": number, "m": mode, "w": word}
            end = 0 if indices else int(most[word] + most[word + 1])
            word += HEAD + (len(output) if kind == "feedback" else 0) + self._words(program)
            if indices:
                one["e"] = [self._number(indices[0]), indices[1]]
            if attributes:
                one["a"] = {name: self._attribute(name, place, end) for name, place in attributes}
            if samplers:
                one["s"] = {name: self._sampler(name, place) for name, place in samplers if place is not None}
            if blocks:
                one["b"] = {block: self._number(name) for block, name in blocks}
            if kind == "feedback":
                one["t"] = [self._number(name) for name in output]
            else:
                one |= {"o": self._target_number(output), "z": self._states.setdefault(state, len(self._states))}
            made.append(one)
        return made

    def _words(self, program: int) -> int:
        _, reflection = self._drawing.watch.programs[program]
        values = [info for info in reflection.uniforms.values() if info.type.sampler_target is None]
        return sum(info.size * int(np.prod(info.type.shape, dtype=int)) for info in values)

    def _number(self, buffer: int, stride: int = 0, uses: Mapping[int, str] = MappingProxyType({})) -> int:
        """Returns the number of a buffer; `uses` has the attribute or sampler that reads each word of a record."""
        if not stride:
            self._whole.add(buffer)
        known = self._strides.get(buffer, (1, {}))
        if stride >= known[0]:
            self._strides[buffer] = stride, (known[1] if stride == known[0] else {}) | {**uses}
        return self._buffers.setdefault(buffer, len(self._buffers))

    def _attribute(self, name: str, place: tuple[Any, ...], end: int) -> list[Any]:
        if len(place) != ATTRIBUTE:
            return list(place)
        buffer, size, kind, stride, offset, divisor, form = place
        floats = range(offset // 4, offset // 4 + size) if kind == GL.GL_FLOAT else ()
        if divisor or not end:
            self._whole.add(buffer)
        self._extents[buffer] = max(self._extents.get(buffer, 0), end * stride)
        return [self._number(buffer, max(stride // 4, 1), dict.fromkeys(floats, name)), *place[1:]]

    def _sampler(self, name: str, place: Any) -> Any:
        if isinstance(place, tuple):
            buffer, form = place
            width = FORMATS[form].channels
            uses = dict.fromkeys(range(width), name) if FORMATS[form].dtype == np.float32 else {}
            self._whole.add(buffer)
            return [self._number(buffer, width, uses), form]
        return self._textures.setdefault(place, len(self._textures))

    def _target_number(self, target: Target | None) -> int:
        return self._targets.setdefault(target, len(self._targets))

    def _program(self, name: int) -> dict[str, Any]:
        sources, reflection = self._drawing.watch.programs[name]
        made: dict[str, Any] = {
            "name": " + ".join(stage.name for stage in sources.stages.values()),
            "vertex": es_source(sources.stages["vertex"]).text,
            "uniforms": [[info.name, info.type.glsl, info.size, int(np.prod(info.type.shape, dtype=int))]
                         for info in reflection.uniforms.values() if info.type.sampler_target is None],
        }  # fmt: skip
        if "fragment" in sources.stages:
            made["fragment"] = es_source(sources.stages["fragment"]).text
        if sources.captures:
            made |= {"captures": sources.captures, "separate": sources.separate}
        return made

    def _state(self, state: PipelineState) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if state.depth_test or state.depth_write:
            made["depth"] = COMPARES[state.depth_func] if state.depth_test else GL.GL_ALWAYS
            made |= {"write": state.depth_write} | ({"clamp": True} if state.depth_clamp else {})
        if state.blend != "none":
            made["blend"] = BLENDS[state.blend]
        if state.cull != "none":
            made["cull"] = FACES[state.cull]
        if state.polygon_offset is not None:
            made["offset"] = state.polygon_offset
        if state.alpha_coverage:
            made["coverage"] = True
        if not all(state.colour_mask):
            made["mask"] = state.colour_mask
        width, _ = self._drawing.size
        if state.scissor is not None:
            made["scissor"] = [state.scissor[0] / width, state.scissor[2] / width]
        return made

    def _scale(self, size: tuple[int, int]) -> int:
        """Returns the part of the width of the image, as its reciprocal; 0 for a size of its own."""
        width, height = self._drawing.size
        return next((part for part in (1, 2) if size == (-(-width // part), -(-height // part))), 0)

    def _target(self, target: Target | None) -> dict[str, Any] | None:
        if target is None:
            return None
        scale = self._scale(target.size)

        def attachment(one: Attachment) -> dict[str, Any]:
            if one.texture < 0:
                return {"format": one.format, "samples": one.samples, "name": -one.texture}
            number = self._textures.setdefault(DrawnTexture(one.texture), len(self._textures))
            self._drawn.add(one.texture)
            return {"texture": number}

        made: dict[str, Any] = {"size": target.size, "scale": scale, "colours": [attachment(c) for c in target.colours]}
        return made | ({"depth": attachment(target.depth)} if target.depth else {})

    def _texture(self, texture: DrawnTexture) -> dict[str, Any]:
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_2D, texture.name)
        level = functools.partial(_ask, glGetTexLevelParameteriv, GL.GL_TEXTURE_2D, 0)
        ask = functools.partial(_ask, glGetTexParameteriv, GL.GL_TEXTURE_2D)
        form = FORMAT_NAMES[level(GL.GL_TEXTURE_INTERNAL_FORMAT)]
        width, height = level(GL.GL_TEXTURE_WIDTH), level(GL.GL_TEXTURE_HEIGHT)
        smaller = ask(GL.GL_TEXTURE_MIN_FILTER)
        made: dict[str, Any] = {
            "format": form, "size": [width, height],
            "sample": [ask(GL.GL_TEXTURE_WRAP_S), ask(GL.GL_TEXTURE_WRAP_T), ask(GL.GL_TEXTURE_MAG_FILTER), smaller],
            "compare": ask(GL.GL_TEXTURE_COMPARE_MODE) != GL.GL_NONE,
        }  # fmt: skip
        if texture.name in self._drawn:
            return made | {"scale": self._scale((width, height))}
        known = FORMATS[form]
        texels = np.empty((height, width, known.channels), known.dtype)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        glGetTexImage(GL.GL_TEXTURE_2D, 0, known.transfer, known.element, ctypes.c_void_p(texels.ctypes.data))
        if form == "srgb8_alpha8" and not texture.decodes:
            made["format"] = "rgba8"
        return made | self._texels(texels, made["format"])

    def _texels(self, texels: Any, form: str) -> dict[str, Any]:
        if form.endswith("16f"):
            texels = texels.astype("<f2").view("<u2")
            channels = texels.transpose(2, 0, 1)
            first = [
                next(k for k in range(c + 1) if np.array_equal(channels[k], channels[c])) for c in range(len(channels))
            ]
            return {"channels": first, "planes": [self._pack.add(channels[c], "rows") for c in sorted({*first})]}
        if form in ("rgba8", "srgb8_alpha8") and texels.size > IMAGE_BYTES:
            return {"image": self._pack.add(np.frombuffer(webp(texels, is_colour=form != "rgba8"), np.uint8))}
        return {"texels": self._pack.add(texels)}

    def _buffer(self, name: int) -> dict[str, Any]:
        if name in self._live:
            return {"live": self._live[name]}
        contents, roles = list[bytes](), self._roles.get(name, {})
        for number, known in enumerate(self._contents):
            data = known.get(roles.get(number, name)) if number in self._used[name] else None
            contents.append(contents[-1] if data is None and contents else data or b"")
        first = next((data for data in contents if data), b"")
        contents = [data or first for data in contents]
        if not first:  # that draws write
            return {"size": len(buffer_contents(next(iter(roles.values()), name)))}
        if (extent := self._extents.get(name, 0)) and name not in self._whole:
            contents = [data[:extent] for data in contents]
        stride, uses = self._strides.get(name, (1, {}))
        if all(data == contents[0] for data in contents):
            return {"size": len(contents[0]), "data": _constant(self._pack, contents[0], stride)}
        bounds = [self._bound_of(uses.get(word, "")) for word in range(stride)]
        track, errors = recorded(self._pack, contents, stride, bounds)
        self.rounding = max(
            [self.rounding, *(error for word, error in enumerate(errors) if "normal" not in uses.get(word, ""))]
        )
        return {"size": len(contents[0]), "track": track}

    def _bound_of(self, use: str) -> float:
        return NORMAL_BOUND if "normal" in use else self._bound if use else 0.0


NORMAL_BOUND = 0.004
IMAGE_BYTES = 4096
"""Textures of more bytes are images of WebP."""


def _constant(pack: Pack, data: bytes, stride: int) -> Any:
    if len(data) % 4:
        return pack.add(np.frombuffer(data, np.uint8))
    words = np.frombuffer(data, "<u4")
    return pack.add(words.reshape(-1, stride), "rows") if len(words) % stride == 0 else pack.add(words)


def webp(texels: Any, *, is_colour: bool) -> bytes:
    """Returns an image of RGBA texels; lossless if it holds no colours."""
    import io

    from PIL import Image as Picture

    file = io.BytesIO()
    Picture.fromarray(texels, "RGBA").save(file, "WEBP", quality=90, lossless=not is_colour, exact=True)
    return file.getvalue()
