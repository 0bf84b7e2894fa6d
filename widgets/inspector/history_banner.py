"""Says that the inspector shows what was in force at an earlier moment, and leads back."""

from PySide6.QtCore import QMargins, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.icons import GlyphLabel
from widgets.parts import packed
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 18


class HistoryBanner(QFrame):
    """A framed text with two buttons below it; hidden until the past is shown."""

    back_requested = Signal()  # The user wants to see the present again
    restore_requested = Signal()  # The user wants the values that are shown to be in force again

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        picture = GlyphLabel("mdi6.history", _ICON_SIDE, self)
        picture.set_role(QPalette.ColorRole.WindowText)
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.back_button = QPushButton("Back to now", self)
        self.back_button.setToolTip("Show the values that are in force now.")
        self.restore_button = QPushButton("Restore these values", self)
        self.back_button.clicked.connect(self.back_requested)
        self.restore_button.clicked.connect(self.restore_requested)
        buttons = packed(QHBoxLayout(), self.back_button, self.restore_button, spacing=SPACE)
        buttons.addStretch(1)
        texts = packed(QVBoxLayout(), self.label, buttons, spacing=SPACE)
        margins = QMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE)
        layout = packed(QHBoxLayout(self), spacing=SPACE_WIDE, margins=margins)
        layout.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        self.hide()

    def report(self, text: str, tip: str, *, restorable: bool) -> None:
        """Says what is shown.

        Args:
            text: Which moment it is, and how it differs from now.
            tip: More about it.
            restorable: Whether there is anything to restore.
        """
        self.label.setText(text)
        self.setToolTip(tip)
        self.restore_button.setToolTip(f"Set the values as they were, as one step that can be undone.\n{tip}")
        self.restore_button.setEnabled(restorable)
