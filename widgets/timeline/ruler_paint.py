import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette, QPolygonF

from sinew.widgets.theme import blend, tabular
from sinew.widgets.timeline.ruler_scale import (
    IN_POINT,
    ClipEntry,
    RulerScale,
    Ticks,
    frame_ticks,
    second_label,
    second_ticks,
    tick_indices,
)

_SMALL = 0.88
_LANE_MIN = 20.0
_LANE_MAX = 64.0
FLAG_WIDTH = 10.0
_FRAME_GAP = 22.0
_SECOND_GAP = 26.0
_DIAMOND_SPACE = 12.0
_BAR_SPACE = 4.0
_CENTRE = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip


@dataclass(frozen=True, slots=True)
class RulerColours:
    band: QColor
    lane: QColor
    hairline: QColor
    tick: QColor
    label: QColor
    faint: QColor
    text: QColor
    key: QColor
    range: QColor
    accent: QColor
    on_accent: QColor
    dimmed: QColor
    beyond: QColor


def ruler_colours(palette: QPalette) -> RulerColours:
    role = QPalette.ColorRole
    window, base, text = (palette.color(part) for part in (role.Window, role.Base, role.Text))
    accent = palette.color(role.Highlight)
    return RulerColours(
        band=blend(base, window, 0.5),
        lane=base,
        hairline=blend(base, text, 0.16),
        tick=blend(base, text, 0.34),
        label=blend(base, text, 0.74),
        faint=blend(base, text, 0.36),
        text=text,
        key=blend(base, text, 0.62),
        range=blend(base, accent, 0.24),
        accent=accent,
        on_accent=palette.color(role.HighlightedText),
        dimmed=_with_alpha(window, 0.55),
        beyond=_with_alpha(window, 0.72),
    )


def _with_alpha(colour: QColor, alpha: float) -> QColor:
    clear = QColor(colour)
    clear.setAlphaF(alpha)
    return clear


def small_font(font: QFont) -> QFont:
    """Returns a smaller font with digits of one width."""
    small = tabular(font)
    if font.pointSizeF() > 0.0:
        small.setPointSizeF(font.pointSizeF() * _SMALL)
    else:
        small.setPixelSize(max(round(font.pixelSize() * _SMALL), 1))
    return small


@dataclass(frozen=True, slots=True)
class RulerBands:
    """Bands of the ruler from top to bottom: frame numbers, lane of keys and markers, seconds, optional strip."""

    frames: QRectF
    lane: QRectF
    seconds: QRectF
    strip: QRectF

    @property
    def bottom(self) -> float:
        return self.seconds.bottom()


def ruler_bands(width: float, height: float, font: QFont, strip_height: float) -> RulerBands:
    """Returns the bands of a ruler; the lane takes the remaining height, up to a limit."""
    line = label_height(font)
    lane = min(max(height - 2.0 * line - strip_height, _LANE_MIN), _LANE_MAX)
    frames = QRectF(0.0, 0.0, width, line)
    middle = QRectF(0.0, line, width, lane)
    seconds = QRectF(0.0, middle.bottom(), width, line)
    return RulerBands(frames, middle, seconds, QRectF(0.0, seconds.bottom(), width, strip_height))


def label_height(font: QFont) -> float:
    return float(math.ceil(QFontMetricsF(font).height()) + 3)


def ruler_height(font: QFont, strip_height: float) -> int:
    return math.ceil(2.0 * label_height(font) + _LANE_MIN + strip_height)


@dataclass(frozen=True, slots=True)
class RulerView:
    clip: ClipEntry
    scale: RulerScale
    bands: RulerBands
    in_time: float  # Range that plays [s]
    out_time: float
    marks: dict[str, float]  # Times of the markers [s], in either order
    set_marks: frozenset[str]  # Names of the markers that the user set
    bind_pose: bool  # The clip is ignored
    font: QFont
    colours: RulerColours
    ratio: float  # Device pixels per logical pixel

    @property
    def hair(self) -> float:
        """Width of a line of whole device pixels in logical pixels."""
        return max(math.floor(self.ratio), 1) / self.ratio

    def crisp(self, x: float) -> float:
        """Rounds a position to device pixels."""
        return round(x * self.ratio) / self.ratio


