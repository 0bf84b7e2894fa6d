"""Name of one side of the split view."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.overlay import TEXT, Overlay, paint_ground
from widgets.theme import SPACE, SPACE_WIDE


class SideLabel(Overlay):
    """A line of text on a plate, readable over any picture."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Shows another name."""
        self._text = text
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the name."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2 * SPACE_WIDE, metrics.height() + 2 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Plate and name."""
        with QPainter(self) as painter:
            paint_ground(painter, self.rect().toRectF())
            painter.setPen(TEXT)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)
