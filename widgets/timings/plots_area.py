"""GPU and CPU plots with a common window, region, cross-hair and selected frame."""

import math

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from sinew.sim.profile.history import Quantity
from sinew.sim.profile.sample import FrameSample, TimerStatus
from sinew.widgets.theme import SPACE
from sinew.widgets.timings.frames import FrameTable, TimingsOptions, Unit
from sinew.widgets.timings.plot_parts import PlotHeader, TimeWindow
from sinew.widgets.timings.stack_plot import StackPlot
from sinew.widgets.timings.texts import SEPARATOR_DOT, ago, honesty_tip, milliseconds, source_of

_HOW = (
    "Wheel: zoom time, over the left axis the scale (double click there: fit). Drag: scroll back.\n"
    "Shift + drag: select a region for the statistics; double click: none. Click: select a frame."
)


_REACH = 3  # [px] from the mouse at which a click still selects a spike

_EASY_TO_HIT = 6  # columns of a frame that is wide enough to be clicked


class PlotsArea(QWidget):
    """Plots of frames; times of signals and arguments are monotonic [s]."""

    frame_clicked = Signal(int)  # Index of the frame that was clicked
    frame_pointed = Signal(object)  # Index of the frame under the mouse, or None
    region_changed = Signal()
    window_changed = Signal()  # The user zoomed
    hold_requested = Signal()  # The user selected something: pause the view

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frames: FrameTable | None = None
        self.choice = TimingsOptions()
        self.window_shown = TimeWindow()
        self.is_held = False
        self.region: tuple[float, float] | None = None
        self.status = TimerStatus()
        self._under_mouse: float | None = None
        self._chosen: FrameSample | None = None
        self.plots = {quantity: StackPlot(quantity, self) for quantity in Quantity}
        self.headers = {quantity: PlotHeader(self) for quantity in Quantity}
        self._arrange()
        for plot in self.plots.values():
            self._connect(plot)

    def _arrange(self) -> None:
        self._grid = layout = QGridLayout(self)
        self._columns = {quantity: column for column, quantity in enumerate(Quantity)}
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(SPACE)
        layout.setVerticalSpacing(0)
        for quantity, column in self._columns.items():
            layout.addWidget(self.headers[quantity], 0, column)
            layout.addWidget(self.plots[quantity], 1, column)
        layout.setRowStretch(1, 1)

    def _connect(self, plot: StackPlot) -> None:
        box = plot.box
        box.zoomed.connect(self._zoom)
        box.panned.connect(self._pan)
        box.region_dragged.connect(self._drag_region)
        box.clicked.connect(self._click)
        box.double_clicked.connect(lambda _: self.set_region(None))
        plot.region_moved.connect(self._move_region)
        plot.pointed.connect(self._point)

    def draw(self, frames: FrameTable, choice: TimingsOptions) -> None:
        self.frames, self.choice = frames, choice
        for quantity, plot in self.plots.items():
            is_shown = quantity in choice.shown.quantities
            plot.setVisible(is_shown)
            self.headers[quantity].setVisible(is_shown)
            self._grid.setColumnStretch(self._columns[quantity], int(is_shown))
            if is_shown and len(frames):
                plot.draw(frames, choice, self.window_shown)
        self._show_marks()

    def set_status(self, status: TimerStatus) -> None:
        self.status = status
        self._show_titles()

    def set_window(self, window: TimeWindow) -> None:
        self.window_shown = window
        if self.frames is not None:
            self.draw(self.frames, self.choice)
        self.window_changed.emit()

    def set_held(self, held: bool) -> None:
        """Holds the frames; releasing them clears the region and shows the newest frames."""
        self.is_held = held
        if not held:
            self.set_region(None)
            self.set_window(self.window_shown.live())

    def set_region(self, region: tuple[float, float] | None) -> None:
        if region != self.region:
            self.region = region
            self._show_marks()
            self.region_changed.emit()

    def set_chosen(self, sample: FrameSample | None) -> None:
        """Selects a frame, and scrolls to it while frames are held."""
        self._chosen = sample
        if sample is not None and self.is_held and self.frames is not None:
            window = self.window_shown.showing(sample.begin - self.frames.now)
            if window != self.window_shown:
                self.set_window(window)
        self._show_marks()

    def extent(self) -> slice:
        """Returns the frames of the statistics: in the region, else in the window."""
        if self.frames is None:
            return slice(0, 0)
        now, window = self.frames.now, self.window_shown
        return self.frames.region(*(self.region or (now + window.left, now + window.right)))

    def pointed_index(self) -> int | None:
        """Returns the index of the frame that the pixel column under the mouse shows."""
        frames = self.frames
        if frames is None or self._under_mouse is None or not len(frames):
            return None
        return self._index_at(self._under_mouse)

    def _index_at(self, time: float) -> int | None:
        assert self.frames is not None
        plot = self.plots[self.choice.quantity]
        columns = plot.columns
        if columns is None:
            return None
        count = len(columns.chosen)
        place = int((time - self.window_shown.left) / self.window_shown.span * count)
        index = int(columns.chosen[min(max(place, 0), count - 1)])
        return index if index >= 0 else None

    def _spike_at(self, time: float) -> int | None:
        """Returns the frame at a time, or the slowest one within a few pixels if frames are narrow."""
        plot, index = self.plots[self.choice.quantity], self._index_at(time)
        columns = plot.columns
        assert self.frames is not None
        if columns is None or np.count_nonzero(columns.chosen == index) > _EASY_TO_HIT:
            return index
        count = len(columns.chosen)
        place = int((time - self.window_shown.left) / self.window_shown.span * count)
        reach = round(_REACH * plot.devicePixelRatioF())
        near = slice(max(place - reach, 0), max(place + reach + 1, 0))
        heights = np.where(columns.chosen[near] < 0, -1.0, np.nan_to_num(columns.times[:, near].sum(axis=0)))
        if not len(heights) or heights.max() < 0.0:
            return index
        return int(columns.chosen[near][int(heights.argmax())])

    # --- the mouse ------------------------------------------------------------------------------------

    def _zoom(self, factor: float, at: float) -> None:
        self.set_window(self.window_shown.zoomed(factor, at if self.is_held else self.window_shown.right))

    def _pan(self, seconds: float) -> None:
        self.hold_requested.emit()
        self.set_window(self.window_shown.panned(seconds))

    def _drag_region(self, begin: float, end: float) -> None:
        self.hold_requested.emit()
        if end > begin:
            self._move_region(begin, end)

    def _move_region(self, begin: float, end: float) -> None:
        if self.frames is not None:
            self.set_region((self.frames.now + begin, self.frames.now + end))

    def _click(self, time: float) -> None:
        if self.frames is None or not len(self.frames):
            return
        index = self._spike_at(time)
        if index is not None:
            begin = self.frames.begins[index]
            self.hold_requested.emit()
            # Holding copies the frames; there may be newer ones.
            index = self.frames.at(begin)
            if index is not None:
                self.frame_clicked.emit(index)

    def _point(self, time: float | None) -> None:
        self._under_mouse = time
        self._show_cross()
        self.frame_pointed.emit(self.pointed_index())

    # --- marks and texts ------------------------------------------------------------------------------

    def _show_marks(self) -> None:
        if self.frames is None:
            return
        now = self.frames.now
        for plot in self.plots.values():
            plot.mark(None if self._chosen is None else self._chosen.begin - now)
            plot.show_region(None if self.region is None else (self.region[0] - now, self.region[1] - now))
        self._show_cross()
        self._show_titles()

    def _show_cross(self) -> None:
        index = self.pointed_index()
        for quantity, plot in self.plots.items():
            total = None
            if index is not None and self.frames is not None:
                total = float(self.frames.total(quantity, slice(index, index + 1))[0])
                total = None if math.isnan(total) else total
            plot.point_at(self._under_mouse, total)
            self.headers[quantity].reading.setText(self._reading(index, total))

    def _reading(self, index: int | None, total: float | None) -> str:
        if index is None or self.frames is None:
            return ""
        when = ago(float(self.frames.begins[index]) - self.frames.now)
        cost = "lost" if total is None else f"{milliseconds(total)} ms"
        return SEPARATOR_DOT.join((when, f"frame {self.frames.sample(index).number:,}", cost))

    def _show_titles(self) -> None:
        unit = "share of the frame [%]" if self.choice.unit is Unit.SHARE else "[ms]"
        for quantity, header in self.headers.items():
            source = source_of(quantity, self.status.source)
            header.set_title(f"{quantity.name} {unit}{SEPARATOR_DOT}{source}")
            tip = f"{quantity.name} times of each pass, source: {source}.\n"
            header.setToolTip(tip + honesty_tip(self.status))
            self.plots[quantity].setToolTip(tip + _HOW)
