"""A slider over the soft range of a number, linear or logarithmic."""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSlider, QWidget

from sim.scene.params import Scale
from widgets.theme import colours

_POSITIONS = 1000
_SIGNIFICANT = 3
_HANDLE = 12
_GROOVE = 3


class ValueSlider(QSlider):
    """Slider of a real number; a press on the groove jumps there, Escape takes a drag back.

    Signals as in `Editor`: one gesture from press to release, and one for each key or wheel step.

    Args:
        span: Lowest and highest value.
        scale: How the values are spread; LOG needs a positive span.
        step: Values are multiples of it (linear only); None for a thousandth of the span.
        parent: Parent widget.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(
        self, span: tuple[float, float], scale: Scale, step: float | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        lo, hi = span
        self._log = scale is Scale.LOG and lo > 0.0
        self._lo, self._hi = (math.log10(lo), math.log10(hi)) if self._log else (lo, hi)
        self._step = step if step is not None else (hi - lo) / _POSITIONS
        self._start: float | None = None
        self._shown = lo
        self.setRange(0, _POSITIONS)
        self.setSingleStep(max(1, round(_POSITIONS * self._step / (hi - lo))) if not self._log else _POSITIONS // 50)
        self.setPageStep(_POSITIONS // 10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(self._moved)

    @property
    def is_held(self) -> bool:
        """Whether the handle is being dragged."""
        return self._start is not None

    def set_shown(self, value: float) -> None:
        """Puts the handle at a value, or at the nearer end; emits nothing."""
        self._shown = value
        blocked = self.blockSignals(True)
        self.setValue(self._position_of(value))
        self.blockSignals(blocked)
        self.update()

    def _position_of(self, value: float) -> int:
        place = math.log10(max(value, 10.0**self._lo)) if self._log else value
        share = (place - self._lo) / (self._hi - self._lo)
        return round(min(max(share, 0.0), 1.0) * _POSITIONS)

    def _value_at(self, position: int) -> float:
        place = self._lo + (self._hi - self._lo) * position / _POSITIONS
        if self._log:
            return float(f"{10.0**place:.{_SIGNIFICANT}g}")
        stepped = self._lo + round((place - self._lo) / self._step) * self._step
        return float(f"{min(stepped, self._hi):.12g}")

    def _moved(self, position: int) -> None:
        value = self._value_at(position)
        if value == self._shown:
            return
        self._shown = value
        if self.is_held:
            self.edited.emit(value)
            return
        self.edit_started.emit()
        self.edited.emit(value)
        self.edit_finished.emit()

    def _drag_to(self, x: float) -> None:
        span = max(1, self.width() - _HANDLE)
        self.setValue(round(min(max((x - _HANDLE / 2) / span, 0.0), 1.0) * _POSITIONS))

    def _end(self) -> None:
        self._start = None
        self.setSliderDown(False)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jumps to the place and begins a gesture."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._start = self._shown
        self.setSliderDown(True)
        self.edit_started.emit()
        self._drag_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follows the mouse."""
        if self.is_held:
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ends the gesture."""
        if event.button() == Qt.MouseButton.LeftButton and self.is_held:
            self._end()
            self.edit_finished.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes a drag back; arrows step."""
        if event.key() == Qt.Key.Key_Escape and self._start is not None:
            start = self._start
            self._end()
            self.set_shown(start)
            self.edit_cancelled.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """A drag that loses the keyboard ends with what it has."""
        if self.is_held:
            self._end()
            self.edit_finished.emit()
        super().focusOutEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Steps with focus; without it the panel scrolls."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def sizeHint(self) -> QSize:
        """Room for a short groove."""
        return QSize(72, _HANDLE + 6)

    def minimumSizeHint(self) -> QSize:
        """Short, since the number beside it is what counts."""
        return QSize(36, _HANDLE + 6)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """A thin groove, filled up to a round handle."""
        palette = self.palette()
        group = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        groove = QRectF(_HANDLE / 2, self.height() / 2 - _GROOVE / 2, self.width() - _HANDLE, _GROOVE)
        x = groove.left() + groove.width() * self.value() / _POSITIONS
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(group, QPalette.ColorRole.Dark))
            painter.drawRoundedRect(groove, _GROOVE / 2, _GROOVE / 2)
            painter.setBrush(palette.color(group, QPalette.ColorRole.Highlight))
            painter.drawRoundedRect(QRectF(groove.topLeft(), QPointF(x, groove.bottom())), _GROOVE / 2, _GROOVE / 2)
            ring = QPalette.ColorRole.Highlight if self.hasFocus() or self.is_held else QPalette.ColorRole.Mid
            painter.setPen(QPen(palette.color(group, ring), 1.5))
            painter.setBrush(QColor(colours().knob))
            painter.drawEllipse(QPointF(x, self.height() / 2), _HANDLE / 2 - 1, _HANDLE / 2 - 1)
