import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.scene.picking import project_points
from tests.gui.editor_harness import Session, picture


def middle(editor) -> np.ndarray:
    picture(editor)
    engine, size = editor.client.engine, editor.viewport.size_f
    box = engine.views.bounds(editor.document.scene.characters[0].id)
    pixels, _ = project_points(
        editor.document.view_state.camera, (size.width(), size.height()), [(box.lo + box.hi) / 2.0]
    )
    return pixels[0] / (size.width(), size.height())


def test_a_walking_character_never_leaves_the_view_until_a_key_ends_that(fresh, tiny, qtbot):
    editor = fresh
    text = tiny.read_text()  # of two metres; its root moves five metres in a second
    tiny.write_text(text.replace("1 0 0 0 0 0 1,\n</AnimTrack>", "5 0 0 0 0 0 1,\n</AnimTrack>"))
    Session(qtbot).load(editor, tiny)
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
    editor.window.activateWindow()
    qtbot.waitUntil(lambda: editor.window.isActiveWindow(), timeout=60000)
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert not editor.document.scene.view.follow
    start = editor.document.view_state.camera
    editor.playback.scrub(0.5 * editor.playback.duration)
    assert editor.document.view_state.camera == start
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert editor.document.scene.view.follow
