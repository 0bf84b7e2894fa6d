import enum
import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from sinew.sim.profile.sample import TimerStatus
from sinew.widgets.parts import plain_list
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import SPACE, bold, colours
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.frames import TOTAL, FrameStatistics, RegionStatistics, TimingsOptions
from sinew.widgets.timings.texts import milliseconds, percent, source_of

PATH_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NUMBER_SAMPLE = "000.00"
_NAME_CHARACTERS = 22


class PassList(QTreeWidget):
    """A flat list: the name of a pass, then columns of numbers; `name` is the accessible name."""

    def __init__(self, headings: Sequence[str], name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.items_by_path: dict[str, QTreeWidgetItem] = {}
        self.setHeaderLabels(list(headings))
        plain_list(self, name)
        for column in range(len(headings)):
            self.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
            if column:
                self.headerItem().setTextAlignment(column, _RIGHT)

    def set_passes(self, labels: Mapping[str, str]) -> None:
        """Shows passes without numbers, without emitting a signal."""
        with QSignalBlocker(self):
            self.clear()
        self.items_by_path = {}
        for path, label in labels.items():
            item = self.items_by_path[path] = QTreeWidgetItem([label_text(label)])
            item.setData(0, PATH_ROLE, path)
            for column in range(1, self.columnCount()):
                item.setTextAlignment(column, _RIGHT)
        self.addTopLevelItems(list(self.items_by_path.values()))

    def fill(self, path: str, texts: Sequence[str], tip: str) -> None:
        item = self.items_by_path[path]
        for column, text in enumerate(texts, 1):
            item.setText(column, text)
            item.setToolTip(column, tip)

    def path_of(self, item: QTreeWidgetItem | None) -> str:
        return str(item.data(0, PATH_ROLE)) if item is not None else ""


class PassColumn(enum.Enum):
    PASS = ("Pass", "Click: show or hide. Alt + click or double click: show it alone.")
    CURRENT = ("Current", "Time [ms] in the frame under the mouse, else in the selected one, else in the newest one.")
    P50 = ("P50", "Half of the frames take no longer [ms].")
    P95 = ("P95", "95 % of the frames take no longer [ms].")
    P99 = ("P99", "99 % of the frames take no longer [ms].")
    MAXIMUM = ("Max", "The slowest frame [ms].")
    SHARE = ("%", "Part of the time of all passes [%].")


COLUMNS = tuple(PassColumn)


class PassDelegate(QStyledItemDelegate):
    """Painter of the name of a pass, with a swatch that is filled if the band is shown."""

    def __init__(self, table: "PassTable") -> None:
        super().__init__(table)
        self._table = table

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        path = index.data(PATH_ROLE)
        if path != TOTAL:
            side = _swatch_side(option)
            box = QRect(option.rect.left() + SPACE, option.rect.center().y() - side // 2 + 1, side, side)
            colour = pass_colour(path)
            painter.setPen(QPen(colour, 1.0))
            painter.setBrush(colour if self._table.choice.shows(path) else Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))
            option.rect.setLeft(box.right() + 1)
        super().paint(painter, option, index)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + _swatch_side(option) + SPACE, size.height())


def _swatch_side(option: QStyleOptionViewItem) -> int:
    return int(option.fontMetrics.ascent())


