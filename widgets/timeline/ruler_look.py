"""What the ruler shows and in which places and colours; painted by `ruler_paint` and `ruler_marks`."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette

from widgets.number_paint import mixed
from widgets.theme import tabular
from widgets.timeline.clip_entry import ClipEntry
from widgets.timeline.ruler_scale import RulerScale

_SMALL = 0.88
_LANE_MIN = 20.0
_LANE_MAX = 64.0
FLAG_WIDTH = 10.0


@dataclass(frozen=True, slots=True)
class RulerColours:
    """Colours of the ruler, all taken from one palette."""

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
    """Colours that work on any palette, dark or light."""
    role = QPalette.ColorRole
    window, base, text = (palette.color(part) for part in (role.Window, role.Base, role.Text))
    accent = palette.color(role.Highlight)
    return RulerColours(
        band=mixed(base, window, 0.5),
        lane=base,
        hairline=mixed(base, text, 0.16),
        tick=mixed(base, text, 0.34),
        label=mixed(base, text, 0.74),
        faint=mixed(base, text, 0.36),
        text=text,
        key=mixed(base, text, 0.62),
        range=mixed(base, accent, 0.24),
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
    """The ruler's font for an application font; figures of equal width."""
    small = tabular(font)
    if font.pointSizeF() > 0.0:
        small.setPointSizeF(font.pointSizeF() * _SMALL)
    else:
        small.setPixelSize(max(round(font.pixelSize() * _SMALL), 1))
    return small


@dataclass(frozen=True, slots=True)
class RulerBands:
    """Places from top to bottom: frame numbers, lane of keys and markers, seconds, optional strip."""

    frames: QRectF
    lane: QRectF
    seconds: QRectF
    strip: QRectF

    @property
    def bottom(self) -> float:
        """Lower edge of the seconds."""
        return self.seconds.bottom()


def ruler_bands(width: float, height: float, font: QFont, strip_height: float) -> RulerBands:
    """Bands for a size; what is left over goes to the lane, up to a limit."""
    line = label_height(font)
    lane = min(max(height - 2.0 * line - strip_height, _LANE_MIN), _LANE_MAX)
    frames = QRectF(0.0, 0.0, width, line)
    middle = QRectF(0.0, line, width, lane)
    seconds = QRectF(0.0, middle.bottom(), width, line)
    return RulerBands(frames, middle, seconds, QRectF(0.0, seconds.bottom(), width, strip_height))


def label_height(font: QFont) -> float:
    """Height of a band of labels."""
    return float(math.ceil(QFontMetricsF(font).height()) + 3)


def ruler_height(font: QFont, strip_height: float) -> int:
    """Least height that clips nothing."""
    return math.ceil(2.0 * label_height(font) + _LANE_MIN + strip_height)


@dataclass(frozen=True, slots=True)
class RulerView:
    """Everything the still part of the ruler is painted from.

    Attributes:
        clip: The clip.
        scale: Which time lies where.
        bands: Places from top to bottom.
        in_time, out_time: Range that plays [s].
        marks: Time of the marker of each end [s]; the two stand in either order.
        set_marks: Names of the ends the user set.
        bind_pose: The clip is ignored now.
        font: Font of the labels.
        colours: Colours.
        ratio: Device pixels per logical pixel.
    """

    clip: ClipEntry
    scale: RulerScale
    bands: RulerBands
    in_time: float
    out_time: float
    marks: dict[str, float]
    set_marks: frozenset[str]
    bind_pose: bool
    font: QFont
    colours: RulerColours
    ratio: float

    @property
    def hair(self) -> float:
        """Width of the thinnest crisp line in logical pixels."""
        return max(math.floor(self.ratio), 1) / self.ratio

    def crisp(self, x: float) -> float:
        """`x` moved to the nearest device pixel."""
        return round(x * self.ratio) / self.ratio
