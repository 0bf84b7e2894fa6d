"""The Messages panel: warnings and errors with time and file."""

import enum
import time
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSortFilterProxyModel,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QKeySequence, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.kinds.contract import Command
from sinew.sim.printable import printable
from sinew.widgets.icons import icon
from sinew.widgets.parts import EmptyState, Pages, packed, plain_list, tool_button
from sinew.widgets.theme import SPACE, SPACE_WIDE, colours

KEPT = 10_000
TIME, FILE, TEXT, ACTION = 0, 1, 2, 3
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_Role = Qt.ItemDataRole
_HEADINGS = ("Time", "File", "Message", "")


class Severity(enum.IntEnum):
    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def icon_name(self) -> str:
        return ("info", "warning", "error")[self]


@dataclass(frozen=True, slots=True)
class Message:
    severity: Severity
    text: str
    file: str = ""
    moment: float = field(default_factory=time.time)  # [s] since the epoch
    action: Command | None = None  # Offered to the user

    def line(self) -> str:
        parts = (self.clock(), self.severity.name.lower(), self.file, self.text.replace("\n", " "))
        return "\t".join(map(printable, parts))

    def clock(self) -> str:
        return time.strftime("%H:%M:%S", time.localtime(self.moment))


class MessageModel(QAbstractTableModel):
    """The latest messages, oldest first.

    Attributes:
        counts: Number of messages of each severity.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages: list[Message] = []
        self._action_count = 0
        self.counts = dict.fromkeys(Severity, 0)

    @property
    def has_actions(self) -> bool:
        return self._action_count > 0

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def message(self, row: int) -> Message:
        return self._messages[row]

    def add(self, message: Message) -> None:
        row = len(self._messages)
        self.beginInsertRows(QModelIndex(), row, row)
        self._messages.append(message)
        self.counts[message.severity] += 1
        self._action_count += message.action is not None
        self.endInsertRows()
        if row >= KEPT:
            self.beginRemoveRows(QModelIndex(), 0, 0)
            removed = self._messages.pop(0)
            self.counts[removed.severity] -= 1
            self._action_count -= removed.action is not None
            self.endRemoveRows()

    def clear(self) -> None:
        self.beginResetModel()
        self._messages.clear()
        self._action_count = 0
        self.counts = dict.fromkeys(Severity, 0)
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._messages)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(_HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole) -> Any:
        is_heading = orientation == Qt.Orientation.Horizontal and role == _Role.DisplayRole
        return _HEADINGS[section] if is_heading else None

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        message, column = self._messages[index.row()], index.column()
        if role == _Role.DisplayRole:
            action = message.action.text if message.action is not None else ""
            texts = (message.clock(), _file_name(message.file), message.text.replace("\n", " "), action)
            return printable(texts[column])
        if role == _Role.ToolTipRole:
            if column == ACTION:
                return message.action.tip if message.action is not None else ""
            return printable(message.file) if column == FILE else message.text
        if role == _Role.DecorationRole and column == TIME:
            return severity_icon(message.severity)
        if role == _Role.DecorationRole and column == ACTION and message.action is not None:
            return icon("locate")
        if role == _Role.ForegroundRole and column == ACTION:
            return QGuiApplication.palette().brush(QPalette.ColorRole.Link)
        if role == _Role.ForegroundRole and column != TEXT:
            return QColor(colours().dim)
        return None


class MessageFilter(QSortFilterProxyModel):
    def __init__(self, model: MessageModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._chosen = set(Severity)
        self.setSourceModel(model)

    def choose(self, severity: Severity, is_shown: bool) -> None:
        (self._chosen.add if is_shown else self._chosen.discard)(severity)
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:  # noqa: ARG002
        return self._model.message(source_row).severity in self._chosen


def severity_icon(severity: Severity) -> QIcon:
    return icon(severity.icon_name, ("dim", "warning", "error")[severity])


def _file_name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


_PLURALS = {Severity.INFO: "Notes", Severity.WARNING: "Warnings", Severity.ERROR: "Errors"}


class Messages(QWidget):
    unread_changed = Signal(int)  # Number of warnings and errors added while the panel was hidden

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = MessageModel(self)
        self.proxy = MessageFilter(self.model, self)
        self.view = QTreeView(self)
        self.empty = EmptyState("info", "No messages", "Warnings and errors of files and settings appear here.", self)
        self.switches = {severity: self._make_switch(severity) for severity in reversed(Severity)}
        self.clear_button = tool_button("clear", "Clear", "Remove all messages")
        self.copy_button = tool_button("copy", "Copy all", "Copy all visible messages")
        self.copy_action = self._make_copy_action()
        self.unread = 0
        self._follow_timer = QTimer(self, interval=0, singleShot=True)
        self._follow_timer.timeout.connect(self.view.scrollToBottom)
        self._prepare_view()
        self._arrange()
        self._refresh_counts()

    def act(self, index: QModelIndex) -> None:
        """Runs the action of a message if its cell was clicked."""
        action = self.model.message(self.proxy.mapToSource(index).row()).action
        if index.column() == ACTION and action is not None:
            action.run()

    def add(self, message: Message) -> None:
        """Appends a message; scrolls to it if the list was at its end."""
        bar = self.view.verticalScrollBar()
        if bar.value() >= bar.maximum():
            # Delayed: scrolling lays out all rows, and messages often come together.
            self._follow_timer.start()
        self.model.add(message)
        self._refresh_counts()
        # A panel behind another tab is not hidden, but has no visible region.
        if message.severity is not Severity.INFO and self.visibleRegion().isEmpty():
            self._set_unread(self.unread + 1)

    def clear(self) -> None:
        self.model.clear()
        self._refresh_counts()
        self._set_unread(0)

    def copy_selected(self) -> None:
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        self._copy(rows)

    def copy_all(self) -> None:
        self._copy(list(range(self.proxy.rowCount())))

    def _copy(self, rows: list[int]) -> None:
        places = (self.proxy.mapToSource(self.proxy.index(row, 0)) for row in rows)
        lines = [self.model.message(place.row()).line() for place in places]
        if lines:
            QApplication.clipboard().setText("\n".join(lines))

    def mark_read(self) -> None:
        self._set_unread(0)

    def _set_unread(self, count: int) -> None:
        if count != self.unread:
            self.unread = count
            self.unread_changed.emit(count)

    def _refresh_counts(self) -> None:
        counts = self.model.counts
        for severity, button in self.switches.items():
            button.setText(f"{_PLURALS[severity]} {counts[severity]:,}")
        has_any = self.model.rowCount() > 0
        self.view.setColumnHidden(ACTION, not self.model.has_actions)
        self._stack.setCurrentWidget(self.view if has_any else self.empty)
        self.clear_button.setEnabled(has_any)
        self.copy_button.setEnabled(has_any)

    def _prepare_view(self) -> None:
        view = self.view
        view.setModel(self.proxy)
        plain_list(view, "Messages")
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.addAction(self.copy_action)
        view.clicked.connect(self.act)
        view.setHeaderHidden(True)
        header = view.header()
        header.setStretchLastSection(True)
        header.moveSection(ACTION, TEXT)
        header.setSectionResizeMode(TIME, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(TIME, view.fontMetrics().horizontalAdvance("00:00:00") + 5 * SPACE_WIDE)
        header.resizeSection(ACTION, view.fontMetrics().horizontalAdvance("Locate") + 5 * SPACE_WIDE)
        header.resizeSection(FILE, view.fontMetrics().averageCharWidth() * 24)

    def _arrange(self) -> None:
        bar = packed(QHBoxLayout(), *self.switches.values(), spacing=SPACE, margins=SPACE)
        bar.addStretch(1)
        bar.addWidget(self.copy_button)
        bar.addWidget(self.clear_button)
        self._stack = Pages(self.empty, self.view)
        self.view.setMinimumHeight(2 * self.fontMetrics().lineSpacing())  # leaves room for the viewport
        packed(QVBoxLayout(self), bar, (self._stack, 1))
        self.clear_button.clicked.connect(self.clear)
        self.copy_button.clicked.connect(self.copy_all)

    def _make_switch(self, severity: Severity) -> QToolButton:
        name = _PLURALS[severity]
        button = tool_button(severity.icon_name, name, f"Show {name.lower()}", checkable=True)
        button.setIcon(severity_icon(severity))
        button.setChecked(True)
        button.toggled.connect(lambda shown: self.proxy.choose(severity, shown))
        return button

    def _make_copy_action(self) -> QAction:
        action = QAction(icon("copy"), "Copy", self)
        action.setShortcut(QKeySequence.StandardKey.Copy)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(self.copy_selected)
        return action

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.mark_read()

    def _open_menu(self, place: QPoint) -> None:
        self.menu().popup(self.view.viewport().mapToGlobal(place))

    def menu(self) -> QMenu:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        self.copy_action.setEnabled(self.view.selectionModel().hasSelection())
        menu.aboutToHide.connect(lambda: self.copy_action.setEnabled(True))
        for row in self.view.selectionModel().selectedRows():
            action = self.model.message(self.proxy.mapToSource(row).row()).action
            if action is not None:
                menu.addAction(icon("locate"), action.text).triggered.connect(action.run)
                break
        menu.addAction(self.copy_action)
        menu.addAction("Select all").triggered.connect(self.view.selectAll)
        menu.addSeparator()
        menu.addAction(icon("clear"), "Clear").triggered.connect(self.clear)
        return menu
