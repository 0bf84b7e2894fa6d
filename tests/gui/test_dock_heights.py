"""What opens and closes below the timeline takes its height from the viewport alone, and gives it back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from sinew.widgets.parts import EmptyState
from sinew.widgets.timings.view import Toolbar


@pytest.fixture
def settle(qtbot):
    """Waits until docks have the sizes that they take."""

    def wait(time=20):
        qtbot.wait(time)
        QApplication.processEvents()

    return wait


def heights(editor):
    return editor.window.docks["timeline"].height(), editor.viewport.height()


@pytest.mark.parametrize(("size", "timeline"), [((1024, 700), None), ((1280, 800), None), ((1280, 800), 190)])
def test_the_timeline_keeps_its_height_whatever_opens_below_it(session, settle, size, timeline):
    editor = session.start(new_window_layout=True)
    docks = editor.window.docks
    editor.window.resize(*size)
    settle(50)
    if timeline is not None:
        editor.window.resizeDocks([docks["timeline"]], [timeline], Qt.Orientation.Vertical)
    settle(500)  # sizes of before are taken for wanted after a while
    before = heights(editor)
    for _ in range(3):
        docks["messages"].toggleViewAction().trigger()
        settle()
        opened = heights(editor)
        assert opened[0] == before[0]
        assert editor.panels.messages.height() > 60, "there is room for messages"
        if timeline is None:
            assert opened[1] >= size[1] // 2
        docks["messages"].close()
        settle()
        assert heights(editor) == before
    docks.reveal("timings")
    settle()
    docks.reveal("messages")
    settle()
    together = heights(editor)
    assert together[0] == before[0] or (together[0] > before[0] - 20 and together[1] == size[1] // 2), "tabs need room"
    docks["messages"].close()
    settle()
    assert heights(editor)[0] == before[0]
    docks["timings"].close()
    settle()
    assert heights(editor) == before


def test_panels_that_share_the_place_use_what_the_viewport_can_spare(session, settle):
    editor = session.start(new_window_layout=True)
    docks = editor.window.docks
    editor.window.resize(1024, 700)
    settle(500)
    for _ in range(2):
        for name in ("timings", "messages", "plots"):
            docks.reveal(name)
            settle()
            assert editor.viewport.height() == 350, "half of the window, neither less nor more"
    docks.reveal("messages")
    editor.panels.fail("", "Something went wrong")
    settle()
    table = editor.panels.messages.view
    line = table.visualRect(table.model().index(0, 0))
    assert table.viewport().visibleRegion().boundingRect().contains(line), "a whole line is in sight"


@pytest.mark.parametrize("name", ["plots", "distance", "timings", "compare", "messages"])
def test_what_an_empty_panel_says_is_in_sight(session, settle, name):
    editor = session.start(new_window_layout=True)
    dock = editor.window.docks["timings" if name == "compare" else name]
    editor.window.resize(1024, 700)
    settle(500)
    dock.toggleViewAction().trigger()
    if name == "compare":
        dock.findChild(Toolbar).compare_button.click()
    settle()
    (empty,) = (one for one in dock.findChildren(EmptyState) if one.isVisible())
    for label in (empty.text, empty.hint):
        assert label.text()
        assert label.visibleRegion().boundingRect().height() > 10


def test_what_was_made_higher_opens_as_high_again(session, settle):
    editor = session.start(new_window_layout=True)
    docks = editor.window.docks
    editor.window.resize(1280, 900)
    settle(500)
    docks.reveal("messages")
    settle(500)
    editor.window.resizeDocks([docks["messages"]], [180], Qt.Orientation.Vertical)
    settle(500)
    before = heights(editor)
    docks["messages"].close()
    settle()
    docks.reveal("messages")
    settle()
    assert docks["messages"].height() == pytest.approx(180, abs=2)
    assert heights(editor) == before
    docks.maximise(True)
    settle()
    docks.maximise(False)
    settle()
    assert heights(editor) == before


def in_front(editor):
    """Panels below the timeline that are seen."""
    docks = editor.window.docks
    return [spec.id for spec in docks._drawers if not docks[spec.id].visibleRegion().isEmpty()]


def buttons(editor):
    """Buttons of the status bar by their texts."""
    found = (*editor.window.statusBar().findChildren(QToolButton), *editor.window.statusBar().findChildren(QPushButton))
    return {button.text(): button for button in found if button.isVisible()}


@pytest.mark.parametrize("size", [(1280, 800), (1600, 1000)])
def test_a_button_brings_its_panel_to_the_front_and_hides_it_from_there(session, settle, size):
    editor = session.start(new_window_layout=True)
    editor.window.resize(*size)
    settle(500)
    for name, text in (("timings", "Timings"), ("messages", "Messages"), ("plots", "Plots"), ("messages", "Messages")):
        QTest.mouseClick(buttons(editor)[text], Qt.MouseButton.LeftButton)
        settle()
        assert in_front(editor) == [name]
        assert [label for label, button in buttons(editor).items() if button.isChecked()] == [text]
        assert editor.window.docks[name].height() >= 0.15 * size[1], "room for what it is opened for"
        assert editor.viewport.height() >= size[1] // 2
    QTest.mouseClick(buttons(editor)["Messages"], Qt.MouseButton.LeftButton)
    settle()
    assert editor.window.docks["messages"].isHidden()
    (front,) = in_front(editor)
    entries = {action.text(): action for action in editor.window.menus.window.actions()}
    behind = "Plots" if front == "timings" else "Timings"
    entries[behind].trigger()
    settle()
    assert in_front(editor) == [behind.lower()], "the entry of the menu does the same"


def test_buttons_of_the_status_bar_stay_where_they_are(session, settle):
    editor = session.start(new_window_layout=True)
    window = editor.window
    window.show_progress("model.ezm", 0.5)
    settle()
    before = {text: button.pos() for text, button in buttons(editor).items()}
    assert {"Cancel", "Messages"} < before.keys()
    window.show_autosave("autosaved 12 s ago")
    settle()
    assert {text: button.pos() for text, button in buttons(editor).items()} == before
    window.show_unread(12)
    window.show_hint("Drag to orbit")
    window.show_autosave("autosaved 3 min ago")
    settle()
    after = {text: button.pos() for text, button in buttons(editor).items()}
    assert after.pop("12 new messages").x() > after["Timings"].x()
    assert after == before


def test_messages_of_another_project_go(session, settle, tmp_path, arm, qtbot):
    editor = session.open(arm)
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
