import os
import shutil
import threading

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QPushButton

from sinew.app.files.project_files import UnsavedAnswer
from sinew.app.files.recovery import RecoveryStore
from sinew.app.project.project_file import load_project
from sinew.app.project.settings_store import data_folder
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import NEW_SCENE, VIEW, Node, ParamRef, Scene
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from sinew.sim.scene.view_state import ViewState
from sinew.widgets.messages import Severity
from sinew.widgets.protocols import ModelState
from tests.conftest import slow
from tests.gui.editor_harness import Session, messages, picture, settled, trigger

BOMB = """<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]><MeshSystem asset_name="&d;"/>"""


def edit(editor):
    editor.edits.compare(SkinningComparison.SPLIT)
    editor.document.set_value(ParamRef(VIEW, VIEW, "divider"), 0.3)
    editor.edits.add("light")
    editor.edits.set_view("bones", True)
    editor.edits.select("model-1", editor.store.loaded("model-1").model.skeleton.names[1])
    editor.edits.show(DisplayMode.WEIGHTS)
    editor.playback.scrub(0.25 * editor.active.duration)
    editor.features["playing"].binding.set_point("in_point")
    editor.playback.scrub(0.6 * editor.active.duration)
    editor.edits.orbit_camera(40.0, 25.0)


def saved(editor, path):
    editor.dialogs.path = path
    editor.window.actions_table["file.save"].trigger()
    return path


def test_a_saved_project_reopens_as_the_same_scene_view_and_image(qtbot, session, own_editor, tmp_path):
    editor = own_editor
    edit(editor)
    project = saved(editor, tmp_path / "trial.sinew")
    assert editor.dialogs.asked == ["save"]
    assert not editor.document.modified
    qtbot.wait(50)  # the bone's numbers take their place
    scene, view_state, shown = editor.document.scene, editor.document.view_state, picture(editor)
    assert view_state.time == pytest.approx(0.6 * editor.active.duration)
    session.close(editor)
    again = session.open(project)
    assert again.document.scene == scene
    assert again.document.view_state == view_state
    assert again.playback.playhead.time == view_state.time
    np.testing.assert_array_equal(picture(again), shown)
    assert not again.document.modified
    assert again.window.actions_table["compare.split"].isChecked()


def test_a_project_is_named_after_its_model_with_its_suffix(editor, tmp_path):
    editor.edits.add("light")
    saved(editor, tmp_path / "version.2")
    assert editor.dialogs.suggestion.name == "arm.sinew"
    assert (tmp_path / "version.2.sinew").is_file()
    assert editor.document.path == tmp_path / "version.2.sinew"


def test_unsaved_changes_are_asked_about(editor, tmp_path):
    editor.edits.add("light")
    scene, path = editor.document.scene, tmp_path / "written.sinew"
    editor.dialogs.choice, editor.dialogs.path = UnsavedAnswer.SAVE, None
    editor.window.close()
    assert editor.dialogs.asked == ["unsaved", "save"]
    assert editor.window.isVisible(), "the dialog was cancelled"
    for answer in (UnsavedAnswer.CANCEL, UnsavedAnswer.DISCARD, UnsavedAnswer.SAVE):
        editor.dialogs.choice, editor.dialogs.path = answer, path
        editor.edits.add("light")
        editor.dialogs.asked.clear()
        scene = editor.document.scene
        trigger(editor, "file.new")
        assert editor.dialogs.asked[0] == "unsaved"
        assert path.is_file() == (answer is UnsavedAnswer.SAVE)
        assert editor.document.scene == (scene if answer is UnsavedAnswer.CANCEL else NEW_SCENE)


def broken_files(folder, whole):
    Image.new("RGB", (8, 8)).save(folder / "picture.png")
    (folder / "picture.png").rename(folder / "picture.ezm")
    (folder / "truncated.ezm").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    (folder / "bomb.ezm").write_text(BOMB)
    (folder / "empty.ezm").write_bytes(b"")
    (folder / "project.sinew").write_text('{"format": "sinew-project", "version": 1, "nodes": 3}')
    (folder / "newer.sinew").write_text('{"format": "sinew-project", "version": 10000}')
    names = ["picture.ezm", "truncated.ezm", "bomb.ezm", "empty.ezm", "project.sinew", "newer.sinew"]
    return [folder / name for name in names] + [folder / "nowhere.ezm", folder / "nowhere.sinew"]


def test_unreadable_files_are_one_message_each_and_change_nothing(qtbot, editor, arm, tmp_path):
    editor.edits.add("light")
    editor.window.docks.reveal("messages")  # an error opens it, which changes the image
    qtbot.wait(50)
    scene, view_state, shown = editor.document.scene, editor.document.view_state, picture(editor)
    for path in broken_files(tmp_path, arm):
        count = len(editor.panels.messages.messages)
        with qtbot.waitSignal(editor.files.failed, timeout=60000):
            editor.files.open(path)
        added = editor.panels.messages.messages[count:]
        assert [message.severity for message in added] == [Severity.ERROR], path.name
        assert path.name in added[0].file
        assert added[0].text
        assert "\n" not in added[0].text
    assert editor.document.scene == scene
    assert editor.document.view_state == view_state
    assert editor.document.undo_stack.count() == 1
    assert editor.dialogs.asked == [], "no dialog opens"
    assert QApplication.activeModalWidget() is None
    np.testing.assert_array_equal(picture(editor), shown)


