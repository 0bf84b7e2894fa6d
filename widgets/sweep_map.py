"""Map of a sweep: a cell for each combination of one or two settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.widgets.theme import SPACE, blend, tabular

_STOPPED = QColor("#e0574b")


@dataclass(frozen=True, slots=True)
class SweepCell:
    """A cell: `value` determines the colour, NaN for none; `is_stable` if the run was completed."""

    text: str
    value: float
    is_stable: bool
    tip: str


class SweepMap(QWidget):
    """Map of a sweep: rows are values of the first setting, columns values of the second one."""

    pointed = Signal(int)  # Index of the cell under the mouse, or -1
    chosen = Signal(int)  # Index of a cell that was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cells: tuple[SweepCell, ...] = ()
        self._rows: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ()
        self._titles = ("", "")
        self.at = -1
        self.setFont(tabular(self.font()))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Map of the sweep")

    def show_cells(
        self, titles: tuple[str, str], rows: Sequence[str], columns: Sequence[str], cells: Sequence[SweepCell]
    ) -> None:
        """Shows cells, given row by row; `titles` are the names of the settings of rows and columns."""
        self._titles, self._rows, self._columns, self.cells = titles, tuple(rows), tuple(columns), tuple(cells)
        self.at = -1
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        columns, rows = max(len(self._columns), 1), max(len(self._rows), 1)
        return QSize(round(self._left + columns * 6 * height), round(self._top + rows * 2.2 * height))

    def minimumSizeHint(self) -> QSize:
        columns, rows = max(len(self._columns), 1), max(len(self._rows), 1)
        return QSize(round(self._left + columns * 24), round(self._top + rows * 18))

    def cell_rect(self, number: int) -> QRectF:
        columns = len(self._columns)
        width = (self.width() - self._left - SPACE) / columns
        height = (self.height() - self._top - SPACE) / len(self._rows)
        left, top = self._left + number % columns * width, self._top + number // columns * height
        return QRectF(left, top, width, height).adjusted(1.0, 1.0, -1.0, -1.0)

    @property
    def _left(self) -> float:
        metrics = self.fontMetrics()
        widths = [metrics.horizontalAdvance(text) for text in (self._titles[0], *self._rows)]
        return max(widths, default=0) + 2.0 * SPACE

    @property
    def _top(self) -> float:
        return 2.0 * self.fontMetrics().height() + 2.0 * SPACE

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if not self.cells:
            return
        palette = self.palette()
        text, base = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        line = float(self.fontMetrics().height())
        known = [cell.value for cell in self.cells if cell.is_stable and math.isfinite(cell.value)]
        lo, hi = min(known, default=0.0), max(known, default=1.0)
        with QPainter(self) as painter:
            painter.setPen(blend(base, text, 0.7))
            middle, right = Qt.AlignmentFlag.AlignCenter, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(self._left, 0.0, self.width() - self._left, line + SPACE), middle, self._titles[1])
            painter.drawText(QRectF(0.0, line + SPACE, self._left - SPACE, line), right, self._titles[0])
            for number, name in enumerate(self._columns):
                area = self.cell_rect(number)
                painter.drawText(QRectF(area.left(), line + SPACE, area.width(), line), middle, name)
            for number, name in enumerate(self._rows):
                area = self.cell_rect(number * len(self._columns))
                painter.drawText(QRectF(0.0, area.top(), self._left - SPACE, area.height()), right, name)
            for number, cell in enumerate(self.cells):
                self._paint_cell(painter, number, cell, (cell.value - lo) / (hi - lo) if hi > lo else 0.0)

    def _paint_cell(self, painter: QPainter, number: int, cell: SweepCell, place: float) -> None:
        palette, area = self.palette(), self.cell_rect(number)
        base, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        if cell.is_stable:
            ramp = ramp_colours(Ramp.VIRIDIS)
            shown = ramp[round((place if math.isfinite(place) else 0.0) * (len(ramp) - 1))]
            fill = QColor(*map(int, shown[:3]))
            painter.fillRect(area, fill)
            painter.setPen(QColor("black") if fill.lightnessF() > 0.45 else QColor("white"))
        else:
            painter.fillRect(area, blend(base, _STOPPED, 0.25))
            painter.fillRect(area, QBrush(blend(base, _STOPPED, 0.6), Qt.BrushStyle.BDiagPattern))
            painter.setPen(text)
        shown_text = self.fontMetrics().elidedText(cell.text, Qt.TextElideMode.ElideRight, round(area.width()) - 2)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown_text)
        if number == self.at:
            painter.setPen(palette.color(QPalette.ColorRole.Highlight))
            for inset in (0.5, 1.5):
                painter.drawRect(area.adjusted(inset, inset, -inset, -inset))

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._number_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point(-1)
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self._number_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and number >= 0:
            self._point(number)
            self.chosen.emit(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        columns = len(self._columns)
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -columns, Qt.Key.Key_Down: columns}
        if event.key() in steps and self.cells:
            number = self.at + steps[Qt.Key(event.key())] if self.at >= 0 else 0
            if 0 <= number < len(self.cells):
                self._point(number)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.at >= 0:
            self.chosen.emit(self.at)
        else:
            super().keyPressEvent(event)

    def _number_at(self, place: QPointF) -> int:
        return next((n for n in range(len(self.cells)) if self.cell_rect(n).contains(place)), -1)

    def _point(self, number: int) -> None:
        if number != self.at:
            self.at = number
            self.setToolTip(self.cells[number].tip if number >= 0 else "")
            self.pointed.emit(number)
            self.update()
