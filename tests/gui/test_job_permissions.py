"""What was not allowed in the window is not read by its renderings, exports, sweeps and verifications either."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.app.files.project_file import save_project
from sinew.app.output.jobs import DONE
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.gui.editor_harness import sample

PATIENCE = 60000


@pytest.fixture
def elsewhere(tmp_path):
    """A file that is no image, which whoever reads it complains about."""
    path = tmp_path / "elsewhere" / "secret.png"
    path.parent.mkdir()
    path.write_bytes(b"secret")
    return path


def opened(session, qtbot, tmp_path, *nodes):
    project = tmp_path / "work" / "scenes" / "a.sinew"
    project.parent.mkdir(parents=True)
    save_project(project, Scene(nodes=nodes), ViewState())
    editor = session.start()
    editor.files.open(project)
    qtbot.waitUntil(editor.window.question.isVisible, timeout=PATIENCE)
    return editor


def rendered(editor, qtbot, path):
    """The job of one picture."""
    editor.dialogs.path = path
    editor.window.actions_table["file.render"].trigger()
    editor.output.window.render_form.show_values(first=0, last=0, width=32, height=24)
    editor.output.window.render_button.click()
    qtbot.waitUntil(lambda: not editor.output.queue.busy, timeout=PATIENCE)
    return editor.output.queue.jobs[-1] if editor.output.queue.jobs else None


def reported(editor):
    return [message.text for message in editor.panels.messages.messages]


def spots(path):
    settings = EmitterSettings(look=ParticleLook.TEXTURED, texture=str(path))
    return Node(id="e", name="Spots", settings=settings)


@pytest.mark.parametrize("answer", ["Read", "Leave out", ""])
def test_a_job_reads_what_the_window_reads(session, qtbot, tmp_path, elsewhere, answer):
    editor = opened(session, qtbot, tmp_path, spots(elsewhere))
    for button in editor.window.question.buttons:
        if button.text() == answer:
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    job = rendered(editor, qtbot, tmp_path / "out.png")
    assert job.state == DONE, job.text
    assert (tmp_path / "out.png").is_file()
    shown = editor.panels.messages.messages
    complaints = [m.text for m in shown if m.file == str(tmp_path / "out.png") and "secret.png" in m.text]
    assert bool(complaints) is (answer == "Read"), complaints
    assert editor.document.scene.node("e").settings.texture == str(elsewhere), "the scene keeps its name"


def test_a_job_that_needs_what_is_withheld_is_refused_with_the_reason(session, qtbot, tmp_path):
    model = sample("tiny", tmp_path / "elsewhere")
    editor = opened(session, qtbot, tmp_path, Node(id="m", name="Tiny", settings=ModelSettings(path=str(model))))
    QTest.mouseClick(editor.window.question.buttons[1], Qt.MouseButton.LeftButton)
    assert rendered(editor, qtbot, tmp_path / "out.png") is None
    (text,) = reported(editor)
    assert f"Tiny: {model} lies outside the project's folders" in text
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("work", ["verifying", "sweeping"])
def test_copies_for_other_work_name_nothing_withheld(session, qtbot, tmp_path, elsewhere, work):
    editor = opened(session, qtbot, tmp_path, spots(elsewhere))
    folder, copy = getattr(editor.work, work)._queue.snapshot()
    assert "secret" not in copy.read_text()
    QTest.mouseClick(editor.window.question.buttons[0], Qt.MouseButton.LeftButton)
    with folder:
        folder, copy = getattr(editor.work, work)._queue.snapshot()
        assert "secret" in copy.read_text()
    folder.cleanup()