def test_unread_messages_are_announced(editor):
    dock = editor.window.docks["messages"]
    editor.panels.warn("", "something odd")
    button = editor.window.findChild(QPushButton, "unread")
    assert button.isVisible()
    assert button.text() == "1 new message"
    button.click()
    assert dock.isVisible()
    assert not button.isVisible()


def test_a_missing_model_keeps_its_node_and_is_located(qtbot, session, own_editor, arm, tmp_path):
    editor = own_editor
    editor.edits.skin_by(editor.document.scene.node("model-1").settings.skinning.DQS)
    project = saved(editor, tmp_path / "trial.sinew")
    editor.window.docks.reveal("messages")  # as the error will do
    qtbot.wait(50)
    scene, shown = editor.document.scene, picture(editor)
    session.close(editor)
    moved = tmp_path / "elsewhere"
    shutil.move(arm.parent, moved)
    again = session.open(project)
    assert again.store.status("model-1").state is ModelState.MISSING
    assert len(messages(again, Severity.ERROR)) == 1
    assert again.document.scene == scene, "the project is as it was"
    settled(again)
    again.dialogs.path = moved / "arm.ezm"
    again.features["saving"].locate("model-1")
    qtbot.waitUntil(lambda: again.store.status("model-1").state is ModelState.READY, timeout=60000)
    assert again.document.scene.node("model-1").settings.path == str(moved / "arm.ezm")
    assert again.window.docks["messages"].isVisible(), "the error has opened it"
    np.testing.assert_array_equal(picture(again), shown)
    assert again.document.undo_stack.count() == 1


