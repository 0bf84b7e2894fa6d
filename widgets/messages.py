import enum
import time
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QKeySequence, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.kinds.contract import Command
from sinew.sim.printable import printable
from sinew.widgets.icons import icon
from sinew.widgets.parts import EmptyState, Pages, packed, plain_list, tool_button
from sinew.widgets.theme import SPACE, SPACE_WIDE, colours

MESSAGES_MAX = 10_000
TIME, FILE, TEXT, ACTION = 0, 1, 2, 3
_Role = Qt.ItemDataRole


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


class MessageItem(QTreeWidgetItem):
    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message

    def data(self, column: int, role: int) -> Any:
        message, action = self.message, self.message.action
        if role == _Role.DisplayRole:
            text = action.text if action is not None else ""
            texts = (message.clock(), _file_name(message.file), message.text.replace("\n", " "), text)
            return printable(texts[column])
        if role == _Role.ToolTipRole:
            tip = action.tip if action is not None else ""
            return (message.text, printable(message.file), message.text, tip)[column]
        if role == _Role.DecorationRole and column == TIME:
            return severity_icon(message.severity)
        if role == _Role.DecorationRole and column == ACTION and action is not None:
            return icon("locate")
        if role == _Role.ForegroundRole and column == ACTION:
            return QGuiApplication.palette().brush(QPalette.ColorRole.Link)
        if role == _Role.ForegroundRole and column != TEXT:
            return QColor(colours().dim)
        return None


def severity_icon(severity: Severity) -> QIcon:
    return icon(severity.icon_name, ("dim", "warning", "error")[severity])


def _file_name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


_PLURALS = {Severity.INFO: "Notes", Severity.WARNING: "Warnings", Severity.ERROR: "Errors"}


