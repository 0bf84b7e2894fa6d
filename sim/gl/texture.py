import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.bootstrap import GL, glGetTexImage, glTexImage2D, glTexSubImage2D
from sinew.sim.gl.buffer import Buffer, Usage
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.objects import GLObject, new_name

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

SCRATCH_UNIT = 15
"""Texture unit for uploads, which then change no binding of a pass; 16 is the guaranteed number of units."""

TEXTURE_MAX_ANISOTROPY = 0x84FE
TEXTURE_SRGB_DECODE, SRGB_DECODE, SRGB_SKIP_DECODE = 0x8A48, 0x8A49, 0x8A4A
Wrap = Literal["repeat", "clamp", "mirror"]
Filter = Literal["linear", "nearest"]
WRAPS: dict[str, int] = {
    "repeat": GL.GL_REPEAT,
    "clamp": GL.GL_CLAMP_TO_EDGE,
    "mirror": GL.GL_MIRRORED_REPEAT,
}


@dataclass(frozen=True, slots=True)
class PixelFormat:
    internal: int  # Storage on the GPU
    transfer: int  # Channels in uploads and reads
    element: int  # GL type of one channel in transfer
    dtype: np.dtype  # numpy type of one channel; a packed depth-stencil word for depth24_stencil8
    channels: int  # Channels per texel in transfer

    @property
    def is_integer(self) -> bool:
        return self.transfer in (GL.GL_RED_INTEGER, GL.GL_RG_INTEGER, GL.GL_RGBA_INTEGER)

    @property
    def is_depth(self) -> bool:
        return self.transfer in (GL.GL_DEPTH_COMPONENT, GL.GL_DEPTH_STENCIL)


def _colour(internal: int, channels: int, element: int, dtype: type) -> PixelFormat:
    transfer = {1: GL.GL_RED, 2: GL.GL_RG, 3: GL.GL_RGB, 4: GL.GL_RGBA}[channels]
    return PixelFormat(internal, transfer, element, np.dtype(dtype), channels)


def _integer(internal: int, channels: int, element: int, dtype: type) -> PixelFormat:
    transfer = {1: GL.GL_RED_INTEGER, 2: GL.GL_RG_INTEGER, 4: GL.GL_RGBA_INTEGER}[channels]
    return PixelFormat(internal, transfer, element, np.dtype(dtype), channels)


FORMATS: dict[str, PixelFormat] = {
    "r8": _colour(GL.GL_R8, 1, GL.GL_UNSIGNED_BYTE, np.uint8),
    "rg8": _colour(GL.GL_RG8, 2, GL.GL_UNSIGNED_BYTE, np.uint8),
    "rgb8": _colour(GL.GL_RGB8, 3, GL.GL_UNSIGNED_BYTE, np.uint8),
    "rgba8": _colour(GL.GL_RGBA8, 4, GL.GL_UNSIGNED_BYTE, np.uint8),
    "srgb8_alpha8": _colour(GL.GL_SRGB8_ALPHA8, 4, GL.GL_UNSIGNED_BYTE, np.uint8),
    "r16f": _colour(GL.GL_R16F, 1, GL.GL_FLOAT, np.float32),
    "rg16f": _colour(GL.GL_RG16F, 2, GL.GL_FLOAT, np.float32),
    "rgba16f": _colour(GL.GL_RGBA16F, 4, GL.GL_FLOAT, np.float32),
    "r32f": _colour(GL.GL_R32F, 1, GL.GL_FLOAT, np.float32),
    "rg32f": _colour(GL.GL_RG32F, 2, GL.GL_FLOAT, np.float32),
    "rgba32f": _colour(GL.GL_RGBA32F, 4, GL.GL_FLOAT, np.float32),
    "r32ui": _integer(GL.GL_R32UI, 1, GL.GL_UNSIGNED_INT, np.uint32),
    "rg32ui": _integer(GL.GL_RG32UI, 2, GL.GL_UNSIGNED_INT, np.uint32),
    "rgba32ui": _integer(GL.GL_RGBA32UI, 4, GL.GL_UNSIGNED_INT, np.uint32),
    "r16ui": _integer(GL.GL_R16UI, 1, GL.GL_UNSIGNED_SHORT, np.uint16),
    "depth24": PixelFormat(GL.GL_DEPTH_COMPONENT24, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, np.dtype(np.float32), 1),
    "depth32f": PixelFormat(GL.GL_DEPTH_COMPONENT32F, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, np.dtype(np.float32), 1),
    "depth24_stencil8": PixelFormat(
        GL.GL_DEPTH24_STENCIL8, GL.GL_DEPTH_STENCIL, GL.GL_UNSIGNED_INT_24_8, np.dtype(np.uint32), 1
    ),
}


