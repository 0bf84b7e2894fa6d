"""Stacked plot. Each column shows the slowest of its frames: no spike is lost, and its bands add up to that frame."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPalette
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sinew.sim.maths.arrays import Float64
from sinew.sim.profile.history import Quantity, buckets, peaks
from sinew.widgets.plots import Plot
from sinew.widgets.theme import blend, colours, tabular
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.frames import Band, FrameTable, TimingsOptions, Unit, is_empty_rest
from sinew.widgets.timings.plot_parts import TARGETS, AgoAxis, TimeBox, TimeWindow, next_top, style_axes

Int64 = npt.NDArray[np.int64]
Colours = npt.NDArray[np.uint32]
NOTHING = -1
BELOW_LINES = -10.0


def frames_of_columns(frames: FrameTable, cost: Float64, left: float, right: float, count: int) -> Int64:
    """Returns the frame that each column shows, shape (count,); `NOTHING` where there is none.

    Args:
        cost: Time by which the slowest frame of a column is selected, shape (F,).
        left, right: Times of the outer edges [s].
    """
    chosen = np.full(count, NOTHING, dtype=np.int64)
    if not len(frames):
        return chosen
    into = buckets(frames.begins, left, right, count)
    length = (right - left) / count
    columns = np.clip(np.rint(into.begins / length - left / length).astype(np.int64), 0, count - 1)
    chosen[columns] = peaks(cost, into)
    # Frames wider than a column fill the following ones.
    empty = np.flatnonzero(chosen == NOTHING)
    if not len(empty):
        return chosen
    middles = left + (empty + 0.5) * length
    before = np.searchsorted(frames.begins, middles, "right") - 1
    shown = (before >= 0) & (middles < frames.ends[before])
    chosen[empty[shown]] = before[shown]
    return chosen


def snapped(left: float, right: float, count: int) -> tuple[float, float]:
    """Aligns a window to whole columns, so that frames keep their columns while the plot scrolls."""
    length = (right - left) / count
    end = np.ceil(right / length) * length
    return float(end - count * length), float(end)


def tops(values: Float64, chosen: Int64) -> Float64:
    """Returns the upper edges of the bands, shape (B, C), from values of shape (B, C)."""
    known = np.where(np.isnan(values), 0.0, values)
    known[:, chosen == NOTHING] = 0.0
    return np.cumsum(known, axis=0)


def stack_pixels(edges: Float64, colours: Colours, ground: int, top: float, height: int) -> Colours:
    """Returns the pixels of a stack, shape (height, C).

    Args:
        edges: Upper edges of the bands, shape (B, C), ascending along the first axis.
        colours: Colours of the bands from the bottom up, 0xffrrggbb, shape (B,).
        ground: Colour above the stack.
        top: Value at the upper edge of the image.
        height: Height of the image [px].
    """
    count = edges.shape[1]
    pixels = np.zeros((height + 1, count), dtype=np.uint32)
    pixels[0] = ground
    # A running sum from the top down: each band starts with the difference to the colour above it, modulo 2^32.
    flat, places = pixels.ravel(), rows_of(edges, top, height) * count + np.arange(count)
    above = np.append(colours[1:], np.uint32(ground))
    for place, step in zip(places, colours - above, strict=True):
        flat[place] += step
    for y in range(1, height):
        np.add(pixels[y], pixels[y - 1], out=pixels[y])
    return pixels[:height]


def draw_line(pixels: Colours, values: Float64, colour: int, top: float, *, steps: bool) -> None:
    """Draws one value per column, shape (C,); skips NaN and values above the image.

    Args:
        pixels: The image, shape (height, C).
        colour: 0xffrrggbb.
        top: Value at the upper edge of the image.
        steps: Connect the values by vertical lines; these would hide the bands of a thin spike.
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
    """Returns the row of the pixel below each value; 0 for values above the image, `height` for 0."""
    return np.rint(height * (1.0 - np.minimum(values / top, 1.0))).astype(np.int64)


@dataclass(frozen=True, slots=True)
class StackLook:
    """Values that the stack is painted from, and no others."""

    edges: Float64  # Upper edges of the bands in every column, shape (B, C)
    line: Float64  # The total in every column, NaN where there is none, shape (C,)
    colours: tuple[QColor, ...]  # Of the bands, from the bottom up
    ground: QColor  # Background
    ink: QColor  # Line
    faint: QColor  # Grid
    top: float  # Value at the upper edge
    grid: tuple[float, ...]  # Values of the grid lines
    rows: int  # Height
    ratio: float  # Device pixels per logical pixel
    steps: bool  # The pieces of the line are joined


