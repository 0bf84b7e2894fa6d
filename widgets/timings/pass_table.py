"""The legend of the stack as a table: swatches that switch bands, and figures that can be sorted."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from widgets.theme import SPACE, tabular
from widgets.timings.colours import pass_colour
from widgets.timings.figures import TOTAL
from widgets.timings.pass_model import COLUMNS, PATH_ROLE, PassModel

_NUMBER_SAMPLE = "000.00"
_NAME_CHARACTERS = 22


class PassDelegate(QStyledItemDelegate):
    """A swatch before the name, filled where the band is drawn."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Swatch and text."""
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
        """Room for the swatch."""
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
    """The table.

    Signals:
        toggled: Path of a band to show or hide.
        soloed: Path of a band to show alone, or to end that.
        double_clicked: Path of a band to show alone, or to end that, as if it had not been toggled by the first click.
        all_requested: All bands are to be shown.
    """

    toggled = Signal(str)
    soloed = Signal(str)
    double_clicked = Signal(str)
    all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pass_model = PassModel(self)
        self.setModel(self.pass_model)
        self.setItemDelegateForColumn(0, PassDelegate(self))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(tabular(self.font()))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("Passes")
        self.setMinimumWidth(140)
        self.setSortingEnabled(True)
        header = self.header()
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setSortIndicatorClearable(True)
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._size_columns()

    def sizeHint(self) -> QSize:
        """All columns, and a few rows."""
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
        """A click switches the band, with Alt it stands alone."""
        super().mousePressEvent(event)
        path = self._path_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            is_solo = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            (self.soloed if is_solo else self.toggled).emit(path)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Solo, whatever the click before it did."""
        path = self._path_at(event.position().toPoint())
        if path and event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit(path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter switches the current band, with Alt it stands alone."""
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
        """What can be done with a band."""
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
        """Another font needs other columns."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "pass_model"):
            self._size_columns()