def pixel_format(name: str) -> PixelFormat:
    try:
        return FORMATS[name]
    except KeyError:
        raise KeyError(f"pixel format {name!r}; known: {', '.join(FORMATS)}") from None


class Texture(GLObject):
    target = GL.GL_TEXTURE_2D

    def __init__(self, context: "Context", label: str) -> None:
        super().__init__(context, "Texture", new_name(GL.glGenTextures), label)

    def bind(self, unit: int) -> None:
        GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
        GL.glBindTexture(self.target, self.name)


class Texture2D(Texture):
    """An image; row 0 is at v = 0.

    Args:
        size: (width, height) [texel].
        pixels: Name of a format in `FORMATS`.
        mipmaps: Whether to allocate smaller levels, which `write_rows` fills.
        filtering: Integer formats always use "nearest".
        anisotropy: Limited to the maximum of the driver; 1 is off.
        compare: Make a depth texture answer comparisons (`sampler2DShadow`).

    Raises:
        GLLimitError: If the size is not positive or exceeds the limit of the driver.
    """

    def __init__(
        self,
        context: "Context",
        size: tuple[int, int],
        pixels: str = "rgba8",
        *,
        mipmaps: bool = False,
        wrap: Wrap = "clamp",
        filtering: Filter = "linear",
        anisotropy: float = 1.0,
        compare: bool = False,
        label: str = "",
    ) -> None:
        limit = context.capabilities.max_texture_size
        if min(size) < 1 or max(size) > limit:
            raise GLLimitError(f"texture {label!r}: size {size[0]} x {size[1]}, allowed is 1 to {limit}")
        super().__init__(context, label)
        self.size = (int(size[0]), int(size[1]))
        self.pixels = pixels
        self.mipmaps = mipmaps
        self._decodes = True
        self.format = pixel_format(pixels)
        self.bind(SCRATCH_UNIT)
        # Before the storage: if the filter needs smaller levels, drivers then allocate all of them at once.
        self._set_sampling(wrap, filtering, anisotropy, compare)
        levels = max(self.size).bit_length() if self.mipmaps else 1
        for level in range(levels):
            width, height = self.level_size(level)
            storage, transfer, element = self.format.internal, self.format.transfer, self.format.element
            glTexImage2D(self.target, level, storage, width, height, 0, transfer, element, None)
        GL.glTexParameteri(self.target, GL.GL_TEXTURE_MAX_LEVEL, levels - 1)

    @classmethod
    def from_array(
        cls, context: "Context", array: npt.NDArray[Any], pixels: str | None = None, **options: Any
    ) -> "Texture2D":
        """Makes a texture of texels (height, width[, channels]), which by default determine the format `pixels`."""
        if pixels is None:
            channels = 1 if array.ndim == 2 else array.shape[2]
            suffix = {"uint8": "8", "float32": "32f", "uint32": "32ui"}.get(array.dtype.name)
            if suffix is None or channels not in (1, 2, 3, 4):
                raise GLError(f"no pixel format for {array.dtype.name} texels with {channels} channels")
            pixels = {1: "r", 2: "rg", 3: "rgb", 4: "rgba"}[channels] + suffix
        texture = cls(context, (array.shape[1], array.shape[0]), pixels, **options)
        texture.write(array)
        return texture

    def sample(self, wrap: tuple[int, int], magnify: int, minify: int) -> None:
        """Sets wrap modes (s, t) and filters, as OpenGL constants."""
        self.bind(SCRATCH_UNIT)
        for parameter, value in (
            (GL.GL_TEXTURE_WRAP_S, wrap[0]), (GL.GL_TEXTURE_WRAP_T, wrap[1]),
            (GL.GL_TEXTURE_MAG_FILTER, magnify), (GL.GL_TEXTURE_MIN_FILTER, minify),
        ):  # fmt: skip
            GL.glTexParameteri(self.target, parameter, value)

    def decode(self, is_on: bool) -> None:
        """Switches the sRGB decoding, on by default; only with `Capabilities.has_srgb_decode`."""
        if is_on != self._decodes:
            self._decodes = is_on
            self.bind(SCRATCH_UNIT)
            GL.glTexParameteri(self.target, TEXTURE_SRGB_DECODE, SRGB_DECODE if is_on else SRGB_SKIP_DECODE)

    def write(self, array: npt.NDArray[Any]) -> None:
        """Writes the largest level, (height, width[, channels]); raises GLError if shape or type do not fit."""
        if array.shape[:2] != self.size[::-1]:
            raise GLError(f"texture {self.label!r} of {self.size} cannot take texels of shape {array.shape}")
        self.write_rows(array)

    def write_rows(self, array: npt.NDArray[Any], *, level: int = 0, first: int = 0) -> None:
        """Writes rows, (rows, width[, channels]), to a level, 0 the largest; raises GLError if they do not fit."""
        width, height = self.level_size(level)
        rows = len(array)
        expected = rows * width * self.format.channels
        fits = array.ndim > 1 and array.shape[1] == width and array.size == expected and 0 <= first <= height - rows
        if not fits or array.dtype != self.format.dtype:
            raise GLError(
                f"texture {self.label!r}: level {level} of {width} x {height} {self.pixels} cannot take "
                f"{array.dtype.name} texels of shape {array.shape} at row {first}"
            )
        data = np.ascontiguousarray(array)
        self.bind(SCRATCH_UNIT)
        GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 1)
        pointer = ctypes.c_void_p(data.ctypes.data)
        transfer, element = self.format.transfer, self.format.element
        glTexSubImage2D(self.target, level, 0, first, width, rows, transfer, element, pointer)

    def level_size(self, level: int) -> tuple[int, int]:
        return max(1, self.size[0] >> level), max(1, self.size[1] >> level)

    def read(self, level: int = 0) -> npt.NDArray[Any]:
        """Reads a level, shape (height, width, channels), row 0 at v = 0; waits for the GPU."""
        width, height = self.level_size(level)
        out = np.empty((height, width, self.format.channels), self.format.dtype)
        self.bind(SCRATCH_UNIT)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        pointer = ctypes.c_void_p(out.ctypes.data)
        glGetTexImage(self.target, level, self.format.transfer, self.format.element, pointer)
        return out

    def _set_sampling(self, wrap: Wrap, filtering: Filter, anisotropy: float, compare: bool) -> None:
        nearest = filtering == "nearest" or self.format.is_integer
        magnify = GL.GL_NEAREST if nearest else GL.GL_LINEAR
        minify = magnify
        if self.mipmaps:
            minify = GL.GL_NEAREST_MIPMAP_NEAREST if nearest else GL.GL_LINEAR_MIPMAP_LINEAR
        self.sample((WRAPS[wrap], WRAPS[wrap]), magnify, minify)
        ratio = min(anisotropy, self.context.capabilities.max_anisotropy)
        if ratio > 1.0:
            GL.glTexParameterf(self.target, TEXTURE_MAX_ANISOTROPY, ratio)
        if compare:
            GL.glTexParameteri(self.target, GL.GL_TEXTURE_COMPARE_MODE, GL.GL_COMPARE_REF_TO_TEXTURE)
            GL.glTexParameteri(self.target, GL.GL_TEXTURE_COMPARE_FUNC, GL.GL_LEQUAL)


