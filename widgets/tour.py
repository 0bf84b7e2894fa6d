"""A card that guides the user through the window, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, SPACE_WIDE

_WIDTH = 300


@dataclass(frozen=True, slots=True)
class TourStep:
    title: str
    text: str
    panel: str = ""  # Panel to raise, or ""


class TourCard(QFrame):
    """Shows one step at a time; hidden until it is started.

    Signals:
        shown: Another `TourStep` is shown.
    """

    shown = Signal(object)

    def __init__(self, steps: Sequence[TourStep], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps, self.number = tuple(steps), 0
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.title, self.text, self.count = QLabel(self), QLabel(self), QLabel(self)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        for label in (self.title, self.text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.count.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.back_button, self.next_button = QPushButton("Back", self), QPushButton("Next", self)
        self.close_button = QPushButton("Close", self)
        self.back_button.clicked.connect(lambda: self.go(self.number - 1))
        self.next_button.clicked.connect(lambda: self.go(self.number + 1))
        self.close_button.clicked.connect(self.hide)
        buttons = packed(QHBoxLayout(), self.count, spacing=SPACE)
        buttons.addStretch(1)
        for button in (self.close_button, self.back_button, self.next_button):
            buttons.addWidget(button)
        packed(QVBoxLayout(self), self.title, self.text, buttons, spacing=SPACE_WIDE, margins=SPACE_WIDE)
        self.setFixedWidth(_WIDTH)
        self.hide()

    def go(self, number: int) -> None:
        """Shows a step; hides after the last one."""
        if not 0 <= number < len(self._steps):
            self.hide()
            return
        self.number = number
        step, last = self._steps[number], number + 1 == len(self._steps)
        self.title.setText(step.title)
        self.text.setText(step.text)
        self.count.setText(f"Step {number + 1} of {len(self._steps)}")
        self.back_button.setEnabled(number > 0)
        self.next_button.setText("Done" if last else "Next")
        self.text.setFixedHeight(self.text.heightForWidth(_WIDTH - 2 * SPACE_WIDE - 2 * self.frameWidth()))
        self.adjustSize()
        self.show()
        self.raise_()
        self.shown.emit(step)
