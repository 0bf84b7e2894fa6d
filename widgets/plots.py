import html
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QIcon, QPainter, QPalette, QPixmap, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from sinew.widgets.parts import EmptyState, Pages, packed, tool_button
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, is_dark, tabular

SPAN = 60.0  # recorded simulation time [s]

CAPACITY = 4096  # samples; a minute of the fastest reports has fewer


class Plot(pg.PlotWidget):  # type: ignore[misc]
    """A plot without menu, buttons and navigation by the mouse."""

    pointed = Signal(object)  # Horizontal coordinate under the mouse, or None
    restyled = Signal()  # The theme or font changed

    _is_ready = False  # The base constructor already handles events

    def __init__(self, parent: QWidget | None = None, **options: Any) -> None:
        super().__init__(parent, background=None, **options)
        self.plotItem.setMenuEnabled(False)
        self.plotItem.setMouseEnabled(False, False)
        self.plotItem.hideButtons()
        for side in ("left", "bottom"):
            self.getAxis(side).enableAutoSIPrefix(False)
        self.scene().sigMouseMoved.connect(lambda place: self.pointed.emit(self.x_at(place)))
        self._is_ready = True
        self._take_colours()

    def x_at(self, place: QPointF) -> float | None:
        """Returns the value of the x axis at a place; None outside the axes."""
        box = self.plotItem.vb
        return float(box.mapSceneToView(place).x()) if box.sceneBoundingRect().contains(place) else None

    def _take_colours(self) -> None:
        dim = self.palette().color(QPalette.ColorRole.PlaceholderText)
        self.setBackground(self.palette().color(QPalette.ColorRole.Window))
        for side in ("left", "bottom"):
            self.getAxis(side).setPen(dim)
            self.getAxis(side).setTextPen(dim)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._is_ready and event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._take_colours()
            self.restyled.emit()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit(None)


class PlotRing:
    """Ring of the newest samples, sorted by time; a sample of an earlier time discards later ones."""

    def __init__(self, channels: Sequence[str]) -> None:
        self._channels = tuple(channels)
        self._records: deque[tuple[float, ...]] = deque(maxlen=CAPACITY - 1)

    def __len__(self) -> int:
        return len(self._records)

    def add(self, time: float, values: Mapping[str, float]) -> bool:
        """Adds a sample at a time [s]; returns False if it is not new or not finite."""
        record = (time, *(values[name] for name in self._channels))
        if not np.isfinite(record).all() or (self._records and self._records[-1][0] == time):
            return False
        while self._records and self._records[-1][0] >= time:
            self._records.pop()
        self._records.append(record)
        while self._records[0][0] < time - SPAN:
            self._records.popleft()
        return True

    def clear(self) -> None:
        self._records.clear()

    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """Returns arrays of "time" [s] and of every channel, oldest first."""
        columns = np.array(self._records, dtype=np.float64).reshape(-1, 1 + len(self._channels)).T
        return dict(zip(("time", *self._channels), columns, strict=True))


INTERVAL = 100  # [ms] between two redraws
_SWATCH = 12
_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon


@dataclass(frozen=True, slots=True)
class PlotChannel:
    """A curve; `colours` on dark and light background, None is the text colour; `is_right` is the right plot."""

    name: str
    unit: str
    tip: str
    colours: tuple[str, str] | None = None
    is_right: bool = False


