import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault, check_magnitude
from sinew.sim.assets.gltf.document import Draco, Primitive, TextureInfo, part_of
from sinew.sim.assets.gltf.file import GltfFile, normalised, optional_package
from sinew.sim.assets.gltf.materials import leading_texture, textured_coordinate_set
from sinew.sim.assets.raw import RawSection, RawVertices
from sinew.sim.maths.arrays import Float32, UInt32
from sinew.sim.printable import counted

INFLUENCES_MAX = 8
SETS_MAX = 64
"""Maximum number of sets of influences of one primitive."""

TARGETS_MAX = 4096
LEFT_OUT = "Points and lines are left out."
_VERTEX_BYTES, _MOVED_BYTES = 100, 48
"""Approximate memory of a vertex, and of a vertex moved by a target."""

TRIANGLES, _STRIP, _FAN = 4, 5, 6
_DIRECTIONS = {"POSITION": "position", "NORMAL": "normal", "TANGENT": "tangent"}


class PrimitiveReader:
    def __init__(self, file: GltfFile, material_names: list[str], warnings: list[str]) -> None:
        self._file, self._names, self._warnings = file, material_names, warnings
        self._made: dict[tuple[int, int], tuple[RawVertices, RawSection] | None] = {}
        self._sizes: dict[tuple[int, int], int] = {}

    def charge(self, mesh: int, number: int, copies: int, user: str) -> None:
        """Reserves memory for copies of a primitive; an error names the user."""
        made = self.read(mesh, number)
        if made is not None:
            self._file.take(copies * self._sizes[mesh, number], user)

    def read(self, mesh: int, number: int) -> tuple[RawVertices, RawSection] | None:
        """Reads a primitive, whose arrays all nodes share; returns None for points and lines."""
        key = mesh, number
        if key not in self._made:
            primitive = self._file.document.meshes[mesh].primitives[number]
            place = f"meshes[{mesh}].primitives[{number}]"
            if primitive.mode < TRIANGLES:
                self._warnings.append(LEFT_OUT)
                self._made[key] = None
            else:
                self._made[key] = made = self._read(primitive, place)
                self._sizes[key] = _size_of(made[0])
        return self._made[key]

    def _read(self, primitive: Primitive, place: str) -> tuple[RawVertices, RawSection]:
        source = _Source(primitive, place, self._file)
        if "POSITION" not in primitive.attributes:
            raise ElementFault(f"{place}.attributes", "POSITION is missing")
        positions = source.floats("POSITION", ("VEC3",))
        check_magnitude(f"{place}.attributes.POSITION", "position", positions)
        count = len(positions)
        attributes: dict[str, npt.NDArray[np.generic]] = {"position": positions}
        for name, semantic, types in (("NORMAL", "normal", ("VEC3",)), ("TANGENT", "tangent", ("VEC4",))):
            if name in primitive.attributes:
                attributes[semantic] = _counted(source.floats(name, types), count, f"{place}.attributes.{name}")
        stored = None
        if primitive.material is not None:
            stored = part_of(self._file.document.materials, primitive.material, f"{place}.material", "materials")
        info = leading_texture(stored) if stored is not None else None
        coordinates = f"TEXCOORD_{textured_coordinate_set(info)}"
        if coordinates in primitive.attributes:
            texcoords = _counted(source.floats(coordinates, ("VEC2",)), count, f"{place}.attributes.{coordinates}")
            attributes["texcoord1"] = moved_texcoords(texcoords, info)
        if "COLOR_0" in primitive.attributes:
            colours = _counted(source.floats("COLOR_0", ("VEC3", "VEC4")), count, f"{place}.attributes.COLOR_0")
            attributes["color"] = np.ones((count, 4), np.float32)  # opaque if the file has no alpha
            attributes["color"][:, : colours.shape[1]] = colours
        attributes.update(self._influences(primitive, source, count, place))
        vertices = RawVertices(count, attributes, self._targets(primitive, count, place))
        name = self._names[primitive.material] if primitive.material is not None else ""
        section = RawSection(
            name,
            "",
            0,
            self._triangles(primitive, source, count, place),
            is_double_sided=stored is not None and stored.double_sided,
            is_flat="NORMAL" not in primitive.attributes,
        )
        return vertices, section

    def _triangles(self, primitive: Primitive, source: "_Source", count: int, place: str) -> UInt32:
        corners = source.corners(count)
        if len(corners) and int(corners.max()) >= count:
            raise ElementFault(f"{place}.indices", f"name vertex {int(corners.max())} of {count}")
        if primitive.mode == TRIANGLES and len(corners) % 3:
            self._warnings.append(f"{place} ends in the middle of a triangle, which is left out.")
        return triangles_of(corners, primitive.mode)

    def _targets(self, primitive: Primitive, count: int, place: str) -> list[dict[str, Float32]]:
        if len(primitive.targets) > TARGETS_MAX:
            raise ElementFault(f"{place}.targets", f"there are {len(primitive.targets)}, more than {TARGETS_MAX}")
        targets = []
        for number, stored in enumerate(primitive.targets):
            target: dict[str, Float32] = {}
            for name, semantic in _DIRECTIONS.items():
                if name in stored and (name == "POSITION" or name in primitive.attributes):
                    own = f"{place}.targets[{number}].{name}"
                    target[semantic] = _counted(self._file.floats(stored[name], own, ("VEC3",)), count, own)
                    check_magnitude(own, "difference", target[semantic])
            targets.append(target)
        return targets

    def _influences(
        self, primitive: Primitive, source: "_Source", count: int, place: str
    ) -> dict[str, npt.NDArray[np.generic]]:
        """Returns influences of the vertices; keeps the strongest ones if there are too many."""
        sets = 0
        while f"JOINTS_{sets}" in primitive.attributes and f"WEIGHTS_{sets}" in primitive.attributes:
            sets += 1
        if not sets:
            return {}
        if sets > SETS_MAX:
            raise ElementFault(f"{place}.attributes", f"has {sets} sets of joints, more than {SETS_MAX}")
        names = [(f"JOINTS_{number}", f"WEIGHTS_{number}") for number in range(sets)]
        joints = np.concatenate(
            [_counted(source.numbers(j, ("VEC4",)), count, f"{place}.attributes.{j}") for j, _ in names], axis=1
        )
        weights = np.concatenate(
            [_counted(source.floats(w, ("VEC4",)), count, f"{place}.attributes.{w}") for _, w in names], axis=1
        )
        if weights.shape[1] > INFLUENCES_MAX:
            strongest = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES_MAX]
            largest = np.take_along_axis(weights, strongest, axis=1)
            lost = ((weights > 0.0).sum(axis=1) > (largest > 0.0).sum(axis=1)).sum()
            if lost:
                whose = counted(int(lost), "vertex", "vertices")
                self._warnings.append(f"Only the {INFLUENCES_MAX} strongest influences of {whose} are blended.")
            total = largest.sum(axis=1, keepdims=True)
            weights = np.where(total > 0.0, largest / np.where(total > 0.0, total, 1.0), largest).astype(np.float32)
            joints = np.take_along_axis(joints, strongest, axis=1)
        return {"blendindices": joints, "blendweights": weights}


