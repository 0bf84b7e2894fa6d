import ctypes
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.bootstrap import GL, glGetActiveAttrib, glGetActiveUniform
from sinew.sim.gl.errors import GLError

FLOATS = frozenset((GL.GL_FLOAT, GL.GL_FLOAT_VEC2, GL.GL_FLOAT_VEC3, GL.GL_FLOAT_VEC4))
"""GLSL types of attributes that are not read as integers."""


@dataclass(frozen=True, slots=True, eq=False)
class UniformType:
    glsl: str  # Name in GLSL
    dtype: np.dtype  # numpy type of a component
    shape: tuple[int, ...]  # Shape of one value; () for scalars, (n,) for vectors, (rows, columns) for matrices
    upload: Callable[[int, int, npt.NDArray[Any]], None]  # Called with (location, count, array) for the program in use
    sampler_target: int | None = None  # Texture target of samplers, None for everything else

    def encode(self, value: npt.ArrayLike, size: int) -> npt.NDArray[Any]:
        """Encodes a value as (count, *shape), count at most `size`; raises ValueError if the shape does not fit."""
        if value is None:  # numpy would convert it to NaN
            raise ValueError(f"no value for {self.glsl}")
        array = np.array(value, self.dtype, order="C")
        if array.shape == self.shape or (not self.shape and array.shape == (1,)):
            return array.reshape(1, *self.shape)
        if size > 1 and array.ndim == len(self.shape) + 1 and array.shape[1:] == self.shape and 0 < len(array) <= size:
            return array
        expected = f"{self.glsl}[{size}]" if size > 1 else self.glsl
        raise ValueError(f"a value of shape {np.shape(value)} for {expected}")


# Setters are looked up when they are called, so that a benchmark can replace them.


def _vector(setter: str) -> Callable[[int, int, npt.NDArray[Any]], None]:
    return lambda location, count, array: getattr(GL, setter)(location, count, array)


def _matrix(setter: str) -> Callable[[int, int, npt.NDArray[Any]], None]:
    # numpy is row-major, GLSL column-major: OpenGL transposes on upload.
    return lambda location, count, array: getattr(GL, setter)(location, count, GL.GL_TRUE, array)


def _types() -> dict[int, UniformType]:
    table: dict[int, UniformType] = {}
    vectors = (
        ("float", "vec", np.float32, (GL.GL_FLOAT, GL.GL_FLOAT_VEC2, GL.GL_FLOAT_VEC3, GL.GL_FLOAT_VEC4), "f"),
        ("int", "ivec", np.int32, (GL.GL_INT, GL.GL_INT_VEC2, GL.GL_INT_VEC3, GL.GL_INT_VEC4), "i"),
        ("bool", "bvec", np.int32, (GL.GL_BOOL, GL.GL_BOOL_VEC2, GL.GL_BOOL_VEC3, GL.GL_BOOL_VEC4), "i"),
        ("uint", "uvec", np.uint32, (
            GL.GL_UNSIGNED_INT, GL.GL_UNSIGNED_INT_VEC2, GL.GL_UNSIGNED_INT_VEC3, GL.GL_UNSIGNED_INT_VEC4), "ui"),
    )  # fmt: skip
    for scalar, vector, dtype, codes, suffix in vectors:
        for count, code in enumerate(codes, start=1):
            shape = () if count == 1 else (count,)
            upload = _vector(f"glUniform{count}{suffix}v")
            table[code] = UniformType(scalar if count == 1 else f"{vector}{count}", np.dtype(dtype), shape, upload)
    for edge, code in ((2, GL.GL_FLOAT_MAT2), (3, GL.GL_FLOAT_MAT3), (4, GL.GL_FLOAT_MAT4)):
        upload = _matrix(f"glUniformMatrix{edge}fv")
        table[code] = UniformType(f"mat{edge}", np.dtype(np.float32), (edge, edge), upload)
    return table


def _samplers() -> dict[int, UniformType]:
    targets = {
        GL.GL_TEXTURE_2D: (
            GL.GL_SAMPLER_2D, GL.GL_INT_SAMPLER_2D, GL.GL_UNSIGNED_INT_SAMPLER_2D, GL.GL_SAMPLER_2D_SHADOW),
        GL.GL_TEXTURE_BUFFER: (
            GL.GL_SAMPLER_BUFFER, GL.GL_INT_SAMPLER_BUFFER, GL.GL_UNSIGNED_INT_SAMPLER_BUFFER),
    }  # fmt: skip
    integer = np.dtype(np.int32)
    return {
        code: UniformType("sampler", integer, (), _vector("glUniform1iv"), target)
        for target, codes in targets.items()
        for code in codes
    }


