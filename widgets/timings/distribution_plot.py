"""Overlaid histograms of frame times, with target lines and medians."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sinew.sim.maths.arrays import Float64
from sinew.widgets.parts import packed
from sinew.widgets.plots import Plot
from sinew.widgets.theme import colours, tabular
from sinew.widgets.timings.plot_parts import TARGETS, PlotHeader, style_axes

BINS_MAX = 80
_CUT = 99.5
_TAIL = 1.6
_MS = 1e3
_PERCENT = 100.0


def bin_edges(*series: Float64, count: int = BINS_MAX) -> Float64:
    """Returns bins of equal width for several series of times [s], shape (N + 1,).

    Outliers do not squeeze the other times into one bin: `counts` puts them into the last bin.
    """
    known = [values[~np.isnan(values)] for values in series]
    pooled = np.concatenate([np.empty(0), *known])
    if not len(pooled):
        return np.array([0.0, 1e-3])
    low, high = float(pooled.min()), float(pooled.max())
    cut = max(float(np.percentile(values, _CUT)) for values in known if len(values))
    high = min(high, low + _TAIL * (cut - low)) if cut > low else high
    middle = max(high, 1e-9)
    if high - low < 1e-3 * middle:
        low, high = 0.95 * low, 1.05 * middle
    return np.linspace(low, high, count + 1)


def counts(values: Float64, edges: Float64) -> Float64:
    """Returns the share of the known times in each bin, (N,); the outer bins include all times beyond them."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(edges) - 1)
    # Times equal to the last edge belong to the last bin, though clipping may round below the first.
    numbers, _ = np.histogram(np.clip(known, edges[0], edges[-1]), edges)
    return numbers / len(known)


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    times: Float64  # Times [s], NaN where they were lost
    colour: QColor  # Of the bars


class DistributionPlot(QWidget):
    """Histogram: share of the frames [%] over the time [ms], with lines at the medians."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = PlotHeader(self)
        self.plot = Plot(self)
        self.plot.plotItem.vb.disableAutoRange()
        self.plot.restyled.connect(self._take_look)
        self.plot.setMinimumSize(120, 48)
        self.series: tuple[Series, ...] = ()
        self.edges: Float64 = np.array([0.0, 1e-3])
        self.heights: list[Float64] = []
        self._items: list[pg.GraphicsObject] = []
        self._targets = [pg.InfiniteLine(target * _MS, angle=90) for target, *_ in TARGETS]
        for line in self._targets:
            self.plot.addItem(line, ignoreBounds=True)
        packed(QVBoxLayout(self), self.header, (self.plot, 1))
        self._take_look()

    def show_series(self, series: Sequence[Series]) -> None:
        self.series = tuple(series)
        self.edges = bin_edges(*(entry.times for entry in series))
        self.heights = [counts(entry.times, self.edges) * _PERCENT for entry in series]
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        for entry, heights in zip(self.series, self.heights, strict=True):
            self._add(entry, heights)
        top = max((float(heights.max()) for heights in self.heights), default=1.0)
        self.plot.setRange(
            xRange=(self.edges[0] * _MS, self.edges[-1] * _MS), yRange=(0.0, max(top, 1e-3) * 1.05), padding=0.0
        )

    def _add(self, entry: Series, heights: Float64) -> None:
        fill = QColor(entry.colour)
        fill.setAlpha(110 if len(self.series) > 1 else 200)
        curve = pg.PlotCurveItem(
            self.edges * _MS, heights, stepMode="center", fillLevel=0.0, brush=fill, pen=pg.mkPen(entry.colour, width=1)
        )
        self._items.append(curve)
        self.plot.addItem(curve, ignoreBounds=True)
        known = entry.times[~np.isnan(entry.times)]
        if len(known):
            pen = pg.mkPen(entry.colour, width=2, style=Qt.PenStyle.DashLine)
            median = pg.InfiniteLine(float(np.median(known)) * _MS, angle=90, pen=pen)
            self._items.append(median)
            self.plot.addItem(median, ignoreBounds=True)

    def _take_look(self) -> None:
        style_axes(self.plot, tabular(self.font()), "00.00")
        for line in self._targets:
            line.setPen(pg.mkPen(colours().warning, width=1, style=Qt.PenStyle.DashLine))
