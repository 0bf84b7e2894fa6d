"""Vertex arrays: streams describe buffers by field names; attributes of a program are matched by name.

So one VertexArray serves every program.  GL names are kept per attribute signature (names, locations, types), which
a hot reload may change.
"""

import ctypes
import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.kernel_text import in_lanes, is_all_floats, texel_words
from sinew.sim.gl.objects import GLObject, new_name
from sinew.sim.gl.record import INPUT_PREFIX, field_offset
from sinew.sim.gl.texture import BufferTexture

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context
    from sinew.sim.gl.program import Program
    from sinew.sim.gl.reflection import AttributeInfo

Mode = Literal["points", "lines", "line_strip", "triangles", "triangle_strip", "lines_adjacency"]

MODES: dict[str, int] = {
    "points": GL.GL_POINTS,
    "lines": GL.GL_LINES,
    "line_strip": GL.GL_LINE_STRIP,
    "triangles": GL.GL_TRIANGLES,
    "triangle_strip": GL.GL_TRIANGLE_STRIP,
    "lines_adjacency": GL.GL_LINES_ADJACENCY,
}

ELEMENTS: dict[str, int] = {
    "float32": GL.GL_FLOAT,
    "float16": GL.GL_HALF_FLOAT,
    "int32": GL.GL_INT,
    "uint32": GL.GL_UNSIGNED_INT,
    "int16": GL.GL_SHORT,
    "uint16": GL.GL_UNSIGNED_SHORT,
    "int8": GL.GL_BYTE,
    "uint8": GL.GL_UNSIGNED_BYTE,
}


TEXELS = {1: "r", 2: "rg", 4: "rgba"}  # channel names by number

MISSING_COMPONENTS = (0.0, 0.0, 0.0, 1.0)
"""Defaults of OpenGL for components that a source lacks."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Stream of vertices: the field `position` feeds the attribute `a_position`, unless `rename` says otherwise."""

    buffer: Buffer
    dtype: np.dtype | None = None  # Structured type of a record; by default the type of the buffer
    rename: Mapping[str, str] = field(default_factory=dict)  # Field name to attribute name
    normalised: frozenset[str] = frozenset()  # Integer fields that reach the shader as 0 to 1 (or -1 to 1)
    offset: int = 0  # First byte of the first record
    divisor: int = 0  # 0 advances per vertex, n every n instances

    @property
    def layout(self) -> np.dtype:
        return self.buffer.dtype if self.dtype is None else self.dtype

    @property
    def record_count(self) -> int:
        return max(0, self.buffer.size - self.offset) // self.layout.itemsize

    def attributes(self) -> dict[str, str]:
        return {self.rename.get(name, INPUT_PREFIX + name): name for name in self.layout.names or ()}


