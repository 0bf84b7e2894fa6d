"""Videos by Pillow, and the comparison of a finished video with its frames.

Lossy videos change every pixel; the means of small blocks and the times must stay.  Lossless videos are compared
bit by bit.
"""

import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image, ImageSequence

from sinew.sim.export.formats import ExportError
from sinew.sim.export.npz import FrameArrays
from sinew.sim.maths.arrays import Float32, UInt8

GIF_DELAYS = (30, 30, 40)
"""Durations of GIF frames at 30 fps [ms], as GIF counts in hundredths of a second."""

GIF_RATE = 50
"""Maximum frame rate; programs ignore shorter delays."""

CLEAR = 255
"""Palette index of transparent pixels, after the colours."""

BUFFERED_BYTES = 2 << 30
"""Maximum memory for the frames of a buffered video [bytes]."""


class Video(Protocol):
    """Video of frames of shape (H, W, 3), or (H, W, 4) with straight alpha; row 0 at the top."""

    codec: str  # Name of the compression
    is_exact: bool  # Lossless
    every: int  # Only every n-th frame is stored
    notes: list[str]  # Lines about content that the format cannot store

    def add(self, pixels: UInt8) -> None:
        pass

    def shown(self, pixels: UInt8) -> UInt8:
        """Returns the part of a frame that the format can store."""

    def close(self) -> None:
        pass

    def abandon(self) -> None:
        """Closes the incomplete file."""


class BufferedVideo:
    """Video whose frames stay in memory until it is complete."""

    def __init__(self, path: Path, size: tuple[int, int], rate: float, alpha: bool) -> None:
        self._path, self._rate, self._alpha = path, rate, alpha
        self.notes: list[str] = []
        self._room = BUFFERED_BYTES // (size[0] * size[1] * (4 if alpha else 3))
        self._images: list[Image.Image] = []

    def add(self, pixels: UInt8) -> None:
        if len(self._images) >= self._room:
            raise ExportError(
                f"{self._path}: holds {self._room} frames of this size; other video formats hold any number"
            )
        self._images.append(Image.fromarray(np.ascontiguousarray(pixels)))

    def shown(self, pixels: UInt8) -> UInt8:
        return pixels

    def abandon(self) -> None:
        self._images.clear()


class WebpVideo(BufferedVideo):
    codec, is_exact, every = "WebP", False, 1

    def close(self) -> None:
        ends = np.rint(np.arange(len(self._images) + 1) * 1000.0 / self._rate).astype(int)
        first, *others = self._images
        delays = np.diff(ends).tolist()
        first.save(
            self._path, "WEBP", save_all=True, append_images=others, duration=delays, loop=0, quality=85, method=2
        )


