"""How a number field looks: panel, share of the range, number and dim unit."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QWidget

_PADDING = 6.0
_RADIUS = 3.0
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class NumberLook:
    """What is painted: `share` of the range 0 to 1 as a bar, `dim` for a value that is only implied."""

    number: str
    unit: str
    share: float
    dim: bool
    held: bool


def mixed(first: QColor, second: QColor, share: float) -> QColor:
    """Opaque colour between two: `share` 0 is the first, 1 the second."""
    return QColor.fromRgbF(
        first.redF() + share * (second.redF() - first.redF()),
        first.greenF() + share * (second.greenF() - first.greenF()),
        first.blueF() + share * (second.blueF() - first.blueF()),
    )


def number_size(font: QFont, samples: list[str], unit: str) -> QSize:
    """Size that holds every sample and the unit."""
    metrics = QFontMetricsF(font)
    width = max(metrics.horizontalAdvance(text) for text in samples)
    suffix = metrics.horizontalAdvance(f" {unit}") if unit else 0.0
    return QSize(round(width + suffix + 2.0 * _PADDING + 4.0), round(metrics.height() + 8.0))


def paint_number(painter: QPainter, field: QWidget, look: NumberLook) -> None:
    """Paint `look` over the whole of `field` in the colours of its palette."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_panel(painter, field, look)
    palette = field.palette()
    base, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
    dim = mixed(base, text, 0.62)
    area = QRectF(field.rect()).adjusted(_PADDING, 0.0, -_PADDING, 0.0)
    painter.setFont(field.font())
    if look.unit:
        painter.setPen(dim)
        painter.drawText(area, _RIGHT, look.unit)
        area.setRight(area.right() - QFontMetricsF(field.font()).horizontalAdvance(f" {look.unit}"))
    # The palette of a field that is disabled is dim already.
    painter.setPen(dim if look.dim else text)
    painter.drawText(area, _RIGHT, look.number)


def _paint_panel(painter: QPainter, field: QWidget, look: NumberLook) -> None:
    palette = field.palette()
    base, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
    accent = QColor(palette.color(QPalette.ColorRole.Highlight))
    warm = look.held or (field.underMouse() and field.isEnabled())
    frame = QRectF(field.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(accent if field.hasFocus() or look.held else mixed(base, text, 0.34 if warm else 0.2))
    painter.setBrush(mixed(base, text, 0.06) if warm else base)
    painter.drawRoundedRect(frame, _RADIUS, _RADIUS)
    if look.share > 0.0:
        accent.setAlphaF(0.35 if field.isEnabled() else 0.12)
        bar = frame.adjusted(1.0, 1.0, -1.0, -1.0)
        bar.setWidth(bar.width() * min(look.share, 1.0))
        painter.fillRect(bar, accent)
