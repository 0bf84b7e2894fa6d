"""Reads PC2 and MDD: the places of the points of a mesh, frame by frame; the mesh is an OBJ of the same name beside it.

Sources: "PointCache2 file format" of 3ds Max (little-endian); the MDD files of LightWave (big-endian).
"""

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.faults import ElementFault
from sim.assets.formats import MODEL_FORMATS
from sim.assets.frame_mesh import add_frames, beside, check_places, check_size, clip_of, even_clip
from sim.assets.load import read_bytes
from sim.assets.obj_reader import read_points
from sim.assets.raw import LoadWatch, ModelError, RawClip, RawModel

Float32 = npt.NDArray[np.float32]

PC2_MAGIC = b"POINTCACHE2\0"
NOMINAL_RATE = 30.0
_PC2 = struct.Struct("<12siiffi")
_MDD = struct.Struct(">ii")


def is_pc2(start: bytes) -> bool:
    return start.startswith(PC2_MAGIC)


def read_pc2(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """The mesh beside a PC2 file with its frames."""
    if len(data) < _PC2.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_PC2.size} are needed")
    _, version, points, start, step, frames = _PC2.unpack_from(data)
    if version != 1:
        raise ElementFault("header", f"version is {version}, version 1 is read")
    places = _places(data, _PC2.size, frames, points, "<f4")
    # Steps are frames of the program that wrote it.
    usable = np.isfinite(start) and np.isfinite(step) and 1e-3 <= step <= 1e3
    return _moving(path, "pc2", places, even_clip(path.stem, frames, NOMINAL_RATE / (step if usable else 1.0)), watch)


def read_mdd(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """The mesh beside an MDD file with its frames."""
    if len(data) < _MDD.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_MDD.size} are needed")
    frames, points = _MDD.unpack_from(data)
    check_size("header", frames, max(points, 0))
    places = _places(data, _MDD.size + 4 * frames, frames, points, ">f4")
    times = np.frombuffer(data, ">f4", frames, _MDD.size).astype(np.float64)
    times = times - times[0]
    if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        frame = int(np.flatnonzero(~np.isfinite(times) | (np.diff(times, prepend=-1.0) <= 0.0))[0])
        raise ElementFault(f"frame {frame}", "its time is not later than the one before")
    return _moving(path, "mdd", places, clip_of(path.stem, range(frames), times), watch)


def _places(data: bytes, start: int, frames: int, points: int, dtype: str) -> Float32:
    """Places of all points, shape (F, P, 3)."""
    if points < 1:
        raise ElementFault("header", f"has {points} points")
    check_size("header", frames, points)
    needed = start + 12 * frames * points
    if needed > len(data):
        complete = max(len(data) - start, 0) // (12 * points)
        raise ElementFault(
            f"frame {complete}", f"the file ends within it: {needed} bytes are needed, it has {len(data)}"
        )
    places = np.frombuffer(data, dtype, 3 * frames * points, start).reshape(frames, points, 3).astype(np.float32)
    check_places("frames", places)
    return places


def _moving(path: Path, key: str, places: Float32, clip: RawClip, watch: LoadWatch) -> RawModel:
    """The mesh beside a file, moved by it."""
    suffixes = next(known.suffixes for known in MODEL_FORMATS if known.key == "obj")
    found = [beside(path, path.stem + suffix) for suffix in suffixes if (path.parent / (path.stem + suffix)).exists()]
    if not found:
        raise ElementFault("", f"needs the mesh that it moves beside it: {path.stem}{suffixes[0]}")
    try:
        model, of_vertex, count = read_points(read_bytes(found[0]), found[0], watch)
    except ModelError as error:
        raise ElementFault(found[0].name, error.reason) from None
    except ElementFault as fault:
        raise ElementFault(f"{found[0].name}: {fault.element}", fault.reason) from None
    if count != places.shape[1]:
        raise ElementFault("frame 0", f"has {places.shape[1]} points, {found[0].name} has {count}")
    model.path, model.format, model.asset_name = path, key, path.name
    add_frames(model, places, of_vertex, [f"frame {number}" for number in range(len(places))], watch)
    model.clips = [clip]
    return model
