import math
from dataclasses import dataclass, replace
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QMargins, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from sinew.widgets.parts import ElidedLabel, packed
from sinew.widgets.plots import Plot
from sinew.widgets.theme import SPACE, tabular
from sinew.widgets.timings.texts import ago

TARGETS = ((1.0 / 60.0, "16.7 ms (60 fps)", "60 fps"), (1.0 / 30.0, "33.3 ms (30 fps)", "30 fps"))
"""Target times of a frame [s], with long and short labels."""

_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_HEADROOM = 1.08
_SHRINKS_BELOW = 0.4
LEAST = 1e-5  # shortest scale [s]

SPAN_MAX = 60.0
SPAN_MIN = 0.05
_SLACK = 0.02


def round_top(peak: float) -> float:
    """Returns the smallest round number above a peak, with some headroom."""
    least = max(peak * _HEADROOM, LEAST)
    size = 10.0 ** math.floor(math.log10(least))
    return next((step * size for step in _ROUND if step * size >= least), 10.0 * size)


def next_top(current: float, peak: float) -> float:
    """Returns the next upper end of a scale, which grows at once and shrinks late."""
    if not math.isfinite(peak) or peak <= 0.0:
        return current
    return current if _SHRINKS_BELOW * current < peak * _HEADROOM <= current else round_top(peak)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    # Ends relative to the newest frame [s], at most 0
    left: float = -10.0
    right: float = 0.0

    @property
    def span(self) -> float:
        return self.right - self.left

    def zoomed(self, factor: float, at: float) -> "TimeWindow":
        """Returns the window zoomed about a time, whose position stays."""
        span = min(max(self.span * factor, SPAN_MIN), SPAN_MAX)
        share = (at - self.left) / self.span
        left = at - share * span
        return TimeWindow(left, left + span).held()

    def panned(self, seconds: float) -> "TimeWindow":
        return replace(self, left=self.left + seconds, right=self.right + seconds).held()

    def live(self) -> "TimeWindow":
        return TimeWindow(-self.span, 0.0)

    def showing(self, time: float) -> "TimeWindow":
        """Returns a window moved as little as needed to show a time with a margin."""
        margin = 0.1 * self.span
        if time < self.left + margin:
            return self.panned(time - margin - self.left)
        return self.panned(max(0.0, time + margin - self.right))

    def held(self) -> "TimeWindow":
        """Returns the window clamped to the recorded minute, with a small margin on both sides."""
        slack = _SLACK * self.span
        left = min(max(self.left, -SPAN_MAX - slack), slack - self.span)
        return TimeWindow(left, left + self.span)


_MINUS = "−"
_GAP = 3 * SPACE
_WHEEL_STEP = 1.0 / 1.0015  # zoom per unit of the wheel; a notch has 120 units


class AgoAxis(pg.AxisItem):  # type: ignore[misc]
    """Axis in seconds before the newest frame."""

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """Returns round steps that leave space for the labels."""
        font = self.style["tickFont"] or QFont()
        room = 1.25 * QFontMetricsF(font).horizontalAdvance(f"{_MINUS}00.0 s")
        least = (maxVal - minVal) * room / max(size, 1.0)
        power = 10.0 ** math.floor(math.log10(max(least, 1e-6)))
        step = next((factor * power for factor in (1.0, 2.0, 5.0) if factor * power >= least), 10.0 * power)
        return [(step, 0.0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        digits = 0 if spacing >= 1.0 else 1 if spacing >= 0.1 else 2 if spacing >= 0.01 else 3
        texts = [f"{abs(value):.{digits}f}" for value in values]
        return [
            f"{_MINUS}{text} s" if value < 0.0 and float(text) else ago(0.0)
            for value, text in zip(values, texts, strict=True)
        ]


def style_axes(plot: Plot, font: QFont, sample: str) -> None:
    """Styles the axes; their sizes follow `sample`, the longest number on the left axis."""
    metrics, left, bottom = plot.fontMetrics(), plot.getAxis("left"), plot.getAxis("bottom")
    # Half a line of margin for the uppermost number of the scale.
    plot.plotItem.layout.setContentsMargins(0, metrics.height() // 2, SPACE, 0)
    for axis in (left, bottom):
        axis.setTickFont(font)
        axis.setStyle(tickLength=-3, tickTextOffset=3, autoExpandTextSpace=False)
    left.setWidth(metrics.horizontalAdvance(sample) + 3 * SPACE)
    bottom.setHeight(metrics.height() + SPACE)


class PlotHeader(QWidget):
    """Head of a plot: title on the left, elided; value under the mouse on the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(tabular(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._title, self.reading = ElidedLabel(parent=self), QLabel(self)
        packed(QHBoxLayout(self), (self._title, 1), self.reading, spacing=_GAP, margins=QMargins(SPACE, 0, SPACE, 0))

    @property
    def title(self) -> str:
        return self.accessibleName()

    def set_title(self, title: str) -> None:
        if title != self.title:
            self.setAccessibleName(title)
            self._title.set_text("", placeholder=title)

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height() + SPACE)


class TimeBox(pg.ViewBox):  # type: ignore[misc]
    zoomed = Signal(float, float)  # Factor and time [s] at which the wheel turned
    scaled = Signal(float)  # Factor by which the wheel turned over the vertical axis
    scale_reset = Signal()  # The vertical axis was double-clicked
    panned = Signal(float)  # Time [s] by which the plot was dragged
    region_dragged = Signal(float, float)  # Times [s] of a region that is selected
    clicked = Signal(float)  # A time [s]
    double_clicked = Signal(float)  # A time [s]

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.disableAutoRange()
        self._draws_region = False
        self.setDefaultPadding(0.0)

    def wheelEvent(self, ev: Any, axis: int | None = None) -> None:
        """Zooms time, or the scale if the mouse is over its axis."""
        factor = _WHEEL_STEP ** ev.delta()
        if axis == 1:
            self.scaled.emit(factor)
        elif axis == 0:
            self.zoomed.emit(factor, float(self.viewRange()[0][1]))
        else:
            self.zoomed.emit(factor, float(self.mapToView(ev.pos()).x()))
        ev.accept()

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Pans the window, or selects a region with Shift."""
        if ev.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            ev.ignore()
            return
        ev.accept()
        here = float(self.mapToView(ev.pos()).x())
        if ev.isStart():
            self._draws_region = axis is None and bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if self._draws_region:
            start = float(self.mapToView(ev.buttonDownPos()).x())
            self.region_dragged.emit(min(start, here), max(start, here))
        elif axis != 1:
            self.panned.emit(float(self.mapToView(ev.lastPos()).x()) - here)

    def mouseClickEvent(self, ev: Any) -> None:
        if ev.button() != Qt.MouseButton.LeftButton:
            ev.ignore()
            return
        ev.accept()
        if getattr(ev.currentItem, "orientation", "") == "left":  # the axis forwards its clicks
            if ev.double():
                self.scale_reset.emit()
            return
        signal = self.double_clicked if ev.double() else self.clicked
        signal.emit(float(self.mapToView(ev.pos()).x()))
