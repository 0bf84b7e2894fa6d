"""The Bake Distance panel: largest and mean distance of simulated nodes from their bakes over scene time."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sinew.widgets.empty_state import EmptyState
from sinew.widgets.parts import Pages, packed
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, is_dark, tabular

# Distinct for colour-blind eyes (Okabe and Ito 2008); on dark and on light background.
_COLOURS = (("#56b4e9", "#0072b2"), ("#e69f00", "#b37700"), ("#2fbf94", "#00795a"), ("#f08050", "#c04e00"))
_HINT = "Bake, choose Detach Bake, change a setting, simulate again, and check View ▸ Compare to Bake."


@dataclass(frozen=True, slots=True)
class DistanceCurve:
    """Scene times of a node [s], ascending, and its largest and mean distance from its bake [m]."""

    name: str
    times: Sequence[float]
    most: Sequence[float]
    mean: Sequence[float]


class DistancePlot(QWidget):
    """Two curves per node, the mean dashed; shows the values at the playhead or under the mouse.

    Signals:
        chosen: A time was clicked [s].
    """

    chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = EmptyState("mdi6.map-marker-distance", "No comparison", _HINT, self)
        self.plot = pg.PlotWidget(self, background=None)
        self.text = QLabel(self)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setFont(tabular(self.text.font()))
        self._curves: tuple[DistanceCurve, ...] = ()
        self._lines: list[pg.PlotDataItem] = []
        self._now, self._scale, self._unit = 0.0, 1e3, "mm"
        self._under_mouse: float | None = None
        self._prepare()
        self._playhead = pg.InfiniteLine(angle=90, movable=False)
        self.plot.addItem(self._playhead, ignoreBounds=True)
        body = QWidget(self)
        packed(QVBoxLayout(body), (self.plot, 1), margins=SPACE)
        self._stack = Pages(self.empty, body)
        bar = packed(QHBoxLayout(), (self.text, 1), margins=SPACE)
        packed(QVBoxLayout(self), bar, (self._stack, 1))
        self.set_curves(())

    def set_curves(self, curves: Sequence[DistanceCurve]) -> None:
        """Sets the curves; empty if no bake is compared."""
        self._curves = tuple(curves)
        most = max((max(curve.most) for curve in curves), default=0.0)
        self._scale, self._unit = (1.0, "m") if most >= 1.0 else (1e3, "mm")
        self._stack.setCurrentIndex(1 if curves else 0)
        self.text.setVisible(bool(curves))
        for line in self._lines:
            self.plot.removeItem(line)
        self._lines = []
        for curve in self._curves:
            for values in (curve.most, curve.mean):
                self._lines.append(self.plot.plot(np.array(curve.times), np.array(values) * self._scale))
        self.plot.plotItem.setLabel("left", self._unit)
        self.plot.setYRange(0.0, max(most * self._scale, 1e-3), padding=0.05)
        self._take_colours()
        self._show_values()

    def set_now(self, time: float) -> None:
        """Sets the time of the playhead [s]."""
        self._now = time
        self._playhead.setPos(time)
        self._show_values()

    def point_at(self, time: float | None) -> None:
        """Sets the time under the mouse [s], or None."""
        self._under_mouse = time
        self._show_values()

    def distances_now(self) -> list[tuple[str, float, float]]:
        """Name, largest and mean distance [m] of each node at the current time, if it is known there."""
        time, distances = self._now if self._under_mouse is None else self._under_mouse, []
        for curve in self._curves:
            times = np.array(curve.times)
            place = int(np.abs(times - time).argmin())
            if abs(times[place] - time) <= 1.0 / 30.0:
                distances.append((curve.name, curve.most[place], curve.mean[place]))
        return distances

    # --- parts ----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        item = self.plot.plotItem
        item.setMenuEnabled(False)
        item.setMouseEnabled(False, False)
        item.hideButtons()
        item.setClipToView(True)
        item.showGrid(x=False, y=True, alpha=0.15)
        item.getAxis("left").enableAutoSIPrefix(False)
        item.getAxis("bottom").enableAutoSIPrefix(False)
        self.plot.setAccessibleName("Distance from the bake over time")
        self.plot.scene().sigMouseMoved.connect(lambda place: self.point_at(self._time_at(place)))
        self.plot.scene().sigMouseClicked.connect(self._on_clicked)

    def _time_at(self, place: QPointF) -> float | None:
        view = self.plot.plotItem.vb
        return float(view.mapSceneToView(place).x()) if view.sceneBoundingRect().contains(place) else None

    def _on_clicked(self, event: object) -> None:
        time = self._time_at(event.scenePos())  # type: ignore[attr-defined]
        if time is not None and self._curves:
            self.chosen.emit(max(time, 0.0))

    def _show_values(self) -> None:
        names = [curve.name for curve in self._curves]
        parts = []
        for name, most, mean in self.distances_now():
            colour = self._colour(names.index(name))
            most_text, mean_text = (f"{distance * self._scale:.3g} {self._unit}" for distance in (most, mean))
            swatch, label = f'<span style="color:{colour}">■</span>', html.escape(label_text(name))
            parts.append(f"{swatch} {label}: {most_text} maximum, {mean_text} mean (dashed)")
        time = self._now if self._under_mouse is None else self._under_mouse
        self.text.setText(f"{'&nbsp;&nbsp; '.join(parts) or 'No comparison'} at {time:.2f} s")

    def _colour(self, number: int) -> str:
        return _COLOURS[number % len(_COLOURS)][0 if is_dark() else 1]

    def _take_colours(self) -> None:
        dim = self.palette().color(QPalette.ColorRole.PlaceholderText)
        self.plot.setBackground(self.palette().color(QPalette.ColorRole.Window))
        self._playhead.setPen(pg.mkPen(self.palette().color(QPalette.ColorRole.Highlight)))
        for side in ("left", "bottom"):
            axis = self.plot.plotItem.getAxis(side)
            axis.setPen(dim)
            axis.setTextPen(dim)
        for number, line in enumerate(self._lines):
            style = Qt.PenStyle.DashLine if number % 2 else Qt.PenStyle.SolidLine
            line.setPen(pg.mkPen(self._colour(number // 2), width=1, style=style))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_stack"):
            self._take_colours()
            self._show_values()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.point_at(None)
