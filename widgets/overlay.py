"""What lies over the viewport: a quiet ground that leaves the mouse alone, and plain overlays, which only tell."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from sim.maths.ramps import Ramp, ramp_colours
from widgets.theme import SPACE, SPACE_WIDE, tabular

H = TypeVar("H")

GROUND = QColor(18, 19, 21, 150)
TEXT = QColor(236, 236, 236)
DIM = QColor(236, 236, 236, 175)
_RADIUS = 4.0
_SHADOW = QColor(0, 0, 0, 140)
_GAP = 2
_BAR_HEIGHT = 10
_BAR_WIDTH = 180
_FILL = QColor(90, 204, 255, 38)
_LINE = QColor(90, 204, 255, 220)
_SHADE = QColor(0, 0, 0, 110)


class ViewportOverlay(QWidget):
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


class HandlesCover(ViewportOverlay, Generic[H]):
    """Handles of something over the whole of the viewport, however large that is; lets the mouse through.

    Args:
        viewport: What it covers; everything else over that stays above.
    """

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._handles: H | None = None
        self._marked: int | None = None
        self.setGeometry(viewport.rect())
        self.lower()
        viewport.installEventFilter(self)

    def show_handles(self, handles: H | None, marked: int | None) -> None:
        """Paints other handles, or none; the one of number `marked` is under the mouse or held."""
        if handles is None and self._handles is None:
            return
        self._handles, self._marked = handles, marked
        self.setVisible(handles is not None)
        self.update()

    def paint(self, painter: QPainter, handles: H) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._handles is not None:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.paint(painter, self._handles)

    def eventFilter(self, viewport: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and isinstance(viewport, QWidget):
            self.setGeometry(viewport.rect())
        return False


def paint_ground(painter: QPainter, box: QRectF) -> None:
    """A dark, translucent plate on which light text can be read over any picture."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(GROUND)
    painter.drawRoundedRect(box, _RADIUS, _RADIUS)
    painter.restore()


class SideLabel(ViewportOverlay):
    """A line of text on a plate, readable over any picture."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.set_text(text)

    def set_text(self, text: str) -> None:
        self._text = text
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2 * SPACE_WIDE, metrics.height() + 2 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            paint_ground(painter, self.rect().toRectF())
            painter.setPen(TEXT)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)


class StatisticsOverlay(ViewportOverlay):
    """Lines of label and value, the values one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, str], ...] = ()
        font = tabular(self.font())
        font.setPointSizeF(max(font.pointSizeF() * 0.9, 7.0))
        self.setFont(font)

    def set_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Shows label and value of each line; repaints only when something differs."""
        fresh = tuple(rows)
        if fresh == self._rows:
            return
        before = self.sizeHint()
        self._rows = fresh
        if self.sizeHint() != before:
            self.adjustSize()
        self.update()

    def rows(self) -> tuple[tuple[str, str], ...]:
        return self._rows

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        values = max((metrics.horizontalAdvance(value) for _, value in self._rows), default=0)
        return QSize(self._label_width() + values + 2, len(self._rows) * (metrics.height() + _GAP) + 1)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        metrics = self.fontMetrics()
        value_x = self._label_width()
        with QPainter(self) as painter:
            for offset, pen in ((QPoint(1, 1), _SHADOW), (QPoint(0, 0), DIM)):
                painter.setPen(pen)
                y = metrics.ascent()
                for label, value in self._rows:
                    painter.drawText(QPoint(0, y) + offset, label)
                    painter.drawText(QPoint(value_x, y) + offset, value)
                    y += metrics.height() + _GAP

    def _label_width(self) -> int:
        metrics = self.fontMetrics()
        return max((metrics.horizontalAdvance(label) for label, _ in self._rows), default=0) + SPACE_WIDE


class Legend(ViewportOverlay):
    """Title, ramp, and the values at its ends and middle with their unit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ""
        self._labels = ("", "", "")
        self._bar = _ramp_image(Ramp.VIRIDIS)
        self.setFont(tabular(self.font()))

    def show_ramp(self, ramp: Ramp, title: str, lo: float, hi: float, unit: str = "") -> None:
        """Shows a ramp.

        Args:
            ramp: The colours.
            title: What is shown.
            lo, hi: Values of the first and the last colour.
            unit: Unit of both.
        """
        self._bar = _ramp_image(ramp)
        self._title = f"{title} [{unit}]" if unit else title
        self._labels = (value_label(lo), value_label((lo + hi) / 2.0), value_label(hi))
        self.setAccessibleName(f"{self._title}: {self._labels[0]} to {self._labels[2]}")
        self.adjustSize()
        self.update()

    def labels(self) -> tuple[str, str, str]:
        """Texts below the ramp, from left to right."""
        return self._labels

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        labels = sum(metrics.horizontalAdvance(label) for label in self._labels) + 4 * SPACE_WIDE
        width = max(_BAR_WIDTH, metrics.horizontalAdvance(self._title), labels)
        return QSize(width + 2 * SPACE_WIDE, 2 * metrics.height() + _BAR_HEIGHT + 4 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        line = self.fontMetrics().height()
        inner = self.rect().adjusted(SPACE_WIDE, SPACE, -SPACE_WIDE, -SPACE)
        bar = QRect(inner.left(), inner.top() + line + SPACE, inner.width(), _BAR_HEIGHT)
        below = QRect(inner.left(), bar.bottom() + SPACE, inner.width(), line)
        with QPainter(self) as painter:
            paint_ground(painter, self.rect().toRectF())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(bar, self._bar)
            painter.setPen(TEXT)
            painter.drawText(
                QRect(inner.left(), inner.top(), inner.width(), line), Qt.AlignmentFlag.AlignLeft, self._title
            )
            painter.setPen(DIM)
            sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
            for label, side in zip(self._labels, sides, strict=True):
                painter.drawText(below, side, label)


def value_label(value: float) -> str:
    """A value with three significant digits and no negative zero."""
    return f"{value + 0.0:.3g}"


def _ramp_image(ramp: Ramp) -> QImage:
    colours = ramp_colours(ramp)
    data = colours.tobytes()
    # The image shares the bytes unless copied; the copy outlives them.
    return QImage(data, len(colours), 1, 3 * len(colours), QImage.Format.Format_RGB888).copy()


class RubberBand(ViewportOverlay):
    """Covers the viewport while it is shown, and lets the mouse through."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._box = QRectF()
        self.hide()

    @property
    def box(self) -> QRectF:
        """The rectangle, in the viewport's logical pixels."""
        return self._box

    def span(self, start: QPointF, end: QPointF) -> None:
        """Shows the rectangle between two places."""
        self._box = QRectF(start, end).normalized()
        self.setGeometry(self._viewport.rect())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            frame = self._box.adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(QPen(_SHADE, 3.0))
            painter.drawRect(frame)
            painter.setPen(QPen(_LINE, 1.0))
            painter.setBrush(_FILL)
            painter.drawRect(frame)
