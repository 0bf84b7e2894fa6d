import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.widgets.messages import MESSAGES_MAX, Message, Messages, Severity

FIRST = Message(Severity.WARNING, "texture coat.tga not found", "models/dude.ezm", 1_700_000_000.0)
SECOND = Message(Severity.ERROR, "two\nlines", "C:\\models\\crate.ezm", 1_700_000_001.0)
THIRD = Message(Severity.INFO, "loaded", "", 1_700_000_002.0)


@pytest.fixture
def messages(show):
    messages = show(Messages(), 500, 200)
    for message in (FIRST, SECOND, THIRD):
        messages.add(message)
    return messages


def shown(messages):
    return [item.text(2) for item in messages.items if not item.isHidden()]


def test_rows_show_file_and_text_and_are_filtered_by_severity(messages):
    assert [item.text(1) for item in messages.items] == ["dude.ezm", "crate.ezm", ""]
    assert shown(messages) == ["texture coat.tga not found", "two lines", "loaded"]
    assert messages.items[0].toolTip(1) == "models/dude.ezm"
    assert messages.switches[Severity.ERROR].text() == "Errors 1"
    messages.switches[Severity.WARNING].click()
    assert shown(messages) == ["two lines", "loaded"]
    messages.add(FIRST)
    assert shown(messages) == ["two lines", "loaded"]
    assert messages.switches[Severity.WARNING].text() == "Warnings 2"
    messages.switches[Severity.WARNING].click()
    assert len(shown(messages)) == 4


def test_visible_or_selected_messages_are_copied_and_all_cleared(messages, qtbot):
    messages.switches[Severity.INFO].click()
    messages.copy_all()
    assert QApplication.clipboard().text().splitlines() == [FIRST.line(), SECOND.line()]
    messages.items[1].setSelected(True)
    messages.view.setFocus()
    qtbot.waitUntil(messages.view.hasFocus, timeout=60000)
    QTest.keyClick(messages.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == SECOND.line()
    messages.clear_button.click()
    assert messages.messages == ()
    assert messages.empty.isVisible()
    assert not messages.copy_button.isEnabled()
    assert messages.switches[Severity.ERROR].text() == "Errors 0"


def test_the_oldest_of_too_many_are_removed(qtbot):
    messages = Messages()
    qtbot.addWidget(messages)
    for number in range(MESSAGES_MAX + 5):
        messages.add(Message(Severity.WARNING, str(number)))
    assert len(messages.messages) == MESSAGES_MAX
    assert messages.messages[0].text == "5"
    assert messages.counts[Severity.WARNING] == MESSAGES_MAX


def test_messages_are_counted_as_unread_while_the_panel_is_hidden(messages, qtbot):
    counts = []
    messages.unread_changed.connect(counts.append)
    messages.add(FIRST)
    assert counts == []
    messages.hide()
    for message in (FIRST, SECOND, THIRD):
        messages.add(message)
    assert counts == [1, 2]
    messages.show()
    assert counts == [1, 2, 0]


def test_the_last_message_stays_visible_until_the_user_scrolls(messages, qtbot):
    for _ in range(50):
        messages.add(FIRST)
    qtbot.wait(1)
    bar = messages.view.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    bar.setValue(3)
    messages.add(SECOND)
    qtbot.wait(1)
    assert bar.value() == 3