def paint_ground(painter: QPainter, view: RulerView) -> None:
    """Paints the static part: everything except playhead, markers and hover line."""
    frames, seconds = _frame_ticks(view), _second_ticks(view)
    _paint_bands(painter, view)
    _paint_frame_ticks(painter, view, frames)
    _paint_second_ticks(painter, view, seconds)
    _paint_outside(painter, view)
    _paint_keys(painter, view)
    step, band = view.clip.frame_step, view.bands.frames
    for index in _visible(view, frames.major * step):
        frame = index * frames.major
        _paint_label(painter, view, f"{frame:.0f}", frame * step, band)
    for index in _visible(view, seconds.major):
        time = index * seconds.major
        _paint_label(painter, view, second_label(time, seconds.major), time, view.bands.seconds)
    if view.bind_pose:
        _paint_note(painter, view, "bind pose: the clip is not used")


def paint_marker(painter: QPainter, view: RulerView, name: str, hot: bool) -> None:
    """Paints a line through the lane with a flag outside the range."""
    is_in = name == IN_POINT
    is_set = name in view.set_marks
    colours, lane = view.colours, view.bands.lane
    x, side = view.crisp(view.scale.x_of(view.marks[name])), -1.0 if is_in else 1.0
    colour = colours.accent if hot else colours.text if is_set else colours.key
    top = lane.top()
    _vertical(painter, view, x, top, lane.bottom(), colour)
    flag = QPolygonF(
        [
            QPointF(x, top),
            QPointF(x + side * FLAG_WIDTH, top),
            QPointF(x + side * FLAG_WIDTH, top + 9.0),
            QPointF(x, top + 15.0),
        ]
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(colour)
    painter.setBrush(colour if is_set or hot else colours.band)
    painter.drawPolygon(flag)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def bubble_rect(view: RulerView, text: str, x: float, band: QRectF) -> QRectF:
    """Returns the rectangle of a label centred at `x` in a band, clamped to the ruler."""
    width = QFontMetricsF(view.font).horizontalAdvance(text) + 10.0
    left = min(max(x - 0.5 * width, 0.0), max(band.width() - width, 0.0))
    return QRectF(left, band.top() + 1.0, width, band.height() - 2.0)


def paint_bubble(painter: QPainter, view: RulerView, text: str, rect: QRectF, fill: QColor, ink: QColor) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(rect, 3.0, 3.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setFont(view.font)
    painter.setPen(ink)
    painter.drawText(rect, _CENTRE, text)


def paint_pointer(painter: QPainter, view: RulerView, x: float) -> None:
    """Paints the arrow below the flag of the playhead."""
    top = view.bands.frames.bottom() - 1.5
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(view.colours.accent)
    centre = view.crisp(x) + view.hair
    painter.drawPolygon(QPolygonF([QPointF(centre - 5.0, top), QPointF(centre + 5.0, top), QPointF(centre, top + 5.0)]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_line(painter: QPainter, view: RulerView, x: float, colour: QColor) -> None:
    """Paints a vertical line through frame numbers, lane and strip."""
    bands = view.bands
    _vertical(painter, view, view.crisp(x), bands.frames.top(), bands.lane.bottom() + 3.0, colour)
    _vertical(painter, view, view.crisp(x), bands.strip.top(), bands.strip.bottom(), colour)


def _vertical(painter: QPainter, view: RulerView, x: float, top: float, bottom: float, colour: QColor) -> None:
    painter.fillRect(QRectF(x, top, view.hair, bottom - top), colour)


def _paint_bands(painter: QPainter, view: RulerView) -> None:
    colours, bands = view.colours, view.bands
    for band in (bands.frames, bands.seconds):
        painter.fillRect(band, colours.band)
    painter.fillRect(bands.lane, colours.lane)
    left, right = view.scale.x_of(view.in_time), view.scale.x_of(view.out_time)
    painter.fillRect(QRectF(left, bands.lane.top(), right - left, bands.lane.height()), colours.range)


def _frame_ticks(view: RulerView) -> Ticks:
    label = QFontMetricsF(view.font).horizontalAdvance(str(view.clip.last_frame)) + _FRAME_GAP
    return frame_ticks(view.scale.pixels(view.clip.frame_step), label)


def _second_ticks(view: RulerView) -> Ticks:
    label = QFontMetricsF(view.font).horizontalAdvance("00.00 s") + _SECOND_GAP
    return second_ticks(view.scale.pixels(1.0), label)


def _visible(view: RulerView, spacing: float) -> range:
    """Returns indices of the multiples of a spacing [s] within view and clip."""
    return tick_indices(max(view.scale.start, 0.0), min(view.scale.end, view.clip.duration), spacing)


def _paint_frame_ticks(painter: QPainter, view: RulerView, ticks: Ticks) -> None:
    """Paints ticks of frames; labelled frames also get a faint line through the lane."""
    scale, bands, colours, step = view.scale, view.bands, view.colours, view.clip.frame_step
    top = bands.lane.top()
    for index in _visible(view, ticks.minor * step):
        x = view.crisp(scale.x_of(index * ticks.minor * step))
        _vertical(painter, view, x, top, top + 3.0, colours.tick)
    for index in _visible(view, ticks.major * step):
        x = view.crisp(scale.x_of(index * ticks.major * step))
        _vertical(painter, view, x, top, bands.lane.bottom(), colours.hairline)
        _vertical(painter, view, x, top, top + 6.0, colours.tick)


def _paint_second_ticks(painter: QPainter, view: RulerView, ticks: Ticks) -> None:
    top, colour = view.bands.seconds.top(), view.colours.tick
    for index in _visible(view, ticks.minor):
        _vertical(painter, view, view.crisp(view.scale.x_of(index * ticks.minor)), top, top + 2.0, colour)
    for index in _visible(view, ticks.major):
        _vertical(painter, view, view.crisp(view.scale.x_of(index * ticks.major)), top, top + 4.0, colour)


def _paint_label(painter: QPainter, view: RulerView, text: str, time: float, band: QRectF) -> None:
    """Paints a label centred at its time; dim outside the range that plays."""
    slack = 0.5 * view.scale.seconds_per_pixel
    plays = view.in_time - slack <= time <= view.out_time + slack
    x = view.crisp(view.scale.x_of(time))
    painter.setFont(view.font)
    painter.setPen(view.colours.label if plays else view.colours.faint)
    painter.drawText(QRectF(x - 40.0, band.top() + 1.0, 80.0, band.height()), _CENTRE, text)


def _paint_keys(painter: QPainter, view: RulerView) -> None:
    """Paints keys as diamonds, bars, or one band, depending on their distance; dim outside the range that plays."""
    scale, step = view.scale, view.clip.frame_step
    times = np.asarray(view.clip.key_times, dtype=np.float64)
    times = times[(times >= scale.start - step) & (times <= scale.end + step)]
    plays = (times >= view.in_time - 0.01 * step) & (times <= view.out_time + 0.01 * step)
    for chosen, colour in ((times[~plays], view.colours.faint), (times[plays], view.colours.key)):
        xs = np.unique(np.round((chosen - scale.start) / scale.seconds_per_pixel * view.ratio)) / view.ratio
        _paint_key_marks(painter, view, xs.tolist(), colour)


def _paint_key_marks(painter: QPainter, view: RulerView, xs: list[float], colour: QColor) -> None:
    middle = view.bands.lane.center().y() + 3.0
    space = min((right - left for left, right in pairwise(xs)), default=_DIAMOND_SPACE)
    if space >= _DIAMOND_SPACE:
        _paint_diamonds(painter, [QPointF(x + 0.5 * view.hair, middle) for x in xs], colour)
    elif space >= _BAR_SPACE:
        for x in xs:
            _vertical(painter, view, x, middle - 4.0, middle + 4.0, colour)
    else:
        for left, right in pairwise(xs):
            width = right - left if right - left < _BAR_SPACE else view.hair
            painter.fillRect(QRectF(left, middle - 2.0, width, 4.0), colour)


def _paint_diamonds(painter: QPainter, centres: list[QPointF], colour: QColor) -> None:
    corners = (QPointF(0.0, -3.6), QPointF(3.6, 0.0), QPointF(0.0, 3.6), QPointF(-3.6, 0.0))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for centre in centres:
        painter.drawPolygon(QPolygonF([centre + corner for corner in corners]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_outside(painter: QPainter, view: RulerView) -> None:
    """Dims the clip outside the range that plays; dims more outside the clip."""
    scale, bottom = view.scale, view.bands.bottom
    first, last = scale.x_of(0.0), scale.x_of(view.clip.duration)
    for left, right, colour in (
        (0.0, first, view.colours.beyond),
        (first, scale.x_of(view.in_time), view.colours.dimmed),
        (scale.x_of(view.out_time) + view.hair, last, view.colours.dimmed),
        (last + view.hair, scale.width, view.colours.beyond),
    ):
        clipped_left, clipped_right = max(left, 0.0), min(right, scale.width)
        if clipped_right > clipped_left:
            painter.fillRect(QRectF(clipped_left, 0.0, clipped_right - clipped_left, bottom), colour)


def _paint_note(painter: QPainter, view: RulerView, text: str) -> None:
    lane = view.bands.lane
    painter.fillRect(lane, view.colours.beyond)
    height = view.bands.frames.height()
    middle = QRectF(0.0, lane.center().y() - 0.5 * height, lane.width(), height)
    rect = bubble_rect(view, text, 0.5 * lane.width(), middle)
    paint_bubble(painter, view, text, rect, view.colours.band, view.colours.label)
