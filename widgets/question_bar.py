"""A bar above the viewport that asks something without standing in the way."""

from PySide6.QtCore import QMargins, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from widgets.icons import GlyphLabel
from widgets.parts import packed
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 18


class QuestionBar(QFrame):
    """One line of text and two buttons; hidden until there is something to ask.

    Args:
        yes: Text and tip of the button that agrees.
        no: Text and tip of the button that does not.
        parent: Parent widget.

    Signals:
        agreed: The first button was pressed.
        declined: The second was.
    """

    agreed = Signal()
    declined = Signal()

    def __init__(self, yes: tuple[str, str], no: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        picture = GlyphLabel("warning", _ICON_SIDE, self)
        picture.set_tint("warning")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.yes_button, self.no_button = QPushButton(yes[0], self), QPushButton(no[0], self)
        self.yes_button.setToolTip(yes[1])
        self.no_button.setToolTip(no[1])
        self.yes_button.clicked.connect(self.agreed)
        self.no_button.clicked.connect(self.declined)
        margins = QMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE)
        layout = packed(QHBoxLayout(self), picture, spacing=SPACE_WIDE, margins=margins)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.yes_button)
        layout.addWidget(self.no_button)
        self.hide()

    def ask(self, text: str, details: str) -> None:
        """Shows a question, with more of it in a tip; hides for ""."""
        self.label.setText(text)
        self.setToolTip(details)
        self.setVisible(bool(text))
