"""The strip below the ruler: measured times of each animation frame."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPalette, QPen, QPolygonF

from sinew.sim.maths.arrays import Float64
from sinew.sim.profile.by_frame import FrameCosts
from sinew.sim.profile.sample import TimeSource
from sinew.widgets.theme import blend
from sinew.widgets.timeline.ruler_paint import label_height, small_font
from sinew.widgets.timeline.ruler_scale import RulerScale
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.plot_parts import TARGETS, round_top
from sinew.widgets.timings.stack_plot import image_of, stack_pixels
from sinew.widgets.timings.texts import milliseconds

NOTHING = -1
TARGET = TARGETS[0][0]  # target time of a frame [s]

_WORST_SHARE = 3.0
"""Limit of the slowest frames as a multiple of the largest median, so that the stack stays readable."""

_TARGET_SHARE = 0.4
_PADDING = 3.0
Int64 = npt.NDArray[np.int64]
HEIGHT_MIN = 34.0
_LISTED = 6  # passes in the tooltip

_SHORT = {TimeSource.TIMER: "GPU timer", TimeSource.CLOCK: "wall clock"}
_EMPTY_TEXT = "Frame times appear here while the scene plays."


@dataclass(frozen=True, slots=True)
class StripLook:
    costs: FrameCosts
    frame_step: float  # Time between two frames [s]
    scale: RulerScale
    size: tuple[float, float]  # Width and height [px]
    ratio: float  # Device pixels per logical pixel
    palette: QPalette
    font: QFont
    source: str  # Short name of the time source

    @property
    def top(self) -> float:
        """Time at the upper edge of the strip [s]."""
        return scale_top(self.costs)


def scale_top(costs: FrameCosts) -> float:
    """Returns a round time above the largest median and most of the slowest frames [s], or the target if it is near."""
    if not len(costs.frames):
        return round_top(TARGET)
    # A single measurement, such as the one of the first frame, says little if others have several.
    several = costs.median[costs.pictures > 1]
    median = float((several if len(several) else costs.median).max())
    peak = min(float(costs.worst.max()), _WORST_SHARE * median) if median > 0.0 else float(costs.worst.max())
    return round_top(max(peak, TARGET) if peak > _TARGET_SHARE * TARGET else peak)


def bins_of_columns(costs: FrameCosts, edges: Float64) -> Int64:
    """Returns the slowest bin that each column overlaps, or `NOTHING`, (C,); `edges` [frames] is (C + 1,)."""
    half = 0.5 * costs.stride
    first = np.searchsorted(costs.frames + half, edges[:-1], side="right")
    stop = np.searchsorted(costs.frames - half, edges[1:], side="left")
    chosen = np.where(first < stop, first, NOTHING)
    for column in np.flatnonzero(stop - first > 1):
        chosen[column] = first[column] + int(np.argmax(costs.median[first[column] : stop[column]]))
    return chosen


def strip_image(look: StripLook) -> QImage:
    columns, rows = (max(round(side * look.ratio), 1) for side in look.size)
    times = look.scale.start + np.arange(columns + 1) / look.ratio * look.scale.seconds_per_pixel
    chosen = bins_of_columns(look.costs, times / look.frame_step)
    image = _stack(look, chosen, columns, rows)
    with QPainter(image) as painter:
        _paint_target(painter, look)
        _paint_worst(painter, look, chosen)
        _paint_labels(painter, look)
    return image


def _stack(look: StripLook, chosen: Int64, columns: int, rows: int) -> QImage:
    bands, known = look.costs.stacked(), chosen != NOTHING
    times = np.zeros((len(bands), columns))
    for row, band in enumerate(bands.values()):
        times[row, known] = band[chosen[known]]
    tints = np.array([pass_colour(path).rgb() for path in bands], dtype=np.uint32)
    pixels = stack_pixels(np.cumsum(times, axis=0), tints, _ground(look.palette).rgb(), look.top, rows)
    return image_of(pixels, look.ratio).copy()


def _paint_target(painter: QPainter, look: StripLook) -> None:
    if look.top > TARGET:
        y = look.size[1] * (1.0 - TARGET / look.top)
        painter.setPen(QPen(look.palette.color(QPalette.ColorRole.Text), 0.0, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(0.0, y), QPointF(look.size[0], y))


def _paint_worst(painter: QPainter, look: StripLook, chosen: Int64) -> None:
    """Draws the slowest frames as steps, with gaps where nothing was measured."""
    painter.setPen(QPen(look.palette.color(QPalette.ColorRole.Text), 0.0))
    known = np.flatnonzero(chosen != NOTHING)
    for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
        if len(run):
            share = np.clip(look.costs.worst[chosen[run]] / look.top, 0.0, 1.0)
            y = np.maximum(look.size[1] * (1.0 - share), 0.5)
            x = np.stack([run, run + 1], axis=1).ravel() / look.ratio
            points = zip(x.tolist(), np.repeat(y, 2).tolist(), strict=True)
            painter.drawPolyline(QPolygonF([QPointF(*point) for point in points]))


def _paint_labels(painter: QPainter, look: StripLook) -> None:
    metrics = QFontMetricsF(look.font)
    painter.setFont(look.font)
    for text, is_left in ((f"{look.top * 1e3:g} ms", True), (look.source, False)):
        width, height = metrics.horizontalAdvance(text) + 2.0 * _PADDING, metrics.height()
        area = QRectF(0.0 if is_left else look.size[0] - width, 0.0, width, height)
        ground = _ground(look.palette)
        ground.setAlphaF(0.8)
        painter.fillRect(area, ground)
        painter.setPen(look.palette.color(QPalette.ColorRole.Text))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)


def _ground(palette: QPalette) -> QColor:
    role = QPalette.ColorRole
    return blend(palette.color(role.Base), palette.color(role.Window), 0.5)


class CostStrip:
    """Strip of costs below the ruler; its image is cached until costs or view change."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._costs: FrameCosts | None = None
        self._source = TimeSource.CLOCK
        self._image = QImage()
        self._painted: object = None

    @property
    def is_shown(self) -> bool:
        return self._costs is not None

    def show_costs(self, costs: FrameCosts, source: TimeSource) -> None:
        """Shows costs, which may be empty."""
        was_shown = self.is_shown
        self._costs, self._source, self._painted = costs, source, None
        if not was_shown:
            self._timeline.ruler.set_strip(self._paint, self._height(), self.tip_at)
        self._timeline.ruler.update_strip()

    def hide(self) -> None:
        if self.is_shown:
            self._costs = self._painted = None
            self._timeline.ruler.set_strip(None)

    def tip_at(self, seconds: float) -> str:
        costs, step = self._costs, self._timeline.ruler.clip.frame_step
        if costs is None:
            return ""
        index = costs.bin_at(seconds / step)
        if index is None:
            return _EMPTY_TEXT if not len(costs.frames) else "This frame has not been measured yet."
        shares = {path: float(band[index]) for path, band in costs.bands.items() if band[index] > 0.0}
        dearest = sorted(shares, key=lambda path: -shares[path])[:_LISTED]
        last = costs.frames[index] + 0.5 * (costs.stride - 1)
        frames = f"Frame {last:.0f}" if costs.stride == 1 else f"Frames {last - costs.stride + 1:.0f} to {last:.0f}"
        count = int(costs.pictures[index])
        return "\n".join(
            [
                f"{frames}: median {milliseconds(costs.median[index])} ms, "
                f"slowest {milliseconds(costs.worst[index])} ms of {count:,} measurement{'s' if count != 1 else ''}",
                *(f"{path}: {milliseconds(shares[path])} ms" for path in dearest),
                f"GPU times: {self._source.value}; dashed line: {TARGETS[0][1]}.",
            ]
        )

    def _height(self) -> float:
        return max(HEIGHT_MIN, 2.0 * label_height(small_font(self._timeline.font())))

    def _paint(self, painter: QPainter, area: QRectF, scale: RulerScale) -> None:
        costs, ruler = self._costs, self._timeline.ruler
        if costs is None:
            return
        palette, ratio, size = ruler.palette(), ruler.devicePixelRatioF(), (area.width(), area.height())
        shown = (scale, size, ratio, palette.cacheKey(), ruler.clip)
        if shown != self._painted:
            self._painted = shown
            self._image = strip_image(
                StripLook(
                    costs=costs,
                    frame_step=ruler.clip.frame_step,
                    scale=scale,
                    size=size,
                    ratio=ratio,
                    palette=palette,
                    font=small_font(ruler.font()),
                    source=_SHORT[self._source],
                )
            )
        painter.drawImage(area.topLeft(), self._image)
        if not len(costs.frames):
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            painter.setFont(small_font(ruler.font()))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, _EMPTY_TEXT)
