from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget

from sinew.sim.scene.params import Scale
from sinew.widgets.number_text import NumberRange, NumberTextError, format_number, gain, is_change, parse_number
from sinew.widgets.theme import blend, tabular

_DRAG_THRESHOLD = 3.0


_PADDING = 6.0
_RADIUS = 3.0
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WHEEL_NOTCH = 120.0


class NumberField(QLineEdit):
    """A number with unit, hard and soft range.

    Drag left and right (Shift finer, Ctrl coarser); Up, Down and the wheel step it while it has the focus. Double
    click, Return, F2 or typing opens the text, which may be arithmetic, in other units, or a change such as *2 or +=0.1
    (`sinew.widgets.number_text`); Return commits, Escape restores. Ctrl+C and Ctrl+V copy and paste the number. Values
    beyond the hard range are clamped with a notice.

    Each gesture emits `edit_started`, then `edited` for each value, then `edit_finished` or `edit_cancelled`; before a
    cancel, `edited` is emitted with the old value. A gesture without changes emits nothing. During a gesture
    `set_value` is deferred to its end.

    Args:
        lo, hi: Hard range for typed values; None for no limit.
        soft: Range of a drag; the hard range by default.
        step: Step of the arrow keys and grid of a drag; derived from the range by default.
        scale: A drag adds or multiplies.
        decimals: Digits after the point; None for four significant digits, 0 for integers unless `whole` is False.
        decimals_max: Digits after the point for values that have them.
        whole: Only integers; by default if `decimals` is 0.
        default: Value of `reset`.
        double_click_resets: A double click resets instead of opening the text.
        optional: The value may be None: clearing the text gives None.
        special: Text that stands for the lowest value.

    Attributes:
        change: While `edited` is emitted for a relative change such as `*2`: the change, for other values; else None.
            Raises `NumberTextError` if the result is not a finite number.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        lo: float | None = None,
        hi: float | None = None,
        soft: tuple[float, float] | None = None,
        step: float | None = None,
        scale: Scale = Scale.LINEAR,
        decimals: int | None = None,
        decimals_max: int | None = None,
        whole: bool | None = None,
        unit: str = "",
        default: float | None = None,
        double_click_resets: bool = False,
        optional: bool = False,
        special: str = "",
    ) -> None:
        super().__init__(parent)
        whole = decimals == 0 if whole is None else whole
        self._range = NumberRange(lo=lo, hi=hi, soft=soft, step=step, scale=scale, whole=whole)
        self._decimals, self._decimals_max = decimals, decimals_max
        self._unit, self._default, self._double_click_resets = unit, default, double_click_resets
        self._optional, self._special = optional, special
        self._value: float | None = default if default is not None or optional else self._range.clamped(0.0)
        self.change: Callable[[float], float] | None = None
        self._fallback = 0.0
        self._waiting: list[float | None] = []
        self._press: QPointF | None = None
        self._raw = 0.0
        self._start: float | None = None
        self._held = False
        self._announced = False
        self._sample = ""
        self._number = ""
        self.setFont(tabular(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setDragEnabled(False)
        self._show_number()

    def value(self) -> float | None:
        """Returns the number; None only if the field is optional."""
        return self._value

    def set_value(self, value: float | None) -> None:
        """Sets the number without emitting a signal; a gesture defers this."""
        if self.is_held:
            self._waiting = [value]
        elif value != self._value:
            self._value = value
            self._refresh_text()

    def set_range(self, lo: float | None, hi: float | None, soft: tuple[float, float] | None = None) -> None:
        """Sets the hard and the soft range; the value stays."""
        self._range = replace(self._range, lo=lo, hi=hi, soft=soft)
        self.updateGeometry()
        self.update()

    def set_step(self, step: float | None) -> None:
        self._range = replace(self._range, step=step)

    def set_fallback(self, value: float) -> None:
        """Sets the number for which None stands; it is shown, dim unless None is a value, and a drag starts there."""
        if value != self._fallback:
            self._fallback = value
            if not self.is_held:
                self._show_number()

    def set_sample_text(self, text: str) -> None:
        """Sets a text, without unit, that must fit; by default the longer end of the range."""
        self._sample = text
        self.updateGeometry()

    @property
    def is_held(self) -> bool:
        return self._held or not self.isReadOnly()

    def display_text(self) -> str:
        """Returns the text of the number without unit."""
        shown = self._fallback if self._value is None else self._value
        if self._special and shown == self._range.lo:
            return self._special
        return format_number(shown, self._decimals, self._decimals_max)

    # Changes by the user

    def begin_edit(self) -> None:
        """Opens the text for editing with everything selected."""
        if not self.isReadOnly() or self._held or not self.isEnabled():
            return
        self._press = None
        self.setReadOnly(False)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setText("" if self._value is None else self._full_text(self._value))
        self.selectAll()

    def reset(self) -> None:
        """Restores the default as one gesture, if there is one."""
        if self._default is not None or self._optional:
            self._change_once(self._default)

    def commit_text(self) -> bool:
        """Applies the open text as one gesture; shows a notice and returns False if it is not a number."""
        try:
            text, typed = self.text(), self._typed()
        except NumberTextError as error:
            self._report(str(error))
            self.selectAll()
            return False
        self._close_text()
        if typed == self._value:
            self._take_waiting()
        else:
            if is_change(text):
                self.change = lambda own: self._range.clamped(parse_number(text, self._unit, own))
            self._change_once(typed)
            self.change = None
        return True

    def copy_value(self) -> None:
        if self._value is not None:
            QApplication.clipboard().setText(f"{self._value:.10g}")

    def paste_value(self) -> None:
        """Pastes as one gesture; shows a notice if the clipboard has no number."""
        try:
            pasted = self._allowed(parse_number(QApplication.clipboard().text(), self._unit, self._value))
        except NumberTextError as error:
            self._report(str(error))
        else:
            self._change_once(pasted)

    def revert_text(self) -> None:
        self._close_text()
        self._take_waiting()

    def cancel_drag(self) -> None:
        if not self._held:
            return
        self._release_drag()
        self._waiting.clear()
        self._value = self._start
        self._show_number()
        if self._announced:
            self.edited.emit(self._start)
            self.edit_cancelled.emit()

    def _typed(self) -> float | None:
        if self._optional and not self.text().strip():
            return None
        if self._value is not None and self.text() == self._full_text(self._value):
            return self._value
        present = self._fallback if self._value is None else self._value
        return self._allowed(parse_number(self.text(), self._unit, present))

    def _allowed(self, value: float) -> float:
        """Returns a value clamped to the hard range; shows a notice if it was not allowed."""
        allowed = self._range.clamped(value)
        if abs(allowed - value) > 0.5 * self._range.whole:
            end = "lowest" if allowed > value else "highest"
            self._report(f"{allowed:g} {self._unit}".rstrip() + f" is the {end} value that is allowed")
        return allowed

    def _report(self, text: str) -> None:
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), text, self)

    def _full_text(self, value: float) -> str:
        return f"{value:.10g}" if self._decimals is None else format_number(value, self._decimals, 6)

    def _close_text(self) -> None:
        self.deselect()
        self._show_number()

    def _change_once(self, value: float | None) -> None:
        self._waiting.clear()
        if value == self._value:
            return
        self.edit_started.emit()
        self._value = value
        self._show_number()
        self.edited.emit(value)
        self.edit_finished.emit()

    def _step_by(self, count: float, modifiers: Qt.KeyboardModifier) -> None:
        start = self._fallback if self._value is None else self._value
        self._change_once(self._range.stepped(start, count, _gain(modifiers)))

    def _drag_to(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        assert self._press is not None
        pixels = position.x() - self._press.x()
        if not self._held:
            if abs(pixels) < _DRAG_THRESHOLD:
                return
            self._hold_drag()
        self._press = position
        factor = _gain(modifiers)
        start = self._fallback if self._start is None else self._start
        self._raw = self._range.moved(self._raw, pixels, factor)
        value = self._range.settled(self._raw, start=start, factor=factor)
        if value != self._value:
            if not self._announced:
                self._announced = True
                self.edit_started.emit()
            self._value = value
            self._show_number()
            self.edited.emit(value)

    def _hold_drag(self) -> None:
        self._held = True
        self._start = self._value
        self._raw = self._fallback if self._value is None else self._value
        self.grabKeyboard()  # Escape must reach the drag although a drag takes no focus
        self._announced = False

    def _release_drag(self) -> None:
        self._held = False
        self._press = None
        self.releaseKeyboard()
        self.update()

    def _finish_drag(self) -> None:
        self._release_drag()
        self._take_waiting()
        if self._announced:
            self.edit_finished.emit()

    def _take_waiting(self) -> None:
        if self._waiting:
            self._value = self._waiting.pop()
            self._waiting.clear()
            self._show_number()

    def _show_number(self) -> None:
        self.setReadOnly(True)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self._refresh_text()

    def _refresh_text(self) -> None:
        self._number = self.display_text()
        text = f"{self._number} {self._unit}".rstrip()
        if text != self.text():
            self.setText(text)
        self.update()

    # Events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.isReadOnly():
            super().mousePressEvent(event)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._press = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self.isReadOnly():
            super().mouseMoveEvent(event)
        elif self._press is not None:
            self._drag_to(event.position(), event.modifiers())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self.isReadOnly():
            super().mouseReleaseEvent(event)
        elif event.button() == Qt.MouseButton.LeftButton:
            if self._held:
                self._finish_drag()
            elif self._press is not None:
                self._press = None
                self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self.isReadOnly():
            super().mouseDoubleClickEvent(event)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._press = None
            if self._double_click_resets:
                self.reset()
            else:
                self.begin_edit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        notches = (event.angleDelta().y() or event.angleDelta().x()) / _WHEEL_NOTCH
        if not self.hasFocus() or not self.isReadOnly() or self._held or notches == 0.0:
            event.ignore()
            return
        self._step_by(notches, event.modifiers())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if self._held:
            if key == Qt.Key.Key_Escape:
                self.cancel_drag()
        elif not self.isReadOnly():
            self._text_key(event)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_by(1.0 if key == Qt.Key.Key_Up else -1.0, event.modifiers())
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.begin_edit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_value()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_value()
        elif _starts_number(event):
            self.begin_edit()
            self.setText(event.text())
        else:
            event.ignore()

    def _text_key(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commit_text()
        elif event.key() == Qt.Key.Key_Escape:
            self.revert_text()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._claims(event):
            event.accept()
            return True
        return super().event(event)

    def _claims(self, event: QKeyEvent) -> bool:
        if self.is_held:
            return event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        is_own = event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.Paste)
        return is_own or event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) or _starts_number(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if not self.isReadOnly() and event.reason() != Qt.FocusReason.PopupFocusReason and not self.commit_text():
            self.revert_text()
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        if self._held:
            self._finish_drag()
        super().hideEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.isReadOnly():
            event.ignore()
        else:
            super().contextMenuEvent(event)

    # Looks

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        width = max(metrics.horizontalAdvance(text) for text in self._samples())
        suffix = metrics.horizontalAdvance(f" {self._unit}") if self._unit else 0.0
        return QSize(round(width + suffix + 2.0 * _PADDING + 4.0), round(metrics.height() + 8.0))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.isReadOnly():
            super().paintEvent(event)
            return
        base, text = (self.palette().color(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text))
        warm = self._held or (self.underMouse() and self.isEnabled())
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        area = QRectF(self.rect()).adjusted(_PADDING, 0.0, -_PADDING, 0.0)
        dim = blend(base, text, 0.62)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.hasFocus() or self._held:
                painter.setPen(self.palette().color(QPalette.ColorRole.Highlight))
            else:
                painter.setPen(blend(base, text, 0.34 if warm else 0.2))
            painter.setBrush(blend(base, text, 0.06) if warm else base)
            painter.drawRoundedRect(frame, _RADIUS, _RADIUS)
            painter.setFont(self.font())
            if self._unit:
                painter.setPen(dim)
                painter.drawText(area, _RIGHT, self._unit)
                area.setRight(area.right() - QFontMetricsF(self.font()).horizontalAdvance(f" {self._unit}"))
            # The palette of a disabled field is already dim.
            painter.setPen(dim if self._value is None and not self._optional else text)
            painter.drawText(area, _RIGHT, self._number)

    def _samples(self) -> list[str]:
        if self._sample:
            return [self._sample]
        ends = [end for end in (self._range.lo, self._range.hi) if end is not None and abs(end) < 1e6]
        digits = max(self._decimals or 0, self._decimals_max or 0)
        return [f"{end:.{digits}f}" for end in ends] + ["0" * 6]


def _gain(modifiers: Qt.KeyboardModifier) -> float:
    held = Qt.KeyboardModifier
    return gain(bool(modifiers & held.ShiftModifier), bool(modifiers & held.ControlModifier))


def _starts_number(event: QKeyEvent) -> bool:
    plain = not event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    return plain and len(event.text()) == 1 and event.text() in "-+*/0123456789"
