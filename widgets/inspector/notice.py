"""A line with a severity and buttons: what is wrong, and what can be done about it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.icons import GlyphLabel
from widgets.parts import packed
from widgets.shown import label_text
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 18
_COLUMNS = 2  # More in a row would need a wide inspector.


class InspectorNotice(QWidget):
    """An icon, a wrapped text and buttons below it; hidden until there is something to say.

    Args:
        mark: Severity, "warning" or "error".
        parent: Parent widget.
    """

    def __init__(self, mark: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        picture = GlyphLabel(mark, _ICON_SIDE, self)
        picture.set_tint(mark)
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(SPACE)
        self._buttons.setColumnStretch(_COLUMNS, 1)
        texts = packed(QVBoxLayout(), self.label, self._buttons, spacing=SPACE)
        layout = packed(QHBoxLayout(self), spacing=SPACE_WIDE)
        layout.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        self.hide()

    def add_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        self._buttons.addWidget(button, *divmod(self._buttons.count(), _COLUMNS))
        return button

    def show_reason(self, reason: str) -> None:
        """Shows what is wrong; hides for ""."""
        text = label_text(reason[:1].upper() + reason[1:])
        if text != self.label.text():
            self.label.setText(text)
        self.setVisible(bool(reason))


class StopNotice(InspectorNotice):
    """Says why a simulation stands still, and offers what can be done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("error", parent)
        self.reset_button = self.add_button("Reset", "Bring the simulation back to its start.")
        self.resume_button = self.add_button("Resume", "")

    def show_kind(self, label: str) -> None:
        """Says what may stand still."""
        self.resume_button.setToolTip(f"Go on from the last good state of this {label}.")