class VertexArray:
    """Streams, an optional index buffer, and constants for attributes without a stream.

    Args:
        streams: Buffers with structured element types.
        indices: Triangle or line indices, uint8, uint16 or uint32 elements.
        constants: Values of attributes that no stream feeds, up to 4 floats.
    """

    def __init__(
        self,
        context: "Context",
        streams: Sequence[Stream] = (),
        *,
        indices: Buffer | None = None,
        constants: Mapping[str, Sequence[float]] | None = None,
        label: str = "",
    ) -> None:
        self.context = context
        self.label = label
        self.indices = indices
        self.constants = dict(constants or {})
        self._streams = streams
        self._sources: dict[str, tuple[Stream, str]] = {}
        for stream in streams:
            if stream.layout.names is None:
                raise GLError(f"vertex array {label!r}: stream {stream.buffer.label!r} has no named fields")
            self._take(stream)
        self.vertex_count = min((stream.record_count for stream in streams if not stream.divisor), default=0)
        self._owners: dict[int, tuple[GLObject, list[tuple[float, ...]]]] = {}
        self._texels: dict[tuple[np.dtype, ...], list[BufferTexture]] = {}
        self._element = (0, 0) if indices is None else (ELEMENTS[indices.dtype.name], indices.dtype.itemsize)

    @property
    def count(self) -> int:
        """Number of indices, or of vertices when there are none."""
        return self.vertex_count if self.indices is None else self.indices.count

    def bind(self, program: "Program", per_vertex: int = 1) -> None:
        """Binds the streams; vertices read `per_vertex` records. Raises KeyError for an attribute without values."""
        signature = program.reflection.signature
        if signature not in self._owners:
            self._owners[signature] = self._build(program, per_vertex), self._constants_of(program)
        owner, constants = self._owners[signature]
        GL.glBindVertexArray(owner.name)
        for constant in constants:
            GL.glVertexAttrib4f(*constant)

    def draw(
        self,
        program: "Program",
        mode: Mode = "triangles",
        *,
        count: int | None = None,
        first: int = 0,
        instances: int | None = None,
    ) -> None:
        """Draws all vertices or indices from `first` on by default; set uniforms before."""
        program.use()
        self.bind(program)
        length = self.count - first if count is None else count
        if length <= 0:
            return
        if self.indices is None:
            if instances is None:
                GL.glDrawArrays(MODES[mode], first, length)
            else:
                GL.glDrawArraysInstanced(MODES[mode], first, length, instances)
            return
        element, size = self._element
        start = ctypes.c_void_p(first * size)
        if instances is None:
            GL.glDrawElements(MODES[mode], length, element, start)
        else:
            GL.glDrawElementsInstanced(MODES[mode], length, element, start, instances)

    def texels(self, layouts: tuple[np.dtype, ...]) -> list[BufferTexture]:
        """Returns texels for a compute kernel; raises GLError if it cannot read the streams of these records."""
        if layouts not in self._texels:
            self._texels[layouts] = [self._as_texels(layout) for layout in layouts]
        return self._texels[layouts]

    def release(self) -> None:
        for owner, _ in self._owners.values():
            owner.release()
        self._owners.clear()
        for texture in [texture for textures in self._texels.values() for texture in textures]:
            texture.release()
        self._texels.clear()

    def _build(self, program: "Program", per_vertex: int) -> GLObject:
        for stream in self._streams if per_vertex > 1 else ():
            self._take(dataclasses.replace(stream, dtype=in_lanes(stream.layout, per_vertex)))
        self._check_attributes(program)
        owner = GLObject(self.context, "VertexArray", new_name(GL.glGenVertexArrays), self.label)
        GL.glBindVertexArray(owner.name)
        for attribute in program.reflection.attributes:
            if attribute.name in self._sources:
                _attach(attribute, *self._sources[attribute.name])
        if self.indices is not None:
            GL.glBindBuffer(GL.GL_ELEMENT_ARRAY_BUFFER, self.indices.name)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, 0)
        return owner

    def _as_texels(self, layout: np.dtype) -> BufferTexture:
        for stream in self._streams:
            if stream.layout == layout and not stream.offset and not stream.rename and not stream.normalised:
                pixels = f"{TEXELS[texel_words(layout)]}32{'f' if is_all_floats(layout) else 'ui'}"
                return BufferTexture(self.context, stream.buffer, pixels, label=self.label)
        raise GLError(
            f"vertex array {self.label!r} has no stream of whole records with {', '.join(layout.names or ())}"
        )

    def _take(self, stream: Stream) -> None:
        self._sources |= {attribute: (stream, name) for attribute, name in stream.attributes().items()}

    def _constants_of(self, program: "Program") -> list[tuple[float, ...]]:
        constants = []
        for attribute in program.reflection.attributes:
            if attribute.name not in self._sources:
                value = tuple(self.constants[attribute.name])[:4]
                constants.append((attribute.location, *map(float, value + MISSING_COMPONENTS[len(value) :])))
        return constants

    def _check_attributes(self, program: "Program") -> None:
        known = [*self._sources, *self.constants]
        for attribute in program.reflection.attributes:
            if attribute.name not in known:
                near = difflib.get_close_matches(attribute.name, known, n=3, cutoff=0.4) or sorted(known)
                raise KeyError(
                    f"vertex array {self.label!r} has nothing for attribute {attribute.name!r} of program "
                    f"{program.label!r}; it has {', '.join(near) or 'no streams'}"
                )


def _attach(attribute: "AttributeInfo", stream: Stream, name: str) -> None:
    layout = stream.layout
    base, shape = layout[name].subdtype or (layout[name], ())
    components = int(np.prod(shape, dtype=int)) if shape else 1
    if components > 4 or base.name not in ELEMENTS:
        raise GLError(f"field {name!r} of type {layout[name]} cannot feed a vertex attribute")
    if attribute.integer and base.kind == "f":
        raise GLError(f"attribute {attribute.name!r} is an integer, field {name!r} is {base.name}")
    pointer = ctypes.c_void_p(stream.offset + field_offset(layout, name))
    GL.glBindBuffer(GL.GL_ARRAY_BUFFER, stream.buffer.name)
    GL.glEnableVertexAttribArray(attribute.location)
    if attribute.integer:
        GL.glVertexAttribIPointer(attribute.location, components, ELEMENTS[base.name], layout.itemsize, pointer)
    else:
        normalised = GL.GL_TRUE if name in stream.normalised else GL.GL_FALSE
        GL.glVertexAttribPointer(
            attribute.location, components, ELEMENTS[base.name], normalised, layout.itemsize, pointer
        )
    GL.glVertexAttribDivisor(attribute.location, stream.divisor)
