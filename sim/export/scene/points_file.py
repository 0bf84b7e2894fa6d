"""Point caches PC2 and MDD: the points of one surface over frames, beside a Wavefront OBJ of the first one.

Sources: "POINTCACHE2" of 3ds Max (as read by Blender's mesh cache modifier), and the MDD of NewTek LightWave.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.export.scene.recording import SceneRecording, Track
from sim.export.surface import write_obj

PC2_MARK = b"POINTCACHE2\0"
PC2_HEAD = np.dtype([("version", "<i4"), ("points", "<i4"), ("start", "<f4"), ("step", "<f4"), ("frames", "<i4")])
MDD_HEAD = np.dtype([("frames", ">i4"), ("points", ">i4")])

Frames = list[npt.NDArray[np.float32]]


def write_pc2(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """Writes the points, little-endian and frame by frame, and the surface of the first frame."""
    (track,) = recording.tracks
    head = np.zeros((), PC2_HEAD)
    head["version"], head["points"], head["frames"] = 1, track.point_count, recording.frame_count
    head["start"], head["step"] = recording.first, 1.0
    with open(files[0], "xb") as file:
        file.write(PC2_MARK + head.tobytes())
        for frame in track.positions:
            file.write(np.ascontiguousarray(frame, "<f4").tobytes())
    _write_surface(track, files[1])


def read_pc2(files: tuple[Path, ...]) -> Frames:
    """The points of every frame; nameless, since the file holds one surface."""
    with open(files[0], "rb") as file:
        if file.read(len(PC2_MARK)) != PC2_MARK:
            raise ValueError("is no point cache")
        head = np.frombuffer(file.read(PC2_HEAD.itemsize), PC2_HEAD)[0]
    return [_mapped(files[0], "<f4", len(PC2_MARK) + PC2_HEAD.itemsize, head["frames"], head["points"])]


def write_mdd(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """Writes the times [s] and the points, big-endian, and the surface of the first frame."""
    (track,) = recording.tracks
    head = np.zeros((), MDD_HEAD)
    head["points"], head["frames"] = track.point_count, recording.frame_count
    with open(files[0], "xb") as file:
        file.write(head.tobytes() + recording.times.astype(">f4").tobytes())
        for frame in track.positions:
            file.write(np.ascontiguousarray(frame, ">f4").tobytes())
    _write_surface(track, files[1])


def read_mdd(files: tuple[Path, ...]) -> Frames:
    """The points of every frame; nameless, since the file holds one surface."""
    with open(files[0], "rb") as file:
        head = np.frombuffer(file.read(MDD_HEAD.itemsize), MDD_HEAD)[0]
    return [_mapped(files[0], ">f4", MDD_HEAD.itemsize + 4 * int(head["frames"]), head["frames"], head["points"])]


def _mapped(path: Path, dtype: str, offset: int, frames: int, points: int) -> npt.NDArray[np.float32]:
    mapped: npt.NDArray[np.float32] = np.memmap(path, dtype, "r", offset, (int(frames), int(points), 3))
    return mapped


def _write_surface(track: Track, path: Path) -> None:
    with open(path, "xb") as file:
        write_obj(track.surface(), file)
