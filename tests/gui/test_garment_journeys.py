"""A new user dresses a downloaded character: opens, plays, cuts while it plays, saves, bakes, exports and reopens."""

import os

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from sinew.app.output.window import EXPORT
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.job_queue import DONE
from sinew.widgets.messages import Severity
from sinew.widgets.number_field import NumberField
from tests.gui.editor_harness import messages, positions
from tests.gui.test_editor_selection import row_of
from tests.gui.test_output_journey import LOOK, PATIENCE, User

PICTURES = os.environ.get("SINEW_PICTURES", "")
"""Folder for pictures of the screen at every stage; "" for none."""

CASES = {
    "fbx": ("fbx/ozz/pab_arnaud.fbx", "fbx/ozz/pab_walk.fbx", 0, "Skirt", "glTF"),
    "glb": ("gltf/CesiumMan/glTF-Binary/CesiumMan.glb", "", 0, "Cape", "Web Page"),
    "vrm": ("vrm/Godette_vrm_v4.vrm", "bvh/cmu_12_01_walk.bvh", 3, "Dress", "Alembic"),
}
"""A character, a motion, its first frame that is no T-pose, a garment, and the format of the export."""


class Dresser(User):
    def __init__(self, qtbot, editor, session, name):
        super().__init__(qtbot, editor, session)
        self._name, self._count = name, 0

    def looks(self, what):
        """Saves a picture of the screen."""
        if PICTURES:
            self._count += 1
            self.editor.frames.drawn = True
            self.editor.viewport.update()
            QTest.qWait(1000)
            picture = QApplication.primaryScreen().grabWindow(0)
            picture.save(f"{PICTURES}/{self._name}-{self._count:02}-{what}.png")
            self.editor.frames.drawn = False

    def waits_until(self, condition):
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=10 * PATIENCE)

    def activates(self):
        """Gives the window the keyboard, as a window manager does when a dialog closes."""
        self.editor.window.activateWindow()
        self.waits_until(self.editor.window.isActiveWindow)

    def chooses_file(self, path, *texts):
        """Types a path into the dialog that an entry of the menus opens."""
        limit = QTimer(singleShot=True, interval=PATIENCE)
        limit.timeout.connect(self._close)
        limit.start()
        self._types_once_there(path)
        self.chooses(*texts)
        limit.stop()
        assert not self.stuck
        self.activates()

    def _types_once_there(self, path):
        is_there = QApplication.activeModalWidget() is not None
        QTimer.singleShot(LOOK, lambda: self._type(path) if is_there else self._types_once_there(path))

    def presses(self, key, modifiers=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(self.editor.viewport, key, modifiers)

    @property
    def plays(self):
        return self.editor.playback.playhead.playing or self.editor.playback.is_waiting

    def presses_space(self):
        before = self.plays
        self.presses(Qt.Key.Key_Space)
        assert self.plays is not before

    def shown_buttons(self, text):
        return [one for one in self.editor.window.findChildren(QPushButton) if one.text() == text and one.isVisible()]

    def starts_at(self, frame):
        """Types the first frame of the scene into the menu of the timeline."""
        QTest.mouseClick(self.editor.timeline.scene_button, Qt.MouseButton.LeftButton)
        menu = QApplication.activePopupWidget()
        (field,) = [one for one in menu.findChildren(NumberField) if one.accessibleName() == "First frame"]
        QTest.mouseDClick(field, Qt.MouseButton.LeftButton, pos=field.rect().center())
        field.selectAll()
        QTest.keyClicks(field, str(frame))
        QTest.keyClick(field, Qt.Key.Key_Return)
        menu.close()

    def drags(self, name, pixels):
        """Drags a number of the inspector slowly, while time goes on."""
        tree, row = self.editor.panels.inspector.tree, row_of(self.editor, "cloth", name)
        tree.scrollToItem(row, tree.ScrollHint.PositionAtCenter)
        field = row.editor.findChild(NumberField)
        middle = field.rect().center()
        QTest.mousePress(field, Qt.MouseButton.LeftButton, pos=middle)
        for part in range(1, 5):
            QTest.mouseMove(field, middle + QPoint(pixels * part // 4, 0))
            QTest.qWait(100)
        QTest.mouseRelease(field, Qt.MouseButton.LeftButton, pos=middle + QPoint(pixels, 0))


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", CASES)
def test_a_downloaded_character_is_dressed(qtbot, session, assets, tmp_path, monkeypatch, name):
    path, motion, first, garment, format = CASES[name]
    editor = session.start(new_window_layout=True)
    editor.window.resize(1600, 1000)
    document, playback = editor.document, editor.playback
    real, user = Dialogs(editor.window), Dresser(qtbot, editor, session, name)
    for question in ("open_path", "motion_path", "save_path", "project_save_path"):
        monkeypatch.setattr(editor.dialogs, question, getattr(real, question))

    def is_open():
        return document.scene.characters and not editor.store.loading and not editor.uploads.uploading

    user.activates()
    user.chooses_file(assets / path, "File", "Open")
    user.waits_until(is_open)
    user.looks("opened")
    if motion:
        user.chooses_file(assets / motion, "File", "Add Motion")
        user.waits_until(lambda: editor.active.clip is not None and user.plays)
        user.looks("motion")
        user.presses_space()
        user.presses(Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    if first:
        user.starts_at(first)
        assert document.scene.playback.start == first
    user.chooses("Add", "Garment on", garment)
    (cloth,) = [node.id for node in document.scene.of_kind("cloth")]
    systems = editor.client.engine.simulation.systems
    user.waits_until(lambda: cloth in systems and systems[cloth].is_ready)
    user.looks("dressed")
    user.presses_space()
    user.waits_until(lambda: playback.playhead.time > 0.1)
    user.looks("plays")
    for field, pixels in (("garment_length", -8), ("garment_flare", 16)):
        before = getattr(document.scene.node(cloth).settings, field)
        user.drags(field, pixels)
        assert getattr(document.scene.node(cloth).settings, field) != before
        assert user.plays
        user.looks(field)
    reached = playback.playhead.time
    user.waits_until(lambda: playback.playhead.playing and playback.playhead.time > reached)
    user.looks("plays on")
    user.presses_space()
    project = tmp_path / f"{name}.sinew"
    user.chooses_file(project, "File", "Save As")
    user.waits_until(project.exists)
    user.presses(Qt.Key.Key_O)
    user.chooses("Simulation", "Bake")
    user.waits_until(lambda: document.scene.node(cloth).baked)
    user.looks("baked")
    window = user.chooses("File", "Export", f"Scene over Time as {format}")
    user.looks("exports")
    job = user.answers(window.files[EXPORT], window.export_button, tmp_path / name)
    user.waits_until(lambda: not editor.output.queue.busy)
    user.looks("exported")
    assert job.state == DONE, job.text
    window.close()
    user.activates()
    user.presses(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    user.waits_until(lambda: not document.modified)
    scene, time, clip = document.scene, playback.playhead.time, editor.active.clip.name
    kept = positions(editor, cloth)
    user.looks("saved")
    user.chooses("File", "New Project")
    user.waits_until(lambda: not document.scene.characters)
    user.chooses_file(project, "File", "Open")
    user.waits_until(is_open)
    for read in user.shown_buttons("Read"):
        QTest.mouseClick(read, Qt.MouseButton.LeftButton)
        user.waits_until(lambda: editor.active.clip is not None and is_open())
    user.waits_until(lambda: cloth in systems and systems[cloth].is_ready)
    QTest.qWait(LOOK)
    user.looks("reopened")
    assert (document.scene, playback.playhead.time, editor.active.clip.name) == (scene, time, clip)
    np.testing.assert_array_equal(positions(editor, cloth), kept)
    assert editor.baking.is_of_now(cloth)
    assert not messages(editor, Severity.ERROR)
