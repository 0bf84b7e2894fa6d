import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.app.files import project_loader
from sinew.app.output.window import RENDER
from sinew.app.project.access import WITHHELD
from sinew.app.project.project_file import load_project, save_project
from sinew.app.session.job_queue import DONE
from sinew.sim.assets.raw import LoadCancelled
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import ViewState
from sinew.widgets.protocols import ModelState
from tests.gui.editor_harness import Session, messages, sample, settled

ALONE = Scene(nodes=(Node(id="a", name="Alone", settings=EmitterSettings()),))


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "work" / "scenes" / "alone.sinew"
    path.parent.mkdir(parents=True)
    save_project(path, ALONE, ViewState())
    return path


@pytest.fixture
def slow(monkeypatch):
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


def test_a_project_is_read_with_progress_and_cancelled(fresh, project, slow, qtbot):
    for cancel in (
        lambda: QTest.mouseClick(fresh.window._cancel, Qt.MouseButton.LeftButton),
        lambda: QTest.keyClick(fresh.window, Qt.Key.Key_Escape),
    ):
        fresh.panels.messages.clear()
        fresh.files.open(project)
        qtbot.waitUntil(lambda: fresh.window._bar.value() == 25, timeout=60000)
        assert fresh.window._cancel.isVisible()
        assert "alone.sinew" in fresh.window._loading.text()
        cancel()
        assert not fresh.files.busy
        assert not fresh.window._cancel.isVisible()
        assert messages(fresh) == ["loading was cancelled"]
    slow.set()
    qtbot.wait(50)
    assert fresh.document.scene.nodes == ()
    fresh.files.open(project)
    assert fresh.files.busy
    qtbot.waitUntil(lambda: fresh.document.scene.nodes != (), timeout=60000)
    assert not fresh.window._cancel.isVisible()


def test_an_invalid_project_is_reported_and_the_scene_stays(fresh, project, qtbot):
    fresh.document.add_node(Node(id="", name="mine", settings=EmitterSettings()))
    project.write_text(project.read_text().replace('"rate": 500.0', '"rate": "much"'))
    fresh.files.open(project)
    qtbot.waitUntil(lambda: bool(messages(fresh)), timeout=60000)
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


def test_files_outside_the_folders_need_a_permission(fresh, reaching, qtbot, monkeypatch):
    touched = []
    monkeypatch.setattr("sinew.app.files.model_store.os.path.isfile", lambda path: touched.append(path))
    fresh.files.open(reaching)
    question = fresh.window.question
    qtbot.waitUntil(question.isVisible, timeout=60000)
    assert "4 files" in question.label.text()
    assert "another machine" in question.label.text()
    assert "none.png" in question.toolTip()
    assert question.geometry().bottom() < fresh.viewport.geometry().top()
    qtbot.wait(50)
    assert touched == []
    assert states(fresh) == dict.fromkeys("mns", ModelState.WITHHELD)
    texts = {fresh.store.status(node).text.partition(": ")[2] for node in "mns"}
    assert texts == {WITHHELD}, "which of them exist stays unknown"
    QTest.mouseClick(question.buttons[1], Qt.MouseButton.LeftButton)
    assert not question.isVisible()
    qtbot.wait(50)
    assert touched == []
    assert messages(fresh) == []


def test_allowed_files_and_recent_folders_are_read(fresh, reaching, tmp_path, qtbot):
    fresh.files.open(reaching)
    qtbot.waitUntil(fresh.window.question.isVisible, timeout=60000)
    QTest.mouseClick(fresh.window.question.buttons[0], Qt.MouseButton.LeftButton)
    assert not fresh.window.question.isVisible()
    qtbot.waitUntil(lambda: states(fresh)["m"] is ModelState.READY, timeout=60000)
    assert states(fresh)["n"] is ModelState.MISSING
    listed = fresh.panels.messages
    qtbot.waitUntil(lambda: any("none.png" in one.file for one in listed.messages), timeout=60000)
    fresh.files.new()
    fresh.recent.add(tmp_path / "elsewhere" / "tiny" / "tiny.ezm")
    fresh.files.open(reaching)
    qtbot.waitUntil(fresh.window.question.isVisible, timeout=60000)
    assert "2 files" in fresh.window.question.label.text()
    fresh.files.new()
    assert not fresh.window.question.isVisible()
    fresh.recent._settings.remove("recent_files")


