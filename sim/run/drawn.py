"""How a page draws: the draws of the renderer for its images, as tables for `resources/page/draw.js`.

A list of commands is the structure of an image; what differs between images of equal structure are the numbers of its
draws and the contents of buffers.
"""

import ctypes
import itertools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from sinew.sim.export.image import webp_of
from sinew.sim.export.page.pack import Pack, Reference
from sinew.sim.export.page.recorded import recorded
from sinew.sim.gl.bootstrap import GL, glGetTexImage
from sinew.sim.gl.context import Context
from sinew.sim.gl.draw_trace import (
    HEAD,
    Blit,
    BufferUse,
    Clear,
    Command,
    DrawCall,
    DrawnImage,
    DrawnTexture,
    DrawWatch,
    Target,
    TargetPart,
    texture_asker,
    uniforms_of,
    words_of,
)
from sinew.sim.gl.es_text import es_source
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.state import BLENDS, COMPARES, FACES, PipelineState
from sinew.sim.gl.texture import FORMATS
from sinew.sim.gl.trace import PIXELS, buffer_contents

Commands = tuple[Command, ...]
Words = np.ndarray[Any, np.dtype[np.uint32]]
Json = dict[str, Any]

RECOMPUTED = ("model/skin.glsl", "hair/expand.glsl")
"""Kernels of steps that a page runs again, because their inputs are much smaller than their outputs."""

NORMAL_BOUND = 0.004
"""Largest rounding of the components of recorded normals."""

IMAGE_BYTES = 4096
"""Textures of more bytes are images of WebP."""

NOTHING: Mapping[int, str] = MappingProxyType({})


class DrawRecorder:
    """Draws of the images of a page.

    Args:
        size: Of the images [px]; a page has any other size.

    Attributes:
        inputs: Buffers that the images read before they write them.
        images: Commands and numbers of each image.
        contents: Of the inputs of each image that differ from the image before.
        programs: Of the draws, by GL name.
    """

    def __init__(self, context: Context, library: ShaderLibrary, size: tuple[int, int]) -> None:
        self._watch = DrawWatch(context, library)
        self.size, self.programs = size, self._watch.programs
        self.images: list[tuple[Commands, Words]] = []
        self.contents: list[dict[int, bytes]] = []
        self.inputs: set[int] = set()
        self._same: dict[Commands, Commands] = {}
        self._last: dict[int, bytes] = {}

    @property
    def has_wide_lines(self) -> bool:
        """Whether the images have lines wider than a pixel, which a page does not draw."""
        return self._watch.has_wide_lines

    def add(self, advance: Callable[[], None], draw: Callable[[], None], *, skips: bool = True) -> None:
        """Notes an image that `draw` draws, and kernels in `advance`, which moves the scene, that the page repeats."""
        moved, image = DrawnImage(), DrawnImage()
        with self._watch.watching(moved, only=RECOMPUTED):
            advance()
        with self._watch.watching(image, skips=skips):
            draw()
        last: dict[Hashable, int] = {}  # Of the same records of the same buffers
        for number, (command, words) in enumerate(zip(moved.commands, moved.words, strict=True)):
            assert isinstance(command, DrawCall)
            last[command.feeds, words[: 4 * (HEAD + len(command.feeds))]] = number
        repeated = sorted(last.values())
        commands = (*(moved.commands[number] for number in repeated), *image.commands)
        numbers = b"".join([*(moved.words[number] for number in repeated), *image.words])
        self.images.append((self._same.setdefault(commands, commands), np.frombuffer(numbers, np.uint32)))
        written, read = set[int](), set[int]()
        for command in commands:
            if isinstance(command, DrawCall):
                read |= {use.buffer for use in command.reads if use.buffer} - written
                written |= {*command.feeds}
        self.inputs |= read
        self.contents.append({})
        for name in read:
            contents = buffer_contents(name)
            if self._last.get(name) != contents:
                self.contents[-1][name] = self._last[name] = contents

    def table(self, pack: Pack, live: Mapping[int, int], bound: float) -> tuple[Json, float]:
        """Returns the draws for the scene of a page, and the largest rounding of a position [m].

        Args:
            live: Buffers that the page simulates, with their numbers in its simulation.
            bound: Of rounding [m].
        """
        return _Tables(pack, self, live, bound).made()


