"""Pixel formats by name: the closed set that textures and framebuffers of this program use."""

from dataclasses import dataclass

import numpy as np

from sim.gl.bootstrap import GL


@dataclass(frozen=True, slots=True)
class PixelFormat:
    """How texels are stored and how they travel.

    Attributes:
        internal: Storage on the GPU.
        transfer: Channels of an upload or a read.
        element: GL type of one channel in transfer.
        dtype: numpy type of one channel; a packed depth-stencil word for depth24_stencil8.
        channels: Channels per texel in transfer.
    """

    internal: int
    transfer: int
    element: int
    dtype: np.dtype
    channels: int

    @property
    def is_integer(self) -> bool:
        """Whether shaders read it through an integer sampler."""
        return self.transfer in (GL.GL_RED_INTEGER, GL.GL_RG_INTEGER, GL.GL_RGBA_INTEGER)

    @property
    def is_depth(self) -> bool:
        """Whether it attaches as depth (or depth and stencil)."""
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
    "srgb8": _colour(GL.GL_SRGB8, 3, GL.GL_UNSIGNED_BYTE, np.uint8),
    "srgb8_alpha8": _colour(GL.GL_SRGB8_ALPHA8, 4, GL.GL_UNSIGNED_BYTE, np.uint8),
    "r16f": _colour(GL.GL_R16F, 1, GL.GL_FLOAT, np.float32),
    "rgba16f": _colour(GL.GL_RGBA16F, 4, GL.GL_FLOAT, np.float32),
    "r32f": _colour(GL.GL_R32F, 1, GL.GL_FLOAT, np.float32),
    "rg32f": _colour(GL.GL_RG32F, 2, GL.GL_FLOAT, np.float32),
    "rgba32f": _colour(GL.GL_RGBA32F, 4, GL.GL_FLOAT, np.float32),
    "r32ui": _integer(GL.GL_R32UI, 1, GL.GL_UNSIGNED_INT, np.uint32),
    "rg32ui": _integer(GL.GL_RG32UI, 2, GL.GL_UNSIGNED_INT, np.uint32),
    "rgba32ui": _integer(GL.GL_RGBA32UI, 4, GL.GL_UNSIGNED_INT, np.uint32),
    "r16ui": _integer(GL.GL_R16UI, 1, GL.GL_UNSIGNED_SHORT, np.uint16),
    "rgba16ui": _integer(GL.GL_RGBA16UI, 4, GL.GL_UNSIGNED_SHORT, np.uint16),
    "depth24": PixelFormat(GL.GL_DEPTH_COMPONENT24, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, np.dtype(np.float32), 1),
    "depth32f": PixelFormat(GL.GL_DEPTH_COMPONENT32F, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, np.dtype(np.float32), 1),
    "depth24_stencil8": PixelFormat(
        GL.GL_DEPTH24_STENCIL8, GL.GL_DEPTH_STENCIL, GL.GL_UNSIGNED_INT_24_8, np.dtype(np.uint32), 1
    ),
}


def pixel_format(name: str) -> PixelFormat:
    """The format called `name`; KeyError naming the known ones otherwise."""
    try:
        return FORMATS[name]
    except KeyError:
        raise KeyError(f"pixel format {name!r}; known: {', '.join(FORMATS)}") from None
