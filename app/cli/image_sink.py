"""Where rendered pictures go: numbered files, or a film."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from app.cli.failure import print_line, print_warnings
from sim.assets.formats import resolved
from sim.assets.images import ImageError, load_image
from sim.export.atomic_file import atomic_path, naming
from sim.export.error import ExportError, failures_of_libraries
from sim.export.formats import IMAGE_WRITERS, LAYER_FORMATS, RENDER_FORMATS, VIDEO_FORMATS, VideoFormat
from sim.export.image import Layers
from sim.export.video_file import ReadBack, Video
from sim.printable import size_text

UInt8 = npt.NDArray[np.uint8]

NUMBERED = re.compile(r"%\d{0,2}d")
PREVIEW_PERIOD = 0.5
"""Least time between two previews [s]."""


class ImageSink:
    """Takes pictures in their order.

    Args:
        path: File, with a place for the number where there are several files.
        size: Width and height of the pictures [px].
        preview: File that shows the newest picture now and then, or None.
        resumes: Whether files that are there already are kept.
    """

    def __init__(self, path: Path, size: tuple[int, int], preview: Path | None, *, resumes: bool = False) -> None:
        self._path, self._size, self._preview, self._resumes = path, size, preview, resumes
        self._next = 0.0
        self._added = self._cached = self._bytes = 0

    @property
    def has_layers(self) -> bool:
        return self._path.suffix.lower() in LAYER_FORMATS.suffixes()

    def wants(self, frame: int) -> bool:
        """Whether a frame is still missing, or its picture broke off."""
        path = numbered_path(self._path, frame)
        is_there = self._resumes and path.exists()
        if is_there and not is_complete(path):
            print_warnings(path, ["is not complete and is drawn again"])
            is_there = False
        self._cached += is_there
        return not is_there

    def add(self, frame: int, picture: UInt8, layers: Layers | None) -> None:
        """Writes a frame.

        Raises:
            OSError: If that fails.
            ExportError: If what is read back is another picture.
        """
        self._write(frame, picture, layers)
        self._added += 1
        if self._preview is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + PREVIEW_PERIOD
            next(iter(IMAGE_WRITERS)).save(picture, self._preview)

    def summary(self) -> str:
        """A line about what was written."""
        count = f"{self._added} pictures, " if is_numbered(self._path) else ""
        cached = f", {self._cached} were there" if self._cached else ""
        written = f"{count}{sides(self._size)}, {RENDER_FORMATS.of(self._path).name}, {size_text(self._bytes)}"
        return f"{self._path}: {written}, read back to 0{cached}"

    def _write(self, frame: int, picture: UInt8, layers: Layers | None) -> None:
        target = numbered_path(self._path, frame)
        with failures_of_libraries(target), naming(target), atomic_path(target) as name:
            if layers is not None:
                format = LAYER_FORMATS.of(target)
                with failures_of_libraries(target):
                    resolved(format.write)(layers, name)
                    difference = resolved(format.read)(layers, name)
            else:
                with open(name, "xb") as file:
                    resolved(IMAGE_WRITERS.of(target).write)(picture, file)
                found = load_image(name)[..., : picture.shape[2]]
                difference = (
                    float(np.abs(found.astype(int) - picture).max()) if found.shape == picture.shape else np.inf
                )
            if difference:
                raise ExportError(f"{target}: what is read back differs by {difference:.2g}; it was not kept")
            self._bytes += name.stat().st_size


class VideoSink(ImageSink):
    """Takes the pictures of a film, and compares what it shows with them in the end.

    Args:
        path: File that is asked for.
        name: File that is written.
        size: Width and height of the pictures [px].
        rate: Pictures per second.
        film: The open film.
        alpha: Whether the pictures have an opacity.
        preview: File that shows the newest picture now and then, or None.
    """

    has_layers = False

    def __init__(
        self, path: Path, name: Path, size: tuple[int, int], rate: float, film: Video, preview: Path | None, *,
        alpha: bool,
    ) -> None:  # fmt: skip
        super().__init__(path, size, preview)
        self._name, self._rate, self._film = name, rate, film
        self._memory = ReadBack(path.parent, size, 4 if alpha else 3, is_exact=film.is_exact)
        self._line = ""

    def wants(self, frame: int) -> bool:  # noqa: ARG002
        return True

    def summary(self) -> str:
        return self._line

    def finish(self) -> list[str]:
        """Completes the film and reads it back; gives lines about what it cannot hold.

        Raises:
            ExportError: If it shows something else.
        """
        film, format = self._film, VIDEO_FORMATS.of(self._path)
        film.close()
        found = self._memory.compared(resolved(format.reader)(self._name), self._rate, film.every, self._path)
        self._line = (
            f"{self._path}: {found.count} frames, {sides(found.size)}, {found.duration:.2f} s, {film.codec},"
            f" {size_text(self._name.stat().st_size)}, read back to {found.difference:.1f} of 255"
        )
        return film.notes

    def close(self) -> None:
        """Lets go of a film, complete or not, and of what is remembered of it."""
        with contextlib.suppress(OSError, ValueError):  # the first failure is the one to tell
            self._film.abandon()
        self._memory.close()

    def _write(self, frame: int, picture: UInt8, layers: Layers | None) -> None:  # noqa: ARG002
        with failures_of_libraries(self._path), naming(self._path):
            self._film.add(picture)
            self._memory.add(self._film.shown(picture))


@contextlib.contextmanager
def picture_sink(
    path: Path, size: tuple[int, int], rate: float, options: msgspec.Struct | None, *, alpha: bool,
    preview: Path | None = None, resumes: bool = False,
) -> Iterator[ImageSink]:  # fmt: skip
    """A sink whose film appears complete when the block ends, or not at all; then a line tells what was written.

    Raises:
        ExportError: If a film cannot be written, or shows something else.
        OSError: If a file cannot be written.
    """
    format = RENDER_FORMATS.of(path)
    if not isinstance(format, VideoFormat):
        sink = ImageSink(path, size, preview, resumes=resumes)
        yield sink
        print_line(sink.summary())
        return
    with atomic_path(path) as name, naming(path):
        with failures_of_libraries(path):
            film: Video = resolved(format.opener)(name, size, rate, alpha, *format.chosen(options))
        made = VideoSink(path, name, size, rate, film, preview, alpha=alpha)
        try:
            yield made
            with failures_of_libraries(path):
                notes = made.finish()
        finally:
            made.close()
    print_warnings(path, notes)
    print_line(made.summary())


def is_complete(path: Path) -> bool:
    try:
        if path.suffix.lower() in LAYER_FORMATS.suffixes():
            resolved(LAYER_FORMATS.of(path).check)(path)
        else:
            load_image(path)
    except (ImageError, OSError, RuntimeError, ValueError):
        return False
    return True


def sides(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"


def is_film(path: Path) -> bool:
    """Whether a file holds pictures that follow one another."""
    return path.suffix.lower() in VIDEO_FORMATS.suffixes()


def is_numbered(path: Path) -> bool:
    """Whether the file name has a place for the frame."""
    return NUMBERED.search(path.name) is not None


def numbered_path(path: Path, frame: int) -> Path:
    return path.with_name(NUMBERED.sub(lambda place: place[0] % frame, path.name, count=1))
