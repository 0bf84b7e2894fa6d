"""Projects in the editor: read beside the window, and asked about before they reach beyond their folders."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.app.files import project_loader
from sinew.app.files.access import WITHHELD
from sinew.app.files.project_file import load_project, save_project
from sinew.sim.assets.raw import LoadCancelled
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import ViewState
from sinew.widgets.protocols import ModelState
from tests.gui.editor_harness import picture, sample

ALONE = Scene(nodes=(Node(id="a", name="Alone", settings=EmitterSettings()),))


def messages(editor):
    return [message.text for message in editor.panels.messages.messages]


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
    monkeypatch.setattr("sinew.app.files.model_store.os.path.isfile", lambda path: touched.append(path))
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
    qtbot.waitUntil(lambda: any("none.png" in one.file for one in fresh.panels.messages.messages))


def test_folders_that_files_were_opened_from_are_not_asked_about(fresh, reaching, tmp_path, qtbot):
    fresh.recent.add(tmp_path / "elsewhere" / "tiny" / "tiny.ezm")
    fresh.files.open(reaching)
    qtbot.waitUntil(fresh.window.question.isVisible)
    assert "2 files" in fresh.window.question.label.text()
    fresh.files.new()
    assert not fresh.window.question.isVisible()
    fresh.recent._settings.remove("recent_files")


def until_cancelled(path, *, progress, cancelled):
    progress(0.5)
    while not cancelled():
        threading.Event().wait(0.005)
    raise LoadCancelled


@pytest.mark.parametrize("kind", ["model", "cloth"])
def test_nothing_of_a_project_is_shown_once_another_one_with_the_same_ids_is_open(session, tmp_path, monkeypatch, kind):
    """Nodes of two projects may have the same id: the former model is not drawn until the new one is read."""
    paths = []
    for name in ("arm", "tiny"):
        nodes = [Node(id="model-1", name=name, settings=ModelSettings(path=str(sample(name, tmp_path))))]
        if kind == "cloth":
            nodes.append(Node(id="cloth-1", name="Cloth", settings=ClothSettings(columns=4 + len(name), rows=5)))
        paths.append(tmp_path / f"{name}.sinew")
        save_project(paths[-1], Scene(nodes=tuple(nodes)), ViewState())
    editor = session.open(paths[0])
    picture(editor)
    engine = editor.client.engine
    former, simulated = engine.model_of("model-1"), engine.simulation.systems.get("cloth-1")
    assert former is not None
    go, load = threading.Event(), editor.loader._load

    def slow(path, **options):
        assert go.wait(60.0)
        return load(path, **options)

    monkeypatch.setattr(editor.loader, "_load", slow)
    seen = []
    editor.files.opened.connect(lambda _: seen.append((engine.model_of("model-1"), dict(engine.simulation.systems))))
    with session._qtbot.waitSignal(editor.files.opened, timeout=60_000):
        editor.files.open(paths[1])
    picture(editor)
    assert editor.store.status("model-1").state is ModelState.LOADING
    seen.append((engine.model_of("model-1"), dict(engine.simulation.systems)))
    assert [model for model, _ in seen] == [None, None]
    assert all(systems.get("cloth-1") is not simulated for _, systems in seen if kind == "cloth")
    go.set()
    session._qtbot.waitUntil(lambda: engine.model_of("model-1") is not None, timeout=60_000)
    assert engine.model_of("model-1") is editor.store.loaded("model-1").model is not former


def test_a_model_whose_loading_is_cancelled_says_so_and_loads_again(fresh, tmp_path, monkeypatch, qtbot):
    path, load = str(sample("tiny", tmp_path)), fresh.loader._load

    monkeypatch.setattr(fresh.loader, "_load", until_cancelled)
    node_id = fresh.document.add_node(Node(id="", name="Tiny", settings=ModelSettings(path=path)))
    qtbot.waitUntil(fresh.window._cancel.isVisible, timeout=60_000)
    QTest.keyClick(fresh.window, Qt.Key.Key_Escape)
    assert messages(fresh) == ["loading was cancelled; reload the model to try again"]
    status = fresh.store.status(node_id)
    assert status.state is ModelState.FAILED
    assert "reload the model to try again" in status.text
    monkeypatch.setattr(fresh.loader, "_load", load)
    fresh.store.reload(node_id)
    qtbot.waitUntil(lambda: fresh.store.status(node_id).state is ModelState.READY, timeout=60_000)


def test_a_model_that_gives_way_to_another_file_or_project_is_no_message(fresh, project, tmp_path, monkeypatch, qtbot):
    monkeypatch.setattr(fresh.loader, "_load", until_cancelled)
    first, second = (str(sample(name, tmp_path)) for name in ("tiny", "arm"))
    node_id = fresh.document.add_node(Node(id="", name="Tiny", settings=ModelSettings(path=first)))
    fresh.document.set_value(ParamRef(node_id, "model", "path"), second)
    assert fresh.store.status(node_id).state is ModelState.LOADING
    fresh.files.open(project)
    qtbot.waitUntil(lambda: fresh.document.path == project, timeout=60_000)
    assert messages(fresh) == []
