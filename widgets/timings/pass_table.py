"""The legend of the stack as a table: swatches that switch bands, and figures that can be sorted."""

import enum
import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QFont, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from sim.profile.history import Quantity
from sim.profile.sample import TimerStatus
from widgets.parts import plain_list
from widgets.shown import label_text, tip_text
from widgets.theme import SPACE, colours, tabular
from widgets.timings.choice import TimingsOptions
from widgets.timings.colours import pass_colour
from widgets.timings.frames import TOTAL, FrameStatistics, RegionStatistics
from widgets.timings.texts import milliseconds, percent, source_of

Index = QModelIndex | QPersistentModelIndex
PATH_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_NUMBER_SAMPLE = "000.00"
_NAME_CHARACTERS = 22


class PassColumn(enum.Enum):
    """A column: its heading and what it means."""

    PASS = ("Pass", "Click: show or hide. Alt + click or double click: show it alone.")
    HERE = ("Here", "Time [ms] in the frame under the mouse, else in the chosen one, else in the newest one.")
    P50 = ("P50", "Half of the frames take no longer [ms].")
    P95 = ("P95", "95 % of the frames take no longer [ms].")
    P99 = ("P99", "99 % of the frames take no longer [ms].")
    MAXIMUM = ("Max", "The costliest frame [ms].")
    SHARE = ("%", "Part of the time of all passes [%].")


COLUMNS = tuple(PassColumn)


class PassModel(QAbstractTableModel):
    """The total stays on top, whatever the order of the others."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FrameStatistics] = []
        self._figures: tuple[FrameStatistics, ...] = ()
        self._here: dict[str, float] = {}
        self.choice = TimingsOptions()
        self._status = TimerStatus()
        self._quantity = Quantity.GPU
        self._answers: dict[int, Callable[[FrameStatistics, PassColumn], Any]] = {
            Qt.ItemDataRole.DisplayRole: self._text,
            PATH_ROLE: lambda row, _: row.path,
            Qt.ItemDataRole.TextAlignmentRole: lambda _, column: _LEFT if column is PassColumn.PASS else _RIGHT,
            Qt.ItemDataRole.ForegroundRole: self._colour,
            Qt.ItemDataRole.FontRole: self._font,
            Qt.ItemDataRole.ToolTipRole: lambda row, _: self._tip(row),
        }
        self._order: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.DescendingOrder)

    # --- contents -------------------------------------------------------------------------------------

    def set_statistics(self, figures: RegionStatistics) -> None:
        self._figures = figures.rows
        self._lay_out()

    def set_here(self, here: dict[str, float]) -> None:
        """Times of one frame by path [s]; what is missing did not run."""
        self._here = here
        if self._order[0] == COLUMNS.index(PassColumn.HERE):
            self._lay_out()
        elif self.rows:
            column = COLUMNS.index(PassColumn.HERE)
            self.dataChanged.emit(self.index(0, column), self.index(len(self.rows) - 1, column))

    def set_choice(self, choice: TimingsOptions, status: TimerStatus) -> None:
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

    def _sorted(self) -> list[FrameStatistics]:
        column, order = self._order
        bands = [row for row in self._figures if row.path != TOTAL]
        if column >= 0:
            bands.sort(key=lambda row: self._key(row, COLUMNS[column]), reverse=order == Qt.SortOrder.DescendingOrder)
        return [row for row in self._figures if row.path == TOTAL] + bands

    def _key(self, row: FrameStatistics, column: PassColumn) -> Any:
        if column is PassColumn.PASS:
            return label_text(row.label)
        value = self._value(row, column)
        return -1.0 if math.isnan(value) else value

    # --- the model ------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
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
        answer = self._answers.get(role)
        return None if answer is None else answer(self.rows[index.row()], COLUMNS[index.column()])

    @staticmethod
    def _font(row: FrameStatistics, column: PassColumn) -> QFont | None:  # noqa: ARG004
        if row.path != TOTAL:
            return None
        font = tabular(QFont())
        font.setBold(True)
        return font

    def _colour(self, row: FrameStatistics, column: PassColumn) -> QColor | None:  # noqa: ARG002
        return None if row.path == TOTAL or self.choice.shows(row.path) else QColor(colours().disabled)

    def _text(self, row: FrameStatistics, column: PassColumn) -> str:
        if column is PassColumn.PASS:
            return label_text(row.label)
        value = self._value(row, column)
        return percent(value) if column is PassColumn.SHARE else milliseconds(value)

    def _value(self, row: FrameStatistics, column: PassColumn) -> float:
        times = row.times
        if column is PassColumn.HERE:
            return self._here.get(row.path, 0.0 if self._here else math.nan)
        return {
            PassColumn.P50: times.p50, PassColumn.P95: times.p95, PassColumn.P99: times.p99,
            PassColumn.MAXIMUM: times.maximum, PassColumn.SHARE: row.share,
        }[column]  # fmt: skip

    def _tip(self, row: FrameStatistics) -> str:
        times = row.times
        lost = f", {times.lost:,} lost" if times.lost else ""
        mean = f"Mean {milliseconds(times.mean)} ms over {times.count:,} frames{lost}."
        hint = "" if row.path == TOTAL else f"\n{PassColumn.PASS.value[1]}"
        return tip_text(f"{row.label}\n{mean}\n{self._source()}{hint}")

    def _source(self) -> str:
        return f"{self._quantity.name} time, source: {source_of(self._quantity, self._status.source)}."


class PassDelegate(QStyledItemDelegate):
    """A swatch before the name, filled where the band is drawn."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        if index.column() == 0 and index.data(PATH_ROLE) != TOTAL:
            side = swatch_side(option)
            box = QRect(option.rect.left() + SPACE, option.rect.center().y() - side // 2 + 1, side, side)
            colour = pass_colour(index.data(PATH_ROLE))
            painter.setPen(QPen(colour, 1.0))
            painter.setBrush(colour if self._shows(index) else Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))
            option.rect.setLeft(box.right() + 1)
        super().paint(painter, option, index)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + swatch_side(option) + SPACE, size.height())

    @staticmethod
    def _shows(index: QModelIndex | QPersistentModelIndex) -> bool:
        model = index.model()
        assert isinstance(model, PassModel)
        return model.choice.shows(index.data(PATH_ROLE))


