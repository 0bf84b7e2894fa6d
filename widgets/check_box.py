"""A check box that can be told apart from its ground in both schemes."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from widgets.icons import draw_glyph, glyph
from widgets.theme import SPACE

_RADIUS = 3.0


class CheckBox(QCheckBox):
    """Box without a text: a ring when off, filled with the accent and a tick when on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tick = glyph("tick")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        """A square as high as a line of text."""
        side = self.fontMetrics().height() + SPACE
        return QSize(side, side)

    def hitButton(self, pos: object) -> bool:  # noqa: ARG002
        """The whole widget is the button."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Ring or filled square, with a focus ring in the accent."""
        palette = self.palette()
        enabled = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        side = self.fontMetrics().height()
        box = QRect(0, (self.height() - side) // 2, side, side)
        accent = palette.color(enabled, QPalette.ColorRole.Highlight)
        ring = palette.color(enabled, QPalette.ColorRole.PlaceholderText)
        marked = self.isChecked() or self.hasFocus() or self.underMouse()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(accent if marked and self.isEnabled() else ring, 1.2))
            painter.setBrush(accent if self.isChecked() else palette.color(enabled, QPalette.ColorRole.Base))
            painter.drawRoundedRect(QRectF(box).adjusted(1.0, 1.0, -1.0, -1.0), _RADIUS, _RADIUS)
            if self.isChecked():
                tick = palette.color(enabled, QPalette.ColorRole.HighlightedText)
                draw_glyph(painter, box.adjusted(1, 1, -1, -1), self._tick, tick)
