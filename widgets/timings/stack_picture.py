"""The picture of a stack: one column of pixels for each step of time, filled from below, band over band.

A column shows one frame, the costliest of those that fall into it, so that no spike is lost and the bands of a column
add up to a frame that was measured."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sim.profile.history import Float64, buckets, peaks
from widgets.timings.frames import FrameTable

Int64 = npt.NDArray[np.int64]
Colours = npt.NDArray[np.uint32]
NOTHING = -1
BELOW_LINES = -10.0


def frames_of_columns(frames: FrameTable, cost: Float64, left: float, right: float, count: int) -> Int64:
    """Index of the frame that each column shows, shape (count,); `NOTHING` where there is none.

    Args:
        frames: All frames.
        cost: By what the costliest of a column is chosen, shape (F,).
        left, right: Times of the outer edges [s].
        count: How many columns.
    """
    chosen = np.full(count, NOTHING, dtype=np.int64)
    if not len(frames):
        return chosen
    into = buckets(frames.begins, left, right, count)
    length = (right - left) / count
    columns = np.clip(np.rint(into.begins / length - left / length).astype(np.int64), 0, count - 1)
    chosen[columns] = peaks(cost, into)
    # Frames wider than a column go on until the next one.
    empty = np.flatnonzero(chosen == NOTHING)
    if not len(empty):
        return chosen
    middles = left + (empty + 0.5) * length
    before = np.searchsorted(frames.begins, middles, "right") - 1
    shown = (before >= 0) & (middles < frames.ends[before])
    chosen[empty[shown]] = before[shown]
    return chosen


def snapped(left: float, right: float, count: int) -> tuple[float, float]:
    """The window moved to whole columns, so that frames keep their columns while the plot scrolls."""
    length = (right - left) / count
    end = np.ceil(right / length) * length
    return float(end - count * length), float(end)


def tops(values: Float64, chosen: Int64) -> Float64:
    """Upper edges of the bands in every column, shape (B, count), from values of shape (B, count)."""
    known = np.where(np.isnan(values), 0.0, values)
    known[:, chosen == NOTHING] = 0.0
    return np.cumsum(known, axis=0)


def stack_pixels(edges: Float64, colours: Colours, ground: int, top: float, height: int) -> Colours:
    """Colours of all pixels of a stack, shape (height, C).

    Args:
        edges: Upper edges of the bands, shape (B, C), ascending along the first axis.
        colours: Of the bands from the bottom up, 0xffrrggbb, shape (B,).
        ground: Colour above the stack.
        top: Value at the upper edge of the picture.
        height: Rows of the picture.
    """
    count = edges.shape[1]
    pixels = np.zeros((height + 1, count), dtype=np.uint32)
    pixels[0] = ground
    # From the top down a band begins with the difference of its colour to the one above; sums wrap around.
    flat, places = pixels.ravel(), rows_of(edges, top, height) * count + np.arange(count)
    above = np.append(colours[1:], np.uint32(ground))
    for place, step in zip(places, colours - above, strict=True):
        flat[place] += step
    for y in range(1, height):
        np.add(pixels[y], pixels[y - 1], out=pixels[y])
    return pixels[:height]


def draw_line(pixels: Colours, values: Float64, colour: int, top: float, *, steps: bool) -> None:
    """Draws a value for each column, shape (C,); nothing where it is NaN or above the picture.

    Args:
        pixels: The picture, shape (height, C).
        values: The values.
        colour: Of the line, 0xffrrggbb.
        top: Value at the upper edge of the picture.
        steps: Whether the pieces are joined by upright lines; these would hide the bands of a thin spike.
    """
    height = len(pixels)
    known = np.flatnonzero(values <= top)
    if not len(known):
        return
    rows = np.minimum(rows_of(values[known], top, height), height - 1)
    joined = steps & (np.diff(known, prepend=-2) == 1)
    before = np.where(joined, np.roll(rows, 1), rows)
    first, counts = np.minimum(rows, before), np.abs(rows - before) + 1
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    pixels[np.repeat(first, counts) + offsets, np.repeat(known, counts)] = colour


def rows_of(values: Float64, top: float, height: int) -> Int64:
    """Row of the pixel below each value; 0 for those above the picture, `height` for 0."""
    return np.rint(height * (1.0 - np.minimum(values / top, 1.0))).astype(np.int64)


@dataclass(frozen=True, slots=True)
class StackLook:
    """What is drawn, in device pixels from the left."""

    edges: Float64  # Upper edges of the bands in every column, shape (B, C)
    line: Float64  # The total in every column, NaN where there is none, shape (C,)
    colours: tuple[QColor, ...]  # Of the bands, from the bottom up
    # ground, ink, faint: Colour of the background, of the line, of the grid
    ground: QColor
    ink: QColor
    faint: QColor
    top: float  # Value at the upper edge
    grid: tuple[float, ...]  # Values of the grid lines
    rows: int  # Height
    ratio: float  # Device pixels per logical pixel
    steps: bool  # Whether the pieces of the line are joined


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
        return self._image.copy()

    def boundingRect(self) -> QRectF:
        return QRectF(self._box.rect())

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        painter.setClipRect(self.boundingRect())
        painter.drawImage(QPointF(0.0, 0.0), self._image)


def image_of(pixels: Colours, ratio: float) -> QImage:
    """A picture that shares these pixels; they have to live as long as it."""
    rows, columns = pixels.shape
    image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    return image


def look_pixels(look: StackLook) -> Colours:
    colours = np.array([colour.rgb() for colour in look.colours], dtype=np.uint32)
    pixels = stack_pixels(look.edges, colours, look.ground.rgb(), look.top, look.rows)
    for value in look.grid:
        row = int(rows_of(np.array(value), look.top, look.rows))
        if row < look.rows:
            ground = pixels[row] == look.ground.rgb()
            pixels[row, ground] = look.faint.rgb()
    draw_line(pixels, look.line, look.ink.rgb(), look.top, steps=look.steps)
    return pixels
