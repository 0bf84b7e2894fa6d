"""Row of a picture: the editor below the label instead of beside it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout

from widgets.inspector.setting_item import RowParts, SettingItem
from widgets.theme import SPACE

if TYPE_CHECKING:
    from widgets.inspector.form import SettingParameter


class WideSettingItem(SettingItem):
    """Label and reset arrow in one line, the editor below them over the whole width."""

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        self.title = QLabel(parameter.title())
        super().__init__(parameter, depth)
        self.setText(0, "")

    def place_row(self, parts: RowParts) -> None:
        """Puts label and arrow above the editor."""
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(parts.reset_button)
        layout = QVBoxLayout(parts.row)
        layout.setContentsMargins(0, 2, SPACE, SPACE)
        layout.setSpacing(SPACE // 2)
        layout.addLayout(head)
        layout.addWidget(parts.editor)
        self.setSizeHint(0, QSize(0, parts.row.sizeHint().height()))

    def put_row(self) -> None:
        """Puts the row into the tree, across both columns."""
        tree = self.treeWidget()
        if tree is not None and self._parts is not None:
            self.setFirstColumnSpanned(True)
            tree.setItemWidget(self, 0, self._parts.row)

    def show_title(self, title: str) -> None:
        """The label has a line of its own."""
        self.title.setText(title)

    def mark_modified(self) -> None:
        """Marks the label too."""
        super().mark_modified()
        self.title.setFont(self.font(0))
