"""Films: pictures that follow one another in one file.  WebP and GIF are written by Pillow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageSequence

from sim.export.error import ExportError

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
