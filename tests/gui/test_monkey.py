"""Whatever is clicked, typed, dragged and opened: no exception, no OpenGL error, no lost edit."""

import os
import shutil
import zlib

import pytest

from sinew.resources import path as resource
from tests.gui.editor_harness import Clock
from tests.gui.monkey import Monkey

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(3600)]

PROJECTS = ("arm", "cape", "cloth-on-ellipsoid", "faces", "fountain", "pulse", "sparks")
"""The quick ones: with the others a software renderer would have time for nothing else."""
SEEDS = [int(seed) for seed in os.environ.get("SINEW_MONKEY_SEEDS", "1,2,3,4").split(",")]
EVENTS = int(os.environ.get("SINEW_MONKEY_EVENTS", "5000"))
"""Together 20 000 events; `SINEW_MONKEY_SEEDS` and `SINEW_MONKEY_EVENTS` say other numbers."""


@pytest.fixture
def files(tmp_path, request):
    broken = tmp_path / "broken"
    broken.mkdir()
    whole = (resource("projects") / "cape.sinew").read_bytes()
    (broken / "cut.sinew").write_bytes(whole[: len(whole) // 2])
    (broken / "empty.sinew").write_bytes(b"")
    (broken / "noise.ezm").write_bytes(zlib.compress(whole))
    (broken / "noise.glb").write_bytes(b"glTF" + whole[:200])
    shutil.copytree(resource("models") / "tiny", tmp_path / "tiny")
    for folder in ("models", "projects"):  # it saves and bakes where they lie
        shutil.copytree(resource(folder), tmp_path / "samples" / folder)
    projects = [tmp_path / "samples" / "projects" / f"{name}.sinew" for name in PROJECTS]
    good = [*projects, tmp_path / "tiny" / "tiny.ezm", tmp_path / "written.sinew"]
    return [*good, *good, *broken.iterdir(), tmp_path / "missing.sinew", tmp_path / "missing.ezm"]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_events_break_nothing(session, files, tmp_path, monkeypatch, seed):
    for module in ("sinew.widgets.guide", "sinew.app.output.window"):
        monkeypatch.setattr(f"{module}.QDesktopServices.openUrl", lambda _url: True)
    clock = Clock()
    editor = session.start(drawn=True, clock=clock, debug_gl=True)
    Monkey(seed, editor, clock, files, tmp_path).run(EVENTS)