class BufferTexture(Texture):
    """A buffer read by `texelFetch` through a `samplerBuffer` (`usamplerBuffer` for integer formats).

    The next fetch sees later writes to the buffer.  Raises GLLimitError if it exceeds the limit of the driver.
    """

    target = GL.GL_TEXTURE_BUFFER

    def __init__(self, context: "Context", buffer: Buffer, pixels: str = "rgba32f", *, label: str = "") -> None:
        super().__init__(context, label or buffer.label)
        self.buffer = buffer
        self.pixels = pixels
        self.format = pixel_format(pixels)
        limit = context.capabilities.max_texture_buffer_size
        if self.texel_count > limit:
            self.release()
            raise GLLimitError(f"buffer texture {self.label!r}: {self.texel_count} texels, the driver allows {limit}")
        self.bind(SCRATCH_UNIT)
        GL.glTexBuffer(self.target, self.format.internal, buffer.name)

    @property
    def texel_count(self) -> int:
        return self.buffer.size // (self.format.dtype.itemsize * self.format.channels)


class TexelBuffer(BufferTexture):
    """A buffer and the texture over it, released together; `data`, `dtype` and `usage` as for `Buffer`."""

    def __init__(
        self,
        context: "Context",
        data: npt.NDArray[Any] | int,
        pixels: str = "rgba32f",
        *,
        dtype: npt.DTypeLike | None = None,
        usage: Usage = "static",
        label: str = "",
    ) -> None:
        buffer = Buffer(context, data, dtype=dtype, usage=usage, label=label)
        try:
            super().__init__(context, buffer, pixels)
        except GLLimitError:
            buffer.release()
            raise

    def release(self) -> None:
        super().release()
        self.buffer.release()
