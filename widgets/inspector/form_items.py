"""Rows of the form: what pyqtgraph's parameter tree shows for each kind of parameter."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyqtgraph.parametertree import ParameterItem
from PySide6.QtCore import QMargins, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QIcon, QPainter, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QTreeWidget, QVBoxLayout, QWidget

from widgets.icons import GlyphLabel
from widgets.inspector.editor import Binding, ValueEditor
from widgets.parts import packed, tool_button
from widgets.shown import label_text, tip_text
from widgets.theme import SPACE, SPACE_WIDE, icon, tabular

if TYPE_CHECKING:
    from widgets.inspector.form import FactParameter, NoteParameter, SettingParameter, WidgetParameter

_RESET_SIDE = 20
_ROW_MARGINS = 14  # [px] around the text of a number field; rows without widgets are as high as most will be
_WIDE_MARGINS = QMargins(0, SPACE, SPACE_WIDE, SPACE)
DIFFERS = "≠"
"""Marks a value that is another one now, or in another one of the selected nodes."""

_SEVERITIES = ("warning", "error")


@dataclass(frozen=True, slots=True)
class RowParts:
    """What a row consists of."""

    # editor, binding: Editor of the value, and its link to the scene
    editor: ValueEditor
    binding: Binding
    reset_button: QToolButton  # Arrow back to the default
    row: QWidget  # Widget that holds editor and arrow


class SettingItem(ParameterItem):
    """Label, editor and reset arrow of one value.

    Widgets are what takes time: a row has none until it is asked for one, as by the tree when it comes into sight.
    """

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self._parts: RowParts | None = None
        self._is_held = self._is_mixed = False
        self._tip = parameter.record.tooltip
        self.setToolTip(0, self._tip)
        self.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setSizeHint(1, QSize(0, _line_height(self.font(0)) + _ROW_MARGINS))
        self.show_value()

    # Parts

    @property
    def is_bare(self) -> bool:
        return self._parts is None

    @property
    def parts(self) -> RowParts:
        """The widgets, made when they are first asked for."""
        if self._parts is None:
            self._parts = self._make_parts()
            self._parts.binding.settled.connect(self.show_value)
            self._parts.reset_button.clicked.connect(self.reset)
            self.place_row(self._parts)
            self.show_value()
            self._show_tip()
            self._show_hold()
            self.put_row()
        return self._parts

    @property
    def editor(self) -> ValueEditor:
        return self.parts.editor

    @property
    def binding(self) -> Binding:
        return self.parts.binding

    @property
    def reset_button(self) -> QToolButton:
        return self.parts.reset_button

    def _make_parts(self) -> RowParts:
        editor = self.param.make_editor(self.param.record)
        row = QWidget()
        row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        return RowParts(
            editor, self.param.make_binding(self.param.record, self.param.ref, editor), _reset_button(), row
        )

    def place_row(self, parts: RowParts) -> None:
        margins = QMargins(0, 2, SPACE, 2)
        layout = packed(QHBoxLayout(parts.row), (parts.editor, 1), spacing=SPACE, margins=margins)
        layout.addWidget(parts.reset_button, 0, Qt.AlignmentFlag.AlignTop)
        self.setSizeHint(1, QSize(0, parts.row.sizeHint().height()))

    def put_row(self) -> None:
        """Puts the row into the tree, once there are both."""
        tree = self.treeWidget()
        if tree is not None and self._parts is not None:
            tree.setItemWidget(self, 1, self._parts.row)

    def treeWidgetChanged(self) -> None:
        super().treeWidgetChanged()
        self.put_row()

    # What is shown

    def titleChanged(self) -> None:
        self.show_title(self.param.title())

    def show_title(self, title: str) -> None:
        self.setText(0, title)

    def valueChanged(self, param: Any, val: Any) -> None:
        """Shows the new value, but never disturbs a gesture."""
        super().valueChanged(param, val)
        if self._parts is None or not self._parts.binding.is_held:
            self.show_value()
        self.mark_modified()

    def show_value(self) -> None:
        """Makes the editor show what the parameter holds."""
        mixed = self.param.mixed
        if self._parts is not None and mixed:
            self._parts.editor.show_mixed(mixed)
        elif self._parts is not None:
            self._parts.editor.set_value(self.param.value())
        if bool(mixed) != self._is_mixed and not self._is_held:
            self._is_mixed = bool(mixed)
            self.show_title(f"{DIFFERS} {self.param.title()}" if mixed else self.param.title())
        self.mark_modified()

    def mark_modified(self) -> None:
        """Bold label and reset arrow where the value is not the default."""
        modified = self.param.modified
        font = self.font(0)
        if font.bold() != modified:
            font.setBold(modified)
            self.setFont(0, font)
        if self._parts is not None:
            self._parts.reset_button.setVisible(modified)

    def reset(self) -> None:
        self.binding.set_value(self.param.record.default)

    def hold(self, now: str | None) -> None:
        """Lets nothing be edited, and marks a value that is another one now.

        Args:
            now: The present value as text, None where it is the same.
        """
        self._is_held = True
        title, tip = self.param.title(), self.param.record.tooltip
        self._tip = tip if now is None else f"{tip}\n\nNow: {now}"
        self.show_title(title if now is None else f"{DIFFERS} {title}")
        self._show_tip()
        self._show_hold()

    @property
    def is_held(self) -> bool:
        return self._is_held

    def release(self) -> None:
        if self._parts is None:
            return
        self._parts.editor.release()
        if self._parts.binding.is_held:
            self._parts.binding.finish()

    def _show_tip(self) -> None:
        self.setToolTip(0, self._tip)
        if self._parts is not None:
            self._parts.row.setToolTip(self._tip)
            self._parts.editor.setToolTip(self._tip)

    def _show_hold(self) -> None:
        if self._parts is not None and self._is_held:
            self._parts.editor.setEnabled(False)
            self._parts.reset_button.setEnabled(False)


def _reset_button() -> QToolButton:
    button = tool_button("reset", tip="Reset to default")
    button.setFixedSize(_RESET_SIDE, _RESET_SIDE)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    button.setSizePolicy(policy)
    return button


class WideSettingItem(SettingItem):
    """Label and reset arrow in one line, the editor below them over the whole width."""

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        self.title = QLabel(parameter.title())
        super().__init__(parameter, depth)
        self.setText(0, "")

    def place_row(self, parts: RowParts) -> None:
        head = packed(QHBoxLayout(), (self.title, 1), parts.reset_button, spacing=SPACE // 2)
        margins = QMargins(0, 2, SPACE, SPACE)
        packed(QVBoxLayout(parts.row), head, parts.editor, spacing=SPACE // 2, margins=margins)
        tree = self.treeWidget()
        self._fit(parts, tree.viewport().width() - 2 * tree.indentation() if tree is not None else 0)

    def fit(self, width: int) -> None:
        if self._parts is not None:
            self._fit(self._parts, width)

    def _fit(self, parts: RowParts, width: int) -> None:
        parts.editor.fit(width - SPACE)
        self.setSizeHint(0, QSize(0, parts.row.sizeHint().height()))

    def put_row(self) -> None:
        tree = self.treeWidget()
        if tree is not None and self._parts is not None:
            self.setFirstColumnSpanned(True)
            tree.setItemWidget(self, 0, self._parts.row)

    def show_title(self, title: str) -> None:
        self.title.setText(title)

    def mark_modified(self) -> None:
        super().mark_modified()
        self.title.setFont(self.font(0))


class SectionItem(ParameterItem):
    """A heading; the tree paints its band."""

    def __init__(self, parameter: Any, depth: int) -> None:
        super().__init__(parameter, depth)
        font = self.font(0)
        font.setBold(True)
        self.setFont(0, font)
        self.titleChanged()
        self.setSizeHint(0, QSize(0, _line_height(font) + SPACE_WIDE))

    def treeWidgetChanged(self) -> None:
        """The heading spans both columns."""
        super().treeWidgetChanged()
        if self.treeWidget() is not None:
            self.setFirstColumnSpanned(True)

    def titleChanged(self) -> None:
        self.setText(0, label_text(self.param.title()))


class FactItem(ParameterItem):
    """Two texts; the value can be copied from the context menu."""

    def __init__(self, parameter: "FactParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self.setFont(1, tabular(self.font(1)))
        self.setSizeHint(0, QSize(0, _line_height(self.font(1)) + SPACE))
        if parameter.mark:
            self.setIcon(1, icon(parameter.mark, _severity_tint(parameter.mark)))
        if parameter.link is not None:
            self.setForeground(0, QGuiApplication.palette().brush(QPalette.ColorRole.Link))
        if parameter.swatch is not None:
            self.setIcon(0, _swatch(QColor.fromRgbF(*parameter.swatch), _line_height(self.font(1))))
        self.titleChanged()
        self._show()

    def valueChanged(self, param: Any, val: Any) -> None:
        super().valueChanged(param, val)
        self._show()

    def titleChanged(self) -> None:
        self.setText(0, label_text(self.param.title()))

    def _show(self) -> None:
        value = self.param.value()
        self.setText(1, label_text(value))
        for column in (0, 1):
            self.setToolTip(column, tip_text(self.param.tip or value))


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
        layout = packed(QHBoxLayout(self.row), spacing=SPACE_WIDE, margins=_WIDE_MARGINS)
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
        packed(QHBoxLayout(self.row), self.widget, margins=_WIDE_MARGINS)
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


def _swatch(colour: QColor, side: int) -> QIcon:
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QGuiApplication.palette().color(QPalette.ColorRole.Mid), 1.0))
        painter.setBrush(colour)
        painter.drawRoundedRect(picture.rect().toRectF().adjusted(1.5, 1.5, -1.5, -1.5), 3.0, 3.0)
    return QIcon(picture)


def _line_height(font: QFont) -> int:
    return QFontMetrics(font).height()


def _mark_label(mark: str) -> GlyphLabel:
    label = GlyphLabel(mark, QFontMetrics(QGuiApplication.font()).height())
    label.set_tint(_severity_tint(mark))
    return label


def _severity_tint(mark: str) -> str:
    return mark if mark in _SEVERITIES else ""


TreeItem = SectionItem | SettingItem | FactItem | NoteItem | WidgetItem


def items_of(tree: QTreeWidget) -> list[TreeItem]:
    """All rows of a tree, headings included."""
    found: list[TreeItem] = []
    for index in range(tree.topLevelItemCount()):
        top = tree.topLevelItem(index)
        found.append(top)
        found.extend(top.child(row) for row in range(top.childCount()))
    return found
