"""The stack as an item of a plot: one picture with bands, grid and the line of the total."""

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sim.profile.history import Float64
from widgets.timings.stack_picture import Colours, draw_line, rows_of, stack_pixels

BELOW_LINES = -10.0


@dataclass(frozen=True, slots=True)
class StackLook:
    """What is drawn, in device pixels from the left.

    Attributes:
        edges: Upper edges of the bands in every column, shape (B, C).
        line: The total in every column, NaN where there is none, shape (C,).
        colours: Of the bands, from the bottom up.
        ground, ink, faint: Colour of the background, of the line, of the grid.
        top: Value at the upper edge.
        grid: Values of the grid lines.
        rows: Height.
        ratio: Device pixels per logical pixel.
        steps: Whether the pieces of the line are joined.
    """

    edges: Float64
    line: Float64
    colours: tuple[QColor, ...]
    ground: QColor
    ink: QColor
    faint: QColor
    top: float
    grid: tuple[float, ...]
    rows: int
    ratio: float
    steps: bool


class StackItem(QGraphicsItem):
    """Fills the inside of a plot.

    Args:
        box: The inside of the plot, whose coordinates are logical pixels.
    """

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self.setZValue(BELOW_LINES)
        self._box = box
        self._pixels = np.zeros((1, 1), dtype=np.uint32)
        self._image = image_of(self._pixels, 1.0)
        box.sigResized.connect(lambda *_: self.prepareGeometryChange())

    def show_look(self, look: StackLook) -> None:
        """Draws something else."""
        self._pixels = look_pixels(look)
        self._image = image_of(self._pixels, look.ratio)
        self.update()

    def image(self) -> QImage:
        """A copy of what is drawn."""
        return self._image.copy()

    def boundingRect(self) -> QRectF:
        """All of the inside."""
        return QRectF(self._box.rect())

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """One blit."""
        painter.setClipRect(self.boundingRect())
        painter.drawImage(QPointF(0.0, 0.0), self._image)


def image_of(pixels: Colours, ratio: float) -> QImage:
    """A picture that shares these pixels; they have to live as long as it."""
    rows, columns = pixels.shape
    image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    return image


def look_pixels(look: StackLook) -> Colours:
    """Colours of all device pixels."""
    colours = np.array([colour.rgb() for colour in look.colours], dtype=np.uint32)
    pixels = stack_pixels(look.edges, colours, look.ground.rgb(), look.top, look.rows)
    for value in look.grid:
        row = int(rows_of(np.array(value), look.top, look.rows))
        if row < look.rows:
            ground = pixels[row] == look.ground.rgb()
            pixels[row, ground] = look.faint.rgb()
    draw_line(pixels, look.line, look.ink.rgb(), look.top, steps=look.steps)
    return pixels