class _Source:
    def __init__(self, primitive: Primitive, place: str, file: GltfFile) -> None:
        self._primitive, self._place, self._file = primitive, place, file
        draco = primitive.extensions.draco
        self._decoded: dict[str, npt.NDArray[np.generic]] = {}
        self._faces: UInt32 | None = None
        if draco is not None:
            self._decode(draco)

    def floats(self, name: str, types: tuple[str, ...]) -> Float32:
        index, place = self._primitive.attributes[name], f"{self._place}.attributes.{name}"
        if name not in self._decoded:
            return self._file.floats(index, place, types)
        values, part = self._decoded[name], self._file.accessor(index, place)
        if not part.normalized:
            return values.astype(np.float32, copy=False)
        if values.dtype.kind != "f":
            return normalised(values)
        # The decoder returns quantised positions as floats, but never divides them.
        scale = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}.get(part.component_type, 1.0)
        scaled: Float32 = np.maximum(values.astype(np.float32) / np.float32(scale), np.float32(-1.0))
        return scaled

    def numbers(self, name: str, types: tuple[str, ...]) -> UInt32:
        index, place = self._primitive.attributes[name], f"{self._place}.attributes.{name}"
        if name not in self._decoded:
            return self._file.numbers(index, place, types)
        return self._decoded[name].astype(np.uint32)

    def corners(self, count: int) -> UInt32:
        """Returns vertex indices in drawing order, shape (N,)."""
        if self._faces is not None:
            return self._faces.ravel()
        if self._primitive.indices is None:
            return np.arange(count, dtype=np.uint32)
        place = f"{self._place}.indices"
        return self._file.numbers(self._primitive.indices, place, ("SCALAR",))[:, 0]

    def _decode(self, draco: Draco) -> None:
        place = f"{self._place}.extensions.KHR_draco_mesh_compression"
        expected = self._file.accessor(self._primitive.attributes.get("POSITION", 0), place).count
        self._file.take(expected * _VERTEX_BYTES, place)
        package = optional_package("DracoPy", "KHR_draco_mesh_compression")
        data = bytes(self._file.view(draco.buffer_view, f"{place}.bufferView"))
        try:
            decoded = package.decode(data)
            found = {part["unique_id"]: np.asarray(part["data"]) for part in decoded.attributes}
            faces = np.asarray(decoded.faces, np.uint32).reshape(-1, 3)
        except Exception as error:  # the decoder fails with any exception on damaged data
            raise ElementFault(place, f"cannot be decoded: {' '.join(str(error).split())[:100]}") from None
        self._file.take(sum(values.nbytes for values in found.values()) + faces.nbytes, place)
        for name, number in draco.attributes.items():
            if number not in found:
                raise ElementFault(f"{place}.attributes.{name}", f"there is no attribute {number}")
            values = found[number].reshape(len(found[number]), -1)
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise ElementFault(f"{place}.attributes.{name}", "holds values that are not finite")
            self._decoded[name] = values
        self._faces = faces


