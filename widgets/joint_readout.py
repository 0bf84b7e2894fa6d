"""Where the selected bone is in the current frame, relative to its parent or in the world."""

from PySide6.QtCore import QMargins, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from widgets.joint_text import JointPlacement
from widgets.parts import packed
from widgets.shown import label_text, tip_text
from widgets.theme import SPACE, SPACE_WIDE, tabular

_LABELS = ("Position", "Rotation", "Quaternion", "Scale")


class JointReadout(QWidget):
    """Four lines of numbers that can be selected and copied, with a switch between local and world."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._local: JointPlacement | None = None
        self._world: JointPlacement | None = None
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.local_button = _switch("Local", "Relative to the parent bone")
        self.world_button = _switch("World", "In the world")
        self.values = {label: self._make_value() for label in _LABELS}
        group = QButtonGroup(self)
        for button in (self.local_button, self.world_button):
            group.addButton(button)
        self.local_button.setChecked(True)
        self.local_button.toggled.connect(self._show)
        self._arrange()

    def show_joint(self, name: str, local: JointPlacement | None, world: JointPlacement | None) -> None:
        """Shows a bone; None where there is no pose."""
        self._local, self._world = local, world
        self.title.setText(label_text(name))
        self.title.setToolTip(tip_text(name))
        self._show()

    def _show(self) -> None:
        placement = self._local if self.local_button.isChecked() else self._world
        texts = dict(placement.rows()) if placement is not None else {}
        for label, value in self.values.items():
            text = texts.get(label, "–")
            # Setting the text again would drop what the user is selecting.
            if value.text() != text:
                value.setText(text)

    def _make_value(self) -> QLabel:
        value = QLabel("–", self)
        value.setFont(tabular(value.font()))
        value.setTextFormat(Qt.TextFormat.PlainText)
        value.setWordWrap(True)  # a narrow panel shows all the same
        value.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        return value

    def _arrange(self) -> None:
        head = packed(QHBoxLayout(), (self.title, 1), self.local_button, self.world_button)
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE_WIDE)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (label, value) in enumerate(self.values.items()):
            caption = QLabel(label, self)
            caption.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            grid.addWidget(caption, row, 0)
            grid.addWidget(value, row, 1)
        margins = QMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE_WIDE)
        packed(QVBoxLayout(self), head, grid, spacing=SPACE, margins=margins)


def _switch(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(True)
    button.setAutoRaise(True)
    return button
