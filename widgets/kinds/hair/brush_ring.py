"""The circle of a brush over the viewport, and the keys and the wheel that belong to it while it is there."""

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from widgets.overlay import ViewportOverlay

_SHADE = QColor(0, 0, 0, 130)
_LINE = QColor(236, 236, 236, 230)
_HELD = QColor(255, 214, 92)


class BrushRing(ViewportOverlay):
    """Covers the viewport while it is shown, and lets the mouse through.

    Signals:
        given_up: Escape was pressed.
        turned: Notches that the wheel was turned by, with Ctrl held.
    """

    given_up = Signal()
    turned = Signal(float)

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._place: QPointF | None = None
        self._radius, self._is_held = 40.0, False
        viewport.installEventFilter(self)
        self.hide()

    def draw(self, place: QPointF | None, radius: float, *, held: bool = False) -> None:
        """Shows the circle around a place, or nothing but what it listens to."""
        self._place, self._radius, self._is_held = place, radius, held
        self.setGeometry(self._viewport.rect())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._place is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for pen in (QPen(_SHADE, 3.5), QPen(_HELD if self._is_held else _LINE, 1.5)):
                painter.setPen(pen)
                painter.drawEllipse(self._place, self._radius, self._radius)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.isHidden():
            return False
        if isinstance(event, QWheelEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.turned.emit(event.angleDelta().y() / 120.0)
            return True
        is_press = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if is_press and event.key() == Qt.Key.Key_Escape and not self._is_held:
            self.given_up.emit()
            return True
        return super().eventFilter(watched, event)
