"""Axes of the plots of frames: seconds before the newest one, milliseconds or percent."""

import math

import pyqtgraph as pg
from PySide6.QtGui import QFont, QFontMetricsF, QPalette

from widgets.timings.texts import ago

_MINUS = "−"


class AgoAxis(pg.AxisItem):
    """Seconds before the newest frame."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.enableAutoSIPrefix(False)

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """Round steps that leave room for their texts."""
        font = self.style["tickFont"] or QFont()
        room = 1.25 * QFontMetricsF(font).horizontalAdvance(f"{_MINUS}00.0 s")
        least = (maxVal - minVal) * room / max(size, 1.0)
        power = 10.0 ** math.floor(math.log10(max(least, 1e-6)))
        step = next((factor * power for factor in (1.0, 2.0, 5.0) if factor * power >= least), 10.0 * power)
        return [(step, 0.0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """Numbers with their unit, so that no title is needed."""
        digits = 0 if spacing >= 1.0 else 1 if spacing >= 0.1 else 2 if spacing >= 0.01 else 3
        texts = [f"{abs(value):.{digits}f}" for value in values]
        return [
            f"{_MINUS}{text} s" if value < 0.0 and float(text) else ago(0.0)
            for value, text in zip(values, texts, strict=True)
        ]


class CostAxis(pg.AxisItem):
    """Numbers, whose unit stands above the plot."""

    def __init__(self) -> None:
        super().__init__("left")
        self.enableAutoSIPrefix(False)


def style_axis(axis: pg.AxisItem, palette: QPalette, font: QFont) -> None:
    """Gives an axis the colours of the theme and the small font of its plot."""
    dim = palette.color(QPalette.ColorRole.PlaceholderText)
    axis.setPen(dim)
    axis.setTextPen(dim)
    axis.setTickFont(font)
    axis.setStyle(tickLength=-3, tickTextOffset=3, autoExpandTextSpace=False)
