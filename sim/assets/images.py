"""Texture images as arrays: files of every known format to RGBA bytes, bounded in size."""

import io
import os
import stat
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from sim.assets.formats import IMAGE_FORMATS
from sim.assets.model import ImageSource

UInt8 = npt.NDArray[np.uint8]

SIDE_MAX = 16384
"""Longest side of an image that is decoded [pixels]."""

PIXEL_MAX = 1 << 26
"""Most pixels of an image that is decoded, 256 MiB as RGBA."""

_SIXTEEN_BIT = ("I;16", "I;16L", "I;16B", "I;16N", "I")


class ImageError(ValueError):
    """An image that cannot be used: one line naming file and reason."""

    def __init__(self, path: ImageSource | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(str(path))
        self.reason = reason


def load_image(path: ImageSource) -> UInt8:
    """Pixels of an image, a file or embedded in one.

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
            return _rgba(image)
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(path, f"is no image of a known format ({', '.join(formats)})") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageError(path, f"has more than {PIXEL_MAX} pixels") from None
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


def _rgba(image: Image.Image) -> UInt8:
    if image.mode in _SIXTEEN_BIT:  # conversion by the library would clip instead of scaling
        grey = np.clip(np.asarray(image).astype(np.int32) // 257, 0, 255).astype(np.uint8)
        return np.ascontiguousarray(np.dstack([grey, grey, grey, np.full_like(grey, 255)]))
    return np.array(image.convert("RGBA"), dtype=np.uint8, order="C")