UNIFORM_TYPES: dict[int, UniformType] = _types() | _samplers()


NUMBERS = frozenset((float, int, bool))


def is_plain(value: object) -> bool:
    """Returns True for numbers and tuples of them, which are immutable."""
    if type(value) is not tuple:
        return type(value) in NUMBERS
    return NUMBERS.issuperset(map(type, value)) or all(map(is_plain, value))


@dataclass(frozen=True, slots=True)
class UniformInfo:
    """An active uniform outside blocks; `size` is the array length, 1 for a single value."""

    name: str
    location: int
    type: UniformType
    size: int


@dataclass(frozen=True, slots=True)
class AttributeInfo:
    name: str
    location: int
    integer: bool


@dataclass(frozen=True, slots=True)
class Reflection:
    uniforms: dict[str, UniformInfo]  # By name
    attributes: tuple[AttributeInfo, ...]  # By location
    blocks: tuple[str, ...]  # By index
    signature: int = -1  # Number of the combination of attributes; equal combinations have the same


_SIGNATURES: dict[tuple[AttributeInfo, ...], int] = {}
_NUMBERS = itertools.count()
"""Numbers of reflections, thread-safe: programs are built on several threads."""


def reflect(program: int) -> Reflection:
    attributes = _attributes(program)
    return Reflection(
        uniforms={info.name: info for info in _uniforms(program)},
        attributes=attributes,
        blocks=_blocks(program),
        signature=_SIGNATURES.setdefault(attributes, next(_NUMBERS)),
    )


def _parameter(program: int, name: int) -> int:
    return int(GL.glGetProgramiv(program, name))


class _Query:
    def __init__(self, limit: int) -> None:
        self.text = ctypes.create_string_buffer(max(limit, 1) + 1)
        self.length = GL.GLsizei()
        self.size = GL.GLint()
        self.type = GL.GLenum()

    def run(self, function: Any, program: int, index: int) -> tuple[str, int, int]:
        function(program, index, len(self.text), self.length, self.size, self.type, self.text)
        return self.text.value.decode("ascii"), int(self.size.value), int(self.type.value)


def _uniforms(program: int) -> list[UniformInfo]:
    query = _Query(_parameter(program, GL.GL_ACTIVE_UNIFORM_MAX_LENGTH))
    uniforms = []
    for index in range(_parameter(program, GL.GL_ACTIVE_UNIFORMS)):
        name, size, gl_type = query.run(glGetActiveUniform, program, index)
        location = int(GL.glGetUniformLocation(program, name))
        if location >= 0:  # members of blocks have none
            if gl_type not in UNIFORM_TYPES:
                raise GLError(f"uniform {name!r} has type 0x{gl_type:04x}")
            uniforms.append(UniformInfo(name.removesuffix("[0]"), location, UNIFORM_TYPES[gl_type], size))
    return uniforms


def _attributes(program: int) -> tuple[AttributeInfo, ...]:
    query = _Query(_parameter(program, GL.GL_ACTIVE_ATTRIBUTE_MAX_LENGTH))
    attributes = []
    for index in range(_parameter(program, GL.GL_ACTIVE_ATTRIBUTES)):
        name, _, gl_type = query.run(glGetActiveAttrib, program, index)
        location = int(GL.glGetAttribLocation(program, name))
        if location >= 0:  # built-ins such as gl_VertexID have none
            attributes.append(AttributeInfo(name, location, gl_type not in FLOATS))
    return tuple(sorted(attributes, key=lambda info: info.location))


def _blocks(program: int) -> tuple[str, ...]:
    names = []
    for index in range(_parameter(program, GL.GL_ACTIVE_UNIFORM_BLOCKS)):
        text = ctypes.create_string_buffer(256)
        length = GL.GLsizei()
        GL.glGetActiveUniformBlockName(program, index, len(text), length, text)
        names.append(text.value.decode("ascii"))
    return tuple(names)
