"""Docks, layout, playback and the end of the whole editor."""

import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QToolButton

from sinew.app.editor.action_table import show_shortcuts
from sinew.app.editor.main_window import MainWindow
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.objects import get_integer
from sinew.sim.scene.playback import LoopMode
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from tests.gui.editor_harness import Clock, Mouse, picture

DOCKS = ["outliner", "inspector", "timeline", "timings", "plots", "messages"]


def settle(qtbot):
    qtbot.wait(50)
    QApplication.processEvents()


def test_the_viewport_survives_floating_hiding_and_docking_every_panel(qtbot, editor, monkeypatch):
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
    picture(editor)
    assert editor.client.engine is engine
    assert engine.views.view("model-1") is not None
    assert started == [], "the context was never lost"


def places(editor):
    docks = [(dock_id, editor.window.docks[dock_id]) for dock_id in DOCKS]
    # A dock behind another one's tab is neither hidden nor to be seen.
    seen = {dock_id: not dock.visibleRegion().isEmpty() for dock_id, dock in docks}
    return {dock_id: (dock.isFloating(), seen[dock_id] and dock.width()) for dock_id, dock in docks}


def test_panels_are_where_they_were_left_and_reset_brings_them_back(qtbot, session):
    first = session.start()
    settle(qtbot)
    default = places(first)
    assert {dock_id for dock_id, (_, width) in default.items() if not width} == {"messages", "plots", "timings"}
    assert not any(floating for floating, _ in default.values())
    first.window.docks["timeline"].setFloating(True)
    first.window.docks.reveal("messages")
    first.window.resizeDocks([first.window.docks["outliner"]], [200], Qt.Orientation.Horizontal)
    settle(qtbot)
    left = places(first)
    session.close(first)
    second = session.start()
    settle(qtbot)
    assert places(second) == left
    second.window.actions_table["window.reset_layout"].trigger()
    settle(qtbot)
    assert places(second) == default
    session.close(second)
    assert not session.start(new_window_layout=True).window.docks["timeline"].isFloating()


def test_a_floating_panel_leaves_the_keys_to_the_program(qtbot, editor):
    dock = editor.window.docks["inspector"]
    dock.setFloating(True)
    dock.activateWindow()
    qtbot.waitUntil(dock.isActiveWindow)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert editor.playback.playhead.playing


def test_a_small_window_leaves_half_of_itself_to_the_viewport(qtbot, session, arm):
    editor = session.open(arm)
    editor.window.resize(1440, 900)
    settle(qtbot)
    editor.window.resize(1024, 700)
    settle(qtbot)
    assert (editor.window.width(), editor.window.height()) == (1024, 700)
    assert editor.viewport.width() >= 512
    assert editor.viewport.height() >= 350
    for node in editor.document.scene.nodes:
        editor.edits.select(node.id)
        settle(qtbot)
        assert editor.viewport.width() >= 512, node.kind
    editor.panels.fail("", "something is wrong")
    settle(qtbot)
    assert editor.window.docks["messages"].isVisible()
    assert editor.viewport.width() >= 512
    assert editor.viewport.height() >= 350
    for name in ("plots", "timings"):
        editor.window.docks.reveal(name)
        settle(qtbot)
        assert editor.window.docks[name].isVisible()
        assert editor.viewport.height() >= 350, f"{name} beside the others"
        editor.measure(name == "timings")  # with costs below the ruler
        settle(qtbot)
        assert editor.viewport.height() >= 350, f"{name} beside the others, measuring or not"
        editor.window.docks[name].close()
    editor.window.docks["messages"].close()
    settle(qtbot)
    for name in ("plots", "timings"):
        editor.window.docks.reveal(name)
        settle(qtbot)
        assert editor.viewport.height() >= 350, f"{name} alone"
        editor.window.resize(1024, 900)
        settle(qtbot)
        editor.window.resizeDocks([editor.window.docks[name]], [300], Qt.Orientation.Vertical)
        settle(qtbot)
        editor.window.resize(1024, 700)
        settle(qtbot)
        assert editor.viewport.height() >= 350, f"{name} that was higher in a higher window"
        editor.window.docks[name].close()
        settle(qtbot)


