"""Page of frames: legend with statistics, stacks over time, histogram and the selected frame."""

import math

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QStackedLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.profile.sample import FrameSample, TimerStatus
from sinew.widgets.parts import ShareSplitter, packed, text_label, tool_button
from sinew.widgets.texts import tip_text
from sinew.widgets.theme import SPACE, tabular
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.distribution_plot import DistributionPlot, Series
from sinew.widgets.timings.frames import TOTAL, FrameTable, RegionStatistics, TimingsOptions, statistics_of, values_of
from sinew.widgets.timings.pass_table import PassList, PassTable
from sinew.widgets.timings.plots_area import PlotsArea
from sinew.widgets.timings.texts import SEPARATOR_DOT, frame_facts, honesty_tip, milliseconds, source_of

_HEADINGS = ("Pass", "GPU ms", "CPU ms")


class FramePanel(QWidget):
    """Panel of one frame; `buttons` select a frame and stand next to its title."""

    stepped = Signal(int)  # Select the previous (-1) or next (1) frame

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sample: FrameSample | None = None
        self.empty = text_label("Click a spike in the plot to see its frame, or press Slowest Frame.", self, dim=True)
        self.buttons = QWidget(self)
        self.facts = text_label(parent=self, dim=True, copied=True)
        self.passes = self._make_passes()
        self.previous_button = tool_button("previous", "", "Previous frame", act=lambda: self.stepped.emit(-1))
        self.next_button = tool_button("next", "", "Next frame", act=lambda: self.stepped.emit(1))
        self.worst_button = tool_button(
            "mdi6.arrow-up-bold-outline", "Slowest Frame", "Select the slowest of the frames shown"
        )
        self._arrange()

    def show_sample(self, sample: FrameSample | None) -> None:
        self.sample = sample
        self._stack.setCurrentIndex(0 if sample is None else 1)
        self.previous_button.setEnabled(sample is not None)
        self.next_button.setEnabled(sample is not None)
        if sample is None:
            return
        self.facts.setText(frame_facts(sample))
        self._show_passes(sample)

    def set_compact(self, compact: bool) -> None:
        """Hides the text of buttons that have an icon."""
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        self.worst_button.setToolButtonStyle(alone if compact else beside)

    def _show_passes(self, sample: FrameSample) -> None:
        passes = sorted(merged_slices(sample).items(), key=lambda item: -_rank(item[1]))
        self.passes.set_passes({path: path if runs == 1 else f"{path} ×{runs}" for path, (_, _, runs) in passes})
        for path, (gpu, cpu, runs) in passes:
            tip = tip_text(f"{path}, with all its parts\nGPU source: {sample.source.value}")
            self.passes.fill(path, (milliseconds(gpu), milliseconds(cpu)), tip)
            name_tip = tip_text(path if runs == 1 else f"{path}: sum of {runs} runs")
            self.passes.items_by_path[path].setToolTip(0, name_tip)

    def _make_passes(self) -> PassList:
        passes = PassList(_HEADINGS, "Passes of the frame", self)
        passes.setTextElideMode(Qt.TextElideMode.ElideLeft)
        passes.setMinimumHeight(2 * passes.fontMetrics().height())  # a low dock still shows the facts above
        passes.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        return passes

    def _arrange(self) -> None:
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.facts.setFont(tabular(self.font()))
        self.facts.setContentsMargins(SPACE, 0, SPACE, 0)
        details = QWidget(self)
        packed(QVBoxLayout(details), self.facts, (self.passes, 1))
        packed(QHBoxLayout(self.buttons), self.previous_button, self.next_button, self.worst_button)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(details)


def merged_slices(sample: FrameSample) -> dict[str, tuple[float, float, int]]:
    """Returns GPU and CPU time [s] and number of runs of every pass of a frame."""
    merged: dict[str, tuple[float, float, int]] = {}
    for part in sample.slices:
        gpu, cpu, runs = merged.get(part.path, (0.0, 0.0, 0))
        merged[part.path] = (gpu + part.gpu, cpu + part.cpu, runs + 1)
    return merged


def _rank(times: tuple[float, float, int]) -> float:
    gpu, cpu, _ = times
    return cpu if math.isnan(gpu) else max(gpu, 0.0)


_HISTOGRAM, _FRAME = range(2)
_WIDE = 150  # width of a wide page in characters


