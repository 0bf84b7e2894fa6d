"""A disk that fills while something is written: one line that says so, and nothing of it remains."""

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.failure import failure_text
from sinew.app.cli.image_sink import picture_sink
from sinew.sim.export.formats import IMAGE_WRITERS, LAYER_FORMATS, SCENE_FORMATS, VIDEO_FORMATS, ExportError
from sinew.sim.export.image import Layers
from sinew.sim.export.scene import alembic as apart
from sinew.sim.export.scene import writing
from sinew.sim.export.scene.recording import SceneRecording, Track

ROOM = 200 << 10
RANDOM = np.random.default_rng(3)
LONG = SceneRecording((Track(
    name="Sheet", positions=RANDOM.normal(size=(40, 1000, 3)).astype(np.float32),
    triangles=np.array([[0, 1, 2]], np.uint32),
),), 30.0)  # fmt: skip
PICTURES = {f"a%d{suffix}" for suffix in (*IMAGE_WRITERS.suffixes(), *LAYER_FORMATS.suffixes())}


@pytest.fixture(params=["disk", "limit"])
def narrow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk that fills soon, or one where files cannot grow beyond a limit."""
    folder = tmp_path / "small"
    folder.mkdir()
    if request.param == "limit":
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM // 4, before[1]))
        yield folder
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    if subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


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
    assert failure_text(failed.value).startswith(f"{narrow}/a.")
    assert os.listdir(narrow) == []


@pytest.mark.parametrize("name", sorted(PICTURES | {f"a{suffix}" for suffix in VIDEO_FORMATS.suffixes()}))
def test_films_and_pictures(name: str, narrow: Path) -> None:
    """Of a sequence, what was whole before stays."""
    path = narrow / name
    require(path)
    with pytest.raises((OSError, ExportError)) as failed:
        draw(path)
    assert failure_text(failed.value).startswith(f"{narrow}/a")
    whole = os.listdir(narrow)
    assert all(one.startswith("a") for one in whole)
    assert bool(whole) is (name in PICTURES)


def draw(path: Path) -> None:
    """A black picture, and many of noise."""
    with picture_sink(path, (160, 120), 30.0, None, alpha=False) as sink:
        for frame in range(60):
            picture = RANDOM.integers(0, 255 if frame else 1, (120, 160, 3), np.uint8)
            sink.add(frame, picture, layers(picture) if sink.has_layers else None)


def layers(picture: np.ndarray) -> Layers:
    """The same, with layers of it."""
    depth = picture[..., 0].astype(np.float32)
    return Layers(picture, depth, picture.astype(np.float32), depth.astype(np.uint32), ("Sheet",))


def never_ends(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """A library that waits for room."""
    import time

    time.sleep(600)


def test_a_library_that_waits_for_room_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(apart, "PATIENCE", 0.1)
    monkeypatch.setattr(apart, "is_full", lambda path: True)
    with pytest.raises(RuntimeError, match="no room left"):
        apart.write_apart(never_ends, LONG, (tmp_path / "a.abc",))
