from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QStackedLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sinew.widgets.parts import EmptyState, SearchField, packed
from sinew.widgets.theme import SPACE, SPACE_WIDE, bold, colours, dress

Index = QModelIndex | QPersistentModelIndex
_KEYS_COLUMN = 1
_ENTRY_ROLE = Qt.ItemDataRole.UserRole
_ALTERNATIVES = " or "


@dataclass(frozen=True, slots=True)
class ShortcutEntry:
    group: str  # Heading
    text: str
    keys: str  # Such as "Ctrl+Z" or "Shift+Middle drag"; alternatives are joined by " or "
    tip: str = ""
    id: str = ""  # Action; "" for what the mouse does

    def matches(self, words: Iterable[str]) -> bool:
        haystack = " ".join((self.group, self.text, self.keys, self.tip)).casefold()
        return all(word in haystack for word in words)


class CheatSheet(QWidget):
    """A list of actions and keys with a search.

    Signals:
        chosen: The action of the line that was double clicked, or current on Enter or F2.
    """

    chosen = Signal(str)

    def __init__(self, entries: Iterable[ShortcutEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = SearchField("Search", self)
        self.search.textChanged.connect(self._filter)
        self.tree = _make_tree()
        self.empty = EmptyState("keyboard", "No matches", "No line contains all of these words.", self)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self.empty)
        packed(QVBoxLayout(self), self.search, (self._stack, 1), spacing=SPACE_WIDE)
        self.tree.itemDoubleClicked.connect(lambda line, _: self._choose(line))
        self.setFocusProxy(self.search)
        self.set_entries(entries)

    def set_entries(self, entries: Iterable[ShortcutEntry]) -> None:
        """Shows other entries; the current one stays current."""
        current = self.tree.currentItem()
        former = current.data(0, _ENTRY_ROLE) if current is not None else None
        self.tree.clear()
        groups: dict[str, QTreeWidgetItem] = {}
        for entry in entries:
            group = groups.get(entry.group)
            if group is None:
                group = groups[entry.group] = _add_group(self.tree, entry.group)
            line = _add_line(group, entry)
            if former is not None and entry.id and entry.id == former.id:
                self.tree.setCurrentItem(line)
        self.tree.expandAll()
        self._filter(self.search.text())

    def shown_entries(self) -> list[ShortcutEntry]:
        return [line.data(0, _ENTRY_ROLE) for group in self._groups() for line in _lines(group) if not line.isHidden()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Takes keys that the search leaves: they move along the lines, and choose one."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._move(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self._choose(self.tree.currentItem())
        else:
            super().keyPressEvent(event)

    def _move(self, step: int) -> None:
        lines = [line for group in self._groups() for line in _lines(group) if not line.isHidden()]
        current = self.tree.currentItem()
        number = lines.index(current) + step if current in lines else 0
        if lines:
            self.tree.setCurrentItem(lines[max(0, min(number, len(lines) - 1))])

    def _choose(self, line: QTreeWidgetItem | None) -> None:
        entry = line.data(0, _ENTRY_ROLE) if line is not None else None
        if entry is not None and entry.id and line is not None and not line.isHidden():
            self.chosen.emit(entry.id)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().height()
        return QSize(unit * 46, unit * 40)

    def _groups(self) -> list[QTreeWidgetItem]:
        items = (self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount()))
        return [item for item in items if item is not None]

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        any_match = False
        for group in self._groups():
            for line in _lines(group):
                line.setHidden(not line.data(0, _ENTRY_ROLE).matches(words))
            is_empty = all(line.isHidden() for line in _lines(group))
            group.setHidden(is_empty)
            any_match = any_match or not is_empty
        current = self.tree.currentItem()
        if words and (current is None or current.isHidden()):
            self._move(0)
        self._stack.setCurrentWidget(self.tree if any_match else self.empty)


def sheet_dialog(title: str, sheet: QWidget, parent: QWidget) -> QDialog:
    """Returns a window around a sheet that may stay open."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    packed(QVBoxLayout(dialog), sheet, margins=SPACE_WIDE)
    sheet.setFocus()
    return dialog


class KeysDelegate(QStyledItemDelegate):
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        scheme = colours()
        x = float(option.rect.left() + SPACE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for part, is_cap in _parts(index.data() or ""):
            width = _part_width(option.fontMetrics, part, is_cap)
            height = option.fontMetrics.height() + 2
            box = QRectF(x, option.rect.center().y() - height / 2 + 0.5, width, height)
            if is_cap:
                painter.setPen(QPen(QColor(scheme.handle), 1.0))
                painter.setBrush(QColor(scheme.button))
                painter.drawRoundedRect(box, 3.0, 3.0)
            painter.setPen(QColor(scheme.text if is_cap else scheme.dim))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, part)
            x += width + SPACE
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        parts = _parts(index.data() or "")
        width = sum(_part_width(option.fontMetrics, part, is_cap) + SPACE for part, is_cap in parts)
        return QSize(width + 2 * SPACE, option.fontMetrics.height() + SPACE_WIDE)


def _parts(keys: str) -> list[tuple[str, bool]]:
    """Returns the texts of a shortcut, True for key caps; handles a plus that is itself a key."""
    parts: list[tuple[str, bool]] = []
    for alternative in keys.split(_ALTERNATIVES) if keys else []:
        if parts:
            parts.append(("or", False))
        plus_key = alternative.endswith("+")
        names = [name for name in alternative.removesuffix("+").split("+") if name]
        parts += [(name, True) for name in names] + ([("+", True)] if plus_key else [])
    return parts


def _part_width(metrics: QFontMetrics, part: str, is_cap: bool) -> int:
    return metrics.horizontalAdvance(part) + (2 * SPACE + 4 if is_cap else 0)


def _make_tree() -> QTreeWidget:
    tree = QTreeWidget()
    tree.setHeaderHidden(True)
    dress(tree)
    tree.setColumnCount(2)
    tree.setRootIsDecorated(False)
    tree.setIndentation(SPACE_WIDE)
    tree.setItemsExpandable(False)
    tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    tree.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    tree.setAccessibleName("Actions and keys")
    tree.setFrameShape(QFrame.Shape.NoFrame)
    tree.header().setStretchLastSection(False)
    tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    tree.header().setSectionResizeMode(_KEYS_COLUMN, QHeaderView.ResizeMode.ResizeToContents)
    tree.setItemDelegateForColumn(_KEYS_COLUMN, KeysDelegate(tree))
    return tree


def _add_group(tree: QTreeWidget, title: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem(tree, [title])
    item.setFont(0, bold(item.font(0)))
    item.setFirstColumnSpanned(True)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    item.setSizeHint(0, QSize(0, tree.fontMetrics().height() + 2 * SPACE_WIDE))
    return item


def _add_line(group: QTreeWidgetItem, entry: ShortcutEntry) -> QTreeWidgetItem:
    line = QTreeWidgetItem(group, [entry.text, entry.keys])
    line.setData(0, _ENTRY_ROLE, entry)
    for column in (0, _KEYS_COLUMN):
        line.setToolTip(column, entry.tip)
    return line


def _lines(group: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [line for row in range(group.childCount()) if (line := group.child(row)) is not None]
