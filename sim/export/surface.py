from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel
from sinew.sim.export.npz import write_npz
from sinew.sim.maths.arrays import Float32, Float64, Int32, UInt32
from sinew.sim.printable import printable


@dataclass(frozen=True, slots=True)
class ExportSurface:
    """A triangle mesh at one time, in file order and file space."""

    name: str
    positions: Float32  # (V, 3)
    normals: Float32  # Unit vectors, (V, 3)
    texcoords: Float32  # v = 0 at the bottom row of the image, (V, 2)
    triangles: UInt32  # Counter-clockwise from outside, (T, 3)
    ranges: tuple[tuple[str, int, int], ...]  # Material name, first triangle, count of each section, in file order
    bone_names: tuple[str, ...] = ()
    palette: Float32 = field(default_factory=lambda: np.empty((0, 4, 4), np.float32))  # (P, 4, 4)
    palette_bones: Int32 = field(default_factory=lambda: np.empty(0, np.int32))  # Bone of each palette entry, (P,)
    joint_positions: Float64 = field(default_factory=lambda: np.empty((0, 3)))  # Of the bones, (B, 3)
    time: float = 0.0  # In the clip [s]


def surface_of(
    model: CharacterModel, positions: Float32, normals: Float32, pose: Pose | None, time: float
) -> ExportSurface:
    """Returns the surface with skinned positions and normals, both (V, 3)."""
    mesh = model.mesh
    texcoords = mesh.texcoords
    if model.default_texture_origin == "top":
        texcoords = np.column_stack((texcoords[:, 0], np.float32(1.0) - texcoords[:, 1]))
    names = [material.name for material in model.materials]
    ranges = tuple(
        (names[part.material] if part.material >= 0 else part.name, part.first_triangle, part.triangle_count)
        for part in mesh.sections
    )
    bone_names = tuple(model.skeleton.names) if model.skeleton is not None else ()
    palette = pose.palette if pose is not None else np.empty((0, 4, 4))
    entries = np.arange(len(palette), dtype=np.int32)
    bones = entries if model.skin is None else model.skin.joints_of(entries).astype(np.int32)
    return ExportSurface(
        name=model.path.stem,
        positions=positions,
        normals=normals,
        texcoords=texcoords,
        triangles=mesh.triangles,
        ranges=ranges,
        bone_names=bone_names,
        palette=palette.astype(np.float32),
        palette_bones=bones,
        joint_positions=pose.model_from_joint[:, :3, 3].copy() if pose is not None else np.empty((0, 3)),
        time=time,
    )


def unit(vectors: Float32 | Float64) -> Float32:
    """Returns unit vectors; zero vectors point up."""
    wide = vectors.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = np.where(length > 1e-12, wide / np.where(length > 1e-12, length, 1.0), (0.0, 1.0, 0.0))
    return unit.astype(np.float32)


def write_arrays(surface: ExportSurface, file: BinaryIO) -> None:
    arrays: dict[str, npt.NDArray[Any]] = {
        "positions": surface.positions.astype(np.float32),
        "normals": surface.normals.astype(np.float32),
        "triangles": surface.triangles.astype(np.uint32),
        "palette": surface.palette,
        "palette_bones": surface.palette_bones,
        "joint_positions": surface.joint_positions,
        "bone_names": np.array(surface.bone_names, dtype=np.str_),
        "time": np.array(surface.time, dtype=np.float64),
    }
    write_npz(arrays, file)


ROWS_AT_ONCE = 4096


def write_obj(surface: ExportSurface, file: BinaryIO) -> None:
    """Writes a group for each section; nine digits restore float32 exactly."""
    file.write(f"o {_word(surface.name)}\n".encode())
    _write_rows(file, "v %.9g %.9g %.9g\n", surface.positions)
    _write_rows(file, "vt %.9g %.9g\n", surface.texcoords)
    _write_rows(file, "vn %.9g %.9g %.9g\n", surface.normals)
    for material, first, count in surface.ranges:
        file.write(f"usemtl {_word(material)}\n".encode())
        corners = surface.triangles[first : first + count].astype(np.int64) + 1
        _write_rows(file, "f %d/%d/%d %d/%d/%d %d/%d/%d\n", np.repeat(corners, 3, axis=1))


def _write_rows(file: BinaryIO, line: str, rows: npt.NDArray[np.generic]) -> None:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        file.write((line * len(part) % tuple(part.ravel().tolist())).encode())


def _word(name: str) -> str:
    """Returns a name without blanks, by which OBJ separates names."""
    return printable("_".join(name.split())) or "unnamed"


VERTEX = np.dtype([(name, "<f4") for name in ("x", "y", "z", "nx", "ny", "nz", "s", "t")])
FACE = np.dtype([("count", "u1"), ("corners", "<u4", (3,))])


def write_ply(surface: ExportSurface, file: BinaryIO) -> None:
    """Writes little-endian PLY: vertices with normals and texture coordinates, then triangles."""
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {len(surface.positions)}"]
    lines += [f"property float {name}" for name in VERTEX.names or ()]
    lines += [f"element face {len(surface.triangles)}", "property list uchar uint vertex_indices", "end_header", ""]
    file.write("\n".join(lines).encode("ascii"))
    columns = np.column_stack((surface.positions, surface.normals, surface.texcoords))
    file.write(np.ascontiguousarray(columns, "<f4").tobytes())
    faces = np.empty(len(surface.triangles), FACE)
    faces["count"] = 3
    faces["corners"] = surface.triangles
    file.write(faces.tobytes())
