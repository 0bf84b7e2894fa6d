"""The page of frames: legend with figures, stacks over time, histogram and the chosen frame."""

import math

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QTabWidget, QVBoxLayout, QWidget

from sim.profile.sample import FrameSample, TimerStatus
from widgets.parts import ShareSplitter, packed
from widgets.theme import SPACE, tabular
from widgets.timings.choice import TimingsOptions
from widgets.timings.colours import pass_colour
from widgets.timings.distribution_plot import DistributionPlot, Series
from widgets.timings.frame_panel import FramePanel
from widgets.timings.frames import TOTAL, FrameTable, RegionStatistics, statistics_of, values_of
from widgets.timings.pass_table import PassTable
from widgets.timings.plots_area import PlotsArea
from widgets.timings.texts import SEPARATOR_DOT, honesty_tip, source_of

_HISTOGRAM, _FRAME = range(2)
_WIDE = 150
"""Characters that have to fit into a wide page."""


class FramesPage(QWidget):
    """Joins the parts; it decides nothing about measuring."""

    frame_chosen = Signal(object)  # The `FrameSample` that the user chose

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table, self.area = PassTable(self), PlotsArea(self)
        self.histogram, self.frame_panel = DistributionPlot(self), FramePanel(self)
        self.summary = QLabel(self)
        self.figures: RegionStatistics | None = None
        self.chosen: FrameSample | None = None
        self._status = TimerStatus()
        self._arrange()
        self._connect()

    # --- what is shown --------------------------------------------------------------------------------

    def draw(self, frames: FrameTable, choice: TimingsOptions) -> None:
        """Shows these frames; the figures stay until `count`."""
        self.area.draw(frames, choice)
        if self.table.pass_model.choice != choice:
            self.table.pass_model.set_choice(choice, self._status)
            self.table.viewport().update()

    def count(self) -> None:
        frames, choice = self.area.frames, self.area.choice
        if frames is None:
            return
        where = self.area.extent()
        self.figures = statistics_of(frames, choice.level, choice.quantity, where)
        self.table.pass_model.set_statistics(self.figures)
        self.summary.setText(self._summary(self.figures))
        self._show_histogram(frames, choice, where)
        self._show_here()

    def set_status(self, status: TimerStatus) -> None:
        """Says how the figures are measured."""
        self._status = status
        self.area.set_status(status)
        self.table.pass_model.set_choice(self.area.choice, status)
        tip = honesty_tip(status)
        self.summary.setToolTip(tip)
        self.histogram.setToolTip(f"Share of the frames over their time; dashed: the median, 16.7 and 33.3 ms.\n{tip}")

    def choose(self, sample: FrameSample | None) -> None:
        self.chosen = sample
        self.frame_panel.show_sample(sample)
        self.area.set_chosen(sample)
        if sample is not None:
            self.side.setCurrentIndex(_FRAME)
        self._show_here()

    # --- choosing -------------------------------------------------------------------------------------

    def choose_index(self, index: int) -> None:
        """The user chose a frame."""
        frames = self.area.frames
        if frames is not None and 0 <= index < len(frames):
            sample = frames.sample(index)
            self.choose(sample)
            self.frame_chosen.emit(sample)

    def choose_worst(self) -> None:
        """The costliest frame of the region, or of the window."""
        self.area.hold_requested.emit()
        frames, where = self.area.frames, self.area.extent()
        if frames is None:
            return
        cost = frames.total(self.area.choice.quantity, where)
        if len(cost) and not np.isnan(cost).all():
            self.choose_index(where.start + int(np.nanargmax(cost)))

    def step(self, frames: int) -> None:
        """Chooses a neighbour of the chosen frame."""
        if self.chosen is None:
            return
        begin = self.chosen.begin
        self.area.hold_requested.emit()
        shown = self.area.frames
        if shown is not None:
            self.choose_index(int(np.searchsorted(shown.begins, begin, "left")) + frames)

    # --- parts ----------------------------------------------------------------------------------------

    def _show_here(self) -> None:
        """Values of the frame under the mouse, else of the chosen one, else of the newest one."""
        frames, choice = self.area.frames, self.area.choice
        if frames is None or not len(frames):
            return
        index = self.area.pointed_index()
        if index is None and self.chosen is not None:
            index = frames.at(self.chosen.begin)
        index = len(frames) - 1 if index is None else index
        one = slice(index, index + 1)
        here = {
            band.path: float(frames.values(band, choice.quantity, one)[0]) for band in frames.bands(choice.level)
        } | {TOTAL: float(frames.total(choice.quantity, one)[0])}
        self.table.pass_model.set_here(here)

    def _summary(self, figures: RegionStatistics) -> str:
        rate = "– fps" if math.isnan(figures.rate) else f"{figures.rate:.1f} fps"
        kind = "in the region" if self.area.region is not None else "shown"
        return SEPARATOR_DOT.join((f"{figures.frames:,} frames {kind}", rate, f"{figures.seconds:.2f} s"))

    def _show_histogram(self, frames: FrameTable, choice: TimingsOptions, where: slice) -> None:
        bands = frames.bands(choice.level)
        path = choice.solo if any(band.path == choice.solo for band in bands) else TOTAL
        times = values_of(frames, choice.level, path, choice.quantity, where)
        colour = pass_colour(path) if path else QColor(self.palette().color(QPalette.ColorRole.Highlight))
        self.histogram.show_series([Series(path or "Total", times, colour)])
        source = source_of(choice.quantity, self._status.source)
        title = f"{path or 'Total'}: frames [%] over {choice.quantity.name} [ms]"
        self.histogram.header.set_title(SEPARATOR_DOT.join((title, source)))

    def _arrange(self) -> None:
        self.summary.setFont(tabular(self.font()))
        self.summary.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.summary.setWordWrap(True)
        self.summary.setContentsMargins(SPACE, 0, SPACE, 0)
        legend = QWidget(self)
        packed(QVBoxLayout(legend), (self.table, 1), self.summary)
        self.side = QTabWidget(self)
        self.side.setDocumentMode(True)
        self.side.addTab(self.histogram, "Histogram")
        self.side.addTab(self.frame_panel, "Frame")
        self.side.setCornerWidget(self.frame_panel.buttons)
        self.splitter = ShareSplitter([(legend, 4), (self.area, 6), (self.side, 3)], 1, self)
        packed(QVBoxLayout(self), self.splitter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.frame_panel.set_compact(self.width() < _WIDE * self.fontMetrics().averageCharWidth())
        bar = self.side.tabBar().sizeHint().width() + self.frame_panel.buttons.sizeHint().width()
        self.side.setMinimumWidth(bar + SPACE)

    def _connect(self) -> None:
        area = self.area
        area.frame_clicked.connect(self.choose_index)
        area.frame_pointed.connect(lambda _: self._show_here())
        area.region_changed.connect(self.count)
        area.window_changed.connect(self.count)
        self.frame_panel.worst_requested.connect(self.choose_worst)
        self.frame_panel.stepped.connect(self.step)
