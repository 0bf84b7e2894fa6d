"""Type of a parameter -> editor; and the small editors: check box, text, choice and clip."""

import enum
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from sim.params import Param, Role
from widgets.check_box import CheckBox
from widgets.inspector.colour_editor import ColourEditor
from widgets.inspector.editor import Editor
from widgets.inspector.number_editors import NumberEditor, VectorEditor
from widgets.inspector.path_editor import PathEditor
from widgets.inspector.texts import choice_text

ClipNames = Callable[[], tuple[str, ...]]


def editor_for(record: Param, clip_names: ClipNames) -> Editor:
    """Editor of a parameter, by its role and then its type.

    Args:
        record: The parameter.
        clip_names: Names of the clips that can be chosen now.

    Raises:
        TypeError: If no editor knows the type.
    """
    if record.declared.role is Role.COLOUR:
        return ColourEditor(record.label)
    if record.declared.role is Role.PATH:
        return PathEditor()
    if record.declared.role is Role.CLIP:
        return ClipEditor(clip_names)
    if record.type is bool:
        return CheckEditor()
    if record.type in (int, float):
        return NumberEditor(record)
    if record.type is tuple:
        return VectorEditor(record)
    if record.type is str:
        return TextEditor()
    if issubclass(record.type, enum.Enum):
        return ChoiceEditor(record.type)
    raise TypeError(f"no editor for {record.name} of type {record.type.__name__}")


class QuietComboBox(QComboBox):
    """Combo box that leaves the wheel to the panel unless it has focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        # Qt's own choice lets the wheel take the focus, and then change the value.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Marks a text that has no room, which the base class cuts off."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        style, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(style, option, field, self).width()
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room - 4)
        painter = QStylePainter(self)
        painter.drawComplexControl(style, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Steps with focus; without it the panel scrolls."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class CheckEditor(Editor):
    """A check box."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = CheckBox(self)
        self.box.clicked.connect(self._clicked)
        _fill(self, self.box)

    def set_value(self, value: bool) -> None:
        """Shows on or off."""
        self.box.setChecked(value)

    def _clicked(self, checked: bool) -> None:
        self.edited.emit(checked)


class TextEditor(Editor):
    """A line of text, taken on Return or when the focus leaves; Escape restores it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = ""
        self.line = QLineEdit(self)
        self.line.editingFinished.connect(self._finish)
        self.line.installEventFilter(self)
        _fill(self, self.line)

    def set_value(self, value: str) -> None:
        """Shows a text."""
        self._value = value
        if not self.line.isModified() or not self.line.hasFocus():
            self.line.setText(value)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape restores the text, before any shortcut of the window sees it."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.line.isModified():
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self.line.setText(self._value)
                self.line.selectAll()
            return True
        return super().eventFilter(watched, event)

    def _finish(self) -> None:
        text = self.line.text()
        self.line.setModified(False)
        if text != self._value:
            self._value = text
            self.edited.emit(text)


class ChoiceEditor(Editor):
    """A combo box of the members of an enumeration."""

    def __init__(self, choices: type[enum.Enum], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._members = tuple(choices)
        self.combo = QuietComboBox(self)
        for member in self._members:
            self.combo.addItem(choice_text(member))
        self.combo.activated.connect(self._activated)
        _fill(self, self.combo)

    def set_value(self, value: enum.Enum) -> None:
        """Shows a member."""
        self.combo.setCurrentIndex(self._members.index(value))

    def _activated(self, index: int) -> None:
        self.edited.emit(self._members[index])


class ClipEditor(Editor):
    """A combo box of the clips of the model, which are asked for whenever a value is shown."""

    def __init__(self, clip_names: ClipNames, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clip_names = clip_names
        self._value = ""
        self.combo = QuietComboBox(self)
        self.combo.activated.connect(self._activated)
        _fill(self, self.combo)

    def set_value(self, value: str) -> None:
        """Shows the clip called `value`; "" is the first one."""
        self._value = value
        names = self._clip_names()
        unknown = (value,) if value and value not in names else ()
        self.combo.clear()
        self.combo.addItem(f"{names[0]} (first)" if names else "No clips", "")
        for name in (*names, *unknown):
            self.combo.addItem(name if name in names else f"{name} (missing)", name)
        self.combo.setCurrentIndex(max(0, self.combo.findData(value)))
        self.combo.setEnabled(bool(names or unknown))

    def _activated(self, index: int) -> None:
        name = self.combo.itemData(index)
        if name != self._value:
            self.edited.emit(name)


def _fill(editor: Editor, child: QWidget) -> None:
    layout = QHBoxLayout(editor)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(child)
    editor.setFocusProxy(child)
