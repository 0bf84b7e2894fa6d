"""Fixtures of tests on the whole editor."""

import gc
import math
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from sinew.app import bootstrap
from sinew.app.files.project_files import UnsavedAnswer
from tests.gui.editor_harness import Clock, Session, picture, sample
from tests.strict_shaders import strict_shaders  # noqa: F401  (an autouse fixture)

# Sharing contexts is settled before the application exists, which the first test makes.
bootstrap.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Garbage of tests with windows is collected between them: amid the deletion of a widget that crashes."""
    if Path(__file__).parent not in item.path.parents:
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def draw_in_full(patch):
    """Has no picture be a draft, however slow the machine is."""
    for name in ("SLOW_PICTURE", "LONG_PICTURE"):
        patch.setattr(f"sinew.sim.render.progressive.scheduler.{name}", math.inf)


@pytest.fixture
def session(qtbot, tmp_path, monkeypatch):
    """Editors with settings and recovery files of their own; slow pictures are never drafts."""
    monkeypatch.setenv("SINEW_CONFIG_DIR", str(tmp_path / "config"))
    draw_in_full(monkeypatch)
    session = Session(qtbot)
    yield session
    session.close_all()


class Spinner:
    """Waits as `qtbot` does, which only lives as long as one test."""

    def waitExposed(self, window):
        """The engine, which is waited for next, is there only once the window is."""

    def waitUntil(self, condition):
        while not condition():
            QApplication.processEvents()


@pytest.fixture(scope="module")
def one_editor(qapp, tmp_path_factory):
    """An editor that the tests of a module share, with a clock that stands; for `fresh`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SINEW_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        draw_in_full(patch)
        session = Session(Spinner())
        editor = session.start(clock=Clock())
        editor.playback._timer.setInterval(100000)  # ticks come from the test
        yield editor
        session.close_all()


@pytest.fixture
def fresh(one_editor):
    """The shared editor with nothing in it, no messages and no handles."""
    one_editor.playback.pause()
    if one_editor.handles.mode is not None:
        one_editor.handles.set_mode(one_editor.handles.mode)
    one_editor.dialogs.choice = UnsavedAnswer.DISCARD
    one_editor.files.new()
    one_editor.panels.messages.clear()
    picture(one_editor)
    return one_editor


@pytest.fixture
def arm(tmp_path):
    """A small skinned, animated and textured model."""
    return sample("arm", tmp_path)


@pytest.fixture
def tiny(tmp_path):
    """Six vertices on two bones that nod."""
    return sample("tiny", tmp_path)


@pytest.fixture
def editor(session, arm):
    """An editor with the arm open."""
    return session.open(arm)
