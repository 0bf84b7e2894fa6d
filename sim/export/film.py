"""Films: pictures that follow one another in one file.  WebP and GIF are written by Pillow."""

from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from sim.export.error import ExportError

UInt8 = npt.NDArray[np.uint8]

GIF_DELAYS = (30, 30, 40)
"""Milliseconds that pictures of a GIF stay at 30 a second: it counts in hundredths of a second."""


KEPT_BYTES = 2 << 30
"""Largest size of all pictures of a film that is kept in memory until its end."""


class Film(Protocol):
    """A file that takes pictures, shape (H, W, 3), or (H, W, 4) with straight opacity; row 0 at the top."""

    def add(self, pixels: UInt8) -> None:
        """Adds a picture."""

    def close(self) -> None:
        """Completes the file."""

    def abandon(self) -> None:
        """Lets go of the file, which is not complete."""


class KeptFilm:
    """A film whose pictures are kept until it is complete.

    Args:
        path: File to write.
        size: Width and height [px].
        rate: Pictures per second.
        alpha: Whether pictures have an opacity.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: float, alpha: bool) -> None:
        self._path, self._rate = path, rate
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

    def abandon(self) -> None:
        """Forgets the pictures."""
        self._pictures.clear()


class WebpFilm(KeptFilm):
    """An animated WebP, of high quality."""

    def close(self) -> None:
        """Writes the file."""
        ends = np.rint(np.arange(len(self._pictures) + 1) * 1000.0 / self._rate).astype(int)
        first, *others = self._pictures
        delays = np.diff(ends).tolist()
        first.save(
            self._path, "WEBP", save_all=True, append_images=others, duration=delays, loop=0, quality=85, method=2
        )


class GifFilm(KeptFilm):
    """A GIF with one palette, that of the first, the middle and the last picture, and at most 50 pictures a second.

    What is more than half transparent becomes white.
    """

    def add(self, pixels: UInt8) -> None:
        """Adds a picture."""
        shown = pixels
        if pixels.shape[2] == 4:
            shown = np.where(pixels[..., 3:] >= 128, pixels[..., :3], 255).astype(np.uint8)
        super().add(shown)

    def close(self) -> None:
        """Writes the file."""
        pictures = self._pictures[:: max(int(np.ceil(self._rate / 50.0)), 1)]
        rate = self._rate * len(pictures) / len(self._pictures)
        samples = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
        width, height = samples[0].size
        strip = Image.new("RGB", (width, height * len(samples)))
        for index, sample in enumerate(samples):
            strip.paste(sample, (0, height * index))
        palette = strip.quantize(256, dither=Image.Dither.NONE)
        first, *others = (one.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for one in pictures)
        ends = np.rint(np.arange(len(pictures) + 1) * 100.0 / rate).astype(int) * 10
        delays = np.maximum(np.diff(ends), 20).tolist()
        if abs(rate - 30.0) < 1e-6:
            delays = [GIF_DELAYS[index % 3] for index in range(len(pictures))]
        first.save(self._path, "GIF", save_all=True, append_images=others, duration=delays, loop=0, disposal=1)
