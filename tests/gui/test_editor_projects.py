"""Projects in the editor: read beside the window, and asked about before they reach beyond their folders."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.files import project_loader
from app.files.access import WITHHELD
from app.files.project_file import load_project, save_project
from sim.characters.settings import ModelSettings
from sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sim.scene.scene import Node, Scene
from sim.scene.view_state import ViewState
from tests.gui.editor_harness import sample
from widgets.protocols import ModelState

ALONE = Scene(nodes=(Node(id="a", name="Alone", settings=EmitterSettings()),))


def messages(editor):
    return [message.text for message in editor.panels.messages.model.messages]


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "work" / "scenes" / "alone.sinew"
    path.parent.mkdir(parents=True)
    save_project(path, ALONE, ViewState())
    return path


@pytest.fixture
def slow(monkeypatch):
    """Reading waits for an event, or its own end."""
    go = threading.Event()

    def load(path, *, progress, cancelled):
        progress(0.25)
        while not go.wait(0.005):
            if cancelled():
                raise project_loader.LoadCancelled
        return load_project(path, progress=progress, cancelled=cancelled)

    monkeypatch.setattr(project_loader, "load_project", load)
    yield go
    go.set()


def test_a_project_is_read_beside_the_window_with_progress(fresh, project, slow, qtbot):
    fresh.files.open(project)
    assert fresh.files.busy
    qtbot.waitUntil(lambda: fresh.window._bar.value() == 25)
    assert fresh.window._cancel.isVisible()
    assert "alone.sinew" in fresh.window._loading.text()
    assert fresh.document.scene.nodes == ()
    slow.set()
    qtbot.waitUntil(lambda: fresh.document.scene.nodes != ())
    assert not fresh.window._cancel.isVisible()
    assert not fresh.files.busy


@pytest.mark.parametrize("way", ["button", "escape"])
def test_reading_a_project_is_given_up(fresh, project, slow, qtbot, way):
    fresh.files.open(project)
    qtbot.waitUntil(fresh.window._cancel.isVisible)
    if way == "button":
        QTest.mouseClick(fresh.window._cancel, Qt.MouseButton.LeftButton)
    else:
        QTest.keyClick(fresh.window, Qt.Key.Key_Escape)
    assert not fresh.files.busy
    assert not fresh.window._cancel.isVisible()
    assert messages(fresh) == ["loading was cancelled"]
    slow.set()
    qtbot.wait(50)
    assert fresh.document.scene.nodes == ()


def test_the_later_of_two_projects_is_shown(fresh, project, slow, qtbot):
    other = project.with_name("other.sinew")
    save_project(other, Scene(), ViewState())
    fresh.files.open(other)
    fresh.files.open(project)
    slow.set()
    qtbot.waitUntil(lambda: not fresh.files.busy)
    qtbot.wait(50)
    assert fresh.document.path == project
    assert messages(fresh) == []


def test_a_wrong_value_is_a_message_and_the_scene_stays(fresh, project, qtbot):
    fresh.document.add_node(Node(id="", name="mine", settings=EmitterSettings()))
    project.write_text(project.read_text().replace('"rate": 500.0', '"rate": "much"'))
    fresh.files.open(project)
    qtbot.waitUntil(lambda: bool(messages(fresh)))
    assert "$.nodes[0].emitter.rate" in messages(fresh)[0]
    assert [node.name for node in fresh.document.scene.nodes] == ["mine"]


@pytest.fixture
def reaching(tmp_path, project):
    """A project that names a model and an image elsewhere, one that is there and one that is not, and a share."""
    model, image = sample("tiny", tmp_path / "elsewhere"), tmp_path / "elsewhere" / "none.png"
    spots = EmitterSettings(look=ParticleLook.TEXTURED, texture=str(image))
    nodes = (
        Node(id="m", name="Model", settings=ModelSettings(path=str(model))),
        Node(id="n", name="None", settings=ModelSettings(path=str(model.with_name("none.ezm")))),
        Node(id="e", name="Spots", settings=spots),
        Node(id="s", name="Share", settings=ModelSettings(path="//host/share/a.ezm")),
    )
    save_project(project, Scene(nodes=nodes), ViewState())
    text = project.read_text()
    share = next(line for line in text.splitlines() if "host/share" in line)
    project.write_text(text.replace(share, '        "path": "//host/share/a.ezm",'))
    return project


def states(editor):
    return {node: editor.store.status(node).state for node in ("m", "n", "s")}


def test_files_elsewhere_are_asked_about_once_before_they_are_touched(fresh, reaching, qtbot, monkeypatch):
    touched = []
    monkeypatch.setattr("app.files.model_store.os.path.isfile", lambda path: touched.append(path))
    fresh.files.open(reaching)
    question = fresh.window.question
    qtbot.waitUntil(question.isVisible)
    assert "4 files" in question.label.text()
    assert "another machine" in question.label.text()
    assert "none.png" in question.toolTip()
    assert question.geometry().bottom() < fresh.viewport.geometry().top()
    qtbot.wait(50)
    assert touched == []
    assert states(fresh) == dict.fromkeys("mns", ModelState.WITHHELD)
    texts = {fresh.store.status(node).text.partition(": ")[2] for node in "mns"}
    assert texts == {WITHHELD}, "it does not tell which are there"
    QTest.mouseClick(question.buttons[1], Qt.MouseButton.LeftButton)
    assert not question.isVisible()
    qtbot.wait(50)
    assert touched == []
    assert messages(fresh) == []


def test_allowed_files_are_read(fresh, reaching, qtbot):
    fresh.files.open(reaching)
    qtbot.waitUntil(fresh.window.question.isVisible)
    QTest.mouseClick(fresh.window.question.buttons[0], Qt.MouseButton.LeftButton)
    assert not fresh.window.question.isVisible()
    qtbot.waitUntil(lambda: states(fresh)["m"] is ModelState.READY, timeout=60000)
    assert states(fresh)["n"] is ModelState.MISSING
    qtbot.waitUntil(lambda: any("none.png" in one.file for one in fresh.panels.messages.model.messages))


def test_folders_that_files_were_opened_from_are_not_asked_about(fresh, reaching, tmp_path, qtbot):
    fresh.recent.add(tmp_path / "elsewhere" / "tiny" / "tiny.ezm")
    fresh.files.open(reaching)
    qtbot.waitUntil(fresh.window.question.isVisible)
    assert "2 files" in fresh.window.question.label.text()
    fresh.files.new()
    assert not fresh.window.question.isVisible()
    fresh.recent._store([])
