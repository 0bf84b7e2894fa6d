"""What a linked program contains: its active uniforms, attributes, blocks and captured outputs."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.gl import raw
from sim.gl.bootstrap import GL
from sim.gl.uniform_types import UniformType, uniform_type

# GLSL type of an attribute -> (components, read as integer)
ATTRIBUTE_TYPES: dict[int, tuple[int, bool]] = {
    GL.GL_FLOAT: (1, False), GL.GL_FLOAT_VEC2: (2, False), GL.GL_FLOAT_VEC3: (3, False), GL.GL_FLOAT_VEC4: (4, False),
    GL.GL_INT: (1, True), GL.GL_INT_VEC2: (2, True), GL.GL_INT_VEC3: (3, True), GL.GL_INT_VEC4: (4, True),
    GL.GL_UNSIGNED_INT: (1, True), GL.GL_UNSIGNED_INT_VEC2: (2, True),
    GL.GL_UNSIGNED_INT_VEC3: (3, True), GL.GL_UNSIGNED_INT_VEC4: (4, True),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UniformInfo:
    """An active uniform outside blocks; `size` is the array length, 1 for a single value."""

    name: str
    location: int
    type: UniformType
    size: int


@dataclass(frozen=True, slots=True)
class AttributeInfo:
    """An active vertex attribute."""

    name: str
    location: int
    components: int
    integer: bool


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """An active uniform block and its size [byte]."""

    name: str
    index: int
    size: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """Interface of one linked program.

    Attributes:
        uniforms: By name.
        attributes: By location.
        blocks: By name.
        captures: In order.
        signature: Number that stands for the attributes: equal ones have the same, and it is found at once.
    """

    uniforms: dict[str, UniformInfo]
    attributes: tuple[AttributeInfo, ...]
    blocks: dict[str, BlockInfo]
    captures: tuple[str, ...]
    signature: int = -1


_SIGNATURES: dict[tuple[AttributeInfo, ...], int] = {}
"""All combinations of attributes that were met so far."""


def reflect(program: int) -> Reflection:
    """Read the interface of a linked program."""
    attributes = _attributes(program)
    return Reflection(
        uniforms={info.name: info for info in _uniforms(program)},
        attributes=attributes,
        blocks={info.name: info for info in _blocks(program)},
        captures=_captures(program),
        signature=_SIGNATURES.setdefault(attributes, len(_SIGNATURES)),
    )


def _parameter(program: int, name: int) -> int:
    return int(GL.glGetProgramiv(program, name))


class _Query:
    """Output arguments shared by the glGetActive* functions."""

    def __init__(self, limit: int) -> None:
        self.text = ctypes.create_string_buffer(max(limit, 1) + 1)
        self.length = GL.GLsizei()
        self.size = GL.GLint()
        self.type = GL.GLenum()

    def run(self, function: Any, program: int, index: int) -> tuple[str, int, int]:
        """Name, array length and GL type of item `index`."""
        function(program, index, len(self.text), self.length, self.size, self.type, self.text)
        return self.text.value.decode("ascii"), int(self.size.value), int(self.type.value)


def _uniforms(program: int) -> list[UniformInfo]:
    query = _Query(_parameter(program, GL.GL_ACTIVE_UNIFORM_MAX_LENGTH))
    found = []
    for index in range(_parameter(program, GL.GL_ACTIVE_UNIFORMS)):
        name, size, gl_type = query.run(raw.glGetActiveUniform, program, index)
        location = int(GL.glGetUniformLocation(program, name))
        if location >= 0:  # members of blocks have none
            found.append(UniformInfo(name.removesuffix("[0]"), location, uniform_type(gl_type), size))
    return found


def _attributes(program: int) -> tuple[AttributeInfo, ...]:
    query = _Query(_parameter(program, GL.GL_ACTIVE_ATTRIBUTE_MAX_LENGTH))
    found = []
    for index in range(_parameter(program, GL.GL_ACTIVE_ATTRIBUTES)):
        name, _, gl_type = query.run(raw.glGetActiveAttrib, program, index)
        location = int(GL.glGetAttribLocation(program, name))
        if location >= 0:  # built-ins such as gl_VertexID have none
            found.append(AttributeInfo(name, location, *ATTRIBUTE_TYPES[gl_type]))
    return tuple(sorted(found, key=lambda info: info.location))


def _blocks(program: int) -> list[BlockInfo]:
    found = []
    for index in range(_parameter(program, GL.GL_ACTIVE_UNIFORM_BLOCKS)):
        text = ctypes.create_string_buffer(256)
        length = GL.GLsizei()
        GL.glGetActiveUniformBlockName(program, index, len(text), length, text)
        size = np.zeros(1, np.int32)
        GL.glGetActiveUniformBlockiv(program, index, GL.GL_UNIFORM_BLOCK_DATA_SIZE, size)
        found.append(BlockInfo(text.value.decode("ascii"), index, int(size[0])))
    return found


def _captures(program: int) -> tuple[str, ...]:
    query = _Query(_parameter(program, GL.GL_TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH))
    count = _parameter(program, GL.GL_TRANSFORM_FEEDBACK_VARYINGS)
    return tuple(query.run(raw.glGetTransformFeedbackVarying, program, index)[0] for index in range(count))
