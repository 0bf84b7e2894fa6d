import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget

from sinew.widgets.number_field import NumberField

LEFT = Qt.MouseButton.LeftButton


class Log:
    """The signals of a field in order."""

    def __init__(self, field):
        self.events = []
        field.edit_started.connect(lambda: self.events.append("started"))
        field.edited.connect(lambda value: self.events.append(value))
        field.edit_finished.connect(lambda: self.events.append("finished"))
        field.edit_cancelled.connect(lambda: self.events.append("cancelled"))


def shown(qtbot, **options):
    window = QWidget()
    field, other = NumberField(**options), NumberField()
    layout = QVBoxLayout(window)
    layout.addWidget(field)
    layout.addWidget(other)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)  # what leaves a window that is not active yet loses no focus
    field.panel, field.other, field.log = window, other, Log(field)
    return field


def drag(field, pixels, *, release=True, modifiers=Qt.KeyboardModifier.NoModifier):
    start = QPoint(20, field.height() // 2)
    QTest.mousePress(field, LEFT, modifiers, start)
    for pixel in range(1, abs(pixels) + 1):
        move(field, start + QPoint(pixel if pixels > 0 else -pixel, 0), modifiers)
    if release:
        QTest.mouseRelease(field, LEFT, modifiers, start + QPoint(pixels, 0))


def move(field, position, modifiers=Qt.KeyboardModifier.NoModifier):
    where = QPointF(position)
    event = QMouseEvent(
        QEvent.Type.MouseMove, where, field.mapToGlobal(where), Qt.MouseButton.NoButton, LEFT, modifiers
    )
    QApplication.sendEvent(field, event)


def wheel(field, notches):
    where = QPointF(field.rect().center())
    event = QWheelEvent(
        where, field.mapToGlobal(where), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(field, event)
    return event.isAccepted()


@pytest.fixture
def speed(qtbot):
    field = shown(qtbot, lo=-4.0, hi=4.0, step=0.1, decimals=1, decimals_max=2, unit="×", default=1.0)
    field.set_value(1.0)
    return field


def test_setting_a_value_shows_it_and_emits_nothing(speed):
    speed.set_value(0.5)
    assert speed.text() == "0.5 ×"
    assert speed.log.events == []


def test_a_drag_is_one_gesture_with_live_values(speed):
    drag(speed, 20)
    events = speed.log.events
    assert events[0] == "started"
    assert events[-1] == "finished"
    values = events[1:-1]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(2.0)
    assert speed.value() == values[-1]


def test_shift_drags_finer_and_control_coarser(speed):
    drag(speed, 20, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert speed.value() == pytest.approx(1.1)
    speed.set_value(0.0)
    drag(speed, 4, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert speed.value() == pytest.approx(2.0)


def test_a_drag_stops_at_the_bounds(speed):
    drag(speed, 300)
    assert speed.value() == 4.0


def test_escape_during_a_drag_restores_the_value_and_ends_the_gesture_once(speed):
    drag(speed, 20, release=False)
    QTest.keyClick(speed, Qt.Key.Key_Escape)
    QTest.mouseRelease(speed, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(40, 5))
    assert speed.value() == 1.0
    assert speed.log.events[-2:] == [1.0, "cancelled"]
    assert "finished" not in speed.log.events


def test_a_click_takes_focus_and_changes_nothing(speed):
    QTest.mouseClick(speed, LEFT)
    assert speed.hasFocus()
    assert speed.log.events == []


def test_a_drag_takes_no_focus(speed):
    drag(speed, 20)
    assert not speed.hasFocus()


def test_typing_a_digit_opens_the_text_and_return_commits(speed):
    QTest.mouseClick(speed, LEFT)
    QTest.keyClicks(speed, "2.25")
    QTest.keyClick(speed, Qt.Key.Key_Return)
    assert speed.value() == 2.25
    assert speed.text() == "2.25 ×"
    assert speed.log.events == ["started", 2.25, "finished"]


def test_escape_restores_the_typed_text(speed):
    speed.begin_edit()
    QTest.keyClicks(speed, "3")
    QTest.keyClick(speed, Qt.Key.Key_Escape)
    assert speed.text() == "1.0 ×"
    assert speed.log.events == []


def test_typed_values_are_clamped_to_the_hard_range(speed):
    speed.begin_edit()
    QTest.keyClicks(speed, "99")
    QTest.keyClick(speed, Qt.Key.Key_Return)
    assert speed.value() == 4.0


def test_nonsense_keeps_the_text_open_and_is_dropped_when_focus_leaves(speed):
    speed.begin_edit()
    QTest.keyClicks(speed, "abc")
    QTest.keyClick(speed, Qt.Key.Key_Return)
    assert speed.is_held
    speed.other.setFocus()
    assert not speed.is_held
    assert speed.value() == 1.0
    assert speed.log.events == []


def test_leaving_the_field_commits_what_was_typed(speed):
    speed.begin_edit()
    QTest.keyClicks(speed, "2")
    speed.other.setFocus()
    assert speed.log.events == ["started", 2.0, "finished"]


def test_a_double_click_edits_or_resets(qtbot, speed):
    QTest.mouseDClick(speed, LEFT)
    assert speed.is_held
    field = shown(qtbot, lo=0.0, hi=2.0, default=1.0, double_click_resets=True)
    field.set_value(0.25)
    QTest.mouseDClick(field, LEFT)
    assert field.value() == 1.0
    assert field.log.events == ["started", 1.0, "finished"]


def test_the_wheel_needs_focus(speed, qtbot):
    assert not wheel(speed, 1)
    assert speed.value() == 1.0
    QTest.mouseClick(speed, LEFT)
    qtbot.waitUntil(speed.hasFocus)
    assert wheel(speed, 1)
    assert speed.value() == pytest.approx(1.1)


def test_arrow_keys_step_and_left_right_are_left_to_the_panel(speed):
    QTest.mouseClick(speed, LEFT)
    QTest.keyClick(speed, Qt.Key.Key_Up)
    QTest.keyClick(speed, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(speed, Qt.Key.Key_Right)
    assert speed.value() == pytest.approx(0.1)
    assert [event for event in speed.log.events if isinstance(event, float)] == pytest.approx([1.1, 0.1])


def test_a_value_set_during_a_drag_waits_for_its_end(speed):
    drag(speed, 20, release=False)
    speed.set_value(-3.0)
    assert speed.value() == pytest.approx(2.0)
    QTest.mouseRelease(speed, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(40, 5))
    assert speed.value() == -3.0


def test_an_optional_field_shows_its_fallback_and_can_be_cleared(qtbot):
    field = shown(qtbot, decimals=0, optional=True, step=1.0)
    field.set_fallback(30.0)
    assert field.text() == "30"
    drag(field, 4)
    assert field.value() == 32.0
    field.begin_edit()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.value() is None
    assert field.log.events[-3:] == ["started", None, "finished"]


def test_a_disabled_field_does_not_open(speed):
    speed.setEnabled(False)
    speed.begin_edit()
    assert not speed.is_held


def test_hiding_the_field_ends_its_drag(speed):
    drag(speed, 20, release=False)
    speed.hide()
    assert speed.log.events[-1] == "finished"
    assert QWidget.keyboardGrabber() is None


def test_the_longest_number_fits(speed):
    needed = speed.fontMetrics().horizontalAdvance("-4.00 ×")
    assert speed.minimumSizeHint().width() >= needed + 8


def test_a_drag_against_the_bound_emits_nothing(speed):
    speed.set_value(4.0)
    drag(speed, 30)
    assert speed.log.events == []
    assert not speed.is_held


def typed(field, text):
    field.setFocus()
    field.begin_edit()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_a_change_in_another_unit_is_one_gesture(qtbot):
    field = shown(qtbot, lo=0.0, hi=10.0, unit="m", default=1.5)
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Asterisk, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field, "2")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.log.events == ["started", 3.0, "finished"]
    typed(field, "25 cm")
    assert field.value() == 0.25


def test_a_number_beyond_the_range_says_what_is_allowed(qtbot):
    field = shown(qtbot, lo=0.0, hi=10.0, unit="m", default=1.5)
    typed(field, "1 km")
    assert field.value() == 10.0
    assert QToolTip.text() == "10 m is the highest value that is allowed"
    typed(field, "5")
    QToolTip.hideText()
    typed(field, "6")
    assert field.value() == 6.0


def test_numbers_are_copied_and_pasted(qtbot):
    field = shown(qtbot, lo=0.0, hi=10.0, unit="m", default=1.5)
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "1.5"
    QApplication.clipboard().setText("70 cm")
    QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert field.log.events == ["started", 0.7, "finished"]
    QApplication.clipboard().setText("seven")
    QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert field.value() == 0.7
