import json
import os
import shutil
import threading

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew import shaders
from sinew.app.files import file_watch
from sinew.app.files.file_watch import FileWatch
from sinew.app.files.project_files import UnsavedAnswer
from sinew.app.files.recovery import RecoveryStore
from sinew.app.project.digest import file_digest
from sinew.app.project.project_file import load_project, save_project
from sinew.app.project.settings_store import data_folder
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.assets.gltf.file import split_file
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import ViewState
from sinew.widgets.protocols import ModelState
from tests.gltf_samples import Sample
from tests.gui.editor_harness import Session, picture, sample

INTENSITY = ParamRef("l", "light", "intensity")
PATIENCE = 60000


def lit(intensity):
    return Scene(nodes=(Node(id="l", name="Sun", settings=LightSettings(intensity=intensity)),))


def write(path, intensity):
    save_project(path, lit(intensity), ViewState())


def stored(path):
    return load_project(path).scene.node("l").settings.intensity


def shown(editor):
    return editor.document.scene.node("l").settings.intensity


def press(editor, caption):
    (button,) = (one for one in editor.window.disk_question.buttons if one.text() == caption)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def captions(editor):
    bar = editor.window.disk_question
    return [button.text() for button in bar.buttons] if bar.isVisible() else []


def turn_to(editor):
    editor.window.activateWindow()
    QApplication.sendEvent(editor.window, QEvent(QEvent.Type.ActivationChange))


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "work" / "scenes" / "lit.sinew"
    path.parent.mkdir(parents=True)
    write(path, 1.0)
    return path


@pytest.fixture
def editor(fresh, project, qtbot):
    watcher = fresh.features["saving"].disk_changes.watch._watcher
    watcher.blockSignals(True)  # file systems without notifications
    Session(qtbot).load(fresh, project)
    yield fresh
    watcher.blockSignals(False)


@pytest.mark.slow
def test_two_windows_on_one_project_do_not_overwrite_each_other(session, editor, project, qtbot):
    other = session.open(project)
    other.document.set_value(INTENSITY, 2.0)
    assert other.files.save()
    editor.document.set_value(INTENSITY, 3.0)
    assert not editor.files.save()
    assert stored(project) == 2.0
    assert editor.document.modified
    assert captions(editor) == ["Save Anyway", "Reload", "Save As…"]
    assert "lit.sinew was not saved" in editor.window.disk_question.label.text()
    assert editor.dialogs.asked == [], "nothing stands in the way"
    press(editor, "Save Anyway")
    assert stored(project) == 3.0
    assert not editor.document.modified
    assert captions(editor) == []
    turn_to(other)
    qtbot.waitUntil(lambda: captions(other) == ["Reload", "Keep Mine"], timeout=PATIENCE)
    press(other, "Reload")
    qtbot.waitUntil(lambda: shown(other) == 3.0, timeout=PATIENCE)
    assert not other.document.modified
    assert other.files.save()


