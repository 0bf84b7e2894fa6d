"""Legend of a colour ramp, laid over the viewport."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from sim.maths.ramps import Ramp, ramp_colours
from widgets.overlay import DIM, TEXT, Overlay, paint_ground
from widgets.theme import SPACE, SPACE_WIDE, tabular

_BAR_HEIGHT = 10
_BAR_WIDTH = 180


class Legend(Overlay):
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
        """Room for title, bar and labels."""
        metrics = self.fontMetrics()
        labels = sum(metrics.horizontalAdvance(label) for label in self._labels) + 4 * SPACE_WIDE
        width = max(_BAR_WIDTH, metrics.horizontalAdvance(self._title), labels)
        return QSize(width + 2 * SPACE_WIDE, 2 * metrics.height() + _BAR_HEIGHT + 4 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Plate, title, bar, labels."""
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
