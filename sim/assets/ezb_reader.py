"""Binary EZMesh: big-endian, version 101. Every count is checked against the remaining bytes."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_skeleton import parents_by_index, unit_quaternions
from sinew.sim.assets.ezm_reader import check_indices
from sinew.sim.assets.faults import (
    MAX_JOINTS,
    MAX_PARTS,
    MAX_TRACKS,
    ElementFault,
    PartCounter,
    check_magnitude,
    quoted,
)
from sinew.sim.assets.formats import EZB_MAGIC
from sinew.sim.assets.raw import (
    LoadWatch,
    RawBone,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawTrack,
    RawVertices,
)
from sinew.sim.maths.arrays import Float64

Item = TypeVar("Item")

# Vertex fields in storage order: flag bit, semantic, big-endian type, numbers.
_FIELDS = (
    (0, "position", ">f4", 3),
    (1, "normal", ">f4", 3),
    (2, "color", ">u4", 1),
    *((2 + number, f"texcoord{number}", ">f4", 2) for number in range(1, 5)),
    (7, "tangent", ">f4", 3),
    (8, "binormal", ">f4", 3),
    (9, "blendindices", ">u2", 4),
    (9, "blendweights", ">f4", 4),
    (10, "radius", ">f4", 1),
    *((10 + number, f"interp{number}", ">f4", 4) for number in range(1, 9)),
)
_KNOWN_FLAGS = (1 << 19) - 1


def read_ezb(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    cursor = _Cursor(data, watch)
    cursor.take(len(EZB_MAGIC), "header")
    model = RawModel(path, "ezb", "MeshSystem")
    watch.total = len(data)
    model.asset_name, model.asset_info = cursor.string("asset_name"), cursor.string("asset_info")
    cursor.take(4 * 2 + 4 * 6, "header")
    cursor.items("texture", 20, lambda: (cursor.string("name"), cursor.take(12, "size"), cursor.block("pixels")))
    cursor.expect_none("tetrahedral mesh")
    warnings = model.warnings
    model.skeletons = cursor.items("skeleton", 8, lambda: _read_skeleton(cursor, warnings))
    model.clips = cursor.items("animation", 20, lambda: _read_clip(cursor))
    model.materials = cursor.items(
        "material", 8, lambda: RawMaterial(cursor.string("name"), cursor.string("meta_data"))
    )
    cursor.items("user data", 8, lambda: (cursor.string("key"), cursor.string("value")))
    cursor.items("binary user data", 8, lambda: (cursor.string("name"), cursor.block("bytes")))
    model.meshes = cursor.items("mesh", 44, lambda: _read_mesh(cursor, warnings))
    cursor.items("mesh instance", 44, lambda: (cursor.string("mesh name"), cursor.take(40, "transform")))
    cursor.expect_none("collision representation")
    cursor.take(16, "plane")
    if cursor.remaining:
        warnings.append(f"{cursor.remaining} bytes after the end of the model are ignored.")
    for number, mesh in enumerate(model.meshes, start=1):
        for section in mesh.sections:
            place = f"triangles of section {quoted(section.material)} (mesh {number})"
            check_indices(place, section.triangles, mesh.buffers[0].count)
    return model


class _Cursor:
    def __init__(self, data: bytes, watch: LoadWatch) -> None:
        self._data = data
        self._watch = watch
        self._position = 0
        self._context: list[str] = []
        self.parts = PartCounter()

    @property
    def remaining(self) -> int:
        return len(self._data) - self._position

    def take(self, size: int, what: str) -> memoryview:
        if size > self.remaining:
            raise ElementFault(self.place(what), f"needs {size} bytes, {self.remaining} are left")
        start = self._position
        self._position += size
        self._watch.advance(size)
        return memoryview(self._data)[start : start + size]

    def place(self, what: str) -> str:
        return f"{what} of {self._context[-1]}" if self._context else what

    def integer(self, what: str) -> int:
        (value,) = struct.unpack(">I", self.take(4, what))
        return int(value)

    def signed(self, what: str) -> int:
        (value,) = struct.unpack(">i", self.take(4, what))
        return int(value)

    def floats(self, count: int, what: str) -> Float64:
        return np.frombuffer(self.take(4 * count, what), dtype=">f4").astype(np.float64)

    def block(self, what: str) -> memoryview:
        return self.take(self.integer("length"), what)

    def string(self, what: str) -> str:
        return bytes(self.take(self.integer(what), what)).decode("utf-8", "replace")

    def items(self, what: str, smallest: int, read: Callable[[], Item], limit: int = MAX_PARTS) -> list[Item]:
        """Reads a list; items take at least `smallest` bytes, `limit` holds for all lists of the file together."""
        count = self.integer(f"{what} count")
        if count > limit:
            raise ElementFault(self.place(f"{what} count"), f"{count} is more than {limit}")
        if count * smallest > self.remaining:
            raise ElementFault(self.place(f"{what} count"), f"{count} do not fit into {self.remaining} bytes")
        self.parts.add(what, limit, count)
        result = []
        for number in range(1, count + 1):
            self._context.append(f"{what} {number}")
            result.append(read())
            self._context.pop()
        return result

    def expect_none(self, what: str) -> None:
        count = self.integer(f"{what} count")
        if count:
            raise ElementFault(f"{what} count", f"must be 0, not {count}")


def _read_skeleton(cursor: _Cursor, warnings: list[str]) -> RawSkeleton:
    skeleton = cursor.string("name")
    stored = cursor.items(
        "bone", 48, lambda: (cursor.string("name"), cursor.signed("parent"), cursor.floats(10, "transform")), MAX_JOINTS
    )
    names = [name for name, _, _ in stored]
    parents, notes = parents_by_index(names, [parent for _, parent, _ in stored])
    warnings.extend(notes)
    bones = []
    for (name, _, values), parent in zip(stored, parents, strict=True):
        check_magnitude(f"Bone {quoted(name)}", "transform", values)
        bones.append(RawBone(name, parent, values[:3], unit_quaternions(values[3:7]), values[7:]))
    return RawSkeleton(skeleton, bones)


def _read_clip(cursor: _Cursor) -> RawClip:
    name = cursor.string("name")
    track_count, frames = cursor.signed("track count"), cursor.signed("frame count")
    duration, step = cursor.floats(2, "timing").tolist()
    if not 0 <= track_count * 16 <= cursor.remaining:
        raise ElementFault(cursor.place("track count"), f"{track_count} do not fit into {cursor.remaining} bytes")
    cursor.parts.add("track", MAX_TRACKS, track_count)
    tracks = [_read_track(cursor) for _ in range(track_count)]
    frames = max((len(track.positions) for track in tracks), default=max(0, frames))
    return RawClip(name, frames, duration, step, tracks)


def _read_track(cursor: _Cursor) -> RawTrack:
    name = cursor.string("track name")
    count = cursor.signed("pose count")
    cursor.take(8, "timing")
    if not 0 <= count * 40 <= cursor.remaining:
        raise ElementFault(
            cursor.place(f"track {quoted(name)}"), f"{count} poses do not fit into {cursor.remaining} bytes"
        )
    poses = cursor.floats(10 * count, "poses").reshape(count, 10)
    check_magnitude(f"track {quoted(name)}", "pose", poses)
    return RawTrack(name, poses[:, :3], unit_quaternions(poses[:, 3:7]), poses[:, 7:])


def _read_mesh(cursor: _Cursor, warnings: list[str]) -> RawMesh:
    name, skeleton = cursor.string("name"), cursor.string("skeleton")
    cursor.take(24, "box")
    sections = cursor.items("section", 36, lambda: _read_section(cursor))
    vertices = _read_vertices(cursor)
    if vertices.count:
        positions = np.asarray(vertices.attributes["position"], np.float32)
        check_magnitude(f"vertices of mesh {quoted(name)}", "position", positions)
    if _use_second_texcoords(vertices):
        warnings.append(f"Mesh {quoted(name)}: texcoord1 repeats u in v; texcoord2 is used instead.")
    return RawMesh(name, skeleton, [vertices], sections)


def _read_section(cursor: _Cursor) -> RawSection:
    material = cursor.string("material")
    cursor.take(24 + 4, "box")
    count = cursor.integer("triangle count")
    indices = np.frombuffer(cursor.take(12 * count, "triangles"), dtype=">u4")
    return RawSection(material, "", 0, indices.astype(np.uint32).reshape(count, 3))


def _read_vertices(cursor: _Cursor) -> RawVertices:
    flags, count = cursor.integer("vertex flags"), cursor.integer("vertex count")
    if flags & ~_KNOWN_FLAGS:
        raise ElementFault(cursor.place("vertex flags"), f"{flags:#x} has unknown bits")
    layout = [(name, kind, size) for bit, name, kind, size in _FIELDS if flags >> bit & 1]
    record = np.dtype([(name, kind, (size,)) for name, kind, size in layout])
    if count and "position" not in (name for name, _, _ in layout):
        raise ElementFault(cursor.place("vertex flags"), "there are no positions")
    stored = np.frombuffer(cursor.take(record.itemsize * count, "vertices"), dtype=record) if layout else None
    attributes: dict[str, npt.NDArray[np.generic]] = {}
    for name, kind, _ in layout:
        if stored is not None:
            values = stored[name].astype(kind[1:])
            attributes[name] = values[:, 0] if name == "color" else values
    return RawVertices(count, attributes)


def _use_second_texcoords(vertices: RawVertices) -> bool:
    """Repairs a writer's bug: the first set of texture coordinates is (u, u), the second has the true v."""
    first, second = vertices.attributes.get("texcoord1"), vertices.attributes.get("texcoord2")
    if first is None or second is None or not vertices.count:
        return False
    faulty = np.array_equal(first[:, 0], first[:, 1]) and np.array_equal(first[:, 0], second[:, 0])
    if not faulty or np.array_equal(first, second):
        return False
    vertices.attributes["texcoord1"] = second.copy()
    return True
