"""A bar above the viewport that asks a question without blocking the window."""

from collections.abc import Callable

from PySide6.QtCore import QMargins, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from sinew.widgets.icons import GlyphLabel
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 18


class QuestionBar(QFrame):
    """A text and a button for each answer; hidden without a question."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        sign = GlyphLabel("warning", _ICON_SIDE, self)
        sign.set_tint("warning")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.buttons: list[QPushButton] = []
        margins = QMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE)
        self._layout = packed(QHBoxLayout(self), sign, spacing=SPACE_WIDE, margins=margins)
        self._layout.addWidget(self.label, 1)
        self.hide()

    def ask(self, text: str, details: str = "", *answers: tuple[str, str, Callable[[], object]]) -> None:
        """Replaces the question; hides for "".

        Args:
            text: The question.
            details: Tooltip.
            answers: Text, tip and callback of each button.
        """
        while self.buttons:
            self.buttons.pop().deleteLater()
        for caption, tip, act in answers:
            button = QPushButton(caption, self)
            button.setToolTip(tip)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._layout.addWidget(button)
            self.buttons.append(button)
        self.label.setText(text)
        self.setToolTip(details)
        self.setVisible(bool(text))
