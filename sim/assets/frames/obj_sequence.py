"""OBJ files that are numbered one after the other: frames of one mesh, whose faces stand in the first."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.faults import MAX_FILE_BYTES, MAX_MAGNITUDE, ElementFault
from sim.assets.frames.frame_mesh import FRAMES_MAX, add_frames, beside, check_size, even_clip
from sim.assets.load import read_bytes
from sim.assets.load_watch import LoadWatch
from sim.assets.raw import ModelError, RawModel

Float32 = npt.NDArray[np.float32]

_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>[0-9]{3,9})$")


def following(path: Path) -> list[Path]:
    """The files that continue a numbered one, at least three digits long, without a gap; nothing for others."""
    match = _NUMBERED.match(path.stem)
    if match is None:
        return []
    names = _names(path, match["stem"], int(match["number"]), len(match["number"]))
    return [path.with_name(name) for name in names]


def _names(path: Path, stem: str, number: int, digits: int) -> Iterator[str]:
    for later in range(number + 1, number + FRAMES_MAX):
        name = f"{stem}{later:0{digits}}{path.suffix}"
        if not path.with_name(name).is_file():
            return
        yield name


def add_sequence(
    model: RawModel, later: list[Path], of_vertex: npt.NDArray[np.int64], first: Float32, watch: LoadWatch
) -> None:
    """Makes a mesh move as the files that follow it say.

    Args:
        model: The first file.
        later: The others.
        of_vertex: Point of each vertex, shape (V,).
        first: Points of the first file, shape (P, 3).
        watch: Told of the work.

    Raises:
        ElementFault: If one of them cannot be read, or has another number of points.
    """
    check_size("the sequence", 1 + len(later), len(first))
    places = np.empty((1 + len(later), len(first), 3), np.float32)
    places[0] = first
    read = 0
    for frame, path in enumerate(later, start=1):
        place = f"frame {frame}: {path.name}"
        try:
            data = read_bytes(beside(model.path, path.name))
        except ModelError as error:
            raise ElementFault(place, error.reason) from None
        read += len(data)
        if read > MAX_FILE_BYTES:
            raise ElementFault(place, f"the sequence has more than {MAX_FILE_BYTES >> 20} MiB")
        points = _points(data, place)
        if len(points) != len(first):
            raise ElementFault(place, f"has {len(points)} points, {model.path.name} has {len(first)}")
        places[frame] = points
        watch.advance()
    names = [model.path.stem, *(path.stem for path in later)]
    add_frames(model, places, of_vertex, names, watch)
    model.clips = [even_clip(model.path.stem.rstrip("0123456789").rstrip("_-. ") or "frames", len(places))]


def _points(data: bytes, place: str) -> Float32:
    """Points of a file, shape (P, 3); everything else in it is passed over."""
    rows = [line.split()[1:4] for line in data.splitlines() if line.startswith((b"v ", b"v\t"))]
    try:
        points = np.array(rows, np.float64).reshape(-1, 3)
    except ValueError:
        raise ElementFault(place, "a point is not made of three numbers") from None
    if not (np.abs(points) <= MAX_MAGNITUDE).all():
        raise ElementFault(place, "a point has an unusable place")
    return points.astype(np.float32)
