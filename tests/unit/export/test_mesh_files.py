import io
import os
import resource
import subprocess
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sinew.app.failure.errors import failure_text
from sinew.app.headless.image_sink import picture_sink
from sinew.sim.export.formats import IMAGE_WRITERS, LAYER_FORMATS, SCENE_FORMATS, VIDEO_FORMATS, ExportError
from sinew.sim.export.image import Layers
from sinew.sim.export.npz import write_npz
from sinew.sim.export.scene import alembic as apart
from sinew.sim.export.scene import writing
from sinew.sim.export.scene.recording import SceneRecording, Track
from sinew.sim.export.surface import ExportSurface, write_obj, write_ply


@pytest.fixture
def surface() -> ExportSurface:
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


SPACE = 200 << 10
RANDOM = np.random.default_rng(3)
LONG = SceneRecording((Track(
    name="Sheet", positions=RANDOM.normal(size=(40, 1000, 3)).astype(np.float32),
    triangles=np.array([[0, 1, 2]], np.uint32),
),), 30.0)  # fmt: skip
IMAGES = {f"a%d{suffix}" for suffix in (*IMAGE_WRITERS.suffixes(), *LAYER_FORMATS.suffixes())}


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk that fills soon; where none can be mounted, files that cannot grow beyond a limit."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SPACE}", "tmpfs", str(folder)]
    if subprocess.run(mounting, capture_output=True).returncode == 0:
        yield folder
        subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE // 4, before[1]))
    yield folder
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def require(path: Path) -> None:
    for formats in (SCENE_FORMATS, VIDEO_FORMATS, LAYER_FORMATS):
        if path.suffix in formats.suffixes() and (module := formats.of(path).module):
            pytest.importorskip(module)


@pytest.mark.parametrize("suffix", SCENE_FORMATS.suffixes())
def test_scenes(suffix: str, narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk had room when writing began."""
    path = narrow / f"a{suffix}"
    require(path)
    monkeypatch.setattr(writing, "_require_room", lambda *_: None)
    with pytest.raises((OSError, ExportError)) as failed:
        writing.write_scene(LONG, path, SCENE_FORMATS.of(path), None, print, print)
    assert failure_text(failed.value).startswith((f"{narrow}/a.", f"{narrow}/a_vat."))
    assert os.listdir(narrow) == []


@pytest.mark.parametrize("name", sorted(IMAGES | {f"a{suffix}" for suffix in VIDEO_FORMATS.suffixes()}))
def test_videos_and_images(name: str, narrow: Path) -> None:
    """Of a sequence, what was whole before stays."""
    path = narrow / name
    require(path)
    with pytest.raises((OSError, ExportError)) as failed:
        draw(path)
    assert failure_text(failed.value).startswith(f"{narrow}/a")
    whole = os.listdir(narrow)
    assert all(one.startswith("a") for one in whole)
    assert bool(whole) is (name in IMAGES)


def draw(path: Path) -> None:
    with picture_sink(path, (160, 120), 30.0, None, alpha=False) as sink:
        for frame in range(60):
            image = RANDOM.integers(0, 255 if frame else 1, (120, 160, 3), np.uint8)
            sink.add(frame, image, layers(image) if sink.has_layers else None)


def layers(image: np.ndarray) -> Layers:
    depth = image[..., 0].astype(np.float32)
    return Layers(image, depth, image.astype(np.float32), depth.astype(np.uint32), ("Sheet",))


def never_ends(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    import time

    time.sleep(600)


def test_a_library_that_waits_for_room_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(apart, "PATIENCE", 0.1)
    monkeypatch.setattr(apart, "is_full", lambda path: True)
    with pytest.raises(RuntimeError, match="no room left"):
        apart.write_apart(never_ends, LONG, (tmp_path / "a.abc",))
