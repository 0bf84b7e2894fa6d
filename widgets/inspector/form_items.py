"""Rows of the form: what pyqtgraph's parameter tree shows for each kind of parameter."""

from typing import TYPE_CHECKING, Any

from pyqtgraph.parametertree import ParameterItem
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QTreeWidget, QWidget

from widgets.icons import GlyphLabel, Tint
from widgets.theme import SPACE, SPACE_WIDE, colours, icon, tabular

if TYPE_CHECKING:
    from widgets.inspector.form import FactParameter, NoteParameter, SettingParameter, WidgetParameter

_RESET_SIDE = 20
_SEVERITIES = ("warning", "error")
DIFFERS = "≠"
"""Marks a value that is another one now."""


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


class SettingItem(ParameterItem):
    """Label, editor and reset arrow of one value."""

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self.editor = parameter.make_editor(parameter.record)
        self.binding = parameter.make_binding(parameter.ref, self.editor)
        self.binding.settled.connect(self.show_value)
        self.reset_button = _reset_button()
        self.reset_button.clicked.connect(self.reset)
        self.row = _row_of(self.editor, self.reset_button)
        tip = parameter.record.tooltip
        self.setToolTip(0, tip)
        self.editor.setToolTip(tip)
        self.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setSizeHint(1, QSize(0, self.row.sizeHint().height()))
        self.show_value()

    def show_title(self, title: str) -> None:
        """Shows the label."""
        self.setText(0, title)

    def treeWidgetChanged(self) -> None:
        """Puts the row's widgets into the tree."""
        super().treeWidgetChanged()
        tree = self.treeWidget()
        if tree is not None:
            tree.setItemWidget(self, 1, self.row)

    def titleChanged(self) -> None:
        """Heights come from the editor."""
        self.show_title(self.param.title())

    def valueChanged(self, param: Any, val: Any) -> None:
        """Shows the new value, but never disturbs a gesture."""
        super().valueChanged(param, val)
        if not self.binding.is_held:
            self.show_value()
        self.mark_modified()

    def show_value(self) -> None:
        """Makes the editor show what the parameter holds."""
        self.editor.set_value(self.param.value())
        self.mark_modified()

    def mark_modified(self) -> None:
        """Bold label and reset arrow where the value is not the default."""
        modified = self.param.modified
        font = self.font(0)
        if font.bold() != modified:
            font.setBold(modified)
            self.setFont(0, font)
        self.reset_button.setVisible(modified)

    def reset(self) -> None:
        """Sets the default, as one edit."""
        self.binding.set_value(self.param.record.default)

    def hold(self, now: str | None) -> None:
        """Lets nothing be edited, and marks a value that is another one now.

        Args:
            now: The present value as text, None where it is the same.
        """
        self.editor.setEnabled(False)
        self.reset_button.setEnabled(False)
        title, tip = self.param.title(), self.param.record.tooltip
        self.show_title(title if now is None else f"{DIFFERS} {title}")
        for show in (self.row.setToolTip, self.editor.setToolTip, lambda text: self.setToolTip(0, text)):
            show(tip if now is None else f"{tip}\n\nNow: {now}")

    @property
    def is_held(self) -> bool:
        """Whether nothing can be edited."""
        return not self.editor.isEnabled()

    def release(self) -> None:
        """Ends what is open; called before the row goes away."""
        self.editor.release()
        if self.binding.is_held:
            self.binding.finish()


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


def _row_of(editor: QWidget, button: QToolButton) -> QWidget:
    row = QWidget()
    row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 2, SPACE, 2)
    layout.setSpacing(SPACE)
    layout.addWidget(editor, 1)
    layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    return row


def _reset_button() -> QToolButton:
    button = QToolButton()
    button.setIcon(icon("reset"))
    button.setAutoRaise(True)
    button.setFixedSize(_RESET_SIDE, _RESET_SIDE)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setToolTip("Reset to default")
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    button.setSizePolicy(policy)
    return button


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
