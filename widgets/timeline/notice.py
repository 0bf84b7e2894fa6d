"""A short dim note that is cut off rather than making room for itself."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.icons import draw_glyph, glyph
from widgets.theme import SPACE, colours
from widgets.timeline.ruler_look import small_font

_WIDTH_MIN = 72


class Notice(QWidget):
    """One line of text, with a warning sign where it is one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text, self._warn = "", False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Playback notice")

    def set_notice(self, text: str, warn: bool) -> None:
        """Show a text; "" shows nothing."""
        if (text, warn) != (self._text, self._warn):
            self._text, self._warn = text, warn
            self.setToolTip(text)
            self.setAccessibleDescription(text)
            self.update()

    def sizeHint(self) -> QSize:
        """No width of its own."""
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The sign, then the text, cut off where the row is narrow."""
        if not self._text or self.width() < _WIDTH_MIN:
            return
        with QPainter(self) as painter:
            painter.setFont(small_font(self.font()))
            area = self.rect().adjusted(2 * SPACE, 0, -SPACE, 0)
            ink = self.palette().color(QPalette.ColorRole.PlaceholderText)
            if self._warn:
                ink, side = QColor(colours().warning), painter.fontMetrics().height()
                sign = QRect(area.left(), area.center().y() - side // 2, side, side)
                draw_glyph(painter, sign, glyph("warning"), ink)
                area.setLeft(sign.right() + SPACE)
            painter.setPen(ink)
            text = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
