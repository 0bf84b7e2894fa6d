import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow

from sinew.app.editor.help_dialogs import show_shortcuts
from sinew.app.editor.main_window import MainWindow
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.objects import get_integer
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.playback import LoopMode
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from tests.gui.editor_harness import Mouse, Session, messages, picture, settled, trigger

DOCKS = ["outliner", "inspector", "timeline", "timings", "plots", "messages"]


def settle(qtbot):
    qtbot.wait(50)
    QApplication.processEvents()


@pytest.mark.slow
def test_the_viewport_survives_floating_hiding_and_docking_every_panel(qtbot, own_editor, monkeypatch):
    editor = own_editor
    engine, started = editor.client.engine, []
    monkeypatch.setattr(editor.client, "gl_init", lambda: started.append(True))
    editor.edits.set_view("bones", True)
    for dock_id in DOCKS:
        dock = editor.window.docks[dock_id]
        dock.setFloating(True)
        settle(qtbot)
        assert dock.isWindow()
        assert picture(editor).any()
        dock.setFloating(False)
        settle(qtbot)
        dock.close()
        settle(qtbot)
        assert picture(editor).any()
        dock.toggleViewAction().trigger()
        assert dock.isVisible()
    settle(qtbot)
    editor.playback.scrub(0.5 * editor.active.duration)
    settled(editor)
    assert editor.client.engine is engine
    assert engine.views.view("model-1") is not None
    assert started == [], "the context was never lost"


def places(editor):
    docks = [(dock_id, editor.window.docks[dock_id]) for dock_id in DOCKS]
    # A dock behind another one's tab is neither hidden nor visible.
    seen = {dock_id: not dock.visibleRegion().isEmpty() for dock_id, dock in docks}
    return {dock_id: (dock.isFloating(), seen[dock_id] and dock.width()) for dock_id, dock in docks}


def test_the_layout_is_restored_and_reset(qtbot, session):
    first = session.start(drawn=True)
    settle(qtbot)
    default = places(first)
    # Qt 6.11 crashes where a window of several docks is taken apart while it still moves.
    assert not first.window.dockOptions() & QMainWindow.DockOption.GroupedDragging
    assert {dock_id for dock_id, (_, width) in default.items() if not width} == {"messages", "plots", "timings"}
    assert not any(floating for floating, _ in default.values())
    inspector = first.window.docks["inspector"]
    inspector.setFloating(True)
    inspector.activateWindow()
    qtbot.waitUntil(inspector.isActiveWindow, timeout=60000)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert first.playback.playhead.playing, "keys work in floating panels"
    inspector.setFloating(False)
    first.window.docks["timeline"].setFloating(True)
    first.window.docks.reveal("messages")
    first.window.resizeDocks([first.window.docks["outliner"]], [200], Qt.Orientation.Horizontal)
    settle(qtbot)
    left = places(first)
    session.close(first)
    second = session.start(drawn=True)
    settle(qtbot)
    assert places(second) == left
    second.window.actions_table["window.reset_layout"].trigger()
    settle(qtbot)
    assert places(second) == default
    session.close(second)
    assert not session.start(drawn=True, new_window_layout=True).window.docks["timeline"].isFloating()


def test_kernels_are_given_the_framebuffer_of_the_viewport(qtbot, editor):
    """Kernels need a complete framebuffer, and the window may have none."""
    for size in ((900, 600), (1000, 640)):
        editor.window.resize(*size)
        settle(qtbot)
        with editor.viewport.gl_current():
            context = editor.client.engine.context
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, 0)
            context.bind_default_framebuffer()
            bound = get_integer(GL.GL_FRAMEBUFFER_BINDING)
            assert bound == editor.viewport.defaultFramebufferObject() != 0
            assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE


@pytest.mark.slow
def test_one_key_maximises_the_viewport(qtbot, session, arm):
    editor = session.open(arm, drawn=True)
    editor.window.docks["inspector"].close()
    editor.window.activateWindow()
    qtbot.waitUntil(editor.window.isActiveWindow, timeout=60000)
    settle(qtbot)
    before, size = places(editor), editor.viewport.size()
    QTest.keyClick(editor.viewport, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot)
    assert editor.viewport.width() == editor.window.width()
    assert not any(width for _, width in places(editor).values())
    assert picture(editor).any()
    QTest.keyClick(editor.viewport, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot)
    assert (places(editor), editor.viewport.size()) == (before, size)
    editor.window.actions_table["view.maximise"].trigger()
    session.close(editor)
    assert places(again := session.start(drawn=True))["outliner"][1], "the next start shows the panels"
    assert not places(again)["inspector"][1]


def play_for(editor, *gaps):
    for gap in gaps:
        editor.playback._clock.now += gap
        editor.playback.tick()
        settled(editor)


def test_playback_keeps_real_time_whatever_the_frame_rate(editor):
    editor.window.actions_table["play.toggle"].trigger()
    play_for(editor, 0.016, 0.3, 0.05, 0.7)
    assert editor.playback.playhead.time == pytest.approx((0.016 + 0.3 + 0.05 + 0.7) % editor.active.duration)
    assert editor.document.view_state.time == editor.playback.playhead.time
    assert editor.document.undo_stack.count() == 0


