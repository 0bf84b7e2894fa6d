"""Videos: frames in one file, and the comparison of a finished video with its frames.  Pillow writes WebP and GIF.

Lossy videos change every pixel; the means of small blocks and the times must stay.  Lossless videos are compared bit
by bit.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageSequence

from sim.export.error import ExportError
from sim.export.npz import FrameArrays

UInt8 = npt.NDArray[np.uint8]

GIF_DELAYS = (30, 30, 40)
"""Milliseconds that pictures of a GIF stay at 30 a second: it counts in hundredths of a second."""


GIF_RATE = 50
"""Most pictures a second; programs take shorter delays for a mistake."""

CLEAR = 255
"""Number of what is not there, beside that many colours."""

KEPT_BYTES = 2 << 30
"""Largest size of all pictures of a film that is kept in memory until its end."""


class Video(Protocol):
    """A file that takes pictures, shape (H, W, 3), or (H, W, 4) with straight opacity; row 0 at the top.

    Attributes:
        codec: How pictures are compressed, in words.
        is_exact: Whether they come back bit by bit.
        every: Of how many pictures one is kept.
        notes: Lines about what the format cannot hold.
    """

    codec: str
    is_exact: bool
    every: int
    notes: list[str]

    def add(self, pixels: UInt8) -> None:
        """Adds a picture."""

    def shown(self, pixels: UInt8) -> UInt8:
        """What of a picture the format can hold."""

    def close(self) -> None:
        """Completes the file."""

    def abandon(self) -> None:
        """Lets go of the file, which is not complete."""


class BufferedVideo:
    """A film whose pictures are kept until it is complete.

    Args:
        path: File to write.
        size: Width and height [px].
        rate: Pictures per second.
        alpha: Whether pictures have an opacity.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: float, alpha: bool) -> None:
        self._path, self._rate, self._alpha = path, rate, alpha
        self.notes: list[str] = []
        self._room = KEPT_BYTES // (size[0] * size[1] * (4 if alpha else 3))
        self._pictures: list[Image.Image] = []

    def add(self, pixels: UInt8) -> None:
        """Adds a picture.

        Raises:
            ExportError: If there are too many to be kept.
        """
        if len(self._pictures) >= self._room:
            raise ExportError(f"{self._path}: holds {self._room} pictures of this size; videos hold any number")
        self._pictures.append(Image.fromarray(np.ascontiguousarray(pixels)))

    def shown(self, pixels: UInt8) -> UInt8:
        return pixels

    def abandon(self) -> None:
        self._pictures.clear()


class WebpVideo(BufferedVideo):
    """An animated WebP, of high quality."""

    codec, is_exact, every = "WebP", False, 1

    def close(self) -> None:
        ends = np.rint(np.arange(len(self._pictures) + 1) * 1000.0 / self._rate).astype(int)
        first, *others = self._pictures
        delays = np.diff(ends).tolist()
        first.save(
            self._path, "WEBP", save_all=True, append_images=others, duration=delays, loop=0, quality=85, method=2
        )


class GifVideo(BufferedVideo):
    """A GIF with one palette, that of the first, the middle and the last picture, and at most 50 pictures a second."""

    codec, is_exact = "GIF", False

    @property
    def every(self) -> int:
        return max(int(np.ceil(self._rate / GIF_RATE)), 1)

    def shown(self, pixels: UInt8) -> UInt8:
        if not self._alpha:
            return pixels
        return np.concatenate((pixels[..., :3], np.where(pixels[..., 3:] >= 128, 255, 0).astype(np.uint8)), axis=2)

    def close(self) -> None:
        pictures = self._pictures[:: self.every]
        if self.every > 1:
            self.notes.append(f"holds one of {self.every} pictures; {self.codec} shows at most {GIF_RATE} a second")
        if self._alpha:
            self.notes.append(f"what is less than half opaque is left out; {self.codec} has nothing between")
        rate = self._rate / self.every
        samples = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
        width, height = samples[0].size
        strip = Image.new("RGB", (width, height * len(samples)))
        for index, sample in enumerate(samples):
            strip.paste(sample.convert("RGB"), (0, height * index))
        palette = strip.quantize(CLEAR, dither=Image.Dither.NONE)
        colours = palette.getpalette() or []
        palette.putpalette((colours + colours[:3] * 256)[: 3 * CLEAR] + colours[:3])
        first, *others = (self._indexed(one, palette) for one in pictures)
        ends = np.rint(np.arange(len(pictures) + 1) * 100.0 / rate).astype(int) * 10
        delays = np.maximum(np.diff(ends), 20).tolist()
        if abs(rate - 30.0) < 1e-6:
            delays = [GIF_DELAYS[index % 3] for index in range(len(pictures))]
        more = {"transparency": CLEAR, "disposal": 2, "background": CLEAR} if self._alpha else {"disposal": 1}
        first.save(self._path, "GIF", save_all=True, append_images=others, duration=delays, loop=0, **more)

    def _indexed(self, picture: Image.Image, palette: Image.Image) -> Image.Image:
        """A picture in the colours of a palette; what is not there has a number of its own."""
        found = picture.convert("RGB").quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
        if self._alpha:
            found = found.point(lambda number: 0 if number == CLEAR else number)  # which is the same colour
            found.paste(CLEAR, mask=picture.getchannel("A").point(lambda part: 255 * (part < 128)))
        return found


def read_pictures(path: Path) -> Iterator[tuple[float, UInt8]]:
    """Pictures of a file, RGBA, each with the moment at which it goes [s]."""
    end = 0.0
    with Image.open(path) as film:
        for picture in ImageSequence.Iterator(film):
            shown = np.asarray(picture.convert("RGBA"))
            end += picture.info.get("duration", 1000.0) / 1000.0  # one picture alone stays
            yield end, shown


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
