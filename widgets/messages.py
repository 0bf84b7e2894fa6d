"""The Messages panel: every warning and error, with time and file."""

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QShowEvent
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

from widgets.empty_state import EmptyState
from widgets.message_model import (
    ACTION,
    FILE,
    TEXT,
    TIME,
    Message,
    MessageFilter,
    MessageModel,
    Severity,
    severity_icon,
)
from widgets.parts import Pages, packed, plain_list, tool_button
from widgets.theme import SPACE, SPACE_WIDE, icon

_PLURALS = {Severity.INFO: "Notes", Severity.WARNING: "Warnings", Severity.ERROR: "Errors"}


class Messages(QWidget):
    """List of messages with a switch for each severity."""

    unread_changed = Signal(int)  # Number of warnings and errors that came while the panel was hidden

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = MessageModel(self)
        self.proxy = MessageFilter(self.model, self)
        self.view = QTreeView(self)
        self.empty = EmptyState("info", "No messages", "Warnings and errors of files and settings appear here.", self)
        self.switches = {severity: self._make_switch(severity) for severity in reversed(Severity)}
        self.clear_button = tool_button("clear", "Clear", "Remove all messages")
        self.copy_button = tool_button("copy", "Copy all", "Copy all messages that are shown")
        self.copy_action = self._make_copy_action()
        self.unread = 0
        self._follow_timer = QTimer(self, interval=0, singleShot=True)
        self._follow_timer.timeout.connect(self.view.scrollToBottom)
        self._prepare_view()
        self._arrange()
        self._refresh_counts()

    def act(self, index: QModelIndex) -> None:
        """Does what can be done about the message of a cell that was clicked, where that is said there."""
        action = self.model.message(self.proxy.mapToSource(index).row()).action
        if index.column() == ACTION and action is not None:
            action.run()

    def add(self, message: Message) -> None:
        """Appends a message, and keeps the end in sight if it was."""
        bar = self.view.verticalScrollBar()
        if bar.value() >= bar.maximum():
            # Scrolling lays out all rows, so it waits until everything that comes at once is there.
            self._follow_timer.start()
        self.model.add(message)
        self._refresh_counts()
        # Behind another tab a panel is not hidden, but nothing of it can be seen.
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
        """The user sees the panel, or has seen it."""
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
        view.setHeaderHidden(True)  # what stands there says itself; small windows have the room for messages
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
        self.view.setMinimumHeight(2 * self.fontMetrics().lineSpacing())  # small windows need room for the viewport
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
