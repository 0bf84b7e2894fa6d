import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget

from sinew.widgets.number_field import NumberField
from tests.gui.panels.fakes import SignalLog, drag, send_wheel

LEFT = Qt.MouseButton.LeftButton


SIGNALS = ("edit_started", "edited", "edit_finished", "edit_cancelled")
START, END = ("edit_started",), ("edit_finished",)


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
    qtbot.waitUntil(other.hasFocus, timeout=60000)
    field.panel, field.other, field.log = window, other, SignalLog(field, *SIGNALS)
    return field


def drag_field(field, pixels, **options):
    drag(field, 20, 20 + pixels, field.height() // 2, **options)


@pytest.fixture
def speed(qtbot):
    field = shown(qtbot, lo=-4.0, hi=4.0, step=0.1, decimals=1, decimals_max=2, unit="×", default=1.0)
    field.set_value(1.0)
    return field


def test_a_drag_is_one_gesture_with_live_values(speed):
    speed.set_value(1.0)
    assert (speed.text(), speed.log) == ("1.0 ×", [])
    drag_field(speed, 20)
    assert (speed.log[0], speed.log[-1]) == (START, END)
    values = speed.log.values("edited")
    assert len(values) > 3
    assert values == sorted(values)
    assert values[-1] == speed.value() == pytest.approx(2.0)
    assert not speed.hasFocus()
    drag_field(speed, 20, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert speed.value() == pytest.approx(2.1)
    drag_field(speed, 300)
    assert speed.value() == 4.0
    speed.log.clear()
    drag_field(speed, 30)
    assert speed.log == [], "at the bound"
    drag_field(speed, -20, release=False)
    speed.hide()
    assert speed.log[-1] == END
    assert QWidget.keyboardGrabber() is None


def test_escape_during_a_drag_restores_the_value_and_ends_the_gesture_once(speed):
    drag_field(speed, 20, release=False)
    QTest.keyClick(speed, Qt.Key.Key_Escape)
    QTest.mouseRelease(speed, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(40, 5))
    assert speed.value() == 1.0
    assert speed.log[-2:] == [("edited", 1.0), ("edit_cancelled",)]
    assert END not in speed.log


def test_a_typed_number_is_set_by_return_or_when_focus_leaves(speed):
    QTest.mouseClick(speed, LEFT)
    assert speed.hasFocus()
    assert speed.log == []
    QTest.keyClicks(speed, "2.25")
    QTest.keyClick(speed, Qt.Key.Key_Return)
    assert speed.value() == 2.25
    assert speed.text() == "2.25 ×"
    assert speed.log == [START, ("edited", 2.25), END]
    speed.begin_edit()
    QTest.keyClicks(speed, "3")
    QTest.keyClick(speed, Qt.Key.Key_Escape)
    assert (speed.text(), len(speed.log)) == ("2.25 ×", 3)
    speed.begin_edit()
    QTest.keyClicks(speed, "99")
    speed.other.setFocus()
    assert speed.value() == 4.0, "the bound, once the focus leaves"


def test_an_invalid_text_stays_open_until_focus_leaves(speed):
    speed.begin_edit()
    QTest.keyClicks(speed, "abc")
    QTest.keyClick(speed, Qt.Key.Key_Return)
    assert speed.is_held
    speed.other.setFocus()
    assert not speed.is_held
    assert speed.value() == 1.0
    assert speed.log == []


def test_a_double_click_edits_or_resets(qtbot, speed):
    QTest.mouseDClick(speed, LEFT)
    assert speed.is_held
    field = shown(qtbot, lo=0.0, hi=2.0, default=1.0, double_click_resets=True)
    field.set_value(0.25)
    QTest.mouseDClick(field, LEFT)
    assert field.value() == 1.0
    assert field.log == [START, ("edited", 1.0), END]


def test_the_wheel_needs_focus_and_up_and_down_step(speed, qtbot):
    assert not send_wheel(speed, QPointF(5.0, 5.0), 1)
    assert speed.value() == 1.0
    QTest.mouseClick(speed, LEFT)
    qtbot.waitUntil(speed.hasFocus, timeout=60000)
    assert send_wheel(speed, QPointF(5.0, 5.0), 1)
    assert speed.value() == pytest.approx(1.1)
    speed.set_value(1.0)
    speed.log.clear()
    QTest.keyClick(speed, Qt.Key.Key_Up)
    QTest.keyClick(speed, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(speed, Qt.Key.Key_Right)
    assert speed.value() == pytest.approx(0.1)
    assert speed.log.values("edited") == pytest.approx([1.1, 0.1])


def test_a_value_set_during_a_drag_is_shown_after_it(speed):
    drag_field(speed, 20, release=False)
    speed.set_value(-3.0)
    assert speed.value() == pytest.approx(2.0)
    QTest.mouseRelease(speed, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(40, 5))
    assert speed.value() == -3.0


def test_an_optional_field_shows_its_fallback_and_can_be_cleared(qtbot):
    field = shown(qtbot, decimals=0, optional=True, step=1.0)
    field.set_fallback(30.0)
    assert field.text() == "30"
    drag_field(field, 4)
    assert field.value() == 32.0
    field.begin_edit()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.value() is None
    assert field.log[-3:] == [START, ("edited", None), END]


def typed(field, text):
    field.setFocus()
    field.begin_edit()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_units_limits_and_the_clipboard(qtbot):
    field = shown(qtbot, lo=0.0, hi=10.0, unit="m", default=1.5)
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Asterisk, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field, "2")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.log == [START, ("edited", 3.0), END]
    typed(field, "25 cm")
    assert field.value() == 0.25
    typed(field, "1 km")
    assert field.value() == 10.0
    assert QToolTip.text() == "10 m is the highest value that is allowed"
    typed(field, "5")
    QToolTip.hideText()
    typed(field, "6")
    assert field.value() == 6.0
    field.set_value(1.5)
    field.log.clear()
    QTest.keyClick(field, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "1.5"
    QApplication.clipboard().setText("70 cm")
    QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert field.log == [START, ("edited", 0.7), END]
    QApplication.clipboard().setText("seven")
    QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert field.value() == 0.7
