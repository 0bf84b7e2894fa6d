from collections.abc import Iterator, Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QRubberBand,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from sinew.widgets.outliner_entries import Entry, EntryKind, Key
from sinew.widgets.outliner_model import BADGES_ROLE, NOTE_COLOUR_ROLE, NOTE_ROLE, Badge, OutlinerModel
from sinew.widgets.parts import local_files
from sinew.widgets.theme import SPACE, dress, tabular

EYE_WIDTH = 24
_EYE_SIDE = 16
Index = QModelIndex | QPersistentModelIndex


class OutlinerDelegate(QStyledItemDelegate):
    """Painter of the rows of the outliner: name on the left, note and badges at the right edge."""

    def __init__(self, view: QTreeView) -> None:
        super().__init__(view)
        self._view = view

    def badge_at(self, index: Index, x: int) -> Badge | None:
        """Returns the badge at a horizontal position of the viewport."""
        place = (self._view.viewport().width() - 1 - x) // EYE_WIDTH
        badges = index.data(BADGES_ROLE) or ()
        return badges[place][0] if 0 <= place < len(badges) else None

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        right = self._view.viewport().width()
        badges = index.data(BADGES_ROLE) or ()
        edge = right - EYE_WIDTH * max(len(badges), 1)
        if badges:
            name = QStyleOptionViewItem(option)
            name.rect.setRight(min(option.rect.right(), edge - self._note_width(option, index)))
            self._paint_ground(painter, option)
            super().paint(painter, name, index)
            for place, (_, badge) in enumerate(badges):
                self._paint_badge(painter, option, badge, right - place * EYE_WIDTH)
            name_right = name.rect.right()
        else:
            super().paint(painter, option, index)
            name_right = option.rect.left() + super().sizeHint(option, index).width()
        if name_right <= edge - self._note_width(option, index):
            self._paint_note(painter, option, index, edge - SPACE)

    def name_right(self, option: QStyleOptionViewItem, index: Index) -> int:
        return option.rect.left() + super().sizeHint(option, index).width()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), max(size.height(), option.fontMetrics.height() + SPACE))

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        style = self._view.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, self._view)

    def _paint_badge(self, painter: QPainter, option: QStyleOptionViewItem, badge: QIcon, right: int) -> None:
        square = QRect(0, 0, _EYE_SIDE, _EYE_SIDE)
        square.moveCenter(QRect(right - EYE_WIDTH, option.rect.top(), EYE_WIDTH, option.rect.height()).center())
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        mode = QIcon.Mode.Selected if selected else QIcon.Mode.Normal
        badge.paint(painter, square, Qt.AlignmentFlag.AlignCenter, mode)

    def _note_width(self, option: QStyleOptionViewItem, index: Index) -> int:
        note = index.data(NOTE_ROLE)
        return option.fontMetrics.horizontalAdvance(note) + 2 * SPACE if note else 0

    def _paint_note(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, right: int) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        tint = option.palette.color(QPalette.ColorRole.HighlightedText) if selected else index.data(NOTE_COLOUR_ROLE)
        painter.save()
        painter.setFont(tabular(option.font))
        painter.setPen(QColor(tint))
        cell = QRect(option.rect.left(), option.rect.top(), right - option.rect.left(), option.rect.height())
        painter.drawText(cell, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, index.data(NOTE_ROLE))
        painter.restore()


_ICON_SIDE = 16
_INDENTATION, _INDENTATION_MIN = 12, 4
_NAME_ROOM = 120  # [px] for icon and name of the deepest row
_OPEN_DEPTH = 3
_ROWS = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_UNFOLD_DELAY = 600  # [ms] of dragging over a collapsed row


