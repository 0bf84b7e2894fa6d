"""MD2, the models of Quake II: triangles with texture coordinates, and frames of bytes.

Source: D. Henry, "MD2 file format (Quake 2's models)", 2004.
"""

import itertools
import re
import struct
from pathlib import Path

import numpy as np

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.frame_mesh import add_frames, check_positions, check_size, clip_of
from sinew.sim.assets.materials import TextureFolder, lost_colours
from sinew.sim.assets.model import Material
from sinew.sim.assets.raw import LoadWatch, RawClip, RawMaterial, RawMesh, RawModel, RawSection, RawVertices
from sinew.sim.printable import printable

VERSION = 8
RATE = 10.0
"""Frame rate of the game [1/s]."""

POINTS_MAX = 1 << 16
_HEADER = struct.Struct("<4s16i")
_CORNER = np.dtype([("points", "<u2", 3), ("texcoords", "<u2", 3)])
_NAME = 16
_NUMBER = re.compile(r"[0-9_ ]*$")


def read_md2(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    if len(data) < _HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_HEADER.size} are needed")
    (_, version, width, height, frame_size, skins, points, texcoords, triangles, _, frames,
     skins_at, texcoords_at, triangles_at, frames_at, _, _) = _HEADER.unpack_from(data)  # fmt: skip
    if version != VERSION:
        raise ElementFault("header", f"version is {version}, version {VERSION} is read")
    for what, count in (("points", points), ("texture coordinates", texcoords), ("triangles", triangles)):
        if not 0 <= count <= POINTS_MAX:
            raise ElementFault("header", f"has {count} {what}, 0 to {POINTS_MAX} are allowed")
    check_size("header", frames, max(points, 3 * triangles))
    record = np.dtype([("scale", "<f4", 3), ("move", "<f4", 3), ("name", f"S{_NAME}"), ("points", "u1", (points, 4))])
    if frame_size != record.itemsize:
        raise ElementFault("header", f"a frame of {points} points has {record.itemsize} bytes, not {frame_size}")
    stored = _table(data, "frames", frames_at, frames, record)
    corners = _table(data, "triangles", triangles_at, triangles, _CORNER)
    pixels = _table(data, "texture coordinates", texcoords_at, texcoords, np.dtype(("<i2", 2)))
    for what, limit in (("points", points), ("texcoords", texcoords)):
        if triangles and int(corners[what].max()) >= limit:
            raise ElementFault("triangles", f"name {what} {int(corners[what].max())}, there are {limit}")
    moved = stored["points"][:, :, :3].astype(np.float32) * stored["scale"][:, None] + stored["move"][:, None]
    check_positions("frames", moved)
    # The file stores triangles clockwise.
    pairs = np.column_stack([corners["points"].ravel(), corners["texcoords"].ravel()]).astype(np.int64)
    used, vertex = np.unique(pairs, axis=0, return_inverse=True)
    faces = vertex.reshape(-1, 3)[:, [0, 2, 1]].astype(np.uint32)
    model = RawModel(path, "md2", None, asset_name=path.name, up_axis="Z", texture_origin="top")
    scale = np.array([max(width, 1), max(height, 1)], np.float32)
    texcoord = (pixels[used[:, 1]].astype(np.float32) + 0.5) / scale if len(pixels) else np.zeros((len(used), 2))
    name = _text(data[skins_at : skins_at + 64]) if skins > 0 and 0 <= skins_at < len(data) else ""
    # The skin: an image next to the model, found by its base name.
    image, lost = TextureFolder(path.parent).find(name) if name else None, name or None
    skin = Material(name or "skin", lost, image, lost=lost_colours(lost, image))
    model.materials.append(RawMaterial(skin.name, "", skin))
    buffer = RawVertices(len(used), {"texcoord1": texcoord.astype(np.float32)})
    model.meshes.append(RawMesh(path.stem, "", [buffer], [RawSection(name or "skin", "", 0, faces)]))
    names = [_text(bytes(frame)) for frame in stored["name"]]
    add_frames(model, moved, used[:, 0], names, watch)
    model.clips = _clips(names)
    return model


def _table(data: bytes, what: str, start: int, count: int, dtype: np.dtype) -> np.ndarray:
    end = start + count * dtype.itemsize
    if start < 0 or end > len(data):
        raise ElementFault(what, f"end at byte {end}, the file has {len(data)}")
    return np.frombuffer(data, dtype, count, start) if count else np.zeros(0, dtype)


def _text(raw: bytes) -> str:
    return printable(raw.partition(b"\0")[0].decode("latin-1").strip())


def _clips(names: list[str]) -> list[RawClip]:
    """Returns runs of frames whose names differ only by their number; each ends with its first frame."""
    clips = []
    for stem, run in itertools.groupby(range(len(names)), lambda frame: _NUMBER.sub("", names[frame])):
        frames = list(run)
        if len(frames) > 1:
            frames.append(frames[0])
        clips.append(clip_of(stem or "frames", frames, np.arange(len(frames)) / RATE))
    return clips
