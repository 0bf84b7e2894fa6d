"""The line that says how everything in the panel was measured; it is always there."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from sim.profile.status import TimerStatus
from widgets.theme import SPACE, tabular
from widgets.timings.texts import honesty_text, honesty_tip


class HonestyLabel(QLabel):
    """Source, latency, dropped and discarded samples, vsync and own cost; the reasons are in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.setFont(tabular(self.font()))
        self.setContentsMargins(SPACE, 0, SPACE, SPACE // 2)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_status(TimerStatus())

    def set_status(self, status: TimerStatus) -> None:
        """Says something else, if it differs."""
        text, tip = honesty_text(status), honesty_tip(status)
        if text != self.text():
            self.setText(text)
        if tip != self.toolTip():
            self.setToolTip(tip)
            self.setAccessibleDescription(tip)