def until_cancelled(path, *, progress, cancelled):
    progress(0.5)
    while not cancelled():
        threading.Event().wait(0.005)
    raise LoadCancelled


@pytest.mark.slow
def test_models_and_systems_of_the_former_project_are_not_shown(fresh, tmp_path, monkeypatch, qtbot):
    paths = []
    for name in ("arm", "tiny"):
        nodes = (
            Node(id="model-1", name=name, settings=ModelSettings(path=str(sample(name, tmp_path)))),
            Node(id="cloth-1", name="Cloth", settings=ClothSettings(columns=4 + len(name), rows=5)),
        )
        paths.append(tmp_path / f"{name}.sinew")
        save_project(paths[-1], Scene(nodes=nodes), ViewState())
    Session(qtbot).load(fresh, paths[0])
    settled(fresh)
    engine = fresh.client.engine
    former, simulated = engine.model_of("model-1"), engine.simulation.systems["cloth-1"]
    assert former is not None
    go, load = threading.Event(), fresh.loader._load

    def slow(path, **options):
        assert go.wait(60.0)
        return load(path, **options)

    monkeypatch.setattr(fresh.loader, "_load", slow)
    seen = []

    def look(*_):
        seen.append((engine.model_of("model-1"), engine.simulation.systems.get("cloth-1")))

    fresh.files.opened.connect(look)
    with qtbot.waitSignal(fresh.files.opened, timeout=60000):
        fresh.files.open(paths[1])
    fresh.files.opened.disconnect(look)
    settled(fresh)
    assert fresh.store.status("model-1").state is ModelState.LOADING
    look()
    assert [model for model, _ in seen] == [None, None]
    assert all(system is not simulated for _, system in seen)
    go.set()
    qtbot.waitUntil(lambda: engine.model_of("model-1") is not None, timeout=60000)
    assert engine.model_of("model-1") is fresh.store.loaded("model-1").model is not former


@pytest.mark.slow
def test_a_cancelled_model_is_reported_and_loaded_again(fresh, tmp_path, monkeypatch, qtbot):
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


def test_a_model_replaced_while_it_loads_is_not_reported(fresh, project, tmp_path, monkeypatch, qtbot):
    monkeypatch.setattr(fresh.loader, "_load", until_cancelled)
    first, second = (str(sample(name, tmp_path)) for name in ("tiny", "arm"))
    node_id = fresh.document.add_node(Node(id="", name="Tiny", settings=ModelSettings(path=first)))
    fresh.document.set_value(ParamRef(node_id, "model", "path"), second)
    assert fresh.store.status(node_id).state is ModelState.LOADING
    fresh.files.open(project)
    qtbot.waitUntil(lambda: fresh.document.path == project, timeout=60_000)
    assert messages(fresh) == []


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
    editor.window.actions_table["file.render"].trigger()
    window = editor.output.window_of()
    window.render_form.show_values(first=0, last=0, width=32, height=24)
    window.files[RENDER].set_text(str(path))
    window.render_button.click()
    qtbot.waitUntil(lambda: not editor.output.queue.busy, timeout=PATIENCE)
    return editor.output.queue.jobs[-1] if editor.output.queue.jobs else None


def spots(path):
    settings = EmitterSettings(look=ParticleLook.TEXTURED, texture=str(path))
    return Node(id="e", name="Spots", settings=settings)


@pytest.mark.slow
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
            folder, copy = getattr(fresh.features["simulation"], work)._queue.snapshot()
            with folder:
                assert ("secret" in copy.read_text()) is allowed