class OutlinerView(QTreeView):
    """Tree of the outliner; filters rows by their names, and keeps the expansion when rows are rebuilt."""

    badge_clicked = Signal(object, object)  # `Entry` and its `Badge`
    deselected = Signal()  # The last selected row was deselected
    delete_pressed = Signal()  # The Delete key
    menu_requested = Signal(object, object)  # `Entry` and global position
    files_dropped = Signal(list, str)  # Local files, and the node of the row or ""

    def __init__(self, model: OutlinerModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._words: tuple[str, ...] = ()
        self._matches: set[int] = set()  # Numbers of the rows that the filter shows
        # Rows that the user expanded or collapsed; others follow `_opens`.
        self._choice: dict[Key, bool] = {}
        self._is_restoring = False
        self._place: int | None = None
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self.viewport())
        self._band_start: QPoint | None = None
        self._had_selection = False
        model.modelAboutToBeReset.connect(self._remember_place)
        self.setModel(model)
        model.dataChanged.connect(self._match)
        self._delegate = OutlinerDelegate(self)
        self.setItemDelegate(self._delegate)
        # Once for any number of expanded rows.
        self._fit_timer = QTimer(self, interval=0, singleShot=True)
        self._fit_timer.timeout.connect(self._fit_column)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(_INDENTATION)
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setExpandsOnDoubleClick(False)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.LinkAction)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAutoExpandDelay(_UNFOLD_DELAY)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Outliner")
        dress(self)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.expanded.connect(lambda *_: self._fit_timer.start())
        self.collapsed.connect(lambda *_: self._fit_timer.start())
        self.verticalScrollBar().valueChanged.connect(lambda *_: self._fit_timer.start())
        self.expanded.connect(lambda index: self._remember(index, True))
        self.collapsed.connect(lambda index: self._remember(index, False))

    def _fit_column(self) -> None:
        """Fits the column to the view; reduces the indentation of deep trees."""
        self.setColumnWidth(0, self.viewport().width())
        depth, index = 1, self.indexAt(QPoint(0, 0))
        while index.isValid() and self.visualRect(index).top() < self.viewport().height():
            entry = self._model.entry(index)
            depth, index = max(depth, 1 + _depth(entry) if entry is not None else 1), self.indexBelow(index)
        room = (self.viewport().width() - _NAME_ROOM) // depth
        self.setIndentation(min(max(room, _INDENTATION_MIN), _INDENTATION))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_column()

    # Selection

    def selected_entries(self) -> list[Entry]:
        """Returns the selected rows, the current one first."""
        current = self.currentIndex()
        rows = sorted(self.selectionModel().selectedRows(), key=lambda index: index != current)
        return [entry for index in rows if (entry := self._model.entry(index)) is not None]

    def selected_entry(self) -> Entry | None:
        return next(iter(self.selected_entries()), None)

    def select(self, entries: Sequence[Entry]) -> None:
        """Selects rows and scrolls to the first one; ignores rows that are filtered out."""
        indexes = [(entry, self._model.index_of(entry)) for entry in entries if self._is_shown(entry)]
        if not indexes:
            self.selectionModel().clear()
            return
        rows, selection = QItemSelectionModel.SelectionFlag.Rows, QItemSelection()
        for entry, index in indexes:
            self._unfold_above(entry)
            selection.select(index, index)
        self.selectionModel().setCurrentIndex(indexes[0][1], QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect | rows)
        self.scrollTo(indexes[0][1])

    def rename(self, entry: Entry) -> None:
        """Starts to edit the name of a row; does nothing while a name is being edited."""
        if self._is_shown(entry) and self.state() != QAbstractItemView.State.EditingState:
            self.edit(self._model.index_of(entry))

    def copy_name(self, entry: Entry) -> None:
        QApplication.clipboard().setText(entry.name)

    # Expansion

    def restore_expansion(self) -> None:
        if self._words:
            self._show_matches()
            return
        self._is_restoring = True
        # With a pending layout, expanding a row costs nothing by itself.
        self.scheduleDelayedItemsLayout()
        for entry in self._model.entries():
            if entry.children and self._opens(entry):
                self.setExpanded(self._model.index_of(entry), True)
        self._is_restoring = False
        self._fit_timer.start()
        if self._place is not None:
            self.executeDelayedItemsLayout()
            self.verticalScrollBar().setValue(self._place)
            self._place = None

    # Filter

    @property
    def finds_nothing(self) -> bool:
        return bool(self._words) and not self._matches

    def set_filter(self, text: str) -> None:
        """Shows the rows whose name contains all words of a text, and the rows above them; "" shows all."""
        self._words = tuple(text.casefold().split())
        self.selectionModel().clear()
        self._match()
        self._is_restoring = True
        self.collapseAll()
        self._is_restoring = False
        self.restore_expansion()

    def _match(self) -> None:
        """Finds the rows that the filter shows, and hides the others."""
        if not self._words and not self._matches:
            return
        self._matches = set()
        for entry in self._model.entries() if self._words else ():
            if all(word in entry.name.casefold() for word in self._words):
                above: Entry | None = entry
                while above is not None and above.number not in self._matches:
                    self._matches.add(above.number)
                    above = above.parent
        for entry in self._model.entries():
            index = self._model.index_of(entry)
            self.setRowHidden(index.row(), index.parent(), not self._is_shown(entry))

    def _show_matches(self) -> None:
        self._match()
        self._is_restoring = True
        self.expandAll()
        self._is_restoring = False
        self._fit_timer.start()

    def _is_shown(self, entry: Entry) -> bool:
        return not self._words or entry.number in self._matches

    def _unfold_above(self, entry: Entry) -> None:
        folded = [index for index in self._indexes_above(entry) if not self.isExpanded(index)]
        if folded:
            self.scheduleDelayedItemsLayout()
        for index in folded:
            self.setExpanded(index, True)

    def _indexes_above(self, entry: Entry) -> Iterator[QModelIndex]:
        above = entry.parent
        while above is not None:
            yield self._model.index_of(above)
            above = above.parent

    def _opens(self, entry: Entry) -> bool:
        chosen = self._choice.get(entry.key)
        if chosen is not None:
            return chosen
        return not entry.is_folded and _depth(entry) < _OPEN_DEPTH

    def _remember_place(self) -> None:
        self._place = self.verticalScrollBar().value()

    def _remember(self, index: QModelIndex, is_open: bool) -> None:
        entry = self._model.entry(index)
        if entry is not None and not self._is_restoring and not self._words:
            self._choice[entry.key] = is_open

    # Mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        entry, badge = self._model.entry(self.indexAt(place)), self._badge_at(place)
        if event.button() == Qt.MouseButton.LeftButton and entry is not None and badge is not None:
            self.badge_clicked.emit(entry, badge)
            return
        self._had_selection = self.selectionModel().hasSelection()
        if event.button() == Qt.MouseButton.LeftButton and not event.modifiers() and self._is_beside(place):
            self._band_start = place + QPoint(0, self.verticalScrollBar().value())
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._band_start is None:
            super().mouseMoveEvent(event)
            return
        start, end = self._band_start - QPoint(0, self.verticalScrollBar().value()), event.position().toPoint()
        if self._band.isVisible() or (end - start).manhattanLength() >= QApplication.startDragDistance():
            box = QRect(start, end).normalized()
            self._band.setGeometry(box)
            self._band.show()
            self.setSelection(box, _ROWS)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        banded = self._band.isVisible()
        self._band.hide()
        self._band_start = None
        if not banded:
            super().mouseReleaseEvent(event)
        if self._had_selection and not self.selectionModel().hasSelection():
            self.deselected.emit()
        self._had_selection = False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        super().dragEnterEvent(event)
        if local_files(event):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)
        if local_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if files := local_files(event):
            entry = self._model.entry(self.indexAt(event.position().toPoint()))
            self.files_dropped.emit(files, entry.selection.node or "" if entry is not None else "")
            event.acceptProposedAction()
        else:
            super().dropEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        entry = self._model.entry(index)
        if self._badge_at(event.position().toPoint()) is not None:
            self.mousePressEvent(event)
            return
        if entry is not None and entry.kind is not EntryKind.NODE and entry.children:
            self.setExpanded(index, not self.isExpanded(index))
            return
        super().mouseDoubleClickEvent(event)

    def event(self, event: QEvent) -> bool:
        is_delete = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete and not event.modifiers()
        if is_delete and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        entry = self.selected_entry() if by_key else self._model.entry(self.indexAt(event.pos()))
        if entry is not None:
            self.menu_requested.emit(entry, QPoint(event.globalPos()))

    def _badge_at(self, place: QPoint) -> Badge | None:
        index = self.indexAt(place)
        return self._delegate.badge_at(index, place.x()) if index.isValid() else None

    def _is_beside(self, place: QPoint) -> bool:
        """Returns True to the right of the name of a row."""
        index = self.indexAt(place)
        if not index.isValid():
            return True
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(index)
        return place.x() > self._delegate.name_right(option, index)


def _depth(entry: Entry) -> int:
    depth, above = 0, entry.parent
    while above is not None:
        depth, above = depth + 1, above.parent
    return depth
