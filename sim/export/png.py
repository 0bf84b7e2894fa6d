"""Pictures as PNG."""

from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image


def write_png(pixels: npt.NDArray[np.uint8], file: BinaryIO) -> None:
    """Writes RGB pixels, shape (H, W, 3), or RGBA, not premultiplied, (H, W, 4); row 0 at the top; fast, not small."""
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=1)
