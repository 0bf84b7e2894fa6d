"""The line above a plot: what is plotted, from which source, and the values under the mouse."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.theme import SPACE, tabular

_GAP = 3 * SPACE


class PlotHeader(QWidget):
    """Title at the left, reading at the right.

    A title that is longer than the line is shortened; the tooltip has all of it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.reading = "", ""
        self.setFont(tabular(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_title(self, title: str) -> None:
        """Says what is plotted."""
        if title != self.title:
            self.title = title
            self.setAccessibleName(title)
            self.update()

    def set_reading(self, reading: str) -> None:
        """Says what is under the mouse."""
        if reading != self.reading:
            self.reading = reading
            self.update()

    def sizeHint(self) -> QSize:
        """A line."""
        return QSize(0, self.fontMetrics().height() + SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The reading is never shortened in favour of the title."""
        metrics = self.fontMetrics()
        area = self.rect().adjusted(SPACE, 0, -SPACE, 0)
        width = metrics.horizontalAdvance(self.reading)
        room = area.width() - (width + _GAP if self.reading else 0)
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            title = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, max(room, 0))
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            reading = metrics.elidedText(self.reading, Qt.TextElideMode.ElideRight, area.width())
            place = QRect(
                area.right() - min(width, area.width()), area.top(), min(width, area.width()) + 1, area.height()
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, reading)
