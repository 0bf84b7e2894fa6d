"""Binary PLY of a posed mesh, for other programs."""

from typing import BinaryIO

import numpy as np

from sim.export.surface import ExportSurface

VERTEX = np.dtype([(name, "<f4") for name in ("x", "y", "z", "nx", "ny", "nz", "s", "t")])
FACE = np.dtype([("count", "u1"), ("corners", "<u4", (3,))])


def write_ply(surface: ExportSurface, file: BinaryIO) -> None:
    """Writes vertices with normal and texture coordinate, then triangles; little-endian."""
    file.write(_header(len(surface.positions), len(surface.triangles)).encode("ascii"))
    columns = np.column_stack((surface.positions, surface.normals, surface.texcoords))
    file.write(np.ascontiguousarray(columns, "<f4").tobytes())
    faces = np.empty(len(surface.triangles), FACE)
    faces["count"] = 3
    faces["corners"] = surface.triangles
    file.write(faces.tobytes())


def _header(vertex_count: int, triangle_count: int) -> str:
    properties = [f"property float {name}" for name in VERTEX.names or ()]
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {vertex_count}", *properties]
    lines += [f"element face {triangle_count}", "property list uchar uint vertex_indices", "end_header"]
    return "\n".join(lines) + "\n"
