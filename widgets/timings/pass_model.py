"""Rows of the legend: one for each band and the total, with the value under the mouse and figures of the region."""

import enum
import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from sim.profile.history import Quantity
from sim.profile.status import TimerStatus
from widgets.theme import colours, tabular
from widgets.timings.choice import Choice
from widgets.timings.figures import TOTAL, Figures, RegionFigures
from widgets.timings.texts import milliseconds, percent, source_of

Index = QModelIndex | QPersistentModelIndex
PATH_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Figure(enum.Enum):
    """A column: its heading and what it means."""

    PASS = ("Pass", "Click: show or hide. Alt + click or double click: show it alone.")
    HERE = ("Here", "Time [ms] in the frame under the mouse, else in the chosen one, else in the newest one.")
    P50 = ("P50", "Half of the frames take no longer [ms].")
    P95 = ("P95", "95 % of the frames take no longer [ms].")
    P99 = ("P99", "99 % of the frames take no longer [ms].")
    MAXIMUM = ("Max", "The costliest frame [ms].")
    SHARE = ("%", "Part of the time of all passes [%].")


COLUMNS = tuple(Figure)


class PassModel(QAbstractTableModel):
    """The total stays on top, whatever the order of the others."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Figures] = []
        self._figures: tuple[Figures, ...] = ()
        self._here: dict[str, float] = {}
        self.choice = Choice()
        self._status = TimerStatus()
        self._quantity = Quantity.GPU
        self._answers: dict[int, Callable[[Figures, Figure], Any]] = {
            Qt.ItemDataRole.DisplayRole: self._text,
            PATH_ROLE: lambda row, _: row.path,
            Qt.ItemDataRole.TextAlignmentRole: lambda _, figure: _LEFT if figure is Figure.PASS else _RIGHT,
            Qt.ItemDataRole.ForegroundRole: self._colour,
            Qt.ItemDataRole.FontRole: self._font,
            Qt.ItemDataRole.ToolTipRole: lambda row, _: self._tip(row),
        }
        self._order: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.DescendingOrder)

    # --- contents -------------------------------------------------------------------------------------

    def set_figures(self, figures: RegionFigures) -> None:
        """Shows other figures."""
        self._figures = figures.rows
        self._lay_out()

    def set_here(self, here: dict[str, float]) -> None:
        """Times of one frame by path [s]; what is missing did not run."""
        self._here = here
        if self._order[0] == COLUMNS.index(Figure.HERE):
            self._lay_out()
        elif self.rows:
            column = COLUMNS.index(Figure.HERE)
            self.dataChanged.emit(self.index(0, column), self.index(len(self.rows) - 1, column))

    def set_choice(self, choice: Choice, status: TimerStatus) -> None:
        """Marks what is hidden, and says where times come from."""
        is_other = choice != self.choice or status.source != self._status.source
        self.choice, self._status, self._quantity = choice, status, choice.quantity
        if self.rows and is_other:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(COLUMNS) - 1))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by a column; -1 is the order of the stack."""
        self._order = (column, order)
        self._lay_out()

    def _lay_out(self) -> None:
        rows = self._sorted()
        if [row.path for row in rows] == [row.path for row in self.rows]:
            self.rows = rows
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def _sorted(self) -> list[Figures]:
        column, order = self._order
        bands = [row for row in self._figures if row.path != TOTAL]
        if column >= 0:
            bands.sort(key=lambda row: self._key(row, COLUMNS[column]), reverse=order == Qt.SortOrder.DescendingOrder)
        return [row for row in self._figures if row.path == TOTAL] + bands

    def _key(self, row: Figures, figure: Figure) -> Any:
        if figure is Figure.PASS:
            return row.label
        value = self._value(row, figure)
        return -1.0 if math.isnan(value) else value

    # --- the model ------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, D102
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, D102
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings, with meaning and source in their tooltips."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        heading, meaning = COLUMNS[section].value
        if role == Qt.ItemDataRole.DisplayRole:
            return heading
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{meaning}\n{self._source()}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == 0 else _RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts, and the path of the band for `PATH_ROLE`."""
        answer = self._answers.get(role)
        return None if answer is None else answer(self.rows[index.row()], COLUMNS[index.column()])

    @staticmethod
    def _font(row: Figures, figure: Figure) -> QFont | None:  # noqa: ARG004
        if row.path != TOTAL:
            return None
        font = tabular(QFont())
        font.setBold(True)
        return font

    def _colour(self, row: Figures, figure: Figure) -> QColor | None:  # noqa: ARG002
        return None if row.path == TOTAL or self.choice.shows(row.path) else QColor(colours().disabled)

    def _text(self, row: Figures, figure: Figure) -> str:
        if figure is Figure.PASS:
            return row.label
        value = self._value(row, figure)
        return percent(value) if figure is Figure.SHARE else milliseconds(value)

    def _value(self, row: Figures, figure: Figure) -> float:
        times = row.times
        if figure is Figure.HERE:
            return self._here.get(row.path, 0.0 if self._here else math.nan)
        return {
            Figure.P50: times.p50, Figure.P95: times.p95, Figure.P99: times.p99, Figure.MAXIMUM: times.maximum,
            Figure.SHARE: row.share,
        }[figure]  # fmt: skip

    def _tip(self, row: Figures) -> str:
        times = row.times
        lost = f", {times.lost:,} lost" if times.lost else ""
        mean = f"Mean {milliseconds(times.mean)} ms over {times.count:,} frames{lost}."
        hint = "" if row.path == TOTAL else f"\n{Figure.PASS.value[1]}"
        return f"{row.label}\n{mean}\n{self._source()}{hint}"

    def _source(self) -> str:
        return f"{self._quantity.name} time, source: {source_of(self._quantity, self._status.source)}."
