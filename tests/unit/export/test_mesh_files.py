"""Posed meshes written as OBJ, PLY and NPZ hold the same numbers."""

import io
import time
import zipfile

import numpy as np
import pytest

from sinew.sim.export.npz import write_npz
from sinew.sim.export.surface import ExportSurface, write_obj, write_ply


@pytest.fixture
def surface() -> ExportSurface:
    """5 000 vertices with awkward numbers, 5 001 triangles in three sections."""
    random = np.random.default_rng(7)
    vertex_count, triangle_count = 5000, 5001
    return ExportSurface(
        name="two words",
        positions=(random.standard_normal((vertex_count, 3)) * [1e-6, 1.0, 1e6]).astype(np.float32),
        normals=random.standard_normal((vertex_count, 3)).astype(np.float32),
        texcoords=random.random((vertex_count, 2)).astype(np.float32),
        triangles=random.integers(0, vertex_count, (triangle_count, 3)).astype(np.uint32),
        ranges=(("skin", 0, 4500), ("", 4500, 0), ("cloth of gold", 4500, 501)),
    )


def test_obj_holds_the_same_numbers(surface: ExportSurface) -> None:
    file = io.BytesIO()
    write_obj(surface, file)
    lines = [line.split() for line in file.getvalue().decode().splitlines()]

    def rows(key: str) -> np.ndarray:
        return np.array([line[1:] for line in lines if line[0] == key], dtype=np.float32)

    np.testing.assert_array_equal(rows("v"), surface.positions)
    np.testing.assert_array_equal(rows("vn"), surface.normals)
    np.testing.assert_array_equal(rows("vt"), surface.texcoords)
    corners = np.array([[word.split("/") for word in line[1:]] for line in lines if line[0] == "f"], dtype=np.int64)
    np.testing.assert_array_equal(corners, np.repeat(surface.triangles[:, :, None].astype(np.int64) + 1, 3, axis=2))
    assert [line for line in lines if line[0] in ("o", "usemtl")] == [
        ["o", "two_words"],
        ["usemtl", "skin"],
        ["usemtl", "unnamed"],
        ["usemtl", "cloth_of_gold"],
    ]
    assert [line[0] for line in lines if line[0] in ("usemtl", "f")].index("usemtl", 1) == 4501


def test_ply_holds_the_same_numbers(surface: ExportSurface) -> None:
    file = io.BytesIO()
    write_ply(surface, file)
    header, _, body = file.getvalue().partition(b"end_header\n")
    assert header.startswith(b"ply\nformat binary_little_endian 1.0\n")
    assert b"element vertex 5000" in header
    assert b"element face 5001" in header
    vertices = np.frombuffer(body, "<f4", 5000 * 8).reshape(5000, 8)
    np.testing.assert_array_equal(vertices[:, :3], surface.positions)
    np.testing.assert_array_equal(vertices[:, 3:6], surface.normals)
    np.testing.assert_array_equal(vertices[:, 6:], surface.texcoords)
    faces = np.frombuffer(body, [("n", "u1"), ("corners", "<u4", 3)], 5001, offset=vertices.nbytes)
    assert set(faces["n"]) == {3}
    np.testing.assert_array_equal(faces["corners"], surface.triangles)
    assert len(body) == vertices.nbytes + faces.nbytes


def test_archives_do_not_depend_on_the_clock(surface: ExportSurface, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"positions": surface.positions, "cape.positions": surface.normals, "time": np.float64(0.5) * np.ones(())}
    first, second = io.BytesIO(), io.BytesIO()
    write_npz(arrays, first)
    year_later = time.time() + 365 * 86400
    monkeypatch.setattr(time, "time", lambda: year_later)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(year_later))
    write_npz(arrays, second)
    assert first.getvalue() == second.getvalue()
    assert zipfile.ZipFile(first).namelist() == ["positions.npy", "cape.positions.npy", "time.npy"]
    second.seek(0)
    with np.load(second) as loaded:
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
            assert loaded[name].dtype == array.dtype
