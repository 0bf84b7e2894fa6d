"""Point caches PC2 (little-endian) and MDD (big-endian): positions of one surface, and an OBJ of the first frame.

Sources: "POINTCACHE2" of 3ds Max (as read by Blender's mesh cache modifier), and the MDD of NewTek LightWave.
"""

from pathlib import Path

import numpy as np

from sinew.sim.assets.obj_reader import MDD_HEADER, PC2_HEADER, PC2_MAGIC
from sinew.sim.export.scene.recording import FoundNode, SceneRecording, Track
from sinew.sim.export.surface import write_obj
from sinew.sim.maths.arrays import Float32


def write_pc2(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    (track,) = recording.tracks
    header = PC2_HEADER.pack(PC2_MAGIC, 1, track.point_count, recording.first, 1.0, recording.frame_count)
    _write(track, header, "<f4", files)


def read_pc2(files: tuple[Path, ...]) -> list[FoundNode]:
    """Reads the positions of the one surface of the file in every frame."""
    with open(files[0], "rb") as file:
        magic, _, points, _, _, frames = PC2_HEADER.unpack(file.read(PC2_HEADER.size))
    if magic != PC2_MAGIC:
        raise ValueError("is not a point cache")
    return [FoundNode(_mapped(files[0], "<f4", PC2_HEADER.size, frames, points))]


def write_mdd(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    (track,) = recording.tracks
    header = MDD_HEADER.pack(recording.frame_count, track.point_count) + recording.times.astype(">f4").tobytes()
    _write(track, header, ">f4", files)


def read_mdd(files: tuple[Path, ...]) -> list[FoundNode]:
    """Reads the positions of the one surface of the file in every frame."""
    with open(files[0], "rb") as file:
        frames, points = MDD_HEADER.unpack(file.read(MDD_HEADER.size))
    return [FoundNode(_mapped(files[0], ">f4", MDD_HEADER.size + 4 * frames, frames, points))]


def _write(track: Track, header: bytes, dtype: str, files: tuple[Path, ...]) -> None:
    with open(files[0], "xb") as file:
        file.write(header)
        for frame in track.positions:
            file.write(np.ascontiguousarray(frame, dtype).tobytes())
    with open(files[1], "xb") as file:
        write_obj(track.surface(), file)


def _mapped(path: Path, dtype: str, offset: int, frames: int, points: int) -> Float32:
    mapped: Float32 = np.memmap(path, dtype, "r", offset, (frames, points, 3))
    return mapped
