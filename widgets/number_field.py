"""A number that is dragged, stepped or typed; the one number editor of the whole window.

    field = NumberField(lo=-4.0, hi=4.0, step=0.1, decimals=1, unit="×", default=1.0)
    field.set_value(0.5)                 # never emits
    field.edit_started.connect(...)      # a gesture begins: drag, arrow key, wheel, typed text, reset
    field.edited.connect(...)            # every new value of the gesture: float, or None if optional
    field.edit_finished.connect(...)     # the gesture ended and its last value holds
    field.edit_cancelled.connect(...)    # Escape: the old value was sent once more by `edited` just before

Every `edit_started` is followed by exactly one `edit_finished` or `edit_cancelled`.  A gesture that
changes nothing emits nothing.  While the user holds the field, `set_value` waits for the gesture to end.

Habits: drag left and right (Shift finer, Ctrl coarser); Up and Down or the wheel step it while it has
focus; a double click, Return, F2 or typing a digit or one of - + * / opens the text, which may be arithmetic, in
other units, or a change such as *2 or +=0.1 (`widgets.number_text`); Return commits, Escape restores; Ctrl+C and Ctrl+V
copy and paste the number.  A number beyond the range becomes the nearest one, which a note beside the field says.
The wheel over a field without focus goes to whatever scrolls around it.
"""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
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
from PySide6.QtWidgets import QWidget

from widgets.number_editing import NumberEditing

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
