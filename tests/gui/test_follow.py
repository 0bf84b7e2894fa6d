import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.sim.scene.picking import project_points
from tests.gui.editor_harness import picture, sample


@pytest.fixture(scope="module")
def walking(one_editor, tmp_path_factory):
    """A model of two metres whose root moves five metres in a second."""
    path, editor = sample("tiny", tmp_path_factory.mktemp("walk")), one_editor
    path.write_text(path.read_text().replace("1 0 0 0 0 0 1,\n</AnimTrack>", "5 0 0 0 0 0 1,\n</AnimTrack>"))
    editor.files.open(path)
    while editor.store.loading or editor.uploads.uploading or not editor.document.scene.characters:
        QApplication.processEvents()
    picture(editor)
    return editor


def middle(editor) -> np.ndarray:
    picture(editor)
    engine, size = editor.client.engine, editor.viewport.size_f
    box = engine.views.bounds(editor.document.scene.characters[0].id)
    pixels, _ = project_points(
        editor.document.view_state.camera, (size.width(), size.height()), [(box.lo + box.hi) / 2.0]
    )
    return pixels[0] / (size.width(), size.height())


def test_a_walking_character_never_leaves_the_view(walking):
    editor = walking
    assert editor.document.scene.view.follow, "on for a first model"
    editor.playback.scrub(0.0)
    before, start = middle(editor), editor.document.view_state.camera
    moved = 0.0
    for part in (0.25, 0.5, 0.75, 1.0):
        editor.playback.scrub(part * editor.playback.duration)
        assert np.abs(middle(editor) - before).max() < 0.25
        target = np.subtract(editor.document.view_state.camera.target, start.target)
        assert target[1] == 0.0
        moved = max(moved, float(np.abs(target).max()))
    assert moved > 4.0, "it has walked"
    editor.playback.scrub(0.0)
    assert editor.document.view_state.camera.target == pytest.approx(start.target)
    assert not editor.document.undo_stack.canUndo()


def test_one_key_ends_following(walking, qtbot):
    editor = walking
    editor.window.activateWindow()
    qtbot.waitUntil(lambda: editor.window.isActiveWindow(), timeout=60000)
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert not editor.document.scene.view.follow
    start = editor.document.view_state.camera
    editor.playback.scrub(0.5 * editor.playback.duration)
    assert editor.document.view_state.camera == start
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert editor.document.scene.view.follow
