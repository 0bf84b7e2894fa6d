import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.app.files.project_file import save_project
from sinew.app.output.jobs import DONE
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.gui.editor_harness import messages, sample

PATIENCE = 60000


@pytest.fixture
def elsewhere(tmp_path):
    """A file that is no image: reading it is reported."""
    path = tmp_path / "elsewhere" / "secret.png"
    path.parent.mkdir()
    path.write_bytes(b"secret")
    return path


def opened(editor, qtbot, tmp_path, *nodes):
    project = tmp_path / "work" / "scenes" / "a.sinew"
    project.parent.mkdir(parents=True, exist_ok=True)
    save_project(project, Scene(nodes=nodes), ViewState())
    editor.files.open(project)
    qtbot.waitUntil(editor.window.question.isVisible, timeout=PATIENCE)


def rendered(editor, qtbot, path):
    editor.dialogs.path = path
    editor.window.actions_table["file.render"].trigger()
    editor.output.window.render_form.show_values(first=0, last=0, width=32, height=24)
    editor.output.window.render_button.click()
    qtbot.waitUntil(lambda: not editor.output.queue.busy, timeout=PATIENCE)
    return editor.output.queue.jobs[-1] if editor.output.queue.jobs else None


def spots(path):
    settings = EmitterSettings(look=ParticleLook.TEXTURED, texture=str(path))
    return Node(id="e", name="Spots", settings=settings)


def test_a_job_reads_what_the_window_may_read(fresh, qtbot, tmp_path, elsewhere):
    for answer in ("Leave out", "Read"):
        opened(fresh, qtbot, tmp_path, spots(elsewhere))
        for button in fresh.window.question.buttons:
            if button.text() == answer:
                QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        path = tmp_path / f"{answer}.png"
        job = rendered(fresh, qtbot, path)
        assert job.state == DONE, job.text
        assert path.is_file()
        shown = fresh.panels.messages.messages
        complaints = [m.text for m in shown if m.file == str(path) and "secret.png" in m.text]
        assert bool(complaints) is (answer == "Read"), complaints
        assert fresh.document.scene.node("e").settings.texture == str(elsewhere), "the scene keeps its name"
        fresh.files.new()
    fresh.output.window.close()


def test_a_job_without_its_model_is_refused(fresh, qtbot, tmp_path):
    model, count = sample("tiny", tmp_path / "elsewhere"), len(fresh.output.queue.jobs)
    opened(fresh, qtbot, tmp_path, Node(id="m", name="Tiny", settings=ModelSettings(path=str(model))))
    QTest.mouseClick(fresh.window.question.buttons[1], Qt.MouseButton.LeftButton)
    rendered(fresh, qtbot, tmp_path / "out.png")
    assert len(fresh.output.queue.jobs) == count
    (text,) = messages(fresh)
    assert f"Tiny: {model} lies outside the project's folders" in text
    assert not list(tmp_path.glob("out*"))
    fresh.output.window.close()


def test_copies_for_other_work_name_no_withheld_file(fresh, qtbot, tmp_path, elsewhere):
    opened(fresh, qtbot, tmp_path, spots(elsewhere))
    for allowed in (False, True):
        if allowed:
            QTest.mouseClick(fresh.window.question.buttons[0], Qt.MouseButton.LeftButton)
        for work in ("verifying", "sweeping"):
            folder, copy = getattr(fresh.work, work)._queue.snapshot()
            with folder:
                assert ("secret" in copy.read_text()) is allowed
