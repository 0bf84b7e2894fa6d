"""Placeholder of an empty panel."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from sinew.widgets.icons import GlyphLabel
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 32


class EmptyState(QWidget):
    """An icon if there is room, a title and a hint, centred in the panel.

    Args:
        icon_name: Key of `sinew.widgets.icons.GLYPHS`.
        text: Title.
        hint: Smaller text below.
    """

    def __init__(self, icon_name: str, text: str, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = _centred(text)
        self.hint = _centred(hint)
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._glyph = GlyphLabel(icon_name, _ICON_SIDE, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, 0, SPACE_WIDE, 0)
        layout.setSpacing(SPACE)
        layout.addStretch(1)
        layout.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self.text)
        layout.addWidget(self.hint)
        layout.addStretch(1)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._height_of_lines())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height_of_lines())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._glyph.setVisible(self.height() >= self._height_of_lines() + _ICON_SIDE + SPACE)

    def _height_of_lines(self) -> int:
        width = max(self.width() - 2 * SPACE_WIDE, 1)
        shown = [label for label in (self.text, self.hint) if label.text()]
        return sum(label.heightForWidth(width) for label in shown) + 3 * SPACE

    def set_text(self, text: str, hint: str = "") -> None:
        self.text.setText(label_text(text))
        self.hint.setText(label_text(hint))
        self.updateGeometry()


def _centred(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setWordWrap(True)
    return label
