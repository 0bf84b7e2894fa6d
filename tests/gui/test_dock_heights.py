import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from sinew.app.editor.docks import LOW
from sinew.widgets.parts import EmptyState
from sinew.widgets.timings.view import Toolbar
from tests.gui.editor_harness import Session


def least(size):
    """Least height of the viewport in a window: half of it, or less of a low one."""
    return size[1] // 2 if size[1] >= LOW else size[1] * 2 // 5


def settle(qtbot, time=20):
    qtbot.wait(time)
    QApplication.processEvents()


@pytest.fixture
def editor(session):
    return session.start(new_window_layout=True)


def heights(editor):
    return editor.window.docks["timeline"].height(), editor.viewport.height()


@pytest.mark.slow
def test_the_timeline_keeps_its_height(editor, qtbot):
    docks, size = editor.window.docks, (1280, 800)
    editor.window.resize(*size)
    settle(qtbot, 50)
    for timeline in (None, 190):
        if timeline is not None:
            editor.window.resizeDocks([docks["timeline"]], [timeline], Qt.Orientation.Vertical)
        settle(qtbot, 500)  # sizes of the last while are those that panels return to
        before = heights(editor)
        for _ in range(3):
            docks["messages"].toggleViewAction().trigger()
            settle(qtbot)
            opened = heights(editor)
            assert opened[0] == before[0]
            assert editor.panels.messages.height() > 60, "there is room for messages"
            assert timeline is not None or opened[1] >= least(size)
            docks["messages"].close()
            settle(qtbot)
            assert heights(editor) == before
        for name in ("timings", "messages"):
            docks.reveal(name)
            settle(qtbot)
        together = heights(editor)
        is_tabbed = together[0] > before[0] - 20 and together[1] == least(size)
        assert together[0] == before[0] or is_tabbed, "tabs need room"
        docks["messages"].close()
        settle(qtbot)
        assert heights(editor)[0] == before[0]
        docks["timings"].close()
        settle(qtbot)
        assert heights(editor) == before


@pytest.mark.slow
def test_tabbed_panels_leave_a_part_of_the_window_and_show_their_texts(editor, qtbot):
    docks = editor.window.docks
    editor.window.resize(1024, 700)
    settle(qtbot, 500)
    for name in ("plots", "distance", "timings", "compare", "messages"):
        dock = docks["timings" if name == "compare" else name]
        dock.toggleViewAction().trigger()
        if name == "compare":
            dock.findChild(Toolbar).compare_button.click()
        settle(qtbot)
        (empty,) = (one for one in dock.findChildren(EmptyState) if one.isVisible())
        for label in (empty.text, empty.hint):
            assert label.text()
            assert label.visibleRegion().boundingRect().height() > 10
        dock.close()
        settle(qtbot)
    for name in ("timings", "plots", "messages"):
        docks.reveal(name)
        settle(qtbot)
        assert editor.viewport.height() == 280, "its part of a low window, neither less nor more"
    editor.panels.fail("", "Something went wrong")
    settle(qtbot)
    table = editor.panels.messages.view
    line = table.visualRect(table.model().index(0, 0))
    assert table.viewport().visibleRegion().boundingRect().contains(line), "a whole line is visible"


def in_front(editor):
    docks = editor.window.docks
    return [spec.id for spec in docks._drawers if not docks[spec.id].visibleRegion().isEmpty()]


def buttons(editor):
    found = (*editor.window.statusBar().findChildren(QToolButton), *editor.window.statusBar().findChildren(QPushButton))
    return {button.text(): button for button in found if button.isVisible()}


def test_a_button_shows_its_panel_in_front_and_hides_it(editor, qtbot):
    size = (1280, 800)
    editor.window.resize(*size)
    settle(qtbot, 500)
    for name, text in (("timings", "Timings"), ("messages", "Messages"), ("plots", "Plots"), ("messages", "Messages")):
        QTest.mouseClick(buttons(editor)[text], Qt.MouseButton.LeftButton)
        settle(qtbot)
        assert in_front(editor) == [name]
        assert [label for label, button in buttons(editor).items() if button.isChecked()] == [text]
        assert editor.window.docks[name].height() >= 0.15 * size[1], "there is room for its content"
        assert editor.viewport.height() >= least(size)
    QTest.mouseClick(buttons(editor)["Messages"], Qt.MouseButton.LeftButton)
    settle(qtbot)
    assert editor.window.docks["messages"].isHidden()
    (front,) = in_front(editor)
    entries = {action.text(): action for action in editor.window.menus.window.actions()}
    behind = "Plots" if front == "timings" else "Timings"
    entries[behind].trigger()
    settle(qtbot)
    assert in_front(editor) == [behind.lower()], "the entry of the menu does the same"


def test_messages_of_another_project_are_removed(fresh, tmp_path, arm, qtbot):
    editor, session = fresh, Session(qtbot)
    session.load(editor, arm)
    editor.panels.warn("", "of the arm")
    path = tmp_path / "a.sinew"
    editor.files.save_to(path)
    editor.panels.warn("", "of a.sinew")
    reported = editor.panels.messages
    session.load(editor, path)
    assert [message.text for message in reported.messages] == ["of the arm", "of a.sinew"], "it is the same project"
    editor.files.import_model(arm)
    qtbot.waitUntil(lambda: len(editor.document.scene.characters) == 2, timeout=60000)
    assert len(reported.messages) == 2
    broken = tmp_path / "broken.sinew"
    broken.write_text("{")
    editor.files.open(broken)
    qtbot.waitUntil(lambda: len(reported.messages) == 3, timeout=60000)
    session.load(editor, arm)
    assert reported.messages == ()
    assert not buttons(editor).keys() & {"1 new message", "2 new messages", "3 new messages"}
    editor.panels.warn("", "of the arm")
    editor.files.new()
    assert reported.messages == ()
