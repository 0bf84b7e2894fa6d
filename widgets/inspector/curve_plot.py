"""A value over a life as a curve with a point at each stop, on pyqtgraph's axes."""

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.inspector.stop_view import StopView
from widgets.theme import SPACE, colours

_POINT = 9
_REACH = 9.0
_MARGIN = 0.04
"""Room beside the life, as a share of it, so that the first and the last point are seen whole."""
_FILL_ALPHA = 60
_DIGITS = 4
_LIFE_TICKS = ((0.0, "birth"), (0.25, ""), (0.5, "0.5"), (0.75, ""), (1.0, "death"))


class CurvePlot(StopView):
    """Straight lines from stop to stop.

    Args:
        tip: What the values are.
        span: Lowest value, and the top of the plot while no value is higher.
        limit: Highest value that is allowed.
        parent: Parent widget.
    """

    drag_cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, tip: str, span: tuple[float, float], limit: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tip = tip
        self._span, self._limit = span, limit
        self._top = span[1]
        self.axes = {side: pg.AxisItem(side) for side in ("left", "bottom")}
        self.box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.line = pg.PlotCurveItem(antialias=True)
        self.points = pg.ScatterPlotItem(pxMode=True, size=_POINT, symbol="o", antialias=True)
        self._arrange()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _arrange(self) -> None:
        layout = pg.GraphicsLayout()
        # The last label of the life is centred below the end of the axis.
        layout.setContentsMargins(SPACE, SPACE, self.fontMetrics().horizontalAdvance(_LIFE_TICKS[-1][1]) // 2, 0)
        layout.setSpacing(0)
        layout.addItem(self.axes["left"], row=0, col=0)
        layout.addItem(self.box, row=0, col=1)
        layout.addItem(self.axes["bottom"], row=1, col=1)
        for axis in self.axes.values():
            axis.linkToView(self.box)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickLength=-SPACE, tickTextOffset=SPACE // 2)
        self.axes["bottom"].setTicks([list(_LIFE_TICKS)])
        self.axes["bottom"].setStyle(hideOverlappingLabels=False)
        self.axes["left"].setWidth(self.fontMetrics().horizontalAdvance("00.0") + 2 * SPACE)
        self.axes["bottom"].setHeight(self.fontMetrics().height() + SPACE)
        self.box.setDefaultPadding(0.0)
        self.box.setXRange(-_MARGIN, 1.0 + _MARGIN, padding=0.0)
        self.box.addItem(self.line)
        self.box.addItem(self.points)
        self.setCentralItem(layout)

    @property
    def top(self) -> float:
        return self._top

    @property
    def limit(self) -> float:
        return self._limit

    def sizeHint(self) -> QSize:
        """Seven lines of text high."""
        line = self.fontMetrics().height()
        return QSize(10 * line, 7 * line)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def refresh(self) -> None:
        if not self.is_held:
            self._fit()
        scheme, palette = colours(), self.palette()
        dim = palette.color(QPalette.ColorRole.PlaceholderText)
        accent, fill = QColor(scheme.accent_text), QColor(scheme.accent)
        fill.setAlpha(_FILL_ALPHA)
        for axis in self.axes.values():
            axis.setPen(dim)
            axis.setTextPen(dim)
        shares, values = np.array(self._stops, float).T
        self.line.setData(
            np.r_[0.0, shares, 1.0], np.r_[values[0], values, values[-1]],
            pen=pg.mkPen(accent, width=1.5), brush=fill, fillLevel=self._span[0],
        )  # fmt: skip
        chosen = [index == self._selected for index in range(len(shares))]
        ground = palette.color(QPalette.ColorRole.Base)
        text = palette.color(QPalette.ColorRole.WindowText)
        self.points.setData(
            shares, values,
            brush=[pg.mkBrush(accent if one else ground) for one in chosen],
            pen=[pg.mkPen(text if index in (self._selected, self._hovered) else accent, width=1.5)
                 for index in range(len(shares))],
        )  # fmt: skip
        self.viewport().update()

    def _fit(self) -> None:
        """Takes a top that no value exceeds and that has a plain number."""
        highest = max((stop[1] for stop in self._stops), default=0.0)
        self._top = self._span[1] if highest <= self._span[1] else min(plain_top(highest), self._limit)
        span = self._top - self._span[0]
        self.box.setYRange(self._span[0] - _MARGIN * span, self._top + 2.0 * _MARGIN * span, padding=0.0)

    def index_at(self, place: QPointF) -> int | None:
        away = [math.dist(self.place_of(index).toTuple(), place.toTuple()) for index in range(len(self._stops))]
        near = [index for index, distance in enumerate(away) if distance <= _REACH]
        return min(near, key=lambda index: (away[index], index != self._selected), default=None)

    def place_of(self, index: int) -> QPointF:
        return self.from_scene(self.box.mapViewToScene(QPointF(*self._stops[index])))

    def point_at(self, place: QPointF) -> tuple[float, float]:
        point = self.box.mapSceneToView(self.to_scene(place))
        value = min(max(point.y(), self._span[0]), self._top)
        return min(max(point.x(), 0.0), 1.0), round(value, _DIGITS - 1)

    def text_at(self, place: QPointF) -> str:
        index = self.index_at(place)
        if index is not None:
            share, value = self._stops[index]
            return f"{value:.4g} at {share:.4g} of the life"
        return f"{self._tip}\nDouble click adds a point, Delete or a right click removes one."


def plain_top(highest: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is not below a positive number."""
    power = 10.0 ** math.floor(math.log10(highest))
    return next(n * power for n in (1.0, 2.0, 5.0, 10.0) if n * power >= highest * (1.0 - 1e-9))