def test_the_range_bounds_the_loop_and_ping_pong_turns_at_its_ends(editor):
    editor.playback.scrub(0.2)
    editor.window.actions_table["play.in"].trigger()
    editor.playback.scrub(0.5)
    editor.window.actions_table["play.out"].trigger()
    editor.window.actions_table["play.first"].trigger()
    editor.window.actions_table["play.toggle"].trigger()
    play_for(editor, 0.35)
    assert editor.playback.playhead.time == pytest.approx(0.25)
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "loop"), LoopMode.PING_PONG)
    play_for(editor, 0.30)
    assert editor.playback.playhead.time == pytest.approx(0.45)
    assert editor.playback.playhead.direction == -1
    assert editor.document.undo_stack.count() == 3


def test_playback_continues_after_a_scrub(editor):
    ruler = editor.timeline.ruler
    editor.window.actions_table["play.toggle"].trigger()
    mouse = Mouse(ruler)
    middle = QPointF(ruler.width() * 0.5, ruler.height() * 0.2)
    mouse.press(middle)
    held = editor.playback.playhead.time
    assert held == pytest.approx(0.5 * editor.active.duration, rel=0.05)
    play_for(editor, 0.4)
    assert editor.playback.playhead.time == held, "time is held under the mouse"
    for share in (0.7, 0.3, 0.6):
        mouse.move(QPointF(ruler.width() * share, middle.y()))
        assert editor.playback.playhead.time == pytest.approx(share * editor.active.duration, rel=0.06)
    mouse.release(QPointF(ruler.width() * 0.6, middle.y()))
    dropped = editor.playback.playhead.time
    play_for(editor, 0.1)
    assert editor.playback.playhead.playing
    assert editor.playback.playhead.time == pytest.approx(dropped + 0.1)
    assert editor.document.undo_stack.count() == 0


def test_closing_releases_the_gpu_and_ends_every_thread(session, own_editor, capfd):
    editor = own_editor
    for action_id in ("compare.difference", "display.shaded-wireframe", "overlay.bones", "add.light"):
        trigger(editor, action_id)
        settled(editor)
    context = editor.client.engine.context
    assert context.live
    session.close(editor)
    assert editor.client.engine is None
    assert not context.live
    assert not editor.loader.busy
    gc.collect()
    assert capfd.readouterr().err == ""


def main_windows():
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, MainWindow)]


@pytest.mark.slow
def test_closed_editors_are_freed(session):
    seen, before = [], len(main_windows())
    for _ in range(3):
        editor = session.start(drawn=True)
        editor.edits.add("light")
        QApplication.processEvents()
        seen += [weakref.ref(editor), weakref.ref(editor.document), weakref.ref(editor.output.queue)]
        session.close(editor)
        del editor
    QApplication.processEvents()  # queued events keep their receivers
    gc.collect()
    assert [part() is None for part in seen] == [True] * 9
    assert len(main_windows()) == before


def test_every_action_can_be_triggered_in_an_empty_scene_and_has_a_key_of_its_own(session, monkeypatch):
    editor = session.start(drawn=True)
    monkeypatch.setattr("sinew.app.editor.help_dialogs.QMessageBox.about", lambda *_: None)
    # The tour fills the scene otherwise.
    monkeypatch.setattr(editor.features["helping"], "begin_tour", editor.overlays.begin_tour)
    for spec in editor.window.actions_table.records:
        action = editor.window.actions_table[spec.id]
        if spec.id.split(".")[0] != "add" and spec.id != "file.quit" and action.isEnabled():
            action.trigger()
            settled(editor)
    assert editor.window.isVisible()
    assert messages(editor) == []
    # Qt triggers neither of two actions or menus with one key.
    window = editor.window
    letters = [QKeySequence.mnemonic(menu.text()).toString() for menu in window.menuBar().actions()]
    keys = {key.toString() for action in window.actions() for key in action.shortcuts()}
    assert "Alt+H" in keys
    assert len(set(letters)) == len(letters) == 10
    assert not keys & set(letters)


def test_the_cheat_sheet_shows_keys_and_mouse(fresh):
    sheet = show_shortcuts(fresh.window, fresh.kind_panels)
    QApplication.processEvents()
    tree = sheet.tree
    assert tree.columnWidth(0) + tree.columnWidth(1) <= tree.viewport().width()
    assert tree.columnWidth(1) >= tree.sizeHintForColumn(1)
    assert tree.columnWidth(0) > tree.viewport().width() / 3
    for wanted, found in (("orbit", "Orbit"), ("ctrl+z", "Undo"), ("heat", "Weight Heat Map")):
        sheet.search.setText(wanted)
        assert found in [entry.text for entry in sheet.shown_entries()]
    sheet.close()


def middle(editor) -> np.ndarray:
    settled(editor)
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
    assert not editor.document.undo_stack.can_undo
    editor.window.activateWindow()
    qtbot.waitUntil(lambda: editor.window.isActiveWindow(), timeout=60000)
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert not editor.document.scene.view.follow
    start = editor.document.view_state.camera
    editor.playback.scrub(0.5 * editor.playback.duration)
    assert editor.document.view_state.camera == start
    QTest.keyClick(editor.viewport, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert editor.document.scene.view.follow