class Messages(QWidget):
    """List of the latest messages, the oldest first; `counts` has the number of messages of each severity."""

    unread_changed = Signal(int)  # Number of warnings and errors added while the panel was hidden

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counts = dict.fromkeys(Severity, 0)
        self._hidden: set[Severity] = set()
        self._action_count = 0
        self.view = QTreeWidget(self)
        self.empty = EmptyState("info", "No messages", "Warnings and errors of files and settings appear here.", self)
        self.switches = {severity: self._make_switch(severity) for severity in reversed(Severity)}
        self.clear_button = tool_button("clear", "Clear", "Remove all messages", act=self.clear)
        self.copy_button = tool_button("copy", "Copy all", "Copy all visible messages", act=self.copy_all)
        self.copy_action = self._make_copy_action()
        self.unread = 0
        self._follow_timer = QTimer(self, interval=0, singleShot=True)
        self._follow_timer.timeout.connect(self.view.scrollToBottom)
        view = self.view
        view.setColumnCount(4)
        plain_list(view, "Messages")
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.addAction(self.copy_action)
        view.itemClicked.connect(self.act)
        view.setHeaderHidden(True)
        header = view.header()
        header.setStretchLastSection(True)
        header.moveSection(ACTION, TEXT)
        header.setSectionResizeMode(TIME, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(TIME, view.fontMetrics().horizontalAdvance("00:00:00") + 5 * SPACE_WIDE)
        header.resizeSection(ACTION, view.fontMetrics().horizontalAdvance("Locate") + 5 * SPACE_WIDE)
        header.resizeSection(FILE, view.fontMetrics().averageCharWidth() * 24)
        bar = packed(QHBoxLayout(), *self.switches.values(), spacing=SPACE, margins=SPACE)
        bar.addStretch(1)
        bar.addWidget(self.copy_button)
        bar.addWidget(self.clear_button)
        self._stack = Pages(self.empty, self.view)
        self.view.setMinimumHeight(2 * self.fontMetrics().lineSpacing())  # leaves room for the viewport
        packed(QVBoxLayout(self), bar, (self._stack, 1))
        self._refresh_counts()

    @property
    def items(self) -> list[MessageItem]:
        rows = (self.view.topLevelItem(row) for row in range(self.view.topLevelItemCount()))
        return [item for item in rows if isinstance(item, MessageItem)]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(item.message for item in self.items)

    def act(self, item: QTreeWidgetItem, column: int) -> None:
        """Runs the action of a message if its cell was clicked."""
        if isinstance(item, MessageItem) and column == ACTION and item.message.action is not None:
            item.message.action.run()

    def add(self, message: Message) -> None:
        """Adds a message; scrolls to it if the list was at its end."""
        bar = self.view.verticalScrollBar()
        if bar.value() >= bar.maximum():
            # Delayed: scrolling lays out all rows, and messages often come together.
            self._follow_timer.start()
        item = MessageItem(message)
        self.view.addTopLevelItem(item)
        item.setHidden(message.severity in self._hidden)
        self._count(message, 1)
        if self.view.topLevelItemCount() > MESSAGES_MAX:
            oldest = self.view.takeTopLevelItem(0)
            assert isinstance(oldest, MessageItem)
            self._count(oldest.message, -1)
        self._refresh_counts()
        # A panel behind another tab is not hidden, but has no visible region.
        if message.severity is not Severity.INFO and self.visibleRegion().isEmpty():
            self._set_unread(self.unread + 1)

    def _count(self, message: Message, change: int) -> None:
        self.counts[message.severity] += change
        self._action_count += change * (message.action is not None)

    def clear(self) -> None:
        self.view.clear()
        self.counts = dict.fromkeys(Severity, 0)
        self._action_count = 0
        self._refresh_counts()
        self._set_unread(0)

    def show_severity(self, severity: Severity, is_shown: bool) -> None:
        (self._hidden.discard if is_shown else self._hidden.add)(severity)
        for item in self.items:
            item.setHidden(item.message.severity in self._hidden)

    def copy_selected(self) -> None:
        self._copy([item for item in self.items if item.isSelected()])

    def copy_all(self) -> None:
        """Copies all messages, except for those that are filtered out."""
        self._copy([item for item in self.items if not item.isHidden()])

    def _copy(self, items: list[MessageItem]) -> None:
        if items:
            QApplication.clipboard().setText("\n".join(item.message.line() for item in items))

    def mark_read(self) -> None:
        """Scrolls to the first message that was not read, else to the newest."""
        count, items = self.unread, [item for item in self.items if item.message.severity is not Severity.INFO]
        shown = items[-count:] if 0 < count <= len(items) else self.items[-1:]
        self._set_unread(0)
        self._follow_timer.stop()
        if shown:
            self.view.scrollToItem(shown[0], QAbstractItemView.ScrollHint.PositionAtTop)

    def _set_unread(self, count: int) -> None:
        if count != self.unread:
            self.unread = count
            self.unread_changed.emit(count)

    def _refresh_counts(self) -> None:
        for severity, button in self.switches.items():
            button.setText(f"{_PLURALS[severity]} {self.counts[severity]:,}")
        has_any = self.view.topLevelItemCount() > 0
        self.view.setColumnHidden(ACTION, self._action_count == 0)
        self._stack.setCurrentWidget(self.view if has_any else self.empty)
        self.clear_button.setEnabled(has_any)
        self.copy_button.setEnabled(has_any)

    def _make_switch(self, severity: Severity) -> QToolButton:
        name = _PLURALS[severity]
        button = tool_button(severity.icon_name, name, f"Show {name.lower()}", checkable=True)
        button.setIcon(severity_icon(severity))
        button.setChecked(True)
        button.toggled.connect(lambda shown: self.show_severity(severity, shown))
        return button

    def _make_copy_action(self) -> QAction:
        action = QAction(icon("copy"), "Copy", self, shortcut=QKeySequence(QKeySequence.StandardKey.Copy))
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
        chosen = [item for item in self.items if item.isSelected()]
        self.copy_action.setEnabled(bool(chosen))
        menu.aboutToHide.connect(lambda: self.copy_action.setEnabled(True))
        action = next((item.message.action for item in chosen if item.message.action is not None), None)
        if action is not None:
            menu.addAction(icon("locate"), action.text).triggered.connect(action.run)
        menu.addAction(self.copy_action)
        menu.addAction("Select all").triggered.connect(self.view.selectAll)
        menu.addSeparator()
        menu.addAction(icon("clear"), "Clear").triggered.connect(self.clear)
        return menu
