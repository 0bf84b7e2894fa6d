"""What the mouse does over a plot of frames; it only tells, the owner of the plots decides."""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal

_WHEEL_STEP = 1.0 / 1.0015
"""Zoom for one unit of the wheel, of which a notch has 120."""


class TimeBox(pg.ViewBox):
    """The inside of a plot over time.

    Signals:
        zoomed: Factor and time [s] at which the wheel turned.
        scaled: Factor by which the wheel turned over the vertical axis.
        scale_reset: The vertical axis was double-clicked.
        panned: The user drags the plot by this time [s].
        region_dragged: A region is drawn from the first to the second time [s]; true when it is finished.
        clicked: A time [s].
        double_clicked: A time [s].
    """

    zoomed = Signal(float, float)
    scaled = Signal(float)
    scale_reset = Signal()
    panned = Signal(float)
    region_dragged = Signal(float, float, bool)
    clicked = Signal(float)
    double_clicked = Signal(float)

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.disableAutoRange()
        self._draws_region = False
        self.setDefaultPadding(0.0)

    def wheelEvent(self, ev: Any, axis: int | None = None) -> None:
        """Zooms time at the mouse, or the scale over its axis."""
        factor = _WHEEL_STEP ** ev.delta()
        if axis == 1:
            self.scaled.emit(factor)
        elif axis == 0:
            self.zoomed.emit(factor, float(self.viewRange()[0][1]))
        else:
            self.zoomed.emit(factor, float(self.mapToView(ev.pos()).x()))
        ev.accept()

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Pans, or draws a region with Shift."""
        if ev.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            ev.ignore()
            return
        ev.accept()
        here = float(self.mapToView(ev.pos()).x())
        if ev.isStart():
            self._draws_region = axis is None and bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if self._draws_region:
            start = float(self.mapToView(ev.buttonDownPos()).x())
            self.region_dragged.emit(min(start, here), max(start, here), ev.isFinish())
        elif axis != 1:
            self.panned.emit(float(self.mapToView(ev.lastPos()).x()) - here)

    def mouseClickEvent(self, ev: Any) -> None:
        """Tells where."""
        if ev.button() != Qt.MouseButton.LeftButton:
            ev.ignore()
            return
        ev.accept()
        signal = self.double_clicked if ev.double() else self.clicked
        signal.emit(float(self.mapToView(ev.pos()).x()))