def test_what_needs_any_framebuffer_has_that_of_the_viewport(qtbot, editor):
    """Kernels need a complete one, and that of the window behind may be none."""
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


def test_docks_are_dragged_alone(editor):
    """Qt 6.11 crashes where a window of several docks is taken apart while it still moves."""
    assert not editor.window.dockOptions() & QMainWindow.DockOption.GroupedDragging


def test_only_errors_open_the_messages(qtbot, editor):
    dock = editor.window.docks["messages"]
    editor.panels.warn("", "odd")
    editor.panels.inform("", "note")
    settle(qtbot)
    assert not dock.isVisible()
    button = next(b for b in editor.window.statusBar().findChildren(QToolButton) if b.text() == "Messages")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert dock.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not dock.isVisible()


def test_one_key_gives_the_viewport_the_place_of_the_panels_and_back(qtbot, session, arm):
    editor = session.open(arm)
    editor.window.docks["inspector"].close()
    editor.window.activateWindow()
    qtbot.waitUntil(editor.window.isActiveWindow)
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
    assert places(again := session.start())["outliner"][1], "what is left maximised starts with its panels"
    assert not places(again)["inspector"][1]


@pytest.fixture
def timed(session, arm):
    clock = Clock()
    return session.open(arm, clock=clock), clock


def play_for(editor, clock, *gaps):
    for gap in gaps:
        clock.now += gap
        editor.playback.tick()
        picture(editor)


def test_playback_keeps_real_time_however_slow_the_pictures_are(timed):
    editor, clock = timed
    editor.window.actions_table["play.toggle"].trigger()
    editor.playback._timer.stop()  # the test is the timer
    play_for(editor, clock, 0.016, 0.3, 0.05, 0.7)
    assert editor.playback.playhead.time == pytest.approx((0.016 + 0.3 + 0.05 + 0.7) % editor.active.duration)
    assert editor.document.view_state.time == editor.playback.playhead.time
    assert editor.document.undo_stack.count() == 0


def test_the_range_bounds_the_loop_and_ping_pong_turns_at_its_ends(timed):
    editor, clock = timed
    editor.playback.scrub(0.2)
    editor.window.actions_table["play.in"].trigger()
    editor.playback.scrub(0.5)
    editor.window.actions_table["play.out"].trigger()
    editor.window.actions_table["play.first"].trigger()
    editor.window.actions_table["play.toggle"].trigger()
    editor.playback._timer.stop()
    play_for(editor, clock, 0.35)
    assert editor.playback.playhead.time == pytest.approx(0.25)
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "loop"), LoopMode.PING_PONG)
    play_for(editor, clock, 0.30)
    assert editor.playback.playhead.time == pytest.approx(0.45)
    assert editor.playback.playhead.direction == -1
    assert editor.document.undo_stack.count() == 3


def test_the_playhead_is_scrubbed_while_playing_and_playing_goes_on(timed):
    editor, clock = timed
    ruler = editor.timeline.ruler
    editor.window.actions_table["play.toggle"].trigger()
    editor.playback._timer.stop()
    mouse = Mouse(ruler)
    middle = QPointF(ruler.width() * 0.5, ruler.height() * 0.2)
    mouse.press(middle)
    held = editor.playback.playhead.time
    assert held == pytest.approx(0.5 * editor.active.duration, rel=0.05)
    play_for(editor, clock, 0.4)
    assert editor.playback.playhead.time == held, "time stands still under the mouse"
    for share in (0.7, 0.3, 0.6):
        mouse.move(QPointF(ruler.width() * share, middle.y()))
        assert editor.playback.playhead.time == pytest.approx(share * editor.active.duration, rel=0.06)
    mouse.release(QPointF(ruler.width() * 0.6, middle.y()))
    dropped = editor.playback.playhead.time
    play_for(editor, clock, 0.1)
    assert editor.playback.playhead.playing
    assert editor.playback.playhead.time == pytest.approx(dropped + 0.1)
    assert editor.document.undo_stack.count() == 0


