"""Wavefront OBJ text of a posed mesh, for other programs."""

from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sim.export.surface import ExportSurface
from sim.printable import printable

ROWS_AT_ONCE = 4096


def write_obj(surface: ExportSurface, file: BinaryIO) -> None:
    """Writes positions, texture coordinates, normals and one group for each section.

    Numbers carry nine digits, so that reading them gives the same float32 values.
    """
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
    """A name as one word; OBJ separates by blanks."""
    return printable("_".join(name.split())) or "unnamed"