class GifVideo(BufferedVideo):
    """GIF with one palette, from the first, middle and last frame, and at most 50 fps."""

    codec, is_exact = "GIF", False

    @property
    def every(self) -> int:
        return max(int(np.ceil(self._rate / GIF_RATE)), 1)

    def shown(self, pixels: UInt8) -> UInt8:
        if not self._alpha:
            return pixels
        return np.concatenate((pixels[..., :3], np.where(pixels[..., 3:] >= 128, 255, 0).astype(np.uint8)), axis=2)

    def close(self) -> None:
        images = self._images[:: self.every]
        if self.every > 1:
            self.notes.append(f"stores one of {self.every} frames; {self.codec} plays at most {GIF_RATE} fps")
        if self._alpha:
            self.notes.append(f"pixels below half opacity are transparent; {self.codec} has no partial alpha")
        rate = self._rate / self.every
        samples = [images[0], images[len(images) // 2], images[-1]]
        width, height = samples[0].size
        strip = Image.new("RGB", (width, height * len(samples)))
        for index, sample in enumerate(samples):
            strip.paste(sample.convert("RGB"), (0, height * index))
        palette = strip.quantize(CLEAR, dither=Image.Dither.NONE)
        colours = palette.getpalette() or []
        palette.putpalette((colours + colours[:3] * 256)[: 3 * CLEAR] + colours[:3])
        first, *others = (self._indexed(image, palette) for image in images)
        ends = np.rint(np.arange(len(images) + 1) * 100.0 / rate).astype(int) * 10
        delays = np.maximum(np.diff(ends), 20).tolist()
        if abs(rate - 30.0) < 1e-6:
            delays = [GIF_DELAYS[index % 3] for index in range(len(images))]
        more = {"transparency": CLEAR, "disposal": 2, "background": CLEAR} if self._alpha else {"disposal": 1}
        first.save(self._path, "GIF", save_all=True, append_images=others, duration=delays, loop=0, **more)

    def _indexed(self, image: Image.Image, palette: Image.Image) -> Image.Image:
        """Returns palette indices; transparent pixels have the index `CLEAR`."""
        found = image.convert("RGB").quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
        if self._alpha:
            found = found.point(lambda number: 0 if number == CLEAR else number)  # the same colour
            found.paste(CLEAR, mask=image.getchannel("A").point(lambda part: 255 * (part < 128)))
        return found


def read_images(path: Path) -> Iterator[tuple[float, UInt8]]:
    """Yields RGBA frames, each with its end time [s]; a single image, to which WebP joins equal ones, has no end."""
    end = 0.0
    with Image.open(path) as file:
        for image in ImageSequence.Iterator(file):
            shown = np.asarray(image.convert("RGBA"))
            end += (image.info.get("duration") or math.inf) / 1000.0
            yield end, shown


BLOCK = 8
"""Edge of the blocks whose means are compared [px]."""

LARGEST_MEAN = 16.0
"""Mean block difference [of 255] above which a frame counts as wrong."""


@dataclass(frozen=True, slots=True)
class VideoContents:
    count: int  # Frames that were compared
    duration: float  # [s]
    difference: float  # Largest difference of a block mean [of 255]
    size: tuple[int, int]  # Width and height [px]


class ReadBack:
    """Frames recorded while they are written, to compare them with the finished video.

    Args:
        folder: For temporary files.
        size: Width and height of the frames [px].
        channels: 3 or 4.
        is_exact: Whether frames must be read back bit by bit.
    """

    def __init__(self, folder: Path, size: tuple[int, int], channels: int, *, is_exact: bool) -> None:
        self._size, self._is_exact, self._channels = size, is_exact, channels
        shape = (-(-size[1] // BLOCK), -(-size[0] // BLOCK), channels)
        self._means = FrameArrays(folder, shape, np.float32)
        self._sums: list[int] = []

    def add(self, pixels: UInt8) -> None:
        self._means.append(block_means(pixels))
        if self._is_exact:
            self._sums.append(_sum(pixels))

    def compared(self, shown: Iterable[tuple[float, UInt8]], rate: float, every: int, path: Path) -> VideoContents:
        """Compares the frames; raises ExportError if one is missing or differs.

        Args:
            shown: Frames of the video, (h, w, channels), possibly padded, each with its end time [s].
            rate: Frames per second that were written.
            every: Only every n-th frame was stored.
            path: The video, for messages.
        """
        expected, largest, end, number, size = self._means.read(), 0.0, 0.0, 0, self._size
        for end, pixels in shown:
            size = pixels.shape[1], pixels.shape[0]
            cut = pixels[: self._size[1], : self._size[0], : self._channels]
            means = block_means(cut)
            while number < len(expected) and (number + 0.5) / rate < end:
                if number % every:
                    number += 1
                    continue
                if self._is_exact and _sum(cut) != self._sums[number]:
                    raise ExportError(f"{path}: frame {number}: the read-back differs; no file was written")
                apart = np.abs(means - expected[number])
                if apart.mean() > LARGEST_MEAN:
                    reason = f"the read-back differs by {apart.mean():.0f} of 255 on average; no file was written"
                    raise ExportError(f"{path}: frame {number}: {reason}")
                largest = max(largest, float(apart.max()))
                number += 1
        if number < len(expected):
            raise ExportError(f"{path}: {number} frames read back of {len(expected)}; no file was written")
        return VideoContents(-(-number // every), end if math.isfinite(end) else number / rate, largest, size)

    def close(self) -> None:
        self._means.close()


def block_means(pixels: UInt8) -> Float32:
    """Returns the means of the blocks of an image, (H, W, C), with repeated edges; colours are weighted by alpha."""
    height, width, channels = pixels.shape
    shown = pixels.astype(np.float32)
    if channels == 4:
        shown[..., :3] *= shown[..., 3:] / np.float32(255.0)
    padded = np.pad(shown, ((0, -height % BLOCK), (0, -width % BLOCK), (0, 0)), "edge")
    blocks = padded.reshape(padded.shape[0] // BLOCK, BLOCK, padded.shape[1] // BLOCK, BLOCK, channels)
    means: Float32 = blocks.mean(axis=(1, 3))
    return means


def _sum(pixels: UInt8) -> int:
    return zlib.crc32(np.ascontiguousarray(pixels).tobytes())
