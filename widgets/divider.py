"""The divider of the split view: a line over the viewport that can be dragged sideways."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from widgets.overlay import DIM, TEXT, ViewportOverlay

_GRIP = 12
_SHADOW = QColor(0, 0, 0, 120)


class Divider(ViewportOverlay):
    """A narrow widget that stands at a share of the width of its parent.

    One gesture runs from press to release; Escape takes it back.  `edited` carries the place, 0 (left)
    to 1.  The parent calls `place` when it is resized.
    """

    edit_started = Signal()
    edited = Signal(float)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, takes_mouse=True)
        self._value = 0.5
        self._start: float | None = None
        self._offset = 0.0
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setToolTip("Drag to compare")
        self.setAccessibleName("Divider of the split view")
        self.place()

    @property
    def value(self) -> float:
        """Place from 0 (left) to 1."""
        return self._value

    @property
    def is_held(self) -> bool:
        return self._start is not None

    def set_value(self, value: float) -> None:
        """Moves the divider, unless the user holds it; emits nothing."""
        if not self.is_held:
            self._value = min(max(value, 0.0), 1.0)
            self.place()

    def place(self) -> None:
        """Takes the place and the height that the size of the parent asks for."""
        parent = self.parentWidget()
        x = round(self._value * parent.width())
        self.setGeometry(QRect(x - _GRIP // 2, 0, _GRIP, parent.height()))

    def sizeHint(self) -> QSize:
        return QSize(_GRIP, self.parentWidget().height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._start = self._value
        # The line keeps its distance from the mouse, so that a press alone moves nothing.
        self._offset = self._value * self.parentWidget().width() - self._parent_x(event)
        self.grabKeyboard()
        self.edit_started.emit()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.is_held:
            width = max(1, self.parentWidget().width())
            self._move_to((self._parent_x(event) + self._offset) / width)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.is_held:
            self._release_drag()
            self.edit_finished.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._start is not None:
            start = self._start
            self._release_drag()
            self.set_value(start)
            self.edit_cancelled.emit()
            return
        event.ignore()

    def _move_to(self, value: float) -> None:
        clamped = min(max(value, 0.0), 1.0)
        if clamped != self._value:
            self._value = clamped
            self.place()
            self.edited.emit(clamped)

    def _parent_x(self, event: QMouseEvent) -> float:
        return self.mapToParent(event.position()).x()

    def _release_drag(self) -> None:
        self._start = None
        self.releaseKeyboard()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        x = self.width() / 2.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(_SHADOW, 3.0))
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))
            painter.setPen(QPen(TEXT if self.is_held else DIM, 1.0))
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))
            knob = QRectF(x - 3.0, self.height() / 2.0 - 14.0, 6.0, 28.0)
            painter.setBrush(TEXT if self.is_held else DIM)
            painter.drawRoundedRect(knob, 3.0, 3.0)
