"""Cost of writing images and scenes; formats whose package is missing are skipped."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sinew.sim.assets.formats import resolved
from sinew.sim.bench.runner import Case, Row, measure
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import IMAGE_WRITERS, SCENE_FORMATS, VIDEO_FORMATS, VideoFormat, missing_package
from sinew.sim.export.scene.recording import SceneRecording, Track
from sinew.sim.export.scene.writing import write_scene
from sinew.sim.export.video_file import ReadBack
from sinew.sim.maths.arrays import UInt8

IMAGE_SIZE = 480, 270
RATE = 30.0
FRAMES = 60

Writers = Iterator[tuple[str, Callable[[], object]]]


def _ignore(_line: str) -> None:
    pass


def video_rows(size: int, repeat: int) -> list[Row]:
    return _measured("film", size, "pictures", repeat, size, _video_writers)


def export_rows(size: int, repeat: int) -> list[Row]:
    """Measures a sheet as plain bytes, then in every format, which reads itself back."""
    return _measured("export", size, "vertices", repeat, FRAMES, _scene_writers)


def _measured(
    system: str, size: int, unit: str, repeat: int, frames: int, writers: Callable[[Path, int], Writers]
) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
        cases = [
            Case(system=system, variant=variant, size=size, unit=unit, substeps=frames, step=write)
            for variant, write in writers(Path(folder), size)
        ]
        return measure(cases, repeat=repeat)


def _video_writers(folder: Path, count: int) -> Writers:
    width, height = IMAGE_SIZE
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    images = [np.stack((across + 4 * k, down + 2 * k, across ^ down), axis=-1).astype(np.uint8) for k in range(count)]

    def numbered() -> None:
        for number, image in enumerate(images):
            next(iter(IMAGE_WRITERS)).save(image, folder / f"{number}.png")

    yield "PNG, numbered", numbered
    for format in VIDEO_FORMATS:
        if not missing_package(format):
            yield format.name, partial(_write_video, format, folder, images)
            yield f"{format.name}, read back", partial(_write_video, format, folder, images, is_read=True)


def _write_video(format: VideoFormat, folder: Path, images: Sequence[UInt8], *, is_read: bool = False) -> None:
    path = folder / f"a{format.suffixes[0]}"
    video = resolved(format.opener)(path, IMAGE_SIZE, RATE, False)
    memory = ReadBack(folder, IMAGE_SIZE, 3, is_exact=video.is_exact)
    for image in images:
        video.add(image)
        if is_read:
            memory.add(video.shown(image))
    video.close()
    if is_read:
        memory.compared(resolved(format.reader)(path), RATE, video.every, path)
    memory.close()


def _scene_writers(folder: Path, count: int) -> Writers:
    side = max(round(count**0.5), 2)
    across, down = np.meshgrid(*[np.linspace(0.0, 1.0, side, dtype=np.float32)] * 2)
    waves = [np.stack((across, down, 0.1 * np.sin(6.0 * across + 0.1 * k)), axis=-1) for k in range(FRAMES)]
    corners = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    low, right, up = (part.reshape(-1) for part in (corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1]))
    positions = np.stack(waves).reshape(FRAMES, -1, 3).astype(np.float32)
    track = Track(name="Sheet", positions=positions, triangles=np.column_stack((low, right, up)))
    yield "plain bytes", lambda: write_atomically(folder / "a.bin", positions.tobytes())
    for format in SCENE_FORMATS:
        if not missing_package(format):
            target, recording = folder / f"a{format.suffixes[0]}", SceneRecording((track,), RATE)
            yield format.name, partial(write_scene, recording, target, format, None, _ignore, _ignore)