def swatch_side(option: QStyleOptionViewItem) -> int:
    """Edge of a swatch beside text of this font."""
    return int(option.fontMetrics.ascent())


class PassTable(QTreeView):
    """The table."""

    toggled = Signal(str)  # Path of a band to show or hide
    soloed = Signal(str)  # Path of a band to show alone, or to end that
    # Path of a band to show alone, or to end that, as if it had not been toggled by the first click
    double_clicked = Signal(str)
    all_requested = Signal()  # All bands are to be shown

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pass_model = PassModel(self)
        self.setModel(self.pass_model)
        self.setItemDelegateForColumn(0, PassDelegate(self))
        plain_list(self, "Passes")
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setMinimumWidth(140)
        self.setSortingEnabled(True)
        header = self.header()
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setSortIndicatorClearable(True)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._size_columns()

    def sizeHint(self) -> QSize:
        return QSize(self.header().length() + 4 * SPACE, 8 * (self.fontMetrics().height() + SPACE))

    def _size_columns(self) -> None:
        metrics, header = self.fontMetrics(), self.header()
        header.setMinimumSectionSize(metrics.horizontalAdvance("000"))
        for column in range(1, len(COLUMNS)):
            # The heading shares its room with the arrow of the order.
            header.resizeSection(column, metrics.horizontalAdvance(_NUMBER_SAMPLE) + 3 * SPACE)
        header.resizeSection(0, _NAME_CHARACTERS * metrics.averageCharWidth() + metrics.ascent() + 2 * SPACE)

    # --- mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        path = self._path_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            is_solo = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.soloed if is_solo else self.toggled).emit(path)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        path = self._path_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit(path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        path = self.currentIndex().data(PATH_ROLE) if self.currentIndex().isValid() else ""
        if path and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_solo = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.soloed if is_solo else self.toggled).emit(path)
            return
        super().keyPressEvent(event)

    def _path_at(self, place: QPoint) -> str:
        index = self.indexAt(place)
        return str(index.data(PATH_ROLE)) if index.isValid() and index.column() == 0 else ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        self.menu(str(index.data(PATH_ROLE)) if index.isValid() else "").popup(event.globalPos())

    def menu(self, path: str) -> QMenu:
        """Menu of a band; of the table where the path is ""."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if path:
            shows = self.pass_model.choice.shows(path)
            menu.addAction("Hide" if shows else "Show").triggered.connect(lambda: self.toggled.emit(path))
            is_solo = self.pass_model.choice.solo == path
            menu.addAction("End solo" if is_solo else "Show alone").triggered.connect(lambda: self.soloed.emit(path))
            menu.addSeparator()
        menu.addAction("Show all").triggered.connect(self.all_requested)
        stack_order = menu.addAction("Order of the stack")
        stack_order.triggered.connect(lambda: self.sortByColumn(-1, Qt.SortOrder.DescendingOrder))
        return menu

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "pass_model"):
            self._size_columns()