class Plots(QWidget):
    """Two plots with switches for the curves, which show the values under the mouse.

    Args:
        channels: The curves of one plot have the same unit.
        what: What to select, such as "a cloth".
    """

    _is_ready = False  # The base constructor already handles events

    def __init__(self, channels: Sequence[PlotChannel], icon: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._channels = {channel.name: channel for channel in channels}
        self._hint = f"Select {what} and press play."
        self._ring = PlotRing([*self._channels])
        self._stale = False
        self._under_mouse: float | None = None
        self.empty = EmptyState(icon, "Nothing to plot", self._hint, self)
        self._lines: dict[Plot, pg.InfiniteLine] = {}  # Cross-hairs of both plots, once there are curves
        self.switches = {name: self._make_switch(channel) for name, channel in self._channels.items()}
        self.moment = QLabel(self)
        self.moment.setFont(tabular(self.font()))
        self.moment.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.pause_button = tool_button("pause", "Pause", "Pause the plots; recording continues.", checkable=True)
        self.pause_button.toggled.connect(lambda _: self.redraw())
        self.clear_button = tool_button("clear", "Clear", "Clear the recorded values.", act=self.clear)
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self._draw_if_stale)
        bar = packed(QHBoxLayout(), *self.switches.values(), self.moment, spacing=SPACE, margins=SPACE)
        bar.addStretch(1)
        bar.addWidget(self.pause_button)
        bar.addWidget(self.clear_button)
        self._stack = Pages(self.empty)
        packed(QVBoxLayout(self), bar, (self._stack, 1))
        self._is_ready = True
        self._take_colours()
        self.redraw()

    @cached_property
    def curves(self) -> dict[str, pg.PlotDataItem]:
        """Curves by channel; the plots are made with them, because two take 50 ms."""
        pair = QWidget(self)
        layout = QHBoxLayout(pair)
        layout.setContentsMargins(SPACE, 0, SPACE, SPACE)
        curves: dict[str, pg.PlotDataItem] = {}
        for is_right in (False, True):
            channels = {name: channel for name, channel in self._channels.items() if channel.is_right is is_right}
            plot = self._make_plot(next(iter(channels.values())).unit)
            layout.addWidget(plot, 1)
            curves |= {name: plot.plot(antialias=False) for name in channels}
            self._lines[plot] = self._make_line(plot)
        self._stack.addWidget(pair)
        self.curves = curves  # `_take_colours` reads it
        self._take_colours()
        return curves

    def set_subject(self, name: str) -> None:
        """Clears the plots for another node; `name` is its name, or ""."""
        self.empty.set_text(
            f"Nothing recorded of {name} yet" if name else "Nothing to plot",
            "Press play." if name else self._hint,
        )
        self.clear()

    def add(self, time: float, values: Mapping[str, float]) -> None:
        """Adds values at a time [s]; ignores a time that is already recorded."""
        self._stale |= self._ring.add(time, values)

    def clear(self) -> None:
        self._ring.clear()
        self.pause_button.setChecked(False)
        self.redraw()

    def redraw(self) -> None:
        """Draws the curves; does nothing while paused."""
        if self.pause_button.isChecked():
            return
        self._stale = False
        series = self._ring.series()
        has_curves = len(self._ring) > 1 and bool(self.curves)
        self._stack.setCurrentIndex(1 if has_curves else 0)
        for button in (self.pause_button, self.clear_button, *self.switches.values()):
            button.setEnabled(has_curves)
        if self._lines:
            for name, curve in self.curves.items():
                curve.setData(series["time"], series[name])
        if len(self._ring):
            start, end = float(series["time"][0]), float(series["time"][-1])
            for plot in self._lines:
                plot.setXRange(start, max(end, start + 1.0), padding=0.0)
        self._show_values()

    def shown_values(self) -> dict[str, float]:
        """Returns the values at the cross-hair, or the newest ones."""
        if not self._lines:
            return {}
        time, _ = next(iter(self.curves.values())).getOriginalDataset()
        if time is None or not len(time):
            return {}
        where = -1 if self._under_mouse is None else int(np.abs(time - self._under_mouse).argmin())
        return {name: float(curve.getOriginalDataset()[1][where]) for name, curve in self.curves.items()}

    # --- the mouse ------------------------------------------------------------------------------------

    def point_at(self, time: float | None) -> None:
        """Moves the cross-hair to a time [s]; None hides it."""
        self._under_mouse = time
        for line in self._lines.values():
            line.setVisible(time is not None)
            if time is not None:
                line.setPos(time)
        self._show_values()

    def _show_values(self) -> None:
        values = self.shown_values()
        self.moment.setText("" if self._under_mouse is None else f"at {self._under_mouse:.2f} s")
        for name, switch in self.switches.items():
            number = f" {values[name]:.3g} {self._channels[name].unit}" if name in values else ""
            switch.setText(f"{name.capitalize()}{number}")

    # --- parts ----------------------------------------------------------------------------------------

    def _make_plot(self, unit: str) -> Plot:
        plot = Plot(self)
        item = plot.plotItem
        item.setClipToView(True)
        item.setDownsampling(auto=True, mode="peak")
        item.showGrid(x=False, y=True, alpha=0.15)
        item.getAxis("left").setWidth(self.fontMetrics().horizontalAdvance("0.0000") + 4 * SPACE)
        item.setLabel("bottom", None)
        item.setTitle(None)
        plot.setAccessibleName(f"Plot [{unit}]")
        plot.pointed.connect(self.point_at)
        return plot

    def _make_line(self, plot: Plot) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=90, movable=False)
        line.setVisible(False)
        plot.addItem(line, ignoreBounds=True)
        return line

    def _make_switch(self, channel: PlotChannel) -> QToolButton:
        switch = QToolButton(self, autoRaise=True, toolButtonStyle=_BESIDE)
        switch.setCheckable(True)
        switch.setChecked(True)
        switch.setFont(tabular(switch.font()))
        switch.setToolTip(f"{channel.tip}\nUnit: {channel.unit}. Click to show or hide its curve.")
        switch.toggled.connect(lambda on: self.curves[channel.name].setVisible(on))
        return switch

    def _take_colours(self) -> None:
        text = self.palette().color(QPalette.ColorRole.WindowText)
        dim = self.palette().color(QPalette.ColorRole.PlaceholderText)
        for line in self._lines.values():
            line.setPen(pg.mkPen(dim, style=Qt.PenStyle.DashLine))
        for name, channel in self._channels.items():
            colour = QColor(channel.colours[0 if is_dark() else 1]) if channel.colours else text
            self.switches[name].setIcon(_swatch(colour))
            if self._lines:
                self.curves[name].setPen(pg.mkPen(colour, width=1))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._is_ready and event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._take_colours()

    # --- visibility -----------------------------------------------------------------------------------

    def _draw_if_stale(self) -> None:
        # A panel behind another tab is not hidden, but has no visible region.
        if self._stale and not self.visibleRegion().isEmpty():
            self.redraw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self.redraw()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()


