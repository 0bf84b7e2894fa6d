"""A few dim lines over the viewport: counts, frame, frame rate."""

from collections.abc import Iterable

from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.overlay import DIM, Overlay
from widgets.theme import SPACE_WIDE, tabular

_SHADOW = QColor(0, 0, 0, 140)
_GAP = 2


class StatisticsOverlay(Overlay):
    """Lines of label and value, the values one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, str], ...] = ()
        font = tabular(self.font())
        font.setPointSizeF(max(font.pointSizeF() * 0.9, 7.0))
        self.setFont(font)

    def set_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Shows label and value of each line; repaints only when something differs."""
        fresh = tuple(rows)
        if fresh == self._rows:
            return
        before = self.sizeHint()
        self._rows = fresh
        if self.sizeHint() != before:
            self.adjustSize()
        self.update()

    def rows(self) -> tuple[tuple[str, str], ...]:
        """What is shown."""
        return self._rows

    def sizeHint(self) -> QSize:
        """Room for all lines."""
        metrics = self.fontMetrics()
        values = max((metrics.horizontalAdvance(value) for _, value in self._rows), default=0)
        return QSize(self._label_width() + values + 2, len(self._rows) * (metrics.height() + _GAP) + 1)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Light text with a soft shadow, so that it reads on dark and on light pictures."""
        metrics = self.fontMetrics()
        value_x = self._label_width()
        with QPainter(self) as painter:
            for offset, pen in ((QPoint(1, 1), _SHADOW), (QPoint(0, 0), DIM)):
                painter.setPen(pen)
                y = metrics.ascent()
                for label, value in self._rows:
                    painter.drawText(QPoint(0, y) + offset, label)
                    painter.drawText(QPoint(value_x, y) + offset, value)
                    y += metrics.height() + _GAP

    def _label_width(self) -> int:
        metrics = self.fontMetrics()
        return max((metrics.horizontalAdvance(label) for label, _ in self._rows), default=0) + SPACE_WIDE
