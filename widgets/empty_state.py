"""What an empty panel says: what belongs here, and how to get it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from widgets.icons import GlyphLabel
from widgets.shown import label_text
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 32


class EmptyState(QWidget):
    """An icon, a line, and a smaller hint, in the middle of the panel.

    Args:
        icon_name: Key of `widgets.icons.GLYPHS`.
        text: What is missing.
        hint: What to do about it.
        parent: Parent widget.
    """

    def __init__(self, icon_name: str, text: str, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = _centred(text)
        self.hint = _centred(hint)
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, SPACE_WIDE, SPACE_WIDE, SPACE_WIDE)
        layout.setSpacing(SPACE)
        layout.addStretch(1)
        layout.addWidget(GlyphLabel(icon_name, _ICON_SIDE, self), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self.text)
        layout.addWidget(self.hint)
        layout.addStretch(1)

    def set_text(self, text: str, hint: str = "") -> None:
        """Says something else."""
        self.text.setText(label_text(text))
        self.hint.setText(label_text(hint))


def _centred(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setWordWrap(True)
    return label
