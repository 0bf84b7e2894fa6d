"""Messages as values, their table, and the filter by severity."""

import enum
import time
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette

from sim.kinds.contract import Command
from sim.printable import printable
from widgets.theme import colours, icon

KEPT = 10_000
TIME, FILE, TEXT, ACTION = 0, 1, 2, 3
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_Role = Qt.ItemDataRole
_HEADINGS = ("Time", "File", "Message", "")


class Severity(enum.IntEnum):
    """How bad it is."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def icon_name(self) -> str:
        return ("info", "warning", "error")[self]


@dataclass(frozen=True, slots=True)
class Message:
    """One line for the user."""

    severity: Severity  # How bad it is
    text: str  # What happened
    file: str = ""  # File it is about, or ""
    moment: float = field(default_factory=time.time)  # When, in seconds since the epoch
    action: Command | None = None  # What can be done about it

    def line(self) -> str:
        parts = (self.clock(), self.severity.name.lower(), self.file, self.text.replace("\n", " "))
        return "\t".join(map(printable, parts))

    def clock(self) -> str:
        return time.strftime("%H:%M:%S", time.localtime(self.moment))


class MessageModel(QAbstractTableModel):
    """The messages, oldest first; the oldest go when there are more than `KEPT`.

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
            gone = self._messages.pop(0)
            self.counts[gone.severity] -= 1
            self._action_count -= gone.action is not None
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
        wanted = orientation == Qt.Orientation.Horizontal and role == _Role.DisplayRole
        return _HEADINGS[section] if wanted else None

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
    """Keeps the messages whose severity is chosen."""

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
