from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from sinew.widgets.parts import packed
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE_WIDE, dress

_COLUMNS = ("Name", "Adds", "Package", "State")


@dataclass(frozen=True, slots=True)
class PluginRow:
    name: str
    what: str
    package: str
    state: str  # With the reason
    is_ticked: bool | None = None  # None if it cannot be switched off


class PluginList(QDialog):
    """The plug-ins; files of the user have ticks.  `note` is a text below the list."""

    ticked = Signal(str, bool)  # Name of a file, and whether it may run

    def __init__(self, rows: Iterable[PluginRow], note: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Plug-ins")
        self.setModal(False)
        self.resize(760, 360)
        self.tree, self.note = QTreeWidget(self), QLabel(label_text(note), self)
        self.note.setWordWrap(True)
        self.tree.setRootIsDecorated(False)
        self.tree.setHeaderLabels(_COLUMNS)
        dress(self.tree)
        for row in rows:
            texts = [label_text(text) for text in (row.name, row.what, row.package, row.state)]
            item = QTreeWidgetItem(self.tree, texts)
            item.setToolTip(3, label_text(row.state))
            if row.is_ticked is not None:
                item.setData(0, Qt.ItemDataRole.UserRole, row.name)
                item.setCheckState(0, Qt.CheckState.Checked if row.is_ticked else Qt.CheckState.Unchecked)
        for column in range(3):
            self.tree.resizeColumnToContents(column)
        self.tree.itemChanged.connect(self._on_changed)
        packed(QVBoxLayout(self), (self.tree, 1), self.note, spacing=SPACE_WIDE, margins=SPACE_WIDE)

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        name = item.data(0, Qt.ItemDataRole.UserRole)
        self.ticked.emit(name, item.checkState(0) is Qt.CheckState.Checked)
