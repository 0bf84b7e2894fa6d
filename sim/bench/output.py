"""What writing costs: pictures as films beside numbered PNG, and scenes beside the plain bytes of their points.

Formats whose package is missing are left out.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.formats import resolved
from sim.bench.row import Row, row_of
from sim.export.atomic_file import write_atomically
from sim.export.error import missing_package
from sim.export.formats import FILM_FORMATS, PICTURE_WRITERS, SCENE_FORMATS, VideoFormat
from sim.export.scene.recording import SceneRecording, Track
from sim.export.scene.writing import write_scene
from sim.export.video_file import ReadBack

PICTURES = (30,)
PICTURE = 480, 270
RATE = 30.0
VERTICES = (828,)
FRAMES = 60

Writings = Iterator[tuple[str, Callable[[], object]]]


def _ignored(_line: str) -> None:
    """What a writer tells, where nobody reads it."""


def film_rows(repeat: int, sizes: Sequence[int] = PICTURES) -> list[Row]:
    """Rows for so many pictures: numbered PNG, then every kind of film."""
    return [row for size in sizes for row in _measured("film", size, "pictures", repeat, size, _films)]


def export_rows(repeat: int, sizes: Sequence[int] = VERTICES) -> list[Row]:
    """Rows for sheets of about so many vertices: plain bytes, then every format, which reads itself back."""
    return [row for size in sizes for row in _measured("export", size, "vertices", repeat, FRAMES, _exports)]


def _measured(
    system: str, size: int, unit: str, repeat: int, steps: int, made: Callable[[Path, int], Writings]
) -> list[Row]:
    """Rows of the ways to write the same, which take turns."""
    with tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
        writings = dict(made(Path(folder), size))
        taken: dict[str, list[float]] = {variant: [] for variant in writings}
        for _ in range(repeat + 1):
            for variant, write in writings.items():
                start = time.perf_counter()
                write()
                taken[variant].append((time.perf_counter() - start) / steps)
    return [row_of(system, variant, size, unit, spans[1:], steps=steps) for variant, spans in taken.items()]


def _films(folder: Path, count: int) -> Writings:
    width, height = PICTURE
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    pictures = [np.stack((across + 4 * k, down + 2 * k, across ^ down), axis=-1).astype(np.uint8) for k in range(count)]

    def numbered() -> None:
        for number, picture in enumerate(pictures):
            next(iter(PICTURE_WRITERS)).save(picture, folder / f"{number}.png")

    yield "PNG, numbered", numbered
    for format in FILM_FORMATS:
        if not missing_package(format):
            yield format.name, partial(_write_film, format, folder, pictures)
            yield f"{format.name}, read back", partial(_write_film, format, folder, pictures, is_read=True)


def _write_film(
    format: VideoFormat, folder: Path, pictures: Sequence[npt.NDArray[np.uint8]], *, is_read: bool = False
) -> None:
    path = folder / f"a{format.suffixes[0]}"
    film = resolved(format.opener)(path, PICTURE, RATE, False)
    memory = ReadBack(folder, PICTURE, 3, is_exact=film.is_exact)
    for picture in pictures:
        film.add(picture)
        if is_read:
            memory.add(film.shown(picture))
    film.close()
    if is_read:
        memory.compared(resolved(format.reader)(path), RATE, film.every, path)
    memory.close()


def _exports(folder: Path, count: int) -> Writings:
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
            yield format.name, partial(write_scene, recording, target, format, None, _ignored, _ignored)
