"""Texture images as arrays: files of every known format to RGBA bytes, bounded in size."""

import io
import os
import re
import stat
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from sim.assets.formats import IMAGE_FORMATS
from sim.assets.model import ImageSource
from sim.printable import printable

UInt8 = npt.NDArray[np.uint8]

SIDE_MAX = 16384
"""Longest side of an image that is decoded [pixels]."""

PIXEL_MAX = 1 << 26
"""Most pixels of an image that is decoded, 256 MiB as RGBA."""

DECODED_MAX = 1 << 30
"""Most pixels that all scans of a progressive JPEG decode together; a full one may have 16."""

TOTAL_MAX = 1 << 27
"""Most pixels of images that are kept together, 512 MiB as RGBA."""

_BAND_ROWS = 256
"""Rows that are converted at a time, so that large images are not there several times over."""

# Sizes are checked here, in one line; the library would write warnings to the terminal.
Image.MAX_IMAGE_PIXELS = None

_MARKER = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL)
_START_OF_SCAN = 0xDA

_SIXTEEN_BIT = ("I;16", "I;16L", "I;16B", "I;16N", "I")


class ImageError(ValueError):
    """An image that cannot be used: one line naming file and reason."""

    def __init__(self, path: ImageSource | str, reason: str) -> None:
        super().__init__(printable(f"{path}: {reason}"))
        self.path = Path(str(path))
        self.reason = reason


class ImageBudget:
    """Pixels that the images of a scene or a model may have together; usable from any thread.

    An image gets up to half of what is left, and is read at half its resolution, or half of that, until it fits: so
    there is something for the next one, however many there are.

    Args:
        pixels: How many in all.
    """

    def __init__(self, pixels: int = TOTAL_MAX) -> None:
        self._total = self._left = pixels
        self._notes: list[str] = []
        self._guard = threading.RLock()  # what is no longer kept may be given back from anywhere

    def take(self, path: ImageSource, size: tuple[int, int]) -> int:
        """Notes an image of so many pixels; returns the power of two by which its edges have to shrink."""
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

    def show_baked(self, pixels: int) -> None:
        """Notes that an image of so many pixels is no longer kept."""
        with self._guard:
            self._left += pixels

    def take_notes(self) -> list[str]:
        """A sentence for each image that had to shrink since the last call."""
        with self._guard:
            notes, self._notes = self._notes, []
        return notes


def _pixels(size: tuple[int, int], factor: int) -> int:
    """Pixels of an image whose edges shrink by a factor; every edge keeps one."""
    return -(-size[0] // factor) * -(-size[1] // factor)


def load_image(path: ImageSource, budget: ImageBudget | None = None) -> UInt8:
    """Pixels of an image, a file or embedded in one.

    Args:
        path: The file.
        budget: What it may take of what others take too; it may be made smaller for that.

    Returns:
        RGBA, not premultiplied, as stored (no colour conversion); shape (H, W, 4), row 0 at the top,
        C-contiguous.

    Raises:
        ImageError: If the file is missing, no image of a known format, damaged, or too large.
    """
    if isinstance(path, Path):
        _check_regular(path)
    formats = [known.name for known in IMAGE_FORMATS]
    try:
        with Image.open(path if isinstance(path, Path) else io.BytesIO(path.data), formats=formats) as image:
            _check_size(path, image.size)
            if image.format in ("JPEG", "MPO"):  # the second has further pictures behind the first
                _check_scans(path, image.size)
            if budget is None:
                return _rgba(image, 1)
            size, factor = image.size, budget.take(path, image.size)
            try:
                return _rgba(image, factor)
            except BaseException:
                budget.show_baked(_pixels(size, factor))
                raise
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(path, f"is no image of a known format ({', '.join(formats)})") from None
    except Exception as error:  # decoders of damaged files fail in every way there is
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ImageError(path, f"cannot be decoded: {reason}") from error


def _check_regular(path: Path) -> None:
    """A pipe would block for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise ImageError(path, error.strerror or str(error)) from error
    except ValueError as error:
        raise ImageError(path, str(error)) from error
    if not stat.S_ISREG(mode):
        raise ImageError(path, "is not a regular file")


def _check_size(path: ImageSource, size: tuple[int, int]) -> None:
    width, height = size
    if max(size) > SIDE_MAX or width * height > PIXEL_MAX:
        raise ImageError(path, f"has {width} x {height} pixels; allowed: {SIDE_MAX} a side, {PIXEL_MAX} in all")
    if min(size) < 1:
        raise ImageError(path, "has no pixels")


def _check_scans(path: ImageSource, size: tuple[int, int]) -> None:
    """Refuses a JPEG that goes over its pixels again and again."""
    data = path.read_bytes() if isinstance(path, Path) else path.data
    place, scans = 2, 0
    while (marker := _MARKER.search(data, place)) is not None:
        scans += marker[0][-1] == _START_OF_SCAN
        # The segment says how long it is; the pixels of a scan have no markers, but restarts.
        place = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")
    if scans > 1 and scans * size[0] * size[1] > DECODED_MAX:
        raise ImageError(path, f"has {scans} scans of {size[0]} x {size[1]} pixels; allowed: {DECODED_MAX} in all")


def _rgba(image: Image.Image, factor: int) -> UInt8:
    """The pixels, band by band; with a factor, squares of so many rows and columns are averaged."""
    width, height = image.size
    image.draft(None, (max(width // factor, 1), max(height // factor, 1)))
    factor = max(factor * image.size[0] // width, 1)  # what the decoder could not do itself
    width, height = image.size
    pixels = np.empty((-(-height // factor), -(-width // factor), 4), np.uint8)
    rows = factor * -(-_BAND_ROWS // factor)
    for top in range(0, height, rows):
        band = image.crop((0, top, width, min(top + rows, height)))
        band = (_eight_bit(band) if band.mode in _SIXTEEN_BIT else band).convert("RGBA")
        shrunk = band.reduce(factor) if factor > 1 else band
        pixels[top // factor : (top + rows) // factor] = np.asarray(shrunk)
    return pixels


def _eight_bit(image: Image.Image) -> Image.Image:
    """Grey of sixteen bits, scaled; the library's own conversion would clip it."""
    return Image.fromarray(np.clip(np.asarray(image).astype(np.int32) // 257, 0, 255).astype(np.uint8))
