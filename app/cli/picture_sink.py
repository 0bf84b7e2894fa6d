"""Where rendered pictures go: numbered files, or a film."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.format_registry import resolved
from sim.export.atomic_file import atomic_path, naming
from sim.export.failures import failures_of_libraries
from sim.export.film import Film
from sim.export.formats import FILM_FORMATS, LAYER_FORMATS, PICTURE_WRITERS, RENDER_FORMATS, FilmFormat
from sim.export.layers import Layers

UInt8 = npt.NDArray[np.uint8]

NUMBERED = re.compile(r"%\d{0,2}d")
PREVIEW_PERIOD = 0.5
"""Least time between two previews [s]."""


class PictureSink:
    """Takes pictures in their order.

    Args:
        path: File, with a place for the number where there are several files.
        film: The open film, None for files.
        preview: File that shows the newest picture now and then, or None.
        resumes: Whether files that are there already are kept.
    """

    def __init__(self, path: Path, film: Film | None, preview: Path | None, *, resumes: bool) -> None:
        self._path, self._film, self._preview, self._resumes = path, film, preview, resumes
        self._next = 0.0

    @property
    def has_layers(self) -> bool:
        """Whether pictures are wanted with layers."""
        return self._film is None and self._path.suffix.lower() in LAYER_FORMATS.suffixes()

    def wants(self, frame: int) -> bool:
        """Whether a frame is still missing."""
        return not (self._resumes and self._film is None and numbered_path(self._path, frame).exists())

    def add(self, frame: int, picture: UInt8, layers: Layers | None) -> None:
        """Writes a frame.

        Raises:
            OSError: If that fails.
        """
        target = numbered_path(self._path, frame)
        with failures_of_libraries(target), naming(target):
            if self._film is not None:
                self._film.add(picture)
            elif layers is not None:
                with atomic_path(target) as name, failures_of_libraries(target):
                    resolved(LAYER_FORMATS.of(target).write)(layers, name)
            else:
                PICTURE_WRITERS.of(target).save(picture, target)
        if self._preview is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + PREVIEW_PERIOD
            next(iter(PICTURE_WRITERS)).save(picture, self._preview)


@contextlib.contextmanager
def picture_sink(
    path: Path, size: tuple[int, int], rate: float, options: msgspec.Struct | None, *, alpha: bool,
    preview: Path | None = None, resumes: bool = False,
) -> Iterator[PictureSink]:  # fmt: skip
    """A sink whose film appears complete when the block ends, or not at all.

    Raises:
        ExportError: If a film cannot be written.
        OSError: If a file cannot be written.
    """
    format = RENDER_FORMATS.of(path)
    if not isinstance(format, FilmFormat):
        yield PictureSink(path, None, preview, resumes=resumes)
        return
    with atomic_path(path) as name, naming(path):
        with failures_of_libraries(path):
            film: Film = resolved(format.opener)(name, size, rate, alpha, *format.chosen(options))
        try:
            yield PictureSink(path, film, preview, resumes=resumes)
            with failures_of_libraries(path):
                film.close()
        except BaseException:
            with contextlib.suppress(OSError, ValueError):  # the first failure is the one to tell
                film.abandon()
            raise


def is_film(path: Path) -> bool:
    """Whether a file holds pictures that follow one another."""
    return path.suffix.lower() in FILM_FORMATS.suffixes()


def is_numbered(path: Path) -> bool:
    """Whether the file name has a place for the frame."""
    return NUMBERED.search(path.name) is not None


def numbered_path(path: Path, frame: int) -> Path:
    """The file of one frame."""
    return path.with_name(NUMBERED.sub(lambda place: place[0] % frame, path.name, count=1))
