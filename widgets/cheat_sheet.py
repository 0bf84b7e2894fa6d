from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStackedLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sinew.widgets.icons import icon
from sinew.widgets.parts import EmptyState, packed
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

    def matches(self, words: Iterable[str]) -> bool:
        haystack = " ".join((self.group, self.text, self.keys, self.tip)).casefold()
        return all(word in haystack for word in words)


class CheatSheet(QDialog):
    def __init__(self, entries: Iterable[ShortcutEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard and mouse")
        self.setModal(False)
        self.search = QLineEdit(self, placeholderText="Search", clearButtonEnabled=True)
        self.search.addAction(icon("filter"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self._filter)
        self.tree = _make_tree()
        self.empty = EmptyState("keyboard", "No matches", "No shortcut contains all of these words.", self)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self.empty)
        packed(QVBoxLayout(self), self.search, (self._stack, 1), spacing=SPACE_WIDE, margins=SPACE_WIDE)
        self.set_entries(entries)

    def set_entries(self, entries: Iterable[ShortcutEntry]) -> None:
        self.tree.clear()
        groups: dict[str, QTreeWidgetItem] = {}
        for entry in entries:
            group = groups.get(entry.group)
            if group is None:
                group = groups[entry.group] = _add_group(self.tree, entry.group)
            _add_line(group, entry)
        self.tree.expandAll()
        self._filter(self.search.text())

    def shown_entries(self) -> list[ShortcutEntry]:
        return [line.data(0, _ENTRY_ROLE) for group in self._groups() for line in _lines(group) if not line.isHidden()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            return
        super().keyPressEvent(event)

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
        self._stack.setCurrentWidget(self.tree if any_match else self.empty)


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
    tree.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    tree.setFocusPolicy(Qt.FocusPolicy.NoFocus)
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
    item.setSizeHint(0, QSize(0, tree.fontMetrics().height() + 2 * SPACE_WIDE))
    return item


def _add_line(group: QTreeWidgetItem, entry: ShortcutEntry) -> None:
    line = QTreeWidgetItem(group, [entry.text, entry.keys])
    line.setData(0, _ENTRY_ROLE, entry)
    for column in (0, _KEYS_COLUMN):
        line.setToolTip(column, entry.tip)


def _lines(group: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [line for row in range(group.childCount()) if (line := group.child(row)) is not None]
