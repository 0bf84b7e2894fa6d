import io
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.assets.model import ImageSource
from sinew.sim.assets.raw import FileError
from sinew.sim.maths.arrays import Float32, UInt8
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.printable import printable

if TYPE_CHECKING:
    from PIL import Image  # imported with the first image: many commands read none


SIDE_MAX = 16384
"""Longest side of a decoded image [pixels]."""

PIXEL_MAX = 1 << 26
"""Maximum number of pixels of a decoded image, 256 MiB as RGBA."""

DECODED_MAX = 1 << 30
"""Maximum number of pixels of all scans of a progressive JPEG together; a full-size image may have 16 scans."""

TOTAL_MAX = 1 << 27
"""Maximum number of pixels of images in memory together, 512 MiB as RGBA."""

_BAND_ROWS = 256
"""Number of rows that are converted at a time, to limit temporary copies of large images."""

_MARKER = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL)
_START_OF_SCAN = 0xDA

_SIXTEEN_BIT = ("I;16", "I;16L", "I;16B", "I;16N", "I")


class ImageError(FileError):
    """Error about an image in one line with file and reason."""

    def __init__(self, path: ImageSource | str, reason: str) -> None:
        super().__init__(printable(f"{path}: {reason}"))
        self.path = Path(str(path))
        self.reason = reason


