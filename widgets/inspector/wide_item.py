"""Row of a picture: the editor below the label instead of beside it."""

from typing import TYPE_CHECKING

from pyqtgraph.parametertree import ParameterItem
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout

from widgets.inspector.form_items import SettingItem
from widgets.theme import SPACE

if TYPE_CHECKING:
    from widgets.inspector.form import SettingParameter


class WideSettingItem(SettingItem):
    """Label and reset arrow in one line, the editor below them over the whole width."""

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        self.title = QLabel()
        super().__init__(parameter, depth)
        self.row.layout().removeWidget(self.reset_button)
        self.row.layout().removeWidget(self.editor)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.reset_button)
        layout = QVBoxLayout()
        layout.setSpacing(SPACE // 2)
        layout.addLayout(head)
        layout.addWidget(self.editor)
        self.row.layout().addLayout(layout)
        self.setText(0, "")
        self.show_title(parameter.title())
        self.row.setToolTip(parameter.record.tooltip)
        self.setSizeHint(0, QSize(0, self.row.sizeHint().height() + SPACE))

    def treeWidgetChanged(self) -> None:
        """Puts the row's widgets into the tree, across both columns."""
        ParameterItem.treeWidgetChanged(self)
        tree = self.treeWidget()
        if tree is not None:
            self.setFirstColumnSpanned(True)
            tree.setItemWidget(self, 0, self.row)

    def show_title(self, title: str) -> None:
        """The label has a line of its own."""
        self.title.setText(title)

    def mark_modified(self) -> None:
        """Marks the label too."""
        super().mark_modified()
        self.title.setFont(self.font(0))
