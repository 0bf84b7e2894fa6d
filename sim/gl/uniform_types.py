"""Uniform values: how each GLSL type is taken from Python and handed to OpenGL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL


@dataclass(frozen=True, slots=True, eq=False)
class UniformType:
    """One GLSL type.

    Attributes:
        glsl: Name in GLSL.
        dtype: numpy type of a component.
        shape: Shape of one value; () for scalars, (n,) for vectors, (rows, columns) for matrices.
        upload: Called with (location, count, array) for the program in use.
        sampler_target: Texture target of samplers, None for everything else.
    """

    glsl: str
    dtype: np.dtype
    shape: tuple[int, ...]
    upload: Callable[[int, int, npt.NDArray[Any]], None]
    sampler_target: int | None = None

    def encode(self, value: object, size: int) -> npt.NDArray[Any]:
        """Value as a new array of shape (count, *shape), count at most `size`.

        Raises:
            ValueError: If the shape does not fit.
        """
        if value is None:  # numpy would make a NaN of it
            raise ValueError(f"no value for {self.glsl}")
        array = np.array(value, self.dtype, order="C")
        if array.shape == self.shape or (not self.shape and array.shape == (1,)):
            return array.reshape(1, *self.shape)
        if size > 1 and array.ndim == len(self.shape) + 1 and array.shape[1:] == self.shape and 0 < len(array) <= size:
            return array
        wanted = f"{self.glsl}[{size}]" if size > 1 else self.glsl
        raise ValueError(f"a value of shape {np.shape(value)} for {wanted}")


# Setters are looked up when they are called, like all other functions of OpenGL, so that a benchmark can replace them.


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
    """Whether a value is made of numbers and tuples alone, so that nobody can write into it."""
    return type(value) in NUMBERS or (type(value) is tuple and all(map(is_plain, value)))


def uniform_type(code: int) -> UniformType:
    """The type with a GL code; NotImplementedError for types this program never uses, such as cube maps."""
    try:
        return UNIFORM_TYPES[code]
    except KeyError:
        raise NotImplementedError(f"uniform type 0x{code:04x}") from None
