import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import print_line, print_warnings
from sinew.sim.assets.formats import resolved
from sinew.sim.assets.images import ImageError, load_image
from sinew.sim.export.atomic_file import atomic_path, naming
from sinew.sim.export.formats import (
    IMAGE_WRITERS,
    LAYER_FORMATS,
    RENDER_FORMATS,
    VIDEO_FORMATS,
    ExportError,
    VideoFormat,
    failures_of_libraries,
)
from sinew.sim.export.image import Layers
from sinew.sim.export.video_file import ReadBack, Video
from sinew.sim.printable import size_text

UInt8 = npt.NDArray[np.uint8]

NUMBERED = re.compile(r"%\d{0,2}d")
PREVIEW_PERIOD = 0.5  # [s], between two previews


class ImageSink:
    """Writer of images in their order.

    Args:
        path: Has a placeholder for the number if there are several files.
        size: Width and height [px].
        preview: File for the newest image, updated from time to time.
        resumes: Keep existing complete files.
    """

    def __init__(self, path: Path, size: tuple[int, int], preview: Path | None, *, resumes: bool = False) -> None:
        self._path, self._size, self._preview, self._resumes = path, size, preview, resumes
        self._next = 0.0
        self._added = self._cached = self._bytes = 0

    @property
    def has_layers(self) -> bool:
        return self._path.suffix.lower() in LAYER_FORMATS.suffixes()

    def wants(self, frame: int) -> bool:
        path = numbered_path(self._path, frame)
        exists = self._resumes and path.exists()
        if exists and not is_complete(path):
            print_warnings(path, ["is incomplete and is rendered again"])
            exists = False
        self._cached += exists
        return not exists

    def add(self, frame: int, image: UInt8, layers: Layers | None) -> None:
        """Adds an image and reads its file back; raises OSError if that fails, ExportError if it differs."""
        self._write(frame, image, layers)
        self._added += 1
        if self._preview is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + PREVIEW_PERIOD
            next(iter(IMAGE_WRITERS)).save(image, self._preview)

    def summary(self) -> str:
        count = f"{self._added} images, " if is_numbered(self._path) else ""
        cached = f", {self._cached} existed already" if self._cached else ""
        written = f"{count}{sides(self._size)}, {RENDER_FORMATS.of(self._path).name}, {size_text(self._bytes)}"
        return f"{self._path}: {written}, read back without error{cached}"

    def _write(self, frame: int, image: UInt8, layers: Layers | None) -> None:
        target = numbered_path(self._path, frame)
        with failures_of_libraries(target), naming(target), atomic_path(target) as name:
            if layers is not None:
                format = LAYER_FORMATS.of(target)
                with failures_of_libraries(target):
                    resolved(format.write)(layers, name)
                    difference = resolved(format.read)(layers, name)
            else:
                with open(name, "xb") as file:
                    resolved(IMAGE_WRITERS.of(target).write)(image, file)
                found = load_image(name)[..., : image.shape[2]]
                difference = float(np.abs(found.astype(int) - image).max()) if found.shape == image.shape else np.inf
            if difference:
                raise ExportError(f"{target}: differs by {difference:.2g} when read back; it was not kept")
            self._bytes += name.stat().st_size


class VideoSink(ImageSink):
    """Writer of a video, which is compared with its images at the end.

    Args:
        path: File that the user asked for.
        name: Temporary file that is written.
        size: Width and height [px].
        rate: Frames per second.
    """

    has_layers = False

    def __init__(
        self, path: Path, name: Path, size: tuple[int, int], rate: float, video: Video, preview: Path | None, *,
        alpha: bool,
    ) -> None:  # fmt: skip
        super().__init__(path, size, preview)
        self._name, self._rate, self._video = name, rate, video
        self._memory = ReadBack(path.parent, size, 4 if alpha else 3, is_exact=video.is_exact)
        self._line = ""

    def wants(self, frame: int) -> bool:  # noqa: ARG002
        return True

    def summary(self) -> str:
        return self._line

    def finish(self) -> list[str]:
        """Ends the video and reads it back; returns notes about lost content, raises ExportError if it differs."""
        video, format = self._video, VIDEO_FORMATS.of(self._path)
        video.close()
        found = self._memory.compared(resolved(format.reader)(self._name), self._rate, video.every, self._path)
        self._line = (
            f"{self._path}: {found.count} frames, {sides(found.size)}, {found.duration:.2f} s, {video.codec},"
            f" {size_text(self._name.stat().st_size)}, max read-back error {found.difference:.1f} of 255"
        )
        return video.notes

    def close(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # an earlier error is reported
            self._video.abandon()
        self._memory.close()

    def _write(self, frame: int, image: UInt8, layers: Layers | None) -> None:  # noqa: ARG002
        with failures_of_libraries(self._path), naming(self._path):
            self._video.add(image)
            self._memory.add(self._video.shown(image))


@contextlib.contextmanager
def picture_sink(
    path: Path, size: tuple[int, int], rate: float, options: msgspec.Struct | None, *, alpha: bool,
    preview: Path | None = None, resumes: bool = False,
) -> Iterator[ImageSink]:  # fmt: skip
    """Opens a sink for images; its files appear complete when the block ends, or not at all, then it prints a summary.

    Raises:
        ExportError: If a video cannot be written, or differs from the images.
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
            video: Video = resolved(format.opener)(name, size, rate, alpha, *format.chosen(options))
        made = VideoSink(path, name, size, rate, video, preview, alpha=alpha)
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


def is_video(path: Path) -> bool:
    return path.suffix.lower() in VIDEO_FORMATS.suffixes()


def is_numbered(path: Path) -> bool:
    return NUMBERED.search(path.name) is not None


def numbered_path(path: Path, frame: int) -> Path:
    return path.with_name(NUMBERED.sub(lambda place: place[0] % frame, path.name, count=1))