class _Tables:
    """What `Renderer` of resources/page/draw.js takes; numbers of everything follow from its first use."""

    def __init__(self, pack: Pack, drawing: DrawRecorder, live: Mapping[int, int], bound: float) -> None:
        self._pack, self._drawing, self._live, self._bound = pack, drawing, live, bound
        self._programs, self._buffers = dict[int, int](), dict[int, int]()
        self._textures, self._targets = dict[DrawnTexture, int](), dict[Target | None, int]()
        self._states: dict[PipelineState | None, int] = {}
        self._drawn: set[int] = set()  # Textures
        self._contents = list(itertools.accumulate(drawing.contents, operator.or_))
        self._roles: dict[int, dict[int, int]] = {}  # Buffers by image of those that take turns
        self._used: dict[int, set[int]] = {}  # Images by buffer
        self._uses: dict[int, tuple[int, Mapping[int, str]]] = {}  # Words of a record, and what reads them
        # Bytes that attributes without indices read, and buffers that are read in other ways
        self._extents, self._whole = dict[int, int](), set[int]()
        self._rounding = 0.0

    def made(self) -> tuple[Json, float]:
        layouts: dict[Hashable, list[int]] = {}
        for number, (commands, _) in enumerate(self._drawing.images):
            # Images that draw the same from other buffers share a table of numbers.
            layouts.setdefault(tuple(_renamed(one, itertools.repeat(0)) for one in commands), []).append(number)
        lists: dict[Commands, tuple[int, int, Words]] = {}
        places, rows = np.zeros((len(self._drawing.images), 2), "<u4"), []
        for layout, numbers in enumerate(layouts.values()):
            table = np.stack([self._drawing.images[number][1] for number in numbers])
            for row, (number, commands) in enumerate(zip(numbers, self._with_roles(numbers), strict=True)):
                places[number] = lists.setdefault(commands, (len(lists), layout, table.max(axis=0)))[0], row
                for name in {name for one in commands if isinstance(one, DrawCall) for name in one.names}:
                    self._used.setdefault(name, set()).add(number)
            moving = np.flatnonzero((table != table[0]).any(axis=0))
            rows.append({
                "base": self._pack.add(table[0]), "moving": self._pack.add(moving.astype("<u4")[:, None], "rows"),
                "table": self._pack.add(table[:, moving], "rows"),
            })  # fmt: skip
        found: Json = {
            "size": self._drawing.size, "layouts": rows, "images": self._pack.add(places, "rows"),
            "lists": [{"commands": self._commands(commands, most), "layout": layout}
                      for commands, (_, layout, most) in lists.items()],
        }  # fmt: skip
        found["programs"] = [self._program(name) for name in self._programs]
        found["states"] = [self._state(state) for state in self._states]
        found["buffers"] = [self._buffer(name) for name in self._buffers]
        found["targets"] = [self._target(target) for target in self._targets]
        found["textures"] = [self._texture(texture) for texture in self._textures]
        return found, self._rounding

    # --- commands -------------------------------------------------------------------------------------------------

    def _with_roles(self, numbers: Sequence[int]) -> list[Commands]:
        """Returns the commands of images, in which buffers that take turns and are not live are one: a negative number.

        Places in the commands that name the same buffers in all images have one role.
        """
        images = [self._drawing.images[number][0] for number in numbers]
        slots = [[name for one in commands if isinstance(one, DrawCall) for name in one.names] for commands in images]
        made: list[list[int]] = [[] for _ in images]
        known: dict[tuple[int, ...], int] = {}
        for names in zip(*slots, strict=True):
            roles = names
            if len({*names}) > 1 and self._live.keys().isdisjoint(names):
                roles = (known.setdefault(names, -1 - len(self._roles) - len(known)),) * len(names)
            for one, role in zip(made, roles, strict=True):
                one.append(role)
        self._roles |= {role: dict(zip(numbers, names, strict=True)) for names, role in known.items()}
        iterators = [iter(roles) for roles in made]
        return [
            tuple(_renamed(one, names) for one in commands) for commands, names in zip(images, iterators, strict=True)
        ]

    def _commands(self, commands: Commands, most: Words) -> list[Json]:
        """Returns commands as a page has them; `most` are the largest numbers in all images."""
        made, word = [], 0
        for command in commands:
            if isinstance(command, Clear):
                made.append({"clear": "depth" if command.is_depth else "colour", "o": self._number(command.target),
                             "k": command.attachment, "v": command.values})  # fmt: skip
            elif isinstance(command, Blit):
                made.append({"copy": command.mask, "from": self._number(command.source),
                             "o": self._number(command.target), "k": command.attachment})  # fmt: skip
            else:
                made.append({"w": word, **self._draw(command, int(most[word] + most[word + 1]))})
                uniforms = uniforms_of(self._drawing.programs[command.program])
                word += HEAD + len(command.feeds) + sum(info.size * words_of(info) for info in uniforms)
        return made

    def _draw(self, call: DrawCall, end: int) -> Json:
        """Returns a draw; `end` is the number of its vertices without indices."""
        one: Json = {"p": self._programs.setdefault(call.program, len(self._programs)), "m": call.mode}
        if call.indices:
            one["e"] = [self._read(call.indices.buffer), *call.indices.rest]
        if call.attributes or call.constants:
            vertices = 0 if call.indices else end
            one["a"] = {use.name: self._attribute(use, vertices) for use in call.attributes} | dict(call.constants)
        if call.buffers or call.textures:
            images = {name: self._textures.setdefault(one, len(self._textures)) for name, one in call.textures}
            one["s"] = {use.name: self._buffer_texture(use) for use in call.buffers} | images
        if call.blocks:
            one["b"] = {use.name: self._read(use.buffer) for use in call.blocks}
        if call.feeds:
            return one | {"t": [self._read(name) for name in call.feeds]}
        return one | {"o": self._number(call.target), "z": self._states.setdefault(call.state, len(self._states))}

    def _read(self, buffer: int, stride: int = 1, uses: Mapping[int, str] = NOTHING, end: int = 0) -> int:
        """Returns the number of a buffer; `uses` has the attribute or sampler that reads each word of a record."""
        if end:
            self._extents[buffer] = max(self._extents.get(buffer, 0), end)
        else:
            self._whole.add(buffer)
        known = self._uses.get(buffer, (1, NOTHING))
        if stride >= known[0]:
            self._uses[buffer] = stride, {**(known[1] if stride == known[0] else NOTHING), **uses}
        return self._buffers.setdefault(buffer, len(self._buffers))

    def _attribute(self, use: BufferUse, vertices: int) -> list[int]:
        size, kind, stride, offset, divisor, _ = use.rest
        words = range(offset // 4, offset // 4 + size) if kind == GL.GL_FLOAT else ()
        end = 0 if divisor else vertices * stride
        return [self._read(use.buffer, max(stride // 4, 1), dict.fromkeys(words, use.name), end), *use.rest]

    def _buffer_texture(self, use: BufferUse) -> list[Any]:
        form = FORMATS[use.pixels]
        words = range(form.channels if form.dtype == np.float32 else 0)
        return [self._read(use.buffer, form.channels, dict.fromkeys(words, use.name)), use.pixels]

    def _number(self, target: Target | None) -> int:
        return self._targets.setdefault(target, len(self._targets))

    # --- what they use ----------------------------------------------------------------------------------------------

    def _program(self, name: int) -> Json:
        program = self._drawing.programs[name]
        stages = {str(stage): es_source(source).text for stage, source in program.sources.stages.items()}
        uniforms = [[info.name, info.type.glsl, info.size, words_of(info)] for info in uniforms_of(program)]
        feeds = {"captures": program.sources.captures, "separate": program.sources.separate}
        return {"name": program.label, "uniforms": uniforms, **stages, **(feeds if program.sources.captures else {})}

    def _state(self, state: PipelineState | None) -> Json:
        state = state or PipelineState()
        made: Json = {}
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
        if state.scissor is not None:
            made["scissor"] = [state.scissor[0] / self._drawing.size[0], state.scissor[2] / self._drawing.size[0]]
        return made

    def _buffer(self, name: int) -> Json:
        if name in self._live:
            return {"live": self._live[name]}
        contents, roles = list[bytes](), self._roles.get(name, {})
        for number, known in enumerate(self._contents):
            data = known.get(roles.get(number, name)) if number in self._used[name] else None
            contents.append(contents[-1] if data is None and contents else data or b"")
        first = next((data for data in contents if data), b"")
        if not first:  # a draw writes it
            return {"size": len(buffer_contents(next(iter(roles.values()), name)))}
        end = None if name in self._whole else self._extents[name]
        contents = [(data or first)[:end] for data in contents]
        stride, uses = self._uses[name]
        if all(data == contents[0] for data in contents):
            return {"size": len(contents[0]), "data": _constant(self._pack, contents[0], stride)}
        bounds = [self._bound_of(uses.get(word, "")) for word in range(stride)]
        track, errors = recorded(self._pack, contents, stride, bounds)
        for word, error in enumerate(errors):
            self._rounding = max(self._rounding, 0.0 if bounds[word] == NORMAL_BOUND else error)
        return {"size": len(contents[0]), "track": track}

    def _bound_of(self, use: str) -> float:
        return NORMAL_BOUND if "normal" in use else self._bound if use else 0.0

    def _scale(self, size: tuple[int, int]) -> int:
        """Returns 1 or 2 for the size of an image or half of it, 0 for a size of its own."""
        width, height = self._drawing.size
        return next((part for part in (1, 2) if size == (-(-width // part), -(-height // part))), 0)

    def _target(self, target: Target | None) -> Json | None:
        if target is None:
            return None
        colours = [self._attachment(one) for one in target.colours]
        made: Json = {"size": target.size, "scale": self._scale(target.size), "colours": colours}
        return made | ({"depth": self._attachment(target.depth)} if target.depth else {})

    def _attachment(self, one: TargetPart) -> Json:
        if one.samples is not None:
            return {"format": one.format, "samples": one.samples, "name": one.name}
        self._drawn.add(one.name)
        return {"texture": self._textures.setdefault(DrawnTexture(one.name), len(self._textures))}

    def _texture(self, texture: DrawnTexture) -> Json:
        GL.glActiveTexture(GL.GL_TEXTURE0)
        level, ask = texture_asker(texture.name)
        name = PIXELS[level(GL.GL_TEXTURE_INTERNAL_FORMAT)]
        width, height = level(GL.GL_TEXTURE_WIDTH), level(GL.GL_TEXTURE_HEIGHT)
        made: Json = {
            "format": name if texture.decodes else "rgba8", "size": [width, height],
            "sample": [ask(one) for one in (GL.GL_TEXTURE_WRAP_S, GL.GL_TEXTURE_WRAP_T, GL.GL_TEXTURE_MAG_FILTER,
                                            GL.GL_TEXTURE_MIN_FILTER)],
            "compare": ask(GL.GL_TEXTURE_COMPARE_MODE) != GL.GL_NONE,
        }  # fmt: skip
        if texture.name in self._drawn:
            return made | {"scale": self._scale((width, height))}
        known = FORMATS[name]
        texels = np.empty((height, width, known.channels), known.dtype)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        glGetTexImage(GL.GL_TEXTURE_2D, 0, known.transfer, known.element, ctypes.c_void_p(texels.ctypes.data))
        if name.endswith("16f"):
            channels = texels.astype("<f2").view("<u2").transpose(2, 0, 1)
            first = [next(k for k in range(c + 1) if (channels[k] == channels[c]).all()) for c in range(len(channels))]
            return made | {"channels": first, "planes": [self._pack.add(channels[c], "rows") for c in sorted({*first})]}
        if name in ("rgba8", "srgb8_alpha8") and texels.nbytes > IMAGE_BYTES:
            image = webp_of(texels, lossless=made["format"] != "srgb8_alpha8")
            return made | {"image": self._pack.add(np.frombuffer(image, np.uint8))}
        return made | {"texels": self._pack.add(texels)}


def _renamed(command: Command, names: Any) -> Command:
    return command.renamed(names) if isinstance(command, DrawCall) else command


def _constant(pack: Pack, data: bytes, stride: int) -> Reference:
    if len(data) % (4 * stride):
        return pack.add(np.frombuffer(data, np.uint8))
    return pack.add(np.frombuffer(data, "<u4").reshape(-1, stride), "rows")
