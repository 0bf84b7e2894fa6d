"""Head of the inspector: icon, name and kind of what is selected."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from widgets.icons import GlyphLabel
from widgets.shown import label_text, tip_text
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 24


class InspectorHeader(QWidget):
    """An icon, a title in bold, and a dim line below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = GlyphLabel("view", _ICON_SIDE, self)
        self._picture.set_role(QPalette.ColorRole.WindowText)
        self.title = QLabel(self)
        self.subtitle = QLabel(self)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.subtitle.setTextFormat(Qt.TextFormat.PlainText)
        self.subtitle.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.subtitle.setWordWrap(True)
        layout = QGridLayout(self)
        layout.setContentsMargins(SPACE_WIDE, SPACE_WIDE, SPACE_WIDE, SPACE_WIDE)
        layout.setHorizontalSpacing(SPACE_WIDE)
        layout.setVerticalSpacing(SPACE // 2)
        layout.addWidget(self._picture, 0, 0, 2, 1, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.title, 0, 1)
        layout.addWidget(self.subtitle, 1, 1)
        layout.setColumnStretch(1, 1)

    def show_subject(self, icon_name: str, title: str, subtitle: str) -> None:
        self._picture.set_icon(icon_name)
        self.set_title(title)
        self.subtitle.setText(label_text(subtitle))

    def set_title(self, title: str) -> None:
        self.title.setText(label_text(title) or "unnamed")
        self.title.setToolTip(tip_text(title))