class FramesPage(QWidget):
    frame_chosen = Signal(object)  # The user selected a `FrameSample`

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table, self.area = PassTable(self), PlotsArea(self)
        self.histogram, self.frame_panel = DistributionPlot(self), FramePanel(self)
        self.summary = text_label(parent=self, dim=True)
        self.statistics: RegionStatistics | None = None
        self.chosen: FrameSample | None = None
        self._status = TimerStatus()
        self._arrange()
        area = self.area
        area.frame_clicked.connect(self.choose_index)
        area.frame_pointed.connect(lambda _: self._show_current())
        area.region_changed.connect(self.count)
        area.window_changed.connect(self.count)
        self.frame_panel.worst_button.clicked.connect(self.choose_worst)
        self.frame_panel.stepped.connect(self.step)

    def draw(self, frames: FrameTable, choice: TimingsOptions) -> None:
        """Draws frames; does not update the statistics: see `count`."""
        self.area.draw(frames, choice)
        self.table.set_choice(choice, self._status)

    def count(self) -> None:
        frames, choice = self.area.frames, self.area.choice
        if frames is None:
            return
        where = self.area.extent()
        self.statistics = statistics_of(frames, choice.level, choice.quantity, where)
        self.table.set_statistics(self.statistics)
        self.summary.setText(self._summary(self.statistics))
        self._show_histogram(frames, choice, where)
        self._show_current()

    def set_status(self, status: TimerStatus) -> None:
        self._status = status
        self.area.set_status(status)
        self.table.set_choice(self.area.choice, status)
        tip = honesty_tip(status)
        self.summary.setToolTip(tip)
        self.histogram.setToolTip(f"Share of the frames over their time; dashed: the median, 16.7 and 33.3 ms.\n{tip}")

    def choose(self, sample: FrameSample | None) -> None:
        self.chosen = sample
        self.frame_panel.show_sample(sample)
        self.area.set_chosen(sample)
        if sample is not None:
            self.side.setCurrentIndex(_FRAME)
        self._show_current()

    # --- choosing -------------------------------------------------------------------------------------

    def choose_index(self, index: int) -> None:
        frames = self.area.frames
        if frames is not None and 0 <= index < len(frames):
            sample = frames.sample(index)
            self.choose(sample)
            self.frame_chosen.emit(sample)

    def choose_worst(self) -> None:
        """Selects the slowest frame of the region, or of the window."""
        self.area.hold_requested.emit()
        frames, where = self.area.frames, self.area.extent()
        if frames is None:
            return
        cost = frames.total(self.area.choice.quantity, where)
        if len(cost) and not np.isnan(cost).all():
            self.choose_index(where.start + int(np.nanargmax(cost)))

    def step(self, frames: int) -> None:
        if self.chosen is None:
            return
        begin = self.chosen.begin
        self.area.hold_requested.emit()
        shown = self.area.frames
        if shown is not None:
            self.choose_index(int(np.searchsorted(shown.begins, begin, "left")) + frames)

    # --- parts ----------------------------------------------------------------------------------------

    def _show_current(self) -> None:
        """Shows the frame under the mouse, else the selected one, else the newest one."""
        frames, choice = self.area.frames, self.area.choice
        if frames is None or not len(frames):
            return
        index = self.area.pointed_index()
        if index is None and self.chosen is not None:
            index = frames.at(self.chosen.begin)
        index = len(frames) - 1 if index is None else index
        where = slice(index, index + 1)
        bands = frames.bands(choice.level)
        times = {band.path: float(frames.values(band, choice.quantity, where)[0]) for band in bands}
        times[TOTAL] = float(frames.total(choice.quantity, where)[0])
        self.table.set_current(times)

    def _summary(self, statistics: RegionStatistics) -> str:
        rate = "– fps" if math.isnan(statistics.rate) else f"{statistics.rate:.1f} fps"
        place = "in the region" if self.area.region is not None else "shown"
        return SEPARATOR_DOT.join((f"{statistics.frames:,} frames {place}", rate, f"{statistics.seconds:.2f} s"))

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
        self.summary.setContentsMargins(SPACE, 0, SPACE, 0)
        legend = QWidget(self)
        packed(QVBoxLayout(legend), (self.table, 1), self.summary)
        self.side = QTabWidget(self)
        self.side.setDocumentMode(True)
        self.side.addTab(self.histogram, "Histogram")
        self.side.addTab(self.frame_panel, "Frame")
        self.side.setCornerWidget(self.frame_panel.buttons)
        self.splitter = ShareSplitter([(legend, 4), (self.area, 6), (self.side, 3)], self)
        packed(QVBoxLayout(self), self.splitter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.frame_panel.set_compact(self.width() < _WIDE * self.fontMetrics().averageCharWidth())
        bar = self.side.tabBar().sizeHint().width() + self.frame_panel.buttons.sizeHint().width()
        self.side.setMinimumWidth(bar + SPACE)
