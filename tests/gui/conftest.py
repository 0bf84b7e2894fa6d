import gc
import math
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.files.project_files import UnsavedAnswer
from sinew.app.session import bootstrap
from tests.gui.editor_harness import Clock, Session, sample, settled
from tests.plugins.packages import loaded, site  # noqa: F401  (fixtures)
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
    values = {"SLOW_PICTURE": math.inf, "LONG_PICTURE": math.inf, "SAMPLES": 0}
    for name, value in values.items():
        patch.setattr(f"sinew.sim.render.progressive.scheduler.{name}", value)


@pytest.fixture
def session(qtbot, tmp_path, monkeypatch):
    """Starts editors with settings and recovery files of their own; their images are never drafts."""
    monkeypatch.setenv("SINEW_CONFIG_DIR", str(tmp_path / "config"))
    draw_in_full(monkeypatch)
    session = Session(qtbot)
    yield session
    session.close_all()


class Spinner:
    """Waits as `qtbot` does, which only lives as long as one test."""

    def waitExposed(self, window):
        """The engine, which is waited for next, is there only once the window is."""

    def waitUntil(self, condition, timeout=None):
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


def put_away(editor):
    """Ends what a test began, and closes the panels below the timeline."""
    editor.playback.pause()
    if editor.handles.mode is not None:
        editor.handles.set_mode(editor.handles.mode)
    editor.dialogs.choice, editor.dialogs.path = UnsavedAnswer.DISCARD, None
    for panel in ("messages", "timings", "plots", "distance", "python"):
        editor.window.docks[panel].close()


def unused(editor):
    editor.dialogs.asked.clear()
    editor.panels.messages.clear()
    settled(editor)
    return editor


@pytest.fixture
def fresh(one_editor):
    """The shared editor with an empty scene, no messages, no handles and no panels below the timeline."""
    put_away(one_editor)
    one_editor.files.new()
    return unused(one_editor)


@pytest.fixture(scope="module")
def kept_arm(tmp_path_factory):
    """Where the arm of the shared editor is, and its project once it is open: values of the document by name."""
    return sample("arm", tmp_path_factory.mktemp("kept")), {}


@pytest.fixture
def editor(one_editor, kept_arm, qtbot):
    """The shared editor as `fresh`, with the arm, which stays uploaded from test to test."""
    put_away(one_editor)
    path, project = kept_arm
    if not project:
        Session(qtbot).load(one_editor, path)
        project |= {"scene": one_editor.document.scene, "view_state": one_editor.document.view_state}
        return unused(one_editor)
    one_editor.files.cancel()
    one_editor.access.withhold(())
    client = one_editor.client
    with one_editor.viewport.gl_current():
        besides = client.ghosts, client.compared, client.penetration, client.bones, client.kernels
        for beside in filter(None, besides):
            beside.release()
    one_editor.document.replace_scene(**project)
    one_editor.files.opened.emit(False)
    Session(qtbot).await_models(one_editor)
    return unused(one_editor)


@pytest.fixture
def arm(tmp_path):
    return sample("arm", tmp_path)


@pytest.fixture
def tiny(tmp_path):
    return sample("tiny", tmp_path)


@pytest.fixture
def own_editor(session, arm):
    return session.open(arm, drawn=True)


@pytest.fixture
def show(qtbot):
    def show_widget(widget, width=320, height=900):
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        widget.activateWindow()
        return widget

    return show_widget
