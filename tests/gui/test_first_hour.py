"""Small things of the first hour in the window."""

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from sinew.app.kinds.kernel.panel import summary_of
from sinew.app.session.playback import LOADING_TICK_MS, TICK_MS
from sinew.sim.kinds.cloth.kind import PRESETS
from sinew.sim.kinds.cloth.settings import ClothSolving
from sinew.widgets.inspector.editors import choice_text
from sinew.widgets.messages import Message, Messages, Severity
from tests.conftest import slow
from tests.gui.editor_harness import Session, settled


@pytest.mark.parametrize("size", [(1280, 800), slow((1600, 1000))])
def test_the_start_page_shows_all_samples(session, size):
    editor = session.start(new_window_layout=True)
    editor.window.resize(*size)
    editor.window.docks.reset()
    settled(editor)
    page = editor.overlays.empty
    assert page.isVisible()
    assert not [card.text() for card in page.cards if card.isHidden()]
    assert page.rect().contains(page.childrenRect())


def test_messages_open_at_the_first_unread_one_else_at_the_newest(show):
    panel = Messages()
    for number in range(80):
        panel.add(Message(Severity.WARNING, f"old {number}", ""))
    show(panel, 500, 160)
    QApplication.processEvents()
    assert panel.unread == 0
    panel.hide()
    panel.show()
    QApplication.processEvents()
    assert panel.view.viewport().rect().contains(panel.view.visualItemRect(panel.items[-1]))
    panel.hide()
    for number in range(30):
        panel.add(Message(Severity.INFO if number % 3 else Severity.ERROR, f"new {number}", ""))
    assert panel.unread == 10
    panel.show()
    QApplication.processEvents()
    assert panel.view.itemAt(panel.view.viewport().rect().topLeft()).message.text == "new 0"


def test_ticks_are_rare_while_a_model_is_loading(fresh, tiny, qtbot):
    intervals = []
    fresh.store.changed.connect(lambda _: intervals.append(fresh.playback._timer.interval()))
    Session(qtbot).load(fresh, tiny)
    assert LOADING_TICK_MS in intervals
    assert fresh.playback._timer.interval() == TICK_MS


def test_presets_and_solver_say_what_they_are():
    assert {"Silk (springs)", "Silk (threads)"} <= set(PRESETS)
    assert choice_text(ClothSolving.LINES) == "Threads"
    assert all(
        (values.get("solver") is ClothSolving.LINES) is name.endswith("(threads)") for name, values in PRESETS.items()
    )


def test_an_empty_kernel_panel_offers_the_files_with_what_they_are(fresh):
    fresh.window.docks.reveal("kernel")
    settled(fresh)
    panel = fresh.kind_panels["kernel"]
    assert panel.add_button.isVisible()
    fresh.edits.add("cloth")
    settled(fresh)
    menu = QMenu()
    panel._list_files(menu)
    step = next(action for action in menu.actions() if action.text() == "cloth/step.glsl")
    assert step.toolTip() == summary_of(fresh.client.engine.library.shipped("cloth/step.glsl")) != ""
    step.trigger()
    settled(fresh)
    assert not panel.add_button.isVisible()
    assert panel.files.currentText() == "cloth/step.glsl"
