"""What lies over the viewport has in common: a quiet ground, and no interest in the mouse unless it says so."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

GROUND = QColor(18, 19, 21, 150)
TEXT = QColor(236, 236, 236)
DIM = QColor(236, 236, 236, 175)
_RADIUS = 4.0


class Overlay(QWidget):
    """Transparent child of the viewport; the picture below is dark or light, so its colours are its own.

    Args:
        parent: The viewport.
        takes_mouse: Whether it reacts to the mouse; otherwise all events go to the viewport.
    """

    def __init__(self, parent: QWidget | None = None, *, takes_mouse: bool = False) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not takes_mouse)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)


def paint_ground(painter: QPainter, box: QRectF) -> None:
    """A dark, translucent plate on which light text can be read over any picture."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(GROUND)
    painter.drawRoundedRect(box, _RADIUS, _RADIUS)
    painter.restore()