def files_data(*paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def dragged(editor, *paths):
    data, buttons = files_data(*paths), Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(editor.viewport, enter)
    return enter


def drop(editor, *paths):
    assert dragged(editor, *paths).isAccepted()
    data, buttons = files_data(*paths), Qt.MouseButton.LeftButton
    place = QPointF(50.0, 50.0)
    event = QDropEvent(place, Qt.DropAction.CopyAction, data, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(editor.viewport, event)


def test_drops_are_explained_open_or_add_models_and_are_recent(qtbot, fresh, arm, tiny, tmp_path):
    editor = fresh
    editor.recent._settings.remove("recent_files")
    editor.files.open(arm)
    Session(qtbot).load(editor, tiny)
    assert [node.name for node in editor.document.scene.of_kind("model")] == ["tiny"]
    assert messages(editor) == ["loading was cancelled"], "the file that was being read"
    editor.files.new()
    assert not dragged(editor, tmp_path / "notes.txt").isAccepted()
    dragged(editor, tiny)
    assert editor.overlays.drop._text == "Drop to open tiny.ezm"
    drop(editor, tiny)
    assert not editor.overlays.drop.isVisible()
    qtbot.waitUntil(lambda: bool(editor.document.scene.of_kind("model")), timeout=60000)
    assert editor.document.scene.of_kind("model")[0].settings.path == str(tiny)
    assert editor.document.selection.node == "model-1"
    assert editor.recent.paths() == (tiny,)
    assert [action.text() for action in editor.window.menus.recent.actions()] == ["tiny.ezm"]
    assert editor.recent.folder() == tiny.parent
    for path, text in ((arm, "arm.ezm to the scene"), (tmp_path / "a.sinew", "a.sinew in place of this scene")):
        dragged(editor, path)
        assert editor.overlays.drop.isVisible()
        assert editor.overlays.drop._text.endswith(text)
        QApplication.sendEvent(editor.viewport, QDragLeaveEvent())
        assert not editor.overlays.drop.isVisible()
    drop(editor, arm)
    qtbot.waitUntil(lambda: len(editor.document.scene.of_kind("model")) == 2, timeout=60000)
    editor.files.new()
    drop(editor, arm, tiny)
    qtbot.waitUntil(lambda: len(editor.document.scene.of_kind("model")) == 2, timeout=60000)
    assert [node.name for node in editor.document.scene.of_kind("model")] == ["arm", "tiny"]
    assert messages(editor) == []


def test_an_import_is_one_entry(qtbot, editor, tiny):
    scene = editor.document.scene
    editor.dialogs.path = tiny
    editor.window.actions_table["file.import"].trigger()
    qtbot.waitUntil(lambda: len(editor.document.scene.of_kind("model")) == 2, timeout=60000)
    assert editor.document.undo_stack.count() == 1
    editor.document.undo_stack.undo()
    assert editor.document.scene == scene
    editor.document.undo_stack.redo()
    settled(editor)
    assert editor.client.engine.views.counts().bones > 2


def test_an_export_reopens_with_the_same_picture(qtbot, session, editor, arm, tmp_path):
    shown = picture(editor)
    editor.dialogs.path = arm.with_name("copy.ezm")  # beside its textures
    editor.window.actions_table["file.export.ezmesh"].trigger()
    qtbot.waitUntil(lambda: bool(messages(editor, Severity.INFO)), timeout=60000)
    assert messages(editor, Severity.ERROR) == []
    session.load(editor, arm.with_name("copy.ezm"))
    settled(editor)
    np.testing.assert_array_equal(picture(editor), shown)


def test_the_image_is_saved_in_the_format_of_its_name_and_copied(editor, tmp_path):
    for name, written in (("shot", "shot.png"), ("shot.jpg", "shot.jpg")):
        editor.dialogs.path = tmp_path / name
        trigger(editor, "file.screenshot")
        assert editor.dialogs.suggestion.suffix == ".png"
        with Image.open(tmp_path / written) as image:
            assert min(image.size) > 100
    assert messages(editor) == ["screenshot saved"] * 2
    QApplication.clipboard().clear()
    trigger(editor, "file.copy_picture")
    assert QApplication.clipboard().image().size() == editor.viewport.grab().size()


def crashed_session(origin=None):
    """The files of a killed session, whose lock the system has released."""
    store = RecoveryStore(data_folder() / "recovery")
    scene = Scene(nodes=(Node(id="light-1", name="lamp", settings=LightSettings(intensity=3.0)),))
    store.write(scene, ViewState(time=0.5), UnknownContent(), origin)
    for lock in store._locks.values():
        os.close(lock._handle)
    return scene


@pytest.mark.parametrize("answer", [UnsavedAnswer.SAVE, slow(UnsavedAnswer.DISCARD), slow(UnsavedAnswer.CANCEL)])
def test_a_crashed_session_is_offered(qtbot, session, tmp_path, answer):
    scene = crashed_session(tmp_path / "work.sinew")
    editor = session.start()
    editor.dialogs.recovery = answer
    editor.recovering.offer()
    assert editor.dialogs.asked == ["recover"]
    qtbot.waitUntil(lambda: not editor.files.busy, timeout=60000)
    recovered = answer is UnsavedAnswer.SAVE
    assert editor.document.scene == (scene if recovered else NEW_SCENE)
    assert editor.document.modified == recovered
    assert editor.document.path == (tmp_path / "work.sinew" if recovered else None)
    assert not (tmp_path / "work.sinew").exists(), "only saving writes the project"
    session.close(editor)
    later = session.start()
    later.recovering.offer()
    assert later.dialogs.asked == (["recover"] if answer is UnsavedAnswer.CANCEL else [])
    qtbot.waitUntil(lambda: not later.files.busy, timeout=60000)


def test_a_recovery_file_is_read_in_the_background(qtbot, session, monkeypatch):
    readers = []

    def load(*args, **options):
        readers.append(threading.current_thread())
        return load_project(*args, **options)

    monkeypatch.setattr("sinew.app.files.project_loader.load_project", load)
    crashed_session()
    editor = session.start()
    shown = []
    editor.files.progress.connect(lambda name, _: shown.append(name))
    editor.recovering.offer()
    assert editor.document.scene == NEW_SCENE, "the window works meanwhile"
    qtbot.waitUntil(lambda: not editor.files.busy, timeout=60000)
    (reader,) = readers
    assert reader is not threading.main_thread()
    assert (bool(shown[0]), shown[-1]) == (True, "")
    assert not editor.recent.paths(), "a recovery file is not recent"


@pytest.mark.slow
def test_the_next_session_is_offered_after_an_unreadable_or_cancelled_one(qtbot, session, monkeypatch):
    cancelled = threading.Event()

    def load(path, *args, **options):
        if path == older.project:
            assert cancelled.wait(60.0)
        return load_project(path, *args, **options)

    monkeypatch.setattr("sinew.app.files.project_loader.load_project", load)
    scene = crashed_session()
    crashed_session()
    editor = session.start()
    latest, older = editor.features["saving"].recovery.pending()
    latest.project.write_text("{")
    editor.recovering.offer()
    qtbot.waitUntil(lambda: editor.dialogs.asked == ["recover", "recover"], timeout=60000)
    editor.files.cancel()
    cancelled.set()
    qtbot.wait(20)
    assert editor.document.scene == NEW_SCENE
    assert len(editor.features["saving"].recovery.pending()) == 2, "nothing is lost"
    editor.files.recover(older)
    qtbot.waitUntil(lambda: editor.document.scene == scene, timeout=60000)
    assert [left.folder for left in editor.features["saving"].recovery.pending()] == [latest.folder]
    assert [message.severity for message in editor.panels.messages.messages] == [Severity.ERROR, Severity.WARNING]


def test_an_edit_is_autosaved_and_a_normal_end_leaves_no_file(qtbot, session, own_editor):
    editor = own_editor
    editor.autosave._delay = 0.05
    with qtbot.waitSignal(editor.autosave.saved, timeout=60000):
        editor.edits.add("light")
    assert list((data_folder() / "recovery").glob("*/project.sinew"))
    session.close(editor)
    assert not list((data_folder() / "recovery").glob("*/project.sinew"))
