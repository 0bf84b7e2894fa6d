"""Reads PC2 and MDD: positions of the points of a mesh, frame by frame; the mesh is an OBJ of the same name.

Sources: "PointCache2 file format" of 3ds Max (little-endian); the MDD files of LightWave (big-endian).
"""

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.formats import MODEL_FORMATS
from sinew.sim.assets.frame_mesh import add_frames, check_positions, check_size, clip_of, even_clip, sibling_file
from sinew.sim.assets.load import read_bytes
from sinew.sim.assets.obj_reader import read_points
from sinew.sim.assets.raw import LoadWatch, ModelError, RawClip, RawModel

Float32 = npt.NDArray[np.float32]

PC2_MAGIC = b"POINTCACHE2\0"
NOMINAL_RATE = 30.0
PC2_HEADER = struct.Struct("<12siiffi")
MDD_HEADER = struct.Struct(">ii")


def is_pc2(start: bytes) -> bool:
    return start.startswith(PC2_MAGIC)


def read_pc2(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """The OBJ mesh next to a PC2 file with its frames."""
    if len(data) < PC2_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {PC2_HEADER.size} are needed")
    _, version, points, start, step, frames = PC2_HEADER.unpack_from(data)
    if version != 1:
        raise ElementFault("header", f"version is {version}, version 1 is read")
    positions = _positions(data, PC2_HEADER.size, frames, points, "<f4")
    # Steps are in frames of the program that wrote the file.
    usable = np.isfinite(start) and np.isfinite(step) and 1e-3 <= step <= 1e3
    return _animated(
        path, "pc2", positions, even_clip(path.stem, frames, NOMINAL_RATE / (step if usable else 1.0)), watch
    )


def read_mdd(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """The OBJ mesh next to an MDD file with its frames."""
    if len(data) < MDD_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {MDD_HEADER.size} are needed")
    frames, points = MDD_HEADER.unpack_from(data)
    check_size("header", frames, max(points, 0))
    positions = _positions(data, MDD_HEADER.size + 4 * frames, frames, points, ">f4")
    times = np.frombuffer(data, ">f4", frames, MDD_HEADER.size).astype(np.float64)
    times = times - times[0]
    if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        frame = int(np.flatnonzero(~np.isfinite(times) | (np.diff(times, prepend=-1.0) <= 0.0))[0])
        raise ElementFault(f"frame {frame}", "its time is not later than the one before")
    return _animated(path, "mdd", positions, clip_of(path.stem, range(frames), times), watch)


def _positions(data: bytes, start: int, frames: int, points: int, dtype: str) -> Float32:
    """Positions of all points, shape (F, P, 3)."""
    if points < 1:
        raise ElementFault("header", f"has {points} points")
    check_size("header", frames, points)
    needed = start + 12 * frames * points
    if needed > len(data):
        complete = max(len(data) - start, 0) // (12 * points)
        raise ElementFault(
            f"frame {complete}", f"the file ends within it: {needed} bytes are needed, it has {len(data)}"
        )
    positions = np.frombuffer(data, dtype, 3 * frames * points, start).reshape(frames, points, 3).astype(np.float32)
    check_positions("frames", positions)
    return positions


def _animated(path: Path, key: str, positions: Float32, clip: RawClip, watch: LoadWatch) -> RawModel:
    """The OBJ mesh next to the file, animated."""
    suffixes = next(known.suffixes for known in MODEL_FORMATS if known.key == "obj")
    names = [path.stem + suffix for suffix in suffixes]
    found = [sibling_file(path, name) for name in names if (path.parent / name).exists()]
    if not found:
        raise ElementFault("", f"needs the mesh next to it: {names[0]}")
    try:
        model, of_vertex, count = read_points(read_bytes(found[0]), found[0], watch)
    except ModelError as error:
        raise ElementFault(found[0].name, error.reason) from None
    except ElementFault as fault:
        raise ElementFault(f"{found[0].name}: {fault.element}", fault.reason) from None
    if count != positions.shape[1]:
        raise ElementFault("frame 0", f"has {positions.shape[1]} points, {found[0].name} has {count}")
    model.path, model.format, model.asset_name = path, key, path.name
    add_frames(model, positions, of_vertex, [f"frame {number}" for number in range(len(positions))], watch)
    model.clips = [clip]
    return model