class ImageBudget:
    """Shared limit for the pixels of all images of a scene or model; thread-safe.

    An image gets up to half of the remaining pixels, and is read at a half, a quarter, ... of its resolution until it
    fits. So every further image still gets some.
    """

    def __init__(self, pixels: int = TOTAL_MAX) -> None:
        self._total = self._left = pixels
        self._notes: list[str] = []
        self._guard = threading.RLock()  # pixels may be returned from any thread

    def take(self, path: ImageSource, size: tuple[int, int]) -> int:
        """Reserves pixels for an image; returns the power of two by which its edges must shrink."""
        with self._guard:
            factor = 1
            while _pixels(size, factor) > max(self._left // 2, 1):
                factor *= 2
            self._left -= _pixels(size, factor)
            if factor > 1:
                self._notes.append(
                    f"texture {path}: is read with 1/{factor} of its {size[0]} x {size[1]} pixels a side; images that"
                    f" are shown together may have {self._total} pixels"
                )
        return factor

    def give_back(self, pixels: int) -> None:
        with self._guard:
            self._left += pixels

    def take_notes(self) -> list[str]:
        """Returns one sentence for each image that was shrunk since the last call."""
        with self._guard:
            notes, self._notes = self._notes, []
        return notes


def _pixels(size: tuple[int, int], factor: int) -> int:
    return -(-size[0] // factor) * -(-size[1] // factor)


def load_image(path: ImageSource, budget: ImageBudget | None = None) -> UInt8:
    """Returns the pixels of an image, shrunk to fit the budget.

    Returns:
        RGBA, straight alpha, as stored (no colour conversion); shape (H, W, 4), row 0 at the top, C-contiguous.

    Raises:
        ImageError: If the file is missing, damaged, too large or of an unknown format.
    """
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # sizes are checked below; the library would print warnings
    if isinstance(path, Path):
        _check_regular(path)
    formats = [known.name for known in IMAGE_FORMATS]
    try:
        with Image.open(path if isinstance(path, Path) else io.BytesIO(path.data), formats=formats) as image:
            width, height = image.size
            if max(image.size) > SIDE_MAX or width * height > PIXEL_MAX:
                raise ImageError(path, f"has {width} x {height} pixels; allowed: {SIDE_MAX} a side, {PIXEL_MAX} in all")
            if min(image.size) < 1:
                raise ImageError(path, "has no pixels")
            if image.format in ("JPEG", "MPO"):  # MPO files hold further images behind the first
                _check_scans(path, image.size)
            if budget is None:
                return _rgba(image, 1)
            size, factor = image.size, budget.take(path, image.size)
            try:
                return _rgba(image, factor)
            except BaseException:
                budget.give_back(_pixels(size, factor))
                raise
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(path, f"is not an image of a known format ({', '.join(formats)})") from None
    except Exception as error:  # decoders fail with any exception on damaged files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ImageError(path, f"cannot be decoded: {reason}") from error


def _check_regular(path: Path) -> None:
    """Checks that a path is a regular file; pipes would block for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise ImageError(path, error.strerror or str(error)) from error
    except ValueError as error:
        raise ImageError(path, str(error)) from error
    if not stat.S_ISREG(mode):
        raise ImageError(path, "is not a regular file")


def _check_scans(path: ImageSource, size: tuple[int, int]) -> None:
    data = path.read_bytes() if isinstance(path, Path) else path.data
    place, scans = 2, 0
    while (marker := _MARKER.search(data, place)) is not None:
        scans += marker[0][-1] == _START_OF_SCAN
        # The segment says how long it is; the pixels of a scan have no markers, but restarts.
        place = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")
    if scans > 1 and scans * size[0] * size[1] > DECODED_MAX:
        raise ImageError(path, f"has {scans} scans of {size[0]} x {size[1]} pixels; allowed: {DECODED_MAX} in all")


def _rgba(image: "Image.Image", factor: int) -> UInt8:
    """Returns an image as RGBA with squares of `factor` rows and columns averaged, band by band."""
    width, height = image.size
    image.draft(None, (max(width // factor, 1), max(height // factor, 1)))
    factor = max(factor * image.size[0] // width, 1)  # the rest that the decoder did not shrink
    width, height = image.size
    pixels = np.empty((-(-height // factor), -(-width // factor), 4), np.uint8)
    rows = factor * -(-_BAND_ROWS // factor)
    for top in range(0, height, rows):
        band = image.crop((0, top, width, min(top + rows, height)))
        band = (_eight_bit(band) if band.mode in _SIXTEEN_BIT else band).convert("RGBA")
        shrunk = band.reduce(factor) if factor > 1 else band
        pixels[top // factor : (top + rows) // factor] = np.asarray(shrunk)
    return pixels


def _eight_bit(image: "Image.Image") -> "Image.Image":
    """Converts 16-bit grey by scaling; the conversion of the library would clip it."""
    from PIL import Image

    return Image.fromarray(np.clip(np.asarray(image).astype(np.int32) // 257, 0, 255).astype(np.uint8))


BAND_TEXELS = 1 << 16
"""Number of texels that are averaged at a time, while other threads wait for the interpreter lock."""

_LINEAR = linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)
_STRAIGHT = (np.arange(256) / 255.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class MipImage:
    # RGBA, straight alpha, colours in sRGB, shape (H, W, 4); each has half the edges of the previous level, rounded
    # down, at least 1; the last is a single texel.  Row 0 is at the top.
    levels: tuple[UInt8, ...]

    @property
    def pixels(self) -> UInt8:
        return self.levels[0]

    def within(self, edge: int) -> "MipImage":
        return MipImage(tuple(level for level in self.levels if max(level.shape[:2]) <= edge))


def pixel_count(images: Iterable[MipImage]) -> int:
    return sum(image.pixels.shape[0] * image.pixels.shape[1] for image in images)


def load_mip_image(path: ImageSource, budget: ImageBudget, *, pause: Callable[[], None] | None = None) -> MipImage:
    """Reads an image with mip levels; raises ImageError if the file cannot be used."""
    return mip_image(load_image(path, budget), pause=pause)


def mip_image(image: UInt8, *, pause: Callable[[], None] | None = None) -> MipImage:
    """Makes mip levels, in which every texel is the average of the area that it covers.

    Where an edge is odd, the middle texel counts for both neighbours by the covered fraction.  Colours are averaged in
    linear light and weighted by opacity, so that transparent texels do not bleed; a fully transparent area keeps its
    plain average.

    Args:
        image: RGBA, straight alpha, colours in sRGB, shape (H, W, 4).
        pause: Called between bands; may raise to cancel.
    """
    levels, opaque = [image], bool((image[..., 3] == 255).all())
    light: Float32 | None = None  # the last level in linear light, unrounded
    while levels[-1].size and max(levels[-1].shape[:2]) > 1:
        height, width = (max(1, edge >> 1) for edge in levels[-1].shape[:2])
        smaller = np.empty((height, width, 4), np.float32)
        encoded = np.empty((height, width, 4), np.uint8)
        rows = max(1, BAND_TEXELS // (4 * width))
        for first in range(0, height, rows):
            band = slice(first, min(first + rows, height))
            # Rows of this level that the band of the next level covers.
            covered = slice(2 * band.start, 2 * (band.stop - 1) + _taps(len(levels[-1])))
            source = _linear(levels[0][covered]) if light is None else light[covered]
            smaller[band] = _halved(source, first, len(levels[-1]), opaque)
            code = smaller[band].copy()
            code[..., :3] = srgb_from_linear(smaller[band][..., :3])
            encoded[band] = np.rint(np.clip(code, 0.0, 1.0) * 255.0).astype(np.uint8)
            if pause is not None:
                pause()
        levels.append(encoded)
        light = smaller
    return MipImage(tuple(levels))


def _halved(light: Float32, first: int, height: int, opaque: bool) -> Float32:
    """Returns rows of the next level from row `first` on; `light` has the covered rows, `height` is the full height."""
    if opaque:
        return _averaged(_averaged(light, 0, first, height), 1, 0, light.shape[1])
    alpha = light[..., 3:]
    weighted = np.concatenate([light[..., :3] * alpha, alpha, light[..., :3]], axis=2)
    mean = _averaged(_averaged(weighted, 0, first, height), 1, 0, light.shape[1])
    cover = mean[..., 3:4]
    colour = np.divide(mean[..., :3], cover, out=mean[..., 4:].copy(), where=cover > 0.0)
    return np.concatenate([colour, cover], axis=2)


def _taps(length: int) -> int:
    """Returns the number of texels that one texel of the next level covers, fully or partly."""
    return 1 if length == 1 else 2 + length % 2


def _averaged(values: Float32, axis: int, first: int, length: int) -> Float32:
    """Halves an axis by area; `values` begin with the texels of result `first`, the axis has `length` texels."""
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
    light: Float32 = np.take(_LINEAR, image, mode="clip")  # twice as fast as "raise"
    light[..., 3] = _STRAIGHT[image[..., 3]]
    return light
