"""Images with their smaller levels, averaged in linear light, as the GPU samples them from afar."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.images import ImageBudget, UInt8, load_image
from sim.assets.model import ImageSource
from sim.maths.srgb import linear_from_srgb, srgb_from_linear

Float32 = npt.NDArray[np.float32]

BAND_TEXELS = 1 << 16
"""Texels that are averaged at a time: whoever shares the interpreter waits for one band at most."""

_LINEAR = linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)
_STRAIGHT = (np.arange(256) / 255.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class MipImage:
    """An image and its smaller levels."""

    # RGBA, not premultiplied, colours in sRGB, shape (H, W, 4); each has half the edges of the one before, rounded
    # down, at least 1, and the last is a single texel.  Row 0 is at the top.
    levels: tuple[UInt8, ...]

    @property
    def pixels(self) -> UInt8:
        return self.levels[0]

    def within(self, edge: int) -> "MipImage":
        """The levels that are no larger than `edge` texels either way."""
        return MipImage(tuple(level for level in self.levels if max(level.shape[:2]) <= edge))


def load_mip_image(path: ImageSource, budget: ImageBudget, *, pause: Callable[[], None] | None = None) -> MipImage:
    """An image with its levels.

    Args:
        path: What `load_image` reads.
        budget: Shared with the images that are kept together with it.
        pause: Called between bands; may raise to give up.

    Raises:
        ImageError: If the file cannot be used.
    """
    return mip_image(load_image(path, budget), pause=pause)


def mip_image(image: UInt8, *, pause: Callable[[], None] | None = None) -> MipImage:
    """Smaller levels of an image.

    Every texel is the average of the area that it covers, also where an edge is odd: the texel in the middle then
    counts for both its neighbours by the part that they cover.  Colours are averaged as light and weighted by their
    opacity, so that what is hidden does not bleed; where all of an area is hidden, it keeps its plain average.  An
    image without texels has no smaller level.

    Args:
        image: RGBA, not premultiplied, colours in sRGB, shape (H, W, 4).
        pause: Called between bands; may raise to give up.
    """
    levels, opaque = [image], bool((image[..., 3] == 255).all())
    light: Float32 | None = None  # the last level, before it was rounded
    while levels[-1].size and max(levels[-1].shape[:2]) > 1:
        height, width = (max(1, edge >> 1) for edge in levels[-1].shape[:2])
        smaller = np.empty((height, width, 4), np.float32)
        encoded = np.empty((height, width, 4), np.uint8)
        rows = max(1, BAND_TEXELS // (4 * width))
        for first in range(0, height, rows):
            band = slice(first, min(first + rows, height))
            covered = _covered(band, len(levels[-1]))
            source = _linear(levels[0][covered]) if light is None else light[covered]
            smaller[band] = _halved(source, first, len(levels[-1]), opaque)
            encoded[band] = _encoded(smaller[band])
            if pause is not None:
                pause()
        levels.append(encoded)
        light = smaller
    return MipImage(tuple(levels))


def _covered(band: slice, height: int) -> slice:
    """Rows that some rows of the next level cover."""
    return slice(2 * band.start, 2 * (band.stop - 1) + _taps(height))


def _halved(light: Float32, first: int, height: int, opaque: bool) -> Float32:
    """Rows of the next level, from row `first` on, of those that they cover; `height` is that of the whole level."""
    if opaque:
        return _averaged(_averaged(light, 0, first, height), 1, 0, light.shape[1])
    alpha = light[..., 3:]
    weighted = np.concatenate([light[..., :3] * alpha, alpha, light[..., :3]], axis=2)
    mean = _averaged(_averaged(weighted, 0, first, height), 1, 0, light.shape[1])
    cover = mean[..., 3:4]
    colour = np.divide(mean[..., :3], cover, out=mean[..., 4:].copy(), where=cover > 0.0)
    return np.concatenate([colour, cover], axis=2)


def _taps(length: int) -> int:
    """Texels that one texel of the next level covers, wholly or in part."""
    return 1 if length == 1 else 2 + length % 2


def _averaged(values: Float32, axis: int, first: int, length: int) -> Float32:
    """Halves one axis by area.

    Args:
        values: What is averaged, along `axis` from the texel that the first result begins in.
        axis: 0 or 1.
        first: Index of the first result.
        length: Texels of the whole axis; `values` may be a part of them.
    """
    if length == 1:
        return values
    moved = values if axis == 0 else values.swapaxes(0, 1)
    taps, half = _taps(length), length // 2
    count = (len(moved) - taps) // 2 + 1
    if taps == 2:
        mean = (moved[0 : 2 * count : 2] + moved[1 : 2 * count : 2]) * np.float32(0.5)
    else:
        # Result i covers texels 2i to 2i + 2, of which it shares the outer two with its neighbours.
        index = np.arange(first, first + count, dtype=np.float32)[:, None, None]
        left, right = (half - index) / length, (index + 1.0) / length
        last = moved[2 : 2 * count + 1 : 2]
        mean = moved[0 : 2 * count : 2] * left + moved[1 : 2 * count : 2] * np.float32(half / length) + last * right
    return mean if axis == 0 else mean.swapaxes(0, 1)


def _linear(image: UInt8) -> Float32:
    light = np.empty(image.shape, np.float32)
    np.take(_LINEAR, image[..., :3], out=light[..., :3])
    np.take(_STRAIGHT, image[..., 3], out=light[..., 3])
    return light


def _encoded(light: Float32) -> UInt8:
    code = light.copy()
    code[..., :3] = srgb_from_linear(light[..., :3])
    texels: UInt8 = np.rint(np.clip(code, 0.0, 1.0) * 255.0).astype(np.uint8)
    return texels
