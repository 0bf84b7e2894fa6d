"""Row of one value: its label, its editor, and an arrow back to the default."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyqtgraph.parametertree import ParameterItem
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from widgets.inspector.editor import Binding, Editor
from widgets.theme import SPACE, icon

if TYPE_CHECKING:
    from widgets.inspector.form import SettingParameter

_RESET_SIDE = 20
DIFFERS = "≠"
"""Marks a value that is another one now."""


@dataclass(frozen=True, slots=True)
class RowParts:
    """What a row consists of.

    Attributes:
        editor, binding: Editor of the value, and its link to the scene.
        reset_button: Arrow back to the default.
        row: Widget that holds editor and arrow.
    """

    editor: Editor
    binding: Binding
    reset_button: QToolButton
    row: QWidget


class SettingItem(ParameterItem):
    """Label, editor and reset arrow of one value.

    Widgets are what takes time: a row that is hidden gets them when it is first shown.
    """

    def __init__(self, parameter: "SettingParameter", depth: int) -> None:
        super().__init__(parameter, depth)
        self._parts: RowParts | None = None
        self._is_held = False
        self._tip = parameter.record.tooltip
        self.setToolTip(0, self._tip)
        self.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.show_value()

    # Parts

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
    def editor(self) -> Editor:
        """Editor of the value."""
        return self.parts.editor

    @property
    def binding(self) -> Binding:
        """Link of the editor to the scene."""
        return self.parts.binding

    @property
    def reset_button(self) -> QToolButton:
        """Arrow back to the default."""
        return self.parts.reset_button

    def _make_parts(self) -> RowParts:
        editor = self.param.make_editor(self.param.record)
        row = QWidget()
        row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        return RowParts(editor, self.param.make_binding(self.param.ref, editor), _reset_button(), row)

    def place_row(self, parts: RowParts) -> None:
        """Puts editor and arrow into the row."""
        layout = QHBoxLayout(parts.row)
        layout.setContentsMargins(0, 2, SPACE, 2)
        layout.setSpacing(SPACE)
        layout.addWidget(parts.editor, 1)
        layout.addWidget(parts.reset_button, 0, Qt.AlignmentFlag.AlignTop)
        self.setSizeHint(1, QSize(0, parts.row.sizeHint().height()))

    def put_row(self) -> None:
        """Puts the row into the tree, once there are both."""
        tree = self.treeWidget()
        if tree is not None and self._parts is not None:
            tree.setItemWidget(self, 1, self._parts.row)

    def treeWidgetChanged(self) -> None:
        """A row in sight gets its widgets."""
        super().treeWidgetChanged()
        if self.treeWidget() is None:
            return
        if self._parts is not None:
            self.put_row()
        elif self.param.opts["visible"]:
            assert self.parts

    def optsChanged(self, param: Any, opts: dict[str, Any]) -> None:
        """So does one that comes into sight."""
        if opts.get("visible") and self.treeWidget() is not None:
            assert self.parts
        super().optsChanged(param, opts)

    # What is shown

    def titleChanged(self) -> None:
        """Heights come from the editor."""
        self.show_title(self.param.title())

    def show_title(self, title: str) -> None:
        """Shows the label."""
        self.setText(0, title)

    def valueChanged(self, param: Any, val: Any) -> None:
        """Shows the new value, but never disturbs a gesture."""
        super().valueChanged(param, val)
        if self._parts is None or not self._parts.binding.is_held:
            self.show_value()
        self.mark_modified()

    def show_value(self) -> None:
        """Makes the editor show what the parameter holds."""
        if self._parts is not None:
            self._parts.editor.set_value(self.param.value())
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
        """Sets the default, as one edit."""
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
        """Whether nothing can be edited."""
        return self._is_held

    def release(self) -> None:
        """Ends what is open; called before the row goes away."""
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
