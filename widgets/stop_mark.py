"""A mark in the viewport beside something whose simulation stopped, with what can be done about it."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from widgets.colours import DARK
from widgets.icons import GlyphLabel
from widgets.overlay import TEXT, ViewportOverlay, paint_ground
from widgets.parts import packed
from widgets.shown import label_text
from widgets.theme import SPACE, SPACE_WIDE

_ICON_SIDE = 18


class StopMark(ViewportOverlay):
    """An icon, the name of what stopped, and its buttons on a plate.

    Signals:
        resume_requested: On from the last sound state.
        reset_requested: Back to the start.
    """

    resume_requested = Signal()
    reset_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, takes_mouse=True)
        picture = GlyphLabel("error", _ICON_SIDE, self)
        picture.set_tint("error", DARK)  # as the plate is in every scheme
        self.label = QLabel(self)
        palette = self.label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, TEXT)
        self.label.setPalette(palette)
        self.resume_button = QPushButton("Resume", self)
        self.resume_button.setToolTip("Go on from the last good state.")
        self.reset_button = QPushButton("Reset", self)
        self.reset_button.setToolTip("Bring the simulation back to its start.")
        self.resume_button.clicked.connect(self.resume_requested)
        self.reset_button.clicked.connect(self.reset_requested)
        packed(
            QHBoxLayout(self), picture, self.label, self.resume_button, self.reset_button,
            spacing=SPACE_WIDE, margins=SPACE,
        )  # fmt: skip

    def show_stop(self, name: str, reason: str) -> None:
        """Says what stopped, and why in the tooltip."""
        self.label.setText(label_text(f"{name} stopped"))
        self.setToolTip(f"{reason[:1].upper()}{reason[1:]}")
        self.adjustSize()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            paint_ground(painter, self.rect().toRectF())