@pytest.mark.slow
def test_contents_are_compared_not_times_and_own_saves_are_no_changes(editor, project, qtbot):
    before, text = project.stat(), project.read_text()
    project.write_text(text.replace('"intensity": 1.0', '"intensity": 4.0'))
    os.utime(project, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.stat().st_size == before.st_size
    editor.document.set_value(INTENSITY, 3.0)
    assert not editor.files.save()
    assert stored(project) == 4.0
    project.write_text(text)  # as it was read, later
    assert editor.files.save()
    assert stored(project) == 3.0
    for value in (2.0, 3.0, 4.0):
        editor.document.set_value(INTENSITY, value)
        turn_to(editor)
        assert editor.files.save()
        turn_to(editor)
        qtbot.wait(200)
    assert captions(editor) == []
    project.unlink()
    turn_to(editor)
    qtbot.wait(400)
    assert captions(editor) == []
    assert editor.files.save(), "a deleted file is written again"


def test_a_changed_project_is_reloaded_or_saved_elsewhere_and_not_overwritten(editor, project, qtbot):
    write(project, 2.0)
    editor.document.set_value(INTENSITY, 3.0)
    editor.files.save()
    editor.dialogs.path = project.with_name("mine.sinew")
    press(editor, "Save As…")
    assert (stored(project), stored(project.with_name("mine.sinew"))) == (2.0, 3.0)
    assert captions(editor) == []
    write(project.with_name("mine.sinew"), 4.0)
    editor.document.set_value(INTENSITY, 5.0)
    editor.dialogs.choice = UnsavedAnswer.SAVE
    editor.window.close()
    assert editor.window.isVisible()
    assert stored(project.with_name("mine.sinew")) == 4.0
    assert captions(editor) == ["Save Anyway", "Reload", "Save As…"]
    press(editor, "Reload")
    qtbot.waitUntil(lambda: shown(editor) == 4.0, timeout=PATIENCE)
    assert captions(editor) == []
    assert not editor.document.modified


def test_a_change_is_offered_once_when_the_window_is_activated(editor, project, qtbot):
    qtbot.wait(400)  # an activation that is late must not find the change
    write(project, 2.0)
    qtbot.wait(400)
    assert captions(editor) == []
    turn_to(editor)
    qtbot.waitUntil(lambda: captions(editor) == ["Reload", "Keep Mine"], timeout=PATIENCE)
    assert shown(editor) == 1.0
    press(editor, "Keep Mine")
    turn_to(editor)
    qtbot.wait(400)
    assert captions(editor) == [], "one question for the same content"
    editor.document.set_value(INTENSITY, 3.0)
    assert not editor.files.save(), "but is not overwritten"


def test_a_recovered_project_does_not_overwrite_a_newer_file(session, project, qtbot):
    store = RecoveryStore(data_folder() / "recovery")
    store.write(lit(3.0), ViewState(), UnknownContent(), project, load_project(project).digest)
    for lock in store._locks.values():
        os.close(lock._handle)
    write(project, 2.0)
    editor = session.start()
    editor.recovering.offer()
    qtbot.waitUntil(lambda: captions(editor) == ["Reload", "Keep Mine"], timeout=PATIENCE)
    assert shown(editor) == 3.0
    assert not editor.files.save()
    assert stored(project) == 2.0
    press(editor, "Save Anyway")
    assert stored(project) == 3.0


@pytest.fixture
def model(tmp_path):
    return sample("arm", tmp_path / "work")


@pytest.fixture
def posed(fresh, model, qtbot):
    Session(qtbot).load(fresh, model)
    fresh.document.rename("model-1", "Limb")
    return fresh


def ready(editor):
    return editor.store.status("model-1").state is ModelState.READY and not editor.uploads.uploading


def test_a_replaced_model_is_read_again_and_the_history_stays(posed, model, qtbot):
    before = posed.store.loaded("model-1").model
    taller = model.with_name("new.ezm")
    taller.write_text(model.read_text().replace('<Animation name="twist"', '<Animation name="screw"'))
    os.replace(taller, model)
    qtbot.waitUntil(lambda: posed.store.loaded("model-1").model is not before, timeout=PATIENCE)
    qtbot.waitUntil(lambda: ready(posed), timeout=PATIENCE)
    assert "screw" in [clip.name for clip in posed.store.loaded("model-1").model.clips]
    assert posed.client.engine.model_of("model-1") is posed.store.loaded("model-1").model
    assert "Reloaded from disk: arm.ezm" in posed.window._hint.text()
    assert posed.document.modified
    posed.document.undo_stack.undo()
    assert posed.document.scene.node("model-1").name == "arm"
    posed.document.undo_stack.redo()
    assert posed.document.scene.node("model-1").name == "Limb"


def test_a_model_that_cannot_be_read_stays_as_it_was(posed, model, qtbot):
    before, text = posed.store.loaded("model-1").model, model.read_text()
    model.write_text(text[: len(text) // 2])
    reported = posed.panels.messages
    qtbot.waitUntil(lambda: bool(reported.messages), timeout=PATIENCE)
    assert "what was read before stays" in reported.messages[0].text
    assert posed.store.loaded("model-1").model is before
    assert posed.store.status("model-1").state is ModelState.READY
    assert posed.client.engine.model_of("model-1") is before
    model.unlink()
    qtbot.wait(300)
    model.write_text(text + "\n")
    qtbot.waitUntil(lambda: posed.store.loaded("model-1").model is not before, timeout=PATIENCE)
    assert len(reported.messages) == 1


@pytest.mark.slow
def test_models_of_one_file_and_their_texture_are_read_again(posed, model, qtbot):
    twin = posed.document.duplicate_node("model-1")
    qtbot.waitUntil(lambda: not posed.uploads.uploading and posed.store.loaded(twin) is not None, timeout=PATIENCE)
    before = posed.store.loaded(twin).model
    model.write_text(model.read_text() + "\n")
    qtbot.waitUntil(lambda: posed.store.loaded(twin).model is not before, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not posed.uploads.uploading, timeout=PATIENCE)
    engine = posed.client.engine
    assert engine.model_of(twin) is engine.model_of("model-1") is posed.store.loaded("model-1").model
    image = picture(posed)
    (texture,) = [path for path in posed.store.known if path != model]
    with Image.open(texture) as old:
        Image.new("RGB", old.size, (255, 0, 255)).save(texture)
    loaded = posed.store.loaded("model-1")
    qtbot.waitUntil(lambda: posed.store.loaded("model-1") is not loaded, timeout=PATIENCE)
    qtbot.waitUntil(lambda: ready(posed), timeout=PATIENCE)
    assert np.abs(picture(posed).astype(int) - image).max() > 60


@pytest.mark.slow
def test_a_buffer_file_of_a_model_is_watched_like_the_model(session, tmp_path, qtbot):
    glb = Sample()
    glb.mesh()
    glb.put("scenes", {"nodes": [0]})
    text, binary = split_file(glb.data())
    document = json.loads(text)
    document["buffers"][0]["uri"] = "tri.bin"
    buffer, path = tmp_path / "work" / "tri.bin", tmp_path / "work" / "tri.gltf"
    buffer.parent.mkdir()
    buffer.write_bytes(binary)
    path.write_text(json.dumps(document))
    editor = session.open(path)
    before = editor.store.loaded("model-1").model
    assert buffer in editor.store.known
    qtbot.waitUntil(lambda: buffer in editor.features["saving"].disk_changes.watch._reported, timeout=PATIENCE)
    taller = bytes(binary).replace(np.float32(2.0).tobytes(), np.float32(3.0).tobytes())
    buffer.write_bytes(taller)
    qtbot.waitUntil(lambda: editor.store.loaded("model-1").model is not before, timeout=PATIENCE)
    assert editor.store.loaded("model-1").model.mesh.positions.max() == 3.0
    assert "Reloaded from disk: tri.bin" in editor.window._hint.text()


def test_an_image_named_in_settings_is_read_again(fresh, model, tmp_path, qtbot):
    image = tmp_path / "work" / "density.png"
    Image.new("L", (4, 4), 255).save(image)
    nodes = (
        Node(id="m", name="Arm", settings=ModelSettings(path=str(model))),
        Node(id="h", name="Hair", settings=HairSettings(density_texture=str(image))),
    )
    project = tmp_path / "work" / "a.sinew"
    save_project(project, Scene(nodes=nodes), ViewState())
    editor, watch = fresh, fresh.features["saving"].disk_changes.watch
    qtbot.waitUntil(lambda: not watch._is_looking, timeout=PATIENCE)
    watch._is_looking = True  # the first look comes after the change
    Session(qtbot).load(editor, project)
    qtbot.waitUntil(lambda: image in editor.scene_files.assets.images, timeout=PATIENCE)
    left = editor.scene_files._budget._left
    Image.new("L", (4, 4), 7).save(image)
    watch._is_looking = False
    qtbot.waitUntil(lambda: editor.scene_files.assets.images[image].min() == 7, timeout=PATIENCE)
    assert editor.scene_files._budget._left == left, "pixels are counted once"
    image.write_bytes(b"no image")
    qtbot.waitUntil(lambda: bool(editor.panels.messages.messages), timeout=PATIENCE)
    assert editor.scene_files.assets.images[image].min() == 7


def test_a_saved_shader_is_reported(session, tmp_path, monkeypatch, qtbot):
    shutil.copytree(shaders.ROOT, tmp_path / "shaders")
    monkeypatch.setattr(shaders, "ROOT", tmp_path / "shaders")
    editor = session.start()
    names = []
    editor.features["saving"].disk_changes.shaders_changed.connect(names.extend)
    file = tmp_path / "shaders" / "common" / "hash.glsl"
    watch = editor.features["saving"].disk_changes.watch
    qtbot.waitUntil(lambda: file in watch._reported, timeout=PATIENCE)
    file.touch()
    qtbot.wait(400)
    assert names == []
    file.write_text(file.read_text() + "\n// saved\n")
    qtbot.waitUntil(lambda: names == ["common/hash.glsl"], timeout=PATIENCE)


def test_contents_are_compared_outside_the_gui_thread(qtbot, tmp_path, monkeypatch):
    threads = []

    def digest(path):
        threads.append(threading.current_thread())
        return file_digest(path)

    monkeypatch.setattr(file_watch, "file_digest", digest)
    file = tmp_path / "a"
    file.write_bytes(b"1")
    known = file_digest(file)
    watch = FileWatch(lambda: {file: known})
    changed = []
    watch.changed.connect(changed.extend)
    qtbot.waitUntil(lambda: bool(threads), timeout=PATIENCE)
    file.write_bytes(b"2")
    qtbot.waitUntil(lambda: changed == [file], timeout=PATIENCE)
    assert threading.main_thread() not in threads