def _swatch(colour: QColor) -> QIcon:
    picture = QPixmap(_SWATCH, _SWATCH)
    picture.fill(QColor(0, 0, 0, 0))
    with QPainter(picture) as painter:
        painter.fillRect(0, _SWATCH // 2 - 2, _SWATCH, 4, colour)
    return QIcon(picture)


# Distinct for colour-blind eyes (Okabe and Ito 2008); on dark and on light background.
_DISTANCE_COLOURS = (("#56b4e9", "#0072b2"), ("#e69f00", "#b37700"), ("#2fbf94", "#00795a"), ("#f08050", "#c04e00"))
_DISTANCE_HINT = (
    "Check View ▸ Penetration, or bake, choose Detach Bake, change a setting, simulate again, and check"
    " View ▸ Compare to Bake."
)


@dataclass(frozen=True, slots=True)
class DistanceCurve:
    """Scene times of a node [s], ascending, and its largest and mean distance [m]."""

    name: str
    times: Sequence[float]
    most: Sequence[float]
    mean: Sequence[float]


class DistancePlot(QWidget):
    """Plot of distances: two curves per node, the mean dashed; `chosen` carries a clicked time [s]."""

    chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = EmptyState("mdi6.map-marker-distance", "No distances", _DISTANCE_HINT, self)
        self.text = QLabel(self, textFormat=Qt.TextFormat.RichText)
        self.text.setFont(tabular(self.text.font()))
        self._curves: tuple[DistanceCurve, ...] = ()
        self._label = ""
        self._lines: list[pg.PlotDataItem] = []
        self._now, self._scale, self._unit = 0.0, 1e3, "mm"
        self._under_mouse: float | None = None
        self._playhead = pg.InfiniteLine(angle=90, movable=False)
        self._stack = Pages(self.empty)
        bar = packed(QHBoxLayout(), (self.text, 1), margins=SPACE)
        packed(QVBoxLayout(self), bar, (self._stack, 1))
        self.text.hide()

    @cached_property
    def plot(self) -> Plot:
        """The plot, which is made with the first curves, because that takes 25 ms."""
        plot = Plot(self)
        plot.plotItem.setClipToView(True)
        plot.plotItem.showGrid(x=False, y=True, alpha=0.15)
        plot.pointed.connect(self.point_at)
        plot.scene().sigMouseClicked.connect(lambda event: self._choose(plot.x_at(event.scenePos())))
        plot.restyled.connect(self._restyle)
        plot.addItem(self._playhead, ignoreBounds=True)
        body = QWidget(self)
        packed(QVBoxLayout(body), (plot, 1), margins=SPACE)
        self._stack.addWidget(body)
        return plot

    def set_curves(self, curves: Sequence[DistanceCurve], label: str = "Distance") -> None:
        """Sets the curves, and what they show; without curves a hint is shown."""
        if not curves and not self._curves:
            return
        self._curves, self._label = tuple(curves), label
        self.plot.setAccessibleName(f"{label} over time")
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
        """Returns name, largest and mean distance [m] of each node at the current time, if it is known there."""
        time, distances = self._now if self._under_mouse is None else self._under_mouse, []
        for curve in self._curves:
            times = np.array(curve.times)
            place = int(np.abs(times - time).argmin())
            if abs(times[place] - time) <= 1.0 / 30.0:
                distances.append((curve.name, curve.most[place], curve.mean[place]))
        return distances

    # --- parts ----------------------------------------------------------------------------------------

    def _choose(self, time: float | None) -> None:
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
        values = "&nbsp;&nbsp; ".join(parts)
        self.text.setText(f"{self._label}: {values} at {time:.2f} s" if parts else f"No distances at {time:.2f} s")

    def _colour(self, number: int) -> str:
        return _DISTANCE_COLOURS[number % len(_DISTANCE_COLOURS)][0 if is_dark() else 1]

    def _take_colours(self) -> None:
        self._playhead.setPen(pg.mkPen(self.palette().color(QPalette.ColorRole.Highlight)))
        for number, line in enumerate(self._lines):
            style = Qt.PenStyle.DashLine if number % 2 else Qt.PenStyle.SolidLine
            line.setPen(pg.mkPen(self._colour(number // 2), width=1, style=style))

    def _restyle(self) -> None:
        self._take_colours()
        self._show_values()