def triangles_of(corners: UInt32, mode: int) -> UInt32:
    """Returns triangles (T, 3) of a list (mode 4), a strip (5) or a fan (6)."""
    if mode == TRIANGLES:
        return np.ascontiguousarray(corners[: len(corners) // 3 * 3].reshape(-1, 3))
    if len(corners) < 3:
        return np.zeros((0, 3), np.uint32)
    if mode == _FAN:
        return np.column_stack([np.full(len(corners) - 2, corners[0], np.uint32), corners[1:-1], corners[2:]])
    triangles = np.column_stack([corners[:-2], corners[1:-1], corners[2:]])
    triangles[1::2, :2] = triangles[1::2, 1::-1]
    # Strips are joined by triangles without area.
    a, b, c = triangles.T
    with_area: UInt32 = triangles[(a != b) & (b != c) & (c != a)]
    return with_area


def moved_texcoords(texcoords: Float32, info: TextureInfo | None) -> Float32:
    moved = info.extensions.transform if info is not None else None
    if moved is None:
        return texcoords
    (ox, oy), (sx, sy) = moved.offset, moved.scale
    cosine, sine = math.cos(moved.rotation), math.sin(moved.rotation)
    u, v = texcoords.T.astype(np.float64)
    return np.stack(
        [ox + cosine * sx * u + sine * sy * v, oy - sine * sx * u + cosine * sy * v], axis=1, dtype=np.float32,
        casting="same_kind",
    )  # fmt: skip


def _size_of(vertices: RawVertices) -> int:
    """Returns the approximate memory of each copy of the vertices [bytes]."""
    size = vertices.count * _VERTEX_BYTES
    for target in vertices.targets:
        moved = (
            np.flatnonzero(np.any([values.any(axis=1) for values in target.values()], axis=0))
            if target
            else np.zeros(0)
        )
        size += (int(moved[-1]) - int(moved[0]) + 1) * _MOVED_BYTES if len(moved) else 0
    return size


def _counted(values: npt.NDArray[Any], count: int, place: str) -> npt.NDArray[Any]:
    if len(values) != count:
        raise ElementFault(place, f"has {len(values)} elements, POSITION has {count}")
    return values
