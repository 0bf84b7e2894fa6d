"""The rectangle that a drag spans over the viewport."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from widgets.overlay import Overlay

_FILL = QColor(90, 204, 255, 38)
_LINE = QColor(90, 204, 255, 220)
_SHADE = QColor(0, 0, 0, 110)


class RubberBand(Overlay):
    """Covers the viewport while it is shown, and lets the mouse through."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._box = QRectF()
        self.hide()

    @property
    def box(self) -> QRectF:
        """The rectangle, in the viewport's logical pixels."""
        return self._box

    def span(self, start: QPointF, end: QPointF) -> None:
        """Shows the rectangle between two places."""
        self._box = QRectF(start, end).normalized()
        self.setGeometry(self._viewport.rect())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """A light frame with a dark one around it, to be seen over any picture."""
        with QPainter(self) as painter:
            frame = self._box.adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(QPen(_SHADE, 3.0))
            painter.drawRect(frame)
            painter.setPen(QPen(_LINE, 1.0))
            painter.setBrush(_FILL)
            painter.drawRect(frame)
