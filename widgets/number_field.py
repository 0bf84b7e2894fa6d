"""A number that is dragged, stepped or typed: the number editor of the whole window."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
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

from sim.scene.params import Scale
from widgets.number_text import NumberRange, NumberTextError, format_number, gain, is_change, parse_number
from widgets.theme import tabular

_DRAG_THRESHOLD = 3.0


class NumberEditing(QLineEdit):
    """A number that gestures change; every one begins with `edit_started` and ends with exactly one other signal.

    Args:
        parent: Parent widget.
        lo: Lowest value that can be typed; None for no bound.
        hi: Highest value that can be typed.
        soft: Span a drag stays in; the hard range by default.
        step: Amount of an arrow key and grid of a drag; from the span by default.
        scale: Whether a drag adds or multiplies.
        decimals: Digits after the point; None shows four significant digits, 0 allows integers only
            unless `whole` is False.
        decimals_max: Digits shown where the value has them.
        whole: Only integers; by default where `decimals` is 0.
        unit: Shown dim after the number.
        default: Value of `reset`.
        double_click_resets: A double click restores the default instead of opening the text.
        optional: Whether None is a value: clearing the text gives None.

    Attributes:
        change: While `edited` is emitted: what a text such as `*2` makes of another value; None for any other edit.
            Raises `NumberTextError` where that is no finite number.
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
    ) -> None:
        super().__init__(parent)
        whole = decimals == 0 if whole is None else whole
        self._range = NumberRange(lo=lo, hi=hi, soft=soft, step=step, scale=scale, whole=whole)
        self._decimals, self._decimals_max = decimals, decimals_max
        self._unit, self._default, self._double_click_resets = unit, default, double_click_resets
        self._optional = optional
        self._value: float | None = default if default is not None or optional else self._range.clamped(0.0)
        self.change: Callable[[float], float] | None = None
        self._fallback = 0.0
        self._waiting: list[float | None] = []
        self._press: QPointF | None = None
        self._raw = 0.0
        self._start: float | None = None
        self._held = False
        self._announced = False
        self._sample = self._special = ""
        self._number = ""
        self.setFont(tabular(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setDragEnabled(False)
        self._show_number()

    # Values from outside

    def value(self) -> float | None:
        """The value; None only where the field is optional."""
        return self._value

    def set_value(self, value: float | None) -> None:
        """Show `value` without emitting anything; waits while the user holds the field."""
        if self.is_held:
            self._waiting = [value]
        elif value != self._value:
            self._value = value
            self._refresh_text()

    def set_range(self, lo: float | None, hi: float | None, soft: tuple[float, float] | None = None) -> None:
        """Replace hard and soft bounds; the value stays as it is."""
        self._range = replace(self._range, lo=lo, hi=hi, soft=soft)
        self.updateGeometry()
        self.update()

    def set_step(self, step: float | None) -> None:
        """Replace the amount of one arrow key."""
        self._range = replace(self._range, step=step)

    def set_fallback(self, value: float) -> None:
        """The number that None stands for; shown dim, and where a drag from None begins."""
        if value != self._fallback:
            self._fallback = value
            if not self.is_held:
                self._show_number()

    def set_sample_text(self, text: str) -> None:
        """Text, without the unit, that must fit; by default the longer end of the range."""
        self._sample = text
        self.updateGeometry()

    def set_special_text(self, text: str) -> None:
        """Text that is shown instead of the least value of the range."""
        self._special = text
        self._show_number()

    @property
    def is_held(self) -> bool:
        return self._held or not self.isReadOnly()

    def display_text(self) -> str:
        """The number as shown, without the unit."""
        shown = self._fallback if self._value is None else self._value
        if self._special and shown == self._range.lo:
            return self._special
        return format_number(shown, self._decimals, self._decimals_max)

    # Changes by the user

    def begin_edit(self) -> None:
        """Open the text with everything selected."""
        if not self.isReadOnly() or self._held or not self.isEnabled():
            return
        self._press = None
        self.setReadOnly(False)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setText("" if self._value is None else self._full_text(self._value))
        self.selectAll()

    def reset(self) -> None:
        """Restore the default as one gesture; nothing where there is no default."""
        if self._default is not None or self._optional:
            self._change_once(self._default)

    def commit_text(self) -> bool:
        """Take the open text as one gesture; False, with a note beside the field, where it is no number."""
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
        """Takes the number on the clipboard as one gesture; a note where there is none."""
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
        """End a drag with the value it began with."""
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
        """The value, or the nearest one that is allowed; says so."""
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


def _gain(modifiers: Qt.KeyboardModifier) -> float:
    return gain(
        bool(modifiers & Qt.KeyboardModifier.ShiftModifier), bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    )


_PADDING = 6.0
_RADIUS = 3.0
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WHEEL_NOTCH = 120.0


@dataclass(frozen=True, slots=True)
class NumberLook:
    """What is painted; `dim` for a value that is only implied."""

    number: str
    unit: str
    dim: bool
    held: bool


def mixed(first: QColor, second: QColor, share: float) -> QColor:
    """Opaque colour between two: `share` 0 is the first, 1 the second."""
    return QColor.fromRgbF(
        first.redF() + share * (second.redF() - first.redF()),
        first.greenF() + share * (second.greenF() - first.greenF()),
        first.blueF() + share * (second.blueF() - first.blueF()),
    )


def number_size(font: QFont, samples: list[str], unit: str) -> QSize:
    metrics = QFontMetricsF(font)
    width = max(metrics.horizontalAdvance(text) for text in samples)
    suffix = metrics.horizontalAdvance(f" {unit}") if unit else 0.0
    return QSize(round(width + suffix + 2.0 * _PADDING + 4.0), round(metrics.height() + 8.0))


def paint_number(painter: QPainter, field: QWidget, look: NumberLook) -> None:
    """Paint `look` over the whole of `field` in the colours of its palette."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_panel(painter, field, look)
    palette = field.palette()
    base, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
    dim = mixed(base, text, 0.62)
    area = QRectF(field.rect()).adjusted(_PADDING, 0.0, -_PADDING, 0.0)
    painter.setFont(field.font())
    if look.unit:
        painter.setPen(dim)
        painter.drawText(area, _RIGHT, look.unit)
        area.setRight(area.right() - QFontMetricsF(field.font()).horizontalAdvance(f" {look.unit}"))
    # The palette of a field that is disabled is dim already.
    painter.setPen(dim if look.dim else text)
    painter.drawText(area, _RIGHT, look.number)


def _paint_panel(painter: QPainter, field: QWidget, look: NumberLook) -> None:
    palette = field.palette()
    base, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
    accent = QColor(palette.color(QPalette.ColorRole.Highlight))
    warm = look.held or (field.underMouse() and field.isEnabled())
    frame = QRectF(field.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(accent if field.hasFocus() or look.held else mixed(base, text, 0.34 if warm else 0.2))
    painter.setBrush(mixed(base, text, 0.06) if warm else base)
    painter.drawRoundedRect(frame, _RADIUS, _RADIUS)


class NumberField(NumberEditing):
    """A number with unit, hard and soft range; see the module for signals and habits, `NumberEditing` for arguments."""

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
        return number_size(self.font(), self._samples(), self._unit)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.isReadOnly():
            super().paintEvent(event)
            return
        look = NumberLook(
            number=self._number,
            unit=self._unit,
            dim=self._value is None,
            held=self._held,
        )
        with QPainter(self) as painter:
            paint_number(painter, self, look)

    def _samples(self) -> list[str]:
        if self._sample:
            return [self._sample]
        ends = [end for end in (self._range.lo, self._range.hi) if end is not None and abs(end) < 1e6]
        digits = max(self._decimals or 0, self._decimals_max or 0)
        return [f"{end:.{digits}f}" for end in ends] + ["0" * 6]


def _starts_number(event: QKeyEvent) -> bool:
    plain = not event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    return plain and len(event.text()) == 1 and event.text() in "-+*/0123456789"
