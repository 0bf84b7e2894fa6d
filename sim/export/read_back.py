"""Reading films back: what was drawn is remembered coarsely while it is written, and compared with what a film shows.

Films with loss change every pixel; what must stay are the means of small blocks, and the moments.  Those without loss
are compared bit by bit.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.export.error import ExportError
from sim.export.npz import FrameArrays

UInt8 = npt.NDArray[np.uint8]

BLOCK = 8
"""Edge of the blocks whose means are compared [px]."""

LARGEST_MEAN = 16.0
"""Mean difference of the blocks of a picture [of 255] above which it is another picture."""


@dataclass(frozen=True, slots=True)
class VideoContents:
    """What a film was found to hold.

    Attributes:
        count: Pictures that were compared.
        duration: How long it runs [s].
        difference: Largest difference of the mean of a block [of 255].
        size: Width and height of its pictures [px].
    """

    count: int
    duration: float
    difference: float
    size: tuple[int, int]


class ReadBack:
    """Remembers pictures.

    Args:
        folder: Where much of it lies until it is compared.
        size: Width and height of the pictures [px].
        channels: Of the pictures, 3 or 4.
        is_exact: Whether they must come back bit by bit.
    """

    def __init__(self, folder: Path, size: tuple[int, int], channels: int, *, is_exact: bool) -> None:
        self._size, self._is_exact, self._channels = size, is_exact, channels
        shape = (-(-size[1] // BLOCK), -(-size[0] // BLOCK), channels)
        self._means = FrameArrays(folder, shape, np.float32)
        self._sums: list[int] = []

    def add(self, pixels: UInt8) -> None:
        """Remembers a picture, shape (H, W, channels)."""
        self._means.append(block_means(pixels))
        if self._is_exact:
            self._sums.append(_sum(pixels))

    def compared(self, shown: Iterable[tuple[float, UInt8]], rate: float, every: int, path: Path) -> VideoContents:
        """Compares what a film shows.

        Args:
            shown: Pictures of the film, (h, w, channels), of which rows and columns beyond the size do not count, each
                with the moment at which it goes [s].
            rate: Pictures that were written per second.
            every: Of how many of them one was kept.
            path: The film, for messages.

        Raises:
            ExportError: If a picture is missing or another one.
        """
        wanted, largest, end, number, size = self._means.read(), 0.0, 0.0, 0, self._size
        for end, pixels in shown:
            size = pixels.shape[1], pixels.shape[0]
            cut = pixels[: self._size[1], : self._size[0], : self._channels]
            means = block_means(cut)
            while number < len(wanted) and (number + 0.5) / rate < end:
                if number % every:
                    number += 1
                    continue
                if self._is_exact and _sum(cut) != self._sums[number]:
                    raise ExportError(f"{path}: frame {number}: what is read back is another picture; nothing was kept")
                apart = np.abs(means - wanted[number])
                if apart.mean() > LARGEST_MEAN:
                    reason = f"what is read back differs by {apart.mean():.0f} of 255 on average; nothing was kept"
                    raise ExportError(f"{path}: frame {number}: {reason}")
                largest = max(largest, float(apart.max()))
                number += 1
        if number < len(wanted):
            raise ExportError(f"{path}: {number} frames read back of {len(wanted)}; nothing was kept")
        return VideoContents(-(-number // every), end if number > 1 else 1.0 / rate, largest, size)

    def close(self) -> None:
        self._means.close()


def block_means(pixels: UInt8) -> npt.NDArray[np.float32]:
    """Means of blocks of a picture, (H, W, C), whose far edges are repeated; colours count by their opacity."""
    height, width, channels = pixels.shape
    shown = pixels.astype(np.float32)
    if channels == 4:
        shown[..., :3] *= shown[..., 3:] / np.float32(255.0)
    padded = np.pad(shown, ((0, -height % BLOCK), (0, -width % BLOCK), (0, 0)), "edge")
    blocks = padded.reshape(padded.shape[0] // BLOCK, BLOCK, padded.shape[1] // BLOCK, BLOCK, channels)
    means: npt.NDArray[np.float32] = blocks.mean(axis=(1, 3))
    return means


def _sum(pixels: UInt8) -> int:
    return zlib.crc32(np.ascontiguousarray(pixels).tobytes())