def test_the_picture_depends_on_the_time_alone(editor):
    pictures = []
    for share in (0.0, 0.4, 0.8, 0.4, 0.0):
        editor.playback.scrub(share * editor.active.duration)
        pictures.append(picture(editor))
    np.testing.assert_array_equal(pictures[0], pictures[4])
    np.testing.assert_array_equal(pictures[1], pictures[3])
    assert not np.array_equal(pictures[0], pictures[2])


def test_closing_releases_everything_on_the_gpu(session, editor):
    for action_id in ("compare.difference", "display.shaded-wireframe", "overlay.bones", "add.light"):
        editor.window.actions_table[action_id].trigger()
        picture(editor)
    context = editor.client.engine.context
    assert context.live
    session.close(editor)
    assert editor.client.engine is None
    assert not context.live


def test_closing_ends_every_thread_and_says_nothing_any_more(session, editor, capfd):
    editor.edits.add("light")
    session.close(editor)
    assert not editor.loader.busy
    gc.collect()
    assert capfd.readouterr().err == ""


def test_closed_editors_are_freed(session):
    seen = []
    for _ in range(3):
        editor = session.start()
        editor.edits.add("light")
        QApplication.processEvents()
        seen += [weakref.ref(editor), weakref.ref(editor.document), weakref.ref(editor.output.queue)]
        session.close(editor)
        del editor
    QApplication.processEvents()  # what is queued holds on to whom it is for
    gc.collect()
    assert [part() is None for part in seen] == [True] * 9
    assert not any(isinstance(widget, MainWindow) for widget in QApplication.topLevelWidgets())


def test_every_action_can_be_triggered_in_an_empty_scene(session, monkeypatch):
    editor = session.start()
    monkeypatch.setattr("sinew.app.editor.action_table.QMessageBox.about", lambda *_: None)
    monkeypatch.setattr(editor, "begin_tour", editor.overlays.begin_tour)  # it fills the scene otherwise
    for spec in editor.window.actions_table.records:
        action = editor.window.actions_table[spec.id]
        if spec.id.split(".")[0] != "add" and spec.id != "file.quit" and action.isEnabled():
            action.trigger()
            picture(editor)
    assert editor.window.isVisible()
    assert editor.panels.messages.messages == ()


def test_no_letter_of_a_menu_is_a_key_of_an_action(session):
    """Qt does neither of two that are meant by one key, once both can be done."""
    window = session.start().window
    letters = [QKeySequence.mnemonic(menu.text()).toString() for menu in window.menuBar().actions()]
    keys = {key.toString() for action in window.actions() for key in action.shortcuts()}
    assert "Alt+H" in keys
    assert len(set(letters)) == len(letters) == 10
    assert not keys & set(letters)


def test_the_cheat_sheet_finds_keys_and_mouse(session):
    editor = session.start()
    sheet = show_shortcuts(editor.window, editor.kind_panels)
    for wanted, found in (("orbit", "Orbit"), ("ctrl+z", "Undo"), ("heat", "Weight Heat Map")):
        sheet.search.setText(wanted)
        assert found in [entry.text for entry in sheet.shown_entries()]
    sheet.search.setText("no such thing")
    assert sheet.shown_entries() == []
    sheet.close()


def test_keys_are_read_whole(session):
    editor = session.start()
    sheet = show_shortcuts(editor.window, editor.kind_panels)
    QApplication.processEvents()
    tree = sheet.tree
    assert tree.columnWidth(0) + tree.columnWidth(1) <= tree.viewport().width()
    assert tree.columnWidth(1) >= tree.sizeHintForColumn(1)
    assert tree.columnWidth(0) > tree.viewport().width() / 3
    sheet.close()
