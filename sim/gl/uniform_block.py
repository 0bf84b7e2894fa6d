"""Blocks of uniforms: values shared by all programs of a frame."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.reflection import is_plain

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

# GLSL type -> (numpy scalar, rows of memory, components, alignment [byte], bytes)
STD140: dict[str, tuple[type, int, int, int, int]] = {
    "float": (np.float32, 1, 1, 4, 4),
    "int": (np.int32, 1, 1, 4, 4),
    "uint": (np.uint32, 1, 1, 4, 4),
    "vec2": (np.float32, 1, 2, 8, 8),
    "vec3": (np.float32, 1, 3, 16, 12),
    "vec4": (np.float32, 1, 4, 16, 16),
    "ivec4": (np.int32, 1, 4, 16, 16),
    "mat3": (np.float32, 3, 3, 16, 48),
    "mat4": (np.float32, 4, 4, 16, 64),
}


@dataclass(frozen=True, slots=True)
class BlockField:
    glsl: str  # Type of one element
    count: int  # Array length; 0 for a single value
    offset: int  # from the start of the block [byte]
    stride: int  # between elements of an array [byte]


def std140_layout(fields: dict[str, str | tuple[str, int]]) -> tuple[dict[str, BlockField], int]:
    """Returns offsets of members, each a GLSL type or (type, array length), and the block's size [byte].

    Source: OpenGL 3.3 core specification, section 2.11.4, "Standard Uniform Block Layout".
    """
    layout: dict[str, BlockField] = {}
    end = 0
    for name, spec in fields.items():
        glsl, count = (spec, 0) if isinstance(spec, str) else spec
        _, _, _, alignment, size = STD140[glsl]
        if count:
            # Elements of arrays are rounded up to whole vec4s.
            alignment, stride = 16, -(-size // 16) * 16
            size = stride * count
        else:
            stride = size
        offset = -(-end // alignment) * alignment
        layout[name] = BlockField(glsl, count, offset, stride)
        end = offset + size
    return layout, -(-end // 16) * 16


class UniformBlock(Owner):
    """A std140 block with its buffer; members are GLSL types or (type, array length), in order.

    Every program of the context that declares a block of this name reads it after `bind`.
    """

    def __init__(self, context: "Context", name: str, fields: dict[str, str | tuple[str, int]]) -> None:
        self.name = name
        self._binding = context.block_binding(name)
        self.layout, self.size = std140_layout(fields)
        self._bytes = np.zeros(self.size, np.uint8)
        self._members = {member: _view(self._bytes, place) for member, place in self.layout.items()}
        self._plain: dict[str, object] = {}
        self._dirty = True
        self.buffer = self.owns(Buffer(context, self._bytes, usage="stream", label=f"block {name}"))

    def __setitem__(self, member: str, value: Any) -> None:
        """Sets a value, which `bind` sends; matrices are row-major."""
        if type(value) is tuple and self._plain.get(member) == value:
            return
        target = self._members[member]
        array = np.asarray(value, target.dtype)
        if array.size != target.size:
            raise ValueError(f"block {self.name}: {member} takes shape {target.shape}, not {array.shape}")
        target[...] = array.reshape(target.shape)
        self._plain[member] = value if is_plain(value) else None
        self._dirty = True

    def edit(self, member: str) -> np.ndarray:
        """Returns memory to write into before the next `bind`, shape (elements, ...)."""
        self._dirty = True
        return self._members[member]

    def bind(self) -> None:
        """Sends changed values and binds the buffer to the binding point of this name."""
        if self._dirty:
            self.buffer.orphan(self._bytes)
            self._dirty = False
        GL.glBindBufferBase(GL.GL_UNIFORM_BUFFER, self._binding, self.buffer.name)


def _view(block: np.ndarray, place: BlockField) -> np.ndarray:
    scalar, rows, components, _, _ = STD140[place.glsl]
    elements = max(place.count, 1)
    if rows == 1:
        return np.ndarray((elements, components), scalar, block, place.offset, (place.stride, 4))
    # GLSL stores columns, each on its own 16 bytes.
    return np.ndarray((elements, rows, components), scalar, block, place.offset, (place.stride, 4, 16))
