"""UniformBlock: values shared by all programs of a frame, laid out by the std140 rules.

The GLSL text of the block and the bytes come from the same description, so the two sides cannot disagree.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer

if TYPE_CHECKING:
    from sim.gl.context import Context

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
    """Place of one member.

    Attributes:
        glsl: Type of one element.
        count: Array length; 0 for a member that is no array.
        offset, stride: Bytes from the start of the block, and between elements of an array.
    """

    glsl: str
    count: int
    offset: int
    stride: int


def std140_layout(fields: dict[str, str | tuple[str, int]]) -> tuple[dict[str, BlockField], int]:
    """Offsets of all members and the size of the block [byte].

    Args:
        fields: Name to GLSL type, or (type, length) for an array.

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


class UniformBlock:
    """A std140 block with its buffer.

    Every program of the context that declares a block of this name reads it, once `bind` was called in the frame.

    Args:
        context: Where it lives.
        name: Name of the block in GLSL.
        fields: Member to GLSL type or (type, length), in order.

    Attributes:
        size: Bytes of the block.
    """

    def __init__(self, context: "Context", name: str, fields: dict[str, str | tuple[str, int]]) -> None:
        self.context = context
        self.name = name
        self.layout, self.size = std140_layout(fields)
        self._bytes = np.zeros(self.size, np.uint8)
        self._dirty = True
        self.buffer = Buffer(context, self._bytes, usage="stream", label=f"block {name}")

    def __setitem__(self, member: str, value: Any) -> None:
        """Set a member; matrices row-major as numpy writes them.  Nothing is sent before `bind`."""
        place = self.layout[member]
        scalar, rows, components, _, _ = STD140[place.glsl]
        elements = max(place.count, 1)
        array = np.asarray(value, scalar)
        shape = (rows, components) if rows > 1 else (components,)
        wanted = (elements, *shape)
        if array.size != np.prod(wanted):
            raise ValueError(f"block {self.name}: {member} takes shape {wanted}, not {array.shape}")
        array = array.reshape(wanted)
        if rows > 1:
            array = array.swapaxes(1, 2)  # GLSL stores columns
        for index in range(elements):
            self._put(place.offset + index * place.stride, array[index].reshape(rows, components))
        self._dirty = True

    def bind(self) -> None:
        """Send what changed and bind to the binding point of this name."""
        if self._dirty:
            self.buffer.orphan(self._bytes)
            self._dirty = False
        GL.glBindBufferBase(GL.GL_UNIFORM_BUFFER, self.context.block_binding(self.name), self.buffer.name)

    def declaration(self) -> str:
        """The block as GLSL text."""
        members = "".join(
            f"    {field.glsl} {name}{f'[{field.count}]' if field.count else ''};\n"
            for name, field in self.layout.items()
        )
        return f"layout(std140) uniform {self.name} {{\n{members}}};\n"

    def release(self) -> None:
        """Delete the buffer; may be called twice."""
        self.buffer.release()

    def _put(self, offset: int, rows: np.ndarray) -> None:
        for index, row in enumerate(rows):
            data = np.ascontiguousarray(row).view(np.uint8)
            start = offset + index * 16
            self._bytes[start : start + len(data)] = data