class PassTable(PassList):
    """Table of statistics of each band; the total is always the first row."""

    toggled = Signal(str)  # Path of a band to show or hide
    soloed = Signal(str)  # Path of a band to show alone; ends solo if it is alone already
    double_clicked = Signal(str)  # As `soloed`, after the first click was reported as `toggled`
    all_requested = Signal()  # Show all bands

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__([column.value[0] for column in COLUMNS], "Passes", parent)
        self.rows: list[FrameStatistics] = []
        self.choice = TimingsOptions()
        self._statistics: tuple[FrameStatistics, ...] = ()
        self._current: dict[str, float] = {}
        self._status = TimerStatus()
        self.setItemDelegateForColumn(0, PassDelegate(self))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setMinimumWidth(140)
        header = self.header()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)  # the order of the stack
        header.setSortIndicatorClearable(True)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.sortIndicatorChanged.connect(lambda *_: self._show_rows())
        self._size_columns()
        self._show_source()

    def set_statistics(self, statistics: RegionStatistics) -> None:
        self._statistics = statistics.rows
        self._show_rows()

    def set_current(self, times: dict[str, float]) -> None:
        """Shows current times by path [s]; passes that are missing did not run."""
        self._current = times
        column = COLUMNS.index(PassColumn.CURRENT)
        if self.header().sortIndicatorSection() == column:
            self._show_rows()
        for row in self.rows:
            self.items_by_path[row.path].setText(column, self._text(row, PassColumn.CURRENT))

    def set_choice(self, choice: TimingsOptions, status: TimerStatus) -> None:
        is_other = choice != self.choice or status.source != self._status.source
        self.choice, self._status = choice, status
        if is_other:
            self._show_source()
            self._show_rows()

    def _show_rows(self) -> None:
        section, order = self.header().sortIndicatorSection(), self.header().sortIndicatorOrder()
        bands = [row for row in self._statistics if row.path != TOTAL]
        if section == 0:
            bands.sort(key=lambda row: label_text(row.label), reverse=order == Qt.SortOrder.DescendingOrder)
        elif 0 < section < len(COLUMNS):
            column = COLUMNS[section]
            bands.sort(
                key=lambda row: -1.0 if math.isnan(self._value(row, column)) else self._value(row, column),
                reverse=order == Qt.SortOrder.DescendingOrder,
            )
        self.rows = [row for row in self._statistics if row.path == TOTAL] + bands
        if [row.path for row in self.rows] != [*self.items_by_path]:
            self.set_passes({row.path: row.label for row in self.rows})
        for row in self.rows:
            item = self.items_by_path[row.path]
            item.setText(0, label_text(row.label))
            tip = self._tip(row)
            item.setToolTip(0, tip)
            self.fill(row.path, [self._text(row, column) for column in COLUMNS[1:]], tip)
            hidden = row.path != TOTAL and not self.choice.shows(row.path)
            for number in range(len(COLUMNS)):
                item.setData(number, Qt.ItemDataRole.ForegroundRole, QColor(colours().disabled) if hidden else None)
                if row.path == TOTAL:
                    item.setFont(number, bold(self.font()))

    def _text(self, row: FrameStatistics, column: PassColumn) -> str:
        value = self._value(row, column)
        return percent(value) if column is PassColumn.SHARE else milliseconds(value)

    def _value(self, row: FrameStatistics, column: PassColumn) -> float:
        times = row.times
        if column is PassColumn.CURRENT:
            return self._current.get(row.path, 0.0 if self._current else math.nan)
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

    def _show_source(self) -> None:
        for number, column in enumerate(COLUMNS):
            self.headerItem().setToolTip(number, f"{column.value[1]}\n{self._source()}")

    def _source(self) -> str:
        quantity = self.choice.quantity
        return f"{quantity.name} time, source: {source_of(quantity, self._status.source)}."

    def sizeHint(self) -> QSize:
        return QSize(self.header().length() + 4 * SPACE, 8 * (self.fontMetrics().height() + SPACE))

    def _size_columns(self) -> None:
        metrics, header = self.fontMetrics(), self.header()
        header.setMinimumSectionSize(metrics.horizontalAdvance("000"))
        for column in range(1, len(COLUMNS)):
            # The heading shares its space with the sort arrow.
            header.resizeSection(column, metrics.horizontalAdvance(_NUMBER_SAMPLE) + 3 * SPACE)
        header.resizeSection(0, _NAME_CHARACTERS * metrics.averageCharWidth() + metrics.ascent() + 2 * SPACE)

    # --- mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        path = self._name_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            is_solo = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.soloed if is_solo else self.toggled).emit(path)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        path = self._name_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit(path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        path = self.path_of(self.currentItem())
        if path and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_solo = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.soloed if is_solo else self.toggled).emit(path)
            return
        super().keyPressEvent(event)

    def _name_at(self, position: QPoint) -> str:
        """Returns the path of the band whose name is at a position, or ""."""
        return self.path_of(self.itemAt(position)) if self.indexAt(position).column() == 0 else ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu(self.path_of(self.itemAt(event.pos()))).popup(event.globalPos())

    def menu(self, path: str) -> QMenu:
        """Returns the menu of a band; "" means the table."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if path:
            shows = self.choice.shows(path)
            menu.addAction("Hide" if shows else "Show").triggered.connect(lambda: self.toggled.emit(path))
            is_solo = self.choice.solo == path
            menu.addAction("End solo" if is_solo else "Show alone").triggered.connect(lambda: self.soloed.emit(path))
            menu.addSeparator()
        menu.addAction("Show all").triggered.connect(self.all_requested)
        stack_order = menu.addAction("Order of the stack")
        stack_order.triggered.connect(lambda: self.header().setSortIndicator(-1, Qt.SortOrder.DescendingOrder))
        return menu

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "choice"):
            self._size_columns()
