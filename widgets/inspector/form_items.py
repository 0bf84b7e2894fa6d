"""Rows of the form: what pyqtgraph's parameter tree shows for each kind of parameter."""

from typing import TYPE_CHECKING, Any

from pyqtgraph.parametertree import ParameterItem
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QTreeWidget, QWidget

from widgets.icons import GlyphLabel, Tint
from widgets.inspector.setting_item import SettingItem
from widgets.theme import SPACE, SPACE_WIDE, colours, icon, tabular

if TYPE_CHECKING:
    from widgets.inspector.form import FactParameter, NoteParameter, WidgetParameter

_SEVERITIES = ("warning", "error")


class SectionItem(ParameterItem):
    """A heading; the tree paints its band."""

    def __init__(self, parameter: Any, depth: int) -> None:
        super().__init__(parameter, depth)
        font = self.font(0)
        font.setBold(True)
        self.setFont(0, font)
        self.setSizeHint(0, QSize(0, _line_height(font) + SPACE_WIDE))

    def treeWidgetChanged(self) -> None:
        """The heading spans both columns."""
        super().treeWidgetChanged()
        if self.treeWidget() is not None:
            self.setFirstColumnSpanned(True)

    def titleChanged(self) -> None:
        """Heights come from the tree."""
        self.setText(0, self.param.title())


class FactItem(ParameterItem):
    """Two texts; the value can be copied from the context menu."""

    def __init__(self, parameter: "FactParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self.setFont(1, tabular(self.font(1)))
        self.setSizeHint(0, QSize(0, _line_height(self.font(1)) + SPACE))
        if parameter.mark:
            self.setIcon(1, icon(parameter.mark, _severity_tint(parameter.mark)))
        self._show()

    def valueChanged(self, param: Any, val: Any) -> None:
        """Shows the new text."""
        super().valueChanged(param, val)
        self._show()

    def titleChanged(self) -> None:
        """Heights come from the tree."""
        self.setText(0, self.param.title())

    def _show(self) -> None:
        value = self.param.value()
        self.setText(1, value)
        for column in (0, 1):
            self.setToolTip(column, self.param.tip or value)


class NoteItem(ParameterItem):
    """A text that wraps over the whole width."""

    def __init__(self, parameter: "NoteParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self.setText(0, "")
        self.label = QLabel(parameter.value())
        self.label.setWordWrap(True)
        self.label.setForegroundRole(
            QPalette.ColorRole.WindowText if parameter.mark else QPalette.ColorRole.PlaceholderText
        )
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.row = QWidget()
        layout = QHBoxLayout(self.row)
        layout.setContentsMargins(0, SPACE, SPACE_WIDE, SPACE)
        layout.setSpacing(SPACE_WIDE)
        if parameter.mark:
            layout.addWidget(_mark_label(parameter.mark), 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.label, 1)

    def treeWidgetChanged(self) -> None:
        """Puts the label into the tree, across both columns."""
        super().treeWidgetChanged()
        tree = self.treeWidget()
        if tree is not None:
            self.setFirstColumnSpanned(True)
            tree.setItemWidget(self, 0, self.row)

    def titleChanged(self) -> None:
        """A note has no title."""

    def fit(self, width: int) -> None:
        """Takes the height that the text needs at a width."""
        height = self.row.heightForWidth(max(width, 1))
        if self.sizeHint(0).height() != height:
            self.setSizeHint(0, QSize(0, height))


class WidgetItem(ParameterItem):
    """A widget over the whole width."""

    def __init__(self, parameter: "WidgetParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self.setText(0, "")
        self.widget = parameter.make()
        self.row = QWidget()
        layout = QHBoxLayout(self.row)
        layout.setContentsMargins(0, SPACE, SPACE_WIDE, SPACE)
        layout.addWidget(self.widget)
        self.setSizeHint(0, QSize(0, self.row.sizeHint().height()))

    def treeWidgetChanged(self) -> None:
        """Puts the widget into the tree, across both columns."""
        super().treeWidgetChanged()
        tree = self.treeWidget()
        if tree is not None:
            self.setFirstColumnSpanned(True)
            tree.setItemWidget(self, 0, self.row)

    def titleChanged(self) -> None:
        """It has no title."""


def _line_height(font: QFont) -> int:
    return QFontMetrics(font).height()


def _mark_label(mark: str) -> GlyphLabel:
    label = GlyphLabel(mark, QFontMetrics(QGuiApplication.font()).height())
    label.set_tint(_severity_tint(mark))
    return label


def _severity_tint(mark: str) -> Tint:
    return (lambda: QColor(getattr(colours(), mark))) if mark in _SEVERITIES else None


TreeItem = SectionItem | SettingItem | FactItem | NoteItem | WidgetItem


def items_of(tree: QTreeWidget) -> list[TreeItem]:
    """All rows of a tree, headings included."""
    found: list[TreeItem] = []
    for index in range(tree.topLevelItemCount()):
        top = tree.topLevelItem(index)
        found.append(top)
        found.extend(top.child(row) for row in range(top.childCount()))
    return found
