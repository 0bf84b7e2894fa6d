"""The Plots panel: values reported by the selected node over the last minute."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QIcon, QPainter, QPalette, QPixmap, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from sinew.widgets.empty_state import EmptyState
from sinew.widgets.parts import Pages, packed, tool_button
from sinew.widgets.theme import SPACE, is_dark, tabular

SPAN = 60.0
"""Recorded simulation time [s]."""

CAPACITY = 4096
"""Maximum number of samples; a minute of the fastest reports has fewer."""


class PlotRing:
    """Ring buffer of samples sorted by time; a sample of an earlier time discards those after it."""

    def __init__(self, channels: Sequence[str]) -> None:
        self._channels = tuple(channels)
        self._records = np.zeros((CAPACITY, 1 + len(self._channels)))
        self._first = self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, time: float, values: Mapping[str, float]) -> bool:
        """Adds a sample at a time [s]; returns whether it is new and finite."""
        record = np.array([time, *(values[name] for name in self._channels)])
        if not np.isfinite(record).all():
            return False
        if self._count:
            last = self._records[(self._first + self._count - 1) % CAPACITY, 0]
            if time == last:
                return False
            if time < last:
                self._go_back(time)
        self._records[(self._first + self._count) % CAPACITY] = record
        self._count += 1
        while self._count > CAPACITY - 1 or self._records[self._first, 0] < time - SPAN:
            self._first = (self._first + 1) % CAPACITY
            self._count -= 1
        return True

    def _go_back(self, time: float) -> None:
        order = (self._first + np.arange(self._count)) % CAPACITY
        self._count = int(np.searchsorted(self._records[order, 0], time))

    def clear(self) -> None:
        self._first = self._count = 0

    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """Arrays of "time" [s] and of every channel, oldest first."""
        order = (self._first + np.arange(self._count)) % CAPACITY
        return dict(zip(("time", *self._channels), self._records[order].T, strict=True))


INTERVAL = 100  # [ms] between two redraws
_SWATCH = 12
_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon


@dataclass(frozen=True, slots=True)
class PlotChannel:
    """A curve.

    Attributes:
        name: Name of the quantity.
        unit: Its unit.
        tip: A sentence about it.
        colours: Colours on dark and on light background; None for the text colour.
        is_right: Whether it is in the right plot.
    """

    name: str
    unit: str
    tip: str
    colours: tuple[str, str] | None = None
    is_right: bool = False


class Plots(QWidget):
    """Two plots with switches for the curves, which show the values under the mouse.

    Args:
        channels: The curves; those of one plot have the same unit.
        icon: Icon of the empty panel.
        what: What to select, such as "a cloth".
    """

    def __init__(self, channels: Sequence[PlotChannel], icon: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._channels = {channel.name: channel for channel in channels}
        self._hint = f"Select {what} and press play."
        self._ring = PlotRing([*self._channels])
        self._stale = False
        self._under_mouse: float | None = None
        self.empty = EmptyState(icon, "Nothing to plot", self._hint, self)
        sides = ([channel.unit for channel in channels if channel.is_right is right] for right in (False, True))
        self.left, self.right = (self._make_plot(units[0]) for units in sides)
        self.curves = {name: self._make_curve(channel) for name, channel in self._channels.items()}
        self._lines = {plot: self._make_line(plot) for plot in (self.left, self.right)}
        self.switches = {name: self._make_switch(channel) for name, channel in self._channels.items()}
        self.moment = QLabel(self)
        self.moment.setFont(tabular(self.font()))
        self.moment.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.pause_button = tool_button("pause", "Pause", "Pause the plots; recording continues.", checkable=True)
        self.pause_button.toggled.connect(lambda _: self.redraw())
        self.clear_button = tool_button("clear", "Clear", "Clear the recorded values.")
        self.clear_button.clicked.connect(self.clear)
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self._draw_if_stale)
        self._arrange()
        self._take_colours()
        self.redraw()

    def set_subject(self, name: str) -> None:
        """Sets the name of the selected node, or ""; clears the plots."""
        self.empty.set_text(
            f"Nothing recorded of {name} yet" if name else "Nothing to plot",
            "Press play." if name else self._hint,
        )
        self.clear()

    def add(self, time: float, values: Mapping[str, float]) -> None:
        """Records values by channel at a time [s]; ignores a time that is already recorded."""
        self._stale |= self._ring.add(time, values)

    def clear(self) -> None:
        self._ring.clear()
        self.pause_button.setChecked(False)
        self.redraw()

    def redraw(self) -> None:
        """Draws the recorded values unless paused."""
        if self.pause_button.isChecked():
            return
        self._stale = False
        series = self._ring.series()
        self._stack.setCurrentIndex(1 if len(self._ring) > 1 else 0)
        for button in (self.pause_button, self.clear_button, *self.switches.values()):
            button.setEnabled(len(self._ring) > 1)
        for name, curve in self.curves.items():
            curve.setData(series["time"], series[name])
        if len(self._ring):
            start, end = float(series["time"][0]), float(series["time"][-1])
            for plot in (self.left, self.right):
                plot.setXRange(start, max(end, start + 1.0), padding=0.0)
        self._show_values()

    def shown_values(self) -> dict[str, float]:
        """Values at the cross-hair, or the newest ones."""
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

    def _moved_over(self, plot: pg.PlotWidget) -> Callable[[QPointF], None]:
        def moved(place: QPointF) -> None:
            inside = plot.plotItem.vb.sceneBoundingRect().contains(place)
            self.point_at(plot.plotItem.vb.mapSceneToView(place).x() if inside else None)

        return moved

    def _show_values(self) -> None:
        values = self.shown_values()
        self.moment.setText("" if self._under_mouse is None else f"at {self._under_mouse:.2f} s")
        for name, switch in self.switches.items():
            number = f" {values[name]:.3g} {self._channels[name].unit}" if name in values else ""
            switch.setText(f"{name.capitalize()}{number}")

    # --- parts ----------------------------------------------------------------------------------------

    def _make_plot(self, unit: str) -> pg.PlotWidget:
        plot = pg.PlotWidget(self, background=None)
        item = plot.plotItem
        item.setMenuEnabled(False)
        item.setMouseEnabled(False, False)
        item.hideButtons()
        item.setClipToView(True)
        item.setDownsampling(auto=True, mode="peak")
        item.showGrid(x=False, y=True, alpha=0.15)
        item.getAxis("left").enableAutoSIPrefix(False)
        item.getAxis("left").setWidth(self.fontMetrics().horizontalAdvance("0.0000") + 4 * SPACE)
        item.setLabel("bottom", None)
        item.setTitle(None)
        plot.setAccessibleName(f"Plot [{unit}]")
        plot.scene().sigMouseMoved.connect(self._moved_over(plot))
        return plot

    def _make_curve(self, channel: PlotChannel) -> pg.PlotDataItem:
        return (self.right if channel.is_right else self.left).plot(antialias=False)

    def _make_line(self, plot: pg.PlotWidget) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=90, movable=False)
        line.setVisible(False)
        plot.addItem(line, ignoreBounds=True)
        return line

    def _make_switch(self, channel: PlotChannel) -> QToolButton:
        switch = QToolButton(self)
        switch.setCheckable(True)
        switch.setChecked(True)
        switch.setAutoRaise(True)
        switch.setFont(tabular(switch.font()))
        switch.setToolTip(f"{channel.tip}\nUnit: {channel.unit}. Click to show or hide its curve.")
        switch.setToolButtonStyle(_BESIDE)
        switch.toggled.connect(self.curves[channel.name].setVisible)
        return switch

    def _arrange(self) -> None:
        bar = packed(QHBoxLayout(), *self.switches.values(), self.moment, spacing=SPACE, margins=SPACE)
        bar.addStretch(1)
        bar.addWidget(self.pause_button)
        bar.addWidget(self.clear_button)
        pair = QWidget(self)
        plots = QHBoxLayout(pair)
        plots.setContentsMargins(SPACE, 0, SPACE, SPACE)
        plots.addWidget(self.left, 1)
        plots.addWidget(self.right, 1)
        self._stack = Pages(self.empty, pair)
        packed(QVBoxLayout(self), bar, (self._stack, 1))

    def _take_colours(self) -> None:
        text = self.palette().color(QPalette.ColorRole.WindowText)
        dim = self.palette().color(QPalette.ColorRole.PlaceholderText)
        for plot, line in self._lines.items():
            plot.setBackground(self.palette().color(QPalette.ColorRole.Window))
            line.setPen(pg.mkPen(dim, style=Qt.PenStyle.DashLine))
            for side in ("left", "bottom"):
                axis = plot.plotItem.getAxis(side)
                axis.setPen(dim)
                axis.setTextPen(dim)
        for name, curve in self.curves.items():
            colours = self._channels[name].colours
            colour = QColor(colours[0 if is_dark() else 1]) if colours else text
            curve.setPen(pg.mkPen(colour, width=1))
            self.switches[name].setIcon(_swatch(colour))

    # --- visibility -----------------------------------------------------------------------------------

    def _draw_if_stale(self) -> None:
        # A panel behind another tab is not hidden, but has no visible region.
        if self._stale and not self.visibleRegion().isEmpty():
            self.redraw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_stack"):
            self._take_colours()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.point_at(None)

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
