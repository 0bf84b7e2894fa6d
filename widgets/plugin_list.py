import functools
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from sinew.widgets.inspector.editors import CheckBox
from sinew.widgets.parts import packed
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE_WIDE, dress

_COLUMNS = ("", "Name", "Adds", "Package", "State")


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
        self.boxes: dict[str, CheckBox] = {}
        self.note.setWordWrap(True)
        self.tree.setRootIsDecorated(False)
        self.tree.setHeaderLabels(_COLUMNS)
        dress(self.tree)
        for row in rows:
            texts = [label_text(text) for text in (row.name, row.what, row.package, row.state)]
            item = QTreeWidgetItem(self.tree, ["", *texts])
            item.setToolTip(4, texts[3])
            if row.is_ticked is not None:
                box = self.boxes[row.name] = CheckBox(self.tree)
                box.setChecked(row.is_ticked)
                box.setToolTip("Run this file from the next start on.")
                box.toggled.connect(functools.partial(self.ticked.emit, row.name))
                self.tree.setItemWidget(item, 0, box)
        for column in range(4):
            self.tree.resizeColumnToContents(column)
        packed(QVBoxLayout(self), (self.tree, 1), self.note, spacing=SPACE_WIDE, margins=SPACE_WIDE)