class StackItem(QGraphicsItem):
    """Image of the stack; the coordinates of the view box are logical pixels."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self.setZValue(BELOW_LINES)
        self._box = box
        self._pixels = np.zeros((1, 1), dtype=np.uint32)
        self._image = image_of(self._pixels, 1.0)
        box.sigResized.connect(lambda *_: self.prepareGeometryChange())

    def show_look(self, look: StackLook) -> None:
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
    """Returns an image of shared pixels, which must outlive it."""
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


_PERCENT = 100.0
_MS = 1e3


@dataclass(frozen=True, slots=True)
class Columns:
    """Contents of the pixel columns of a plot."""

    chosen: Int64  # Index of the frame of each column, or `NOTHING`, shape (C,)
    bands: tuple[Band, ...]  # Visible bands, without empty rests
    times: Float64  # Times of the bands [s], shape (B, C)
    total: Float64  # Times of all passes [s], shape (C,)


class StackPlot(Plot):
    """Plot of the stack over time; its vertical axis is in milliseconds or percent.

    Attributes:
        columns: The bands, or None before the first frame.
        top: Upper end of the scale as a time [s].
        auto_top: The scale follows the peaks.
    """

    region_moved = Signal(float, float)  # Times of the region [s]

    def __init__(self, quantity: Quantity, parent: QWidget | None = None) -> None:
        self.box = TimeBox()
        super().__init__(parent, viewBox=self.box, axisItems={"bottom": AgoAxis("bottom")})
        self.quantity = quantity
        self.columns: Columns | None = None
        self.top = TARGETS[0][0]
        self.auto_top = True
        self._grid_of = (0.0, 0.0, 0.0)
        self._grid_lines: tuple[float, ...] = ()
        self._drawn: tuple[FrameTable, TimingsOptions, TimeWindow] | None = None
        self.stack = StackItem(self.box)
        self.targets = [
            pg.InfiniteLine(
                target * _MS, angle=0, label=name, labelOpts={"position": 0.02, "anchors": [(0, 1), (0, 1)]}
            )
            for target, _, name in TARGETS
        ]
        self.cross = [pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=0)]
        self.chosen_line = pg.InfiniteLine(angle=90)
        for line in (*self.targets, *self.cross, self.chosen_line):
            line.setVisible(False)
            self.box.addItem(line, ignoreBounds=True)
        self.region = pg.LinearRegionItem(swapMode="sort")
        self.region.setVisible(False)
        self.region.setZValue(5)
        self.region.sigRegionChanged.connect(lambda item: self.region_moved.emit(*map(float, item.getRegion())))
        self.box.addItem(self.region, ignoreBounds=True)
        self._take_look()
        self.box.scaled.connect(self._scale_by)
        self.box.scale_reset.connect(self.reset_scale)
        self.restyled.connect(self._restyle)
        self.setMinimumSize(120, 48)

    # --- drawing --------------------------------------------------------------------------------------

    def draw(self, frames: FrameTable, choice: TimingsOptions, window: TimeWindow) -> None:
        self._drawn = (frames, choice, window)
        area = self.box.rect()
        ratio = self.devicePixelRatioF()
        count, rows = round(area.width() * ratio), round(area.height() * ratio)
        if count < 2 or rows < 2:
            return
        self.columns = self._columns(frames, choice, window, count)
        values, line, peak = self._scaled(self.columns, choice)
        if self.auto_top and choice.unit is Unit.MILLISECONDS:
            self.top = next_top(self.top, peak)
        top, scale = (_PERCENT, 1.0) if choice.unit is Unit.SHARE else (self.top, _MS)
        self._set_range(window, top * scale)
        palette = self.palette()
        ground, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
        self.stack.show_look(
            StackLook(
                edges=tops(values, self.columns.chosen),
                line=line,
                colours=tuple(pass_colour(band.path) for band in self.columns.bands),
                ground=ground,
                ink=text,
                faint=blend(ground, text, 0.14),
                top=top,
                grid=self._grid(area.height(), top, scale),
                rows=rows,
                ratio=ratio,
                steps=bool(choice.hidden or choice.solo),
            )
        )

    def _columns(self, frames: FrameTable, choice: TimingsOptions, window: TimeWindow, count: int) -> Columns:
        bands = choice.visible(frames.bands(choice.level))
        total = frames.total(self.quantity)
        shown = total
        if len(bands) < len(frames.bands(choice.level)):
            shown = np.sum([np.zeros(len(frames)), *(frames.values(band, self.quantity) for band in bands)], axis=0)
        left, right = snapped(frames.now + window.left, frames.now + window.right, count)
        chosen = frames_of_columns(frames, shown, left, right, count)
        rows = [(band, frames.values(band, self.quantity, chosen)) for band in bands]
        rows = [(band, times) for band, times in rows if not is_empty_rest(band, times)]
        times = np.array([times for _, times in rows]).reshape(len(rows), count)
        return Columns(
            chosen, tuple(band for band, _ in rows), times, np.where(chosen == NOTHING, np.nan, total[chosen])
        )

    def _scaled(self, columns: Columns, choice: TimingsOptions) -> tuple[Float64, Float64, float]:
        """Returns heights of bands and line in the unit of the axis, and the largest one."""
        if choice.unit is Unit.SHARE:
            known = np.where(columns.total > 0.0, columns.total, np.inf)
            return columns.times / known * _PERCENT, np.full(len(known), np.nan), _PERCENT
        there = columns.chosen != NOTHING
        heights = columns.times.sum(axis=0)[there]
        return columns.times, columns.total, float(np.fmax.reduce(heights, initial=0.0))

    def _grid(self, height: float, top: float, scale: float) -> tuple[float, ...]:
        if self._grid_of != (height, top, scale):
            self._grid_of = (height, top, scale)
            levels = self.getAxis("left").tickValues(0.0, top * scale, max(height, 1.0))
            self._grid_lines = tuple(float(value) / scale for value in levels[0][1]) if levels else ()
        return self._grid_lines

    def _set_range(self, window: TimeWindow, top: float) -> None:
        for line, (target, *_) in zip(self.targets, TARGETS, strict=True):
            line.setVisible(target * _MS < top and self._is_in_ms)
        self._separate_labels(top)
        (left, right), (bottom, upper) = self.box.viewRange()
        if (left, right, bottom, upper) == (window.left, window.right, 0.0, top):
            return
        self.box.setRange(xRange=(window.left, window.right), yRange=(0.0, top), padding=0.0, disableAutoRange=True)

    def _separate_labels(self, top: float) -> None:
        """Hides labels of target lines that would overlap."""
        line = self.fontMetrics().height() * top / max(self.box.height(), 1.0) / _MS
        below = 0.0
        for target, (seconds, *_) in zip(self.targets, TARGETS, strict=True):
            target.label.setVisible(seconds - below >= line)
            below = seconds if seconds - below >= line else below

    @property
    def _is_in_ms(self) -> bool:
        return self._drawn is not None and self._drawn[1].unit is Unit.MILLISECONDS

    def redraw(self) -> None:
        if self._drawn is not None:
            self.draw(*self._drawn)

    # --- scale ----------------------------------------------------------------------------------------

    def _scale_by(self, factor: float) -> None:
        if self._is_in_ms:
            self.auto_top = False
            self.top = min(max(self.top * factor, 1e-6), 100.0)
            self.redraw()

    def reset_scale(self) -> None:
        """Resets the scale, which follows the peaks again."""
        self.auto_top = True
        self.top = TARGETS[0][0]
        self.redraw()

    # --- marks ----------------------------------------------------------------------------------------

    def point_at(self, time: float | None, cost: float | None = None) -> None:
        """Moves the cross-hair to a time and a cost [s]; None hides it."""
        for line, value in zip(self.cross, (time, cost and cost * _MS), strict=True):
            line.setVisible(value is not None)
            if value is not None:
                line.setPos(value)
        if not self._is_in_ms:
            self.cross[1].setVisible(False)

    def mark(self, time: float | None) -> None:
        self.chosen_line.setVisible(time is not None)
        if time is not None:
            self.chosen_line.setPos(time)

    def show_region(self, region: tuple[float, float] | None) -> None:
        """Shows a region without emitting a signal."""
        self.region.setVisible(region is not None)
        if region is not None and region != self.region.getRegion():
            self.region.blockSignals(True)
            self.region.setRegion(region)
            self.region.blockSignals(False)

    # --- look -----------------------------------------------------------------------------------------

    def _take_look(self) -> None:
        palette, scheme = self.palette(), colours()
        font = tabular(self.font())
        style_axes(self, font, "000.0")
        text = palette.color(QPalette.ColorRole.Text)
        for line in self.targets:
            line.setPen(pg.mkPen(scheme.warning, width=1, style=Qt.PenStyle.DashLine))
            line.label.setColor(scheme.warning)
            line.label.setFont(font)
        for line in self.cross:
            line.setPen(pg.mkPen(text, width=1, style=Qt.PenStyle.DotLine))
        self.chosen_line.setPen(pg.mkPen(scheme.accent_text, width=2))
        self._colour_region(scheme.accent_text)

    def _colour_region(self, accent: str) -> None:
        fill = pg.mkColor(accent)
        fill.setAlpha(50)
        self.region.setBrush(fill)
        self.region.setHoverBrush(fill)
        for line in self.region.lines:
            line.setPen(pg.mkPen(accent, width=1))
            line.setHoverPen(pg.mkPen(accent, width=2))

    def _restyle(self) -> None:
        self._take_look()
        self.redraw()

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "stack"):
            self._name_targets()
            self.redraw()

    def _name_targets(self) -> None:
        """Names the target lines, by the long labels if they fit."""
        for line, (_, long, short) in zip(self.targets, TARGETS, strict=True):
            fits = self.box.width() > 2 * self.fontMetrics().horizontalAdvance(long)
            line.label.setFormat(long if fits else short)
