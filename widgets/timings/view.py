from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QElapsedTimer, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.profile.history import QuantityHistory, TimingRecording
from sinew.sim.profile.sample import TimerStatus
from sinew.widgets.icons import icon
from sinew.widgets.parts import EmptyState, FlowRow, Pages, choice_box, packed, tool_button
from sinew.widgets.theme import SPACE, tabular
from sinew.widgets.timings.compare_page import ComparePage
from sinew.widgets.timings.frames import FrameTable, Level, PlottedTimes, TimingsOptions, Unit
from sinew.widgets.timings.frames_page import FramesPage
from sinew.widgets.timings.plot_parts import TimeWindow
from sinew.widgets.timings.texts import empty_texts, honesty_text, honesty_tip

_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
_NAME_CHARACTERS = 16


class Toolbar(FlowRow):
    record_requested = Signal(str)  # Name of the recording
    record_stopped = Signal()
    choice_edited = Signal()  # Times, unit or level

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._taken: set[str] = set()
        self.measure_button = tool_button(
            "mdi6.timer-outline", "Measure", "Measure the frame time of each pass", checkable=True
        )
        self.pause_button = tool_button(
            "pause", "Pause", "Pause the view; measuring continues (Shift+P)", checkable=True
        )
        self.live_button = tool_button("last", "Live", "Back to the newest frames")
        self.shown_box = choice_box("GPU times, CPU times, or both", [(times.value, times) for times in PlottedTimes])
        self.unit_box = choice_box(
            "Milliseconds, or share of the frame", [("ms", Unit.MILLISECONDS), ("%", Unit.SHARE)]
        )
        self.level_box = choice_box("Detail of the stack", [(level.label, level) for level in Level])
        self.name_edit = QLineEdit(self, placeholderText=self._free_name())
        self.record_button = tool_button("mdi6.record", "Record", "", checkable=True, act=self._record)
        self.compare_button = tool_button("compare", "Compare", "Compare two recordings", checkable=True)
        self.menu = QMenu(self)
        more = "Compare back ends, import, export, clear"
        self.more_button = tool_button("mdi6.dots-horizontal", "", more, menu=self.menu)
        self.name_edit.setAccessibleName("Name of the next recording")
        self.name_edit.setToolTip("Name of the next recording")
        self.name_edit.setFixedWidth(self.fontMetrics().averageCharWidth() * _NAME_CHARACTERS)
        self.name_edit.returnPressed.connect(self.record_button.click)
        for box in (self.shown_box, self.unit_box, self.level_box):
            box.currentIndexChanged.connect(lambda _: self.choice_edited.emit())
        self.live_button.setEnabled(False)
        self.add(
            self.measure_button, self.pause_button, self.live_button, self.shown_box, self.unit_box, self.level_box,
            self.name_edit, self.record_button, self.compare_button, self.more_button,
        )  # fmt: skip
        self.set_recording(False)

    # --- state ----------------------------------------------------------------------------------------

    def apply_to(self, choice: TimingsOptions) -> TimingsOptions:
        return TimingsOptions(
            self.shown_box.currentData(),
            self.unit_box.currentData(),
            self.level_box.currentData(),
            choice.hidden,
            choice.solo,
        )

    def show_choice(self, choice: TimingsOptions) -> None:
        """Shows options without emitting a signal."""
        for box, value in (
            (self.shown_box, choice.shown),
            (self.unit_box, choice.unit),
            (self.level_box, choice.level),
        ):
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(value))

    def set_measuring(self, measuring: bool) -> None:
        with QSignalBlocker(self.measure_button):
            self.measure_button.setChecked(measuring)

    def set_held(self, held: bool) -> None:
        with QSignalBlocker(self.pause_button):
            self.pause_button.setChecked(held)
        self.live_button.setEnabled(held)

    def set_recording(self, active: bool, frames: int = 0) -> None:
        with QSignalBlocker(self.record_button):
            self.record_button.setChecked(active)
        self.record_button.setText(f"Stop · {frames:,} frames" if active else "Record")
        self.record_button.setIcon(icon("stop" if active else "mdi6.record", "error"))
        tip = "Stop recording" if active else "Record frames under this name, to compare or export them"
        self.record_button.setToolTip(tip)
        self.name_edit.setEnabled(not active)

    def set_taken(self, names: Sequence[str]) -> None:
        """Sets the names of the existing recordings; the placeholder is a name that is free."""
        self._taken = set(names)
        self.name_edit.setPlaceholderText(self._free_name())

    def name(self) -> str:
        return self.name_edit.text().strip() or self._free_name()

    def _free_name(self) -> str:
        number = 1
        while f"Recording {number}" in self._taken:
            number += 1
        return f"Recording {number}"

    # --- parts ----------------------------------------------------------------------------------------

    def _record(self, on: bool) -> None:
        # The button shows the state of recording, which `set_recording` changes.
        with QSignalBlocker(self.record_button):
            self.record_button.setChecked(not on)
        if on:
            self.record_requested.emit(self.name())
            self.name_edit.clear()
        else:
            self.record_stopped.emit()


INTERVAL = 100  # [ms] between two refreshes

_STATISTICS_INTERVAL = 500  # [ms], shortest time between two updates of the statistics

_STATISTICS_SHARE = 100
"""Pause after an update of the statistics, as a multiple of its duration."""


class SourceLabel(QLabel):
    """Source, latency, dropped and discarded samples, vsync and own cost; its tooltip explains them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.setFont(tabular(self.font()))
        self.setContentsMargins(SPACE, 0, SPACE, SPACE // 2)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_status(TimerStatus())

    def set_status(self, status: TimerStatus) -> None:
        text, tip = honesty_text(status), honesty_tip(status)
        if text != self.text():
            self.setText(text)
        if tip != self.toolTip():
            self.setToolTip(tip)
            self.setAccessibleDescription(tip)


class TimingsView(QWidget):
    held_changed = Signal(bool)  # The view was paused or resumed
    state_changed = Signal()  # `state()` has changed

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = QuantityHistory()
        self._held: FrameTable | None = None
        self._choice = self._before_click = TimingsOptions()
        self._drawn_version = -1
        self._since_statistics, self._since_status = QElapsedTimer(), QElapsedTimer()
        self._since_status.start()
        self._statistics_pause = 0
        self.status = TimerStatus()
        self.toolbar, self.honesty = Toolbar(self), SourceLabel(self)
        self.frames_page, self.compare_page = FramesPage(self), ComparePage(self)
        self.empty = EmptyState("mdi6.timer-outline", "", "", self)
        self.pages = Pages(self.empty, self.frames_page, self.compare_page)
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self._refresh_if_seen)
        layout = packed(QVBoxLayout(self), self.toolbar, (self.pages, 1), self.honesty)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.toolbar.show_choice(self._choice)
        self._connect()
        self._show_page()

    # --- input ----------------------------------------------------------------------------------------

    def set_history(self, history: QuantityHistory) -> None:
        """Shows another history; resumes a paused view."""
        self._history = history
        self.frames_page.choose(None)
        self.go_live()
        self.redraw()

    def set_status(self, status: TimerStatus) -> None:
        is_urgent = (status.enabled, status.source) != (self.status.enabled, self.status.source)
        self.status = status
        # Its counts change with every frame, faster than they can be read.
        if is_urgent or self._since_status.elapsed() > _STATISTICS_INTERVAL:
            self._show_status()

    def _show_status(self) -> None:
        status = self.status
        self._since_status.start()
        self.honesty.set_status(status)
        self.frames_page.set_status(status)
        self.toolbar.set_measuring(status.enabled)
        self._show_page()

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        self.toolbar.set_taken([recording.name for recording in recordings])
        self.compare_page.set_recordings(recordings)

    def compare(self, a: str, b: str) -> None:
        self.compare_page.choose(a, b)
        self.toolbar.compare_button.setChecked(True)

    # --- live or held ---------------------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def set_held(self, held: bool) -> None:
        (self.hold if held else self.go_live)()

    def hold(self) -> None:
        """Pauses the view; frames are still measured."""
        if self._held is None:
            self._held = FrameTable(self._history).cached()
            self.frames_page.area.set_held(True)
            self.frames_page.draw(self._held, self._choice)
            self._count()
            self._show_held()

    def go_live(self) -> None:
        if self._held is not None:
            self._held = None
            self.frames_page.area.set_held(False)
            self._show_held()
            self.redraw()

    def _show_held(self) -> None:
        self.toolbar.set_held(self.is_held)
        self.held_changed.emit(self.is_held)

    # --- drawing --------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draws new frames unless the view is paused."""
        if self._held is not None or self._history.version == self._drawn_version:
            return
        self._drawn_version = self._history.version
        self._show_page()
        self.frames_page.draw(FrameTable(self._history), self._choice)
        if self._since_statistics.elapsed() >= self._statistics_pause:
            self._count()

    def redraw(self) -> None:
        self._show_page()
        self._drawn_version = self._history.version
        self.frames_page.draw(FrameTable(self._history) if self._held is None else self._held, self._choice)
        self._count()

    def _count(self) -> None:
        """Updates the statistics; the longer that takes, the less often it is done."""
        self._since_statistics.start()
        self.frames_page.count()
        self._statistics_pause = max(_STATISTICS_INTERVAL, _STATISTICS_SHARE * self._since_statistics.elapsed())

    def _refresh_if_seen(self) -> None:
        # A panel behind another tab is not hidden, but has no visible region.
        if self.visibleRegion().isEmpty():
            return
        self.refresh()
        if self._since_status.elapsed() > _STATISTICS_INTERVAL:
            self._show_status()

    def _show_page(self) -> None:
        if self.toolbar.compare_button.isChecked():
            page: QWidget = self.compare_page
        else:
            page = self.frames_page if len(self._history) or self.is_held else self.empty
        self.empty.set_text(*empty_texts(self.status.enabled))
        if self.pages.currentWidget() is not page:
            self.pages.setCurrentWidget(page)

    # --- choosing -------------------------------------------------------------------------------------

    @property
    def choice(self) -> TimingsOptions:
        return self._choice

    def set_choice(self, choice: TimingsOptions) -> None:
        if choice != self._choice:
            self._choice = choice
            self.toolbar.show_choice(choice)
            self.redraw()
            self.state_changed.emit()

    def _toggle(self, path: str) -> None:
        self._before_click = self._choice
        self.set_choice(self._choice.toggled(path))

    def state(self) -> dict[str, str]:
        return self._choice.state() | {"seconds": f"{self.frames_page.area.window_shown.span:g}"}

    def restore(self, state: dict[str, str]) -> None:
        """Restores saved options; ignores missing and unknown settings."""
        self.set_choice(self._choice.restored(state))
        try:
            seconds = float(state.get("seconds", ""))
        except ValueError:
            return
        if seconds > 0.0:
            window = TimeWindow(-1.0, 0.0).zoomed(seconds, 0.0)
            self.frames_page.area.set_window(window)

    def minimumSizeHint(self) -> QSize:
        page = self.pages.minimumSizeHint()
        rows = self.toolbar.minimumSizeHint().height() + self.honesty.fontMetrics().height()
        return QSize(page.width(), page.height() + rows)

    # --- parts ----------------------------------------------------------------------------------------

    def _connect(self) -> None:
        bar, page = self.toolbar, self.frames_page
        bar.pause_button.toggled.connect(self.set_held)
        bar.live_button.clicked.connect(self.go_live)
        bar.choice_edited.connect(lambda: self.set_choice(bar.apply_to(self._choice)))
        bar.compare_button.toggled.connect(lambda _: self._show_page())
        page.area.hold_requested.connect(self.hold)
        page.area.window_changed.connect(self.state_changed)
        page.table.toggled.connect(self._toggle)
        page.table.soloed.connect(lambda path: self.set_choice(self._choice.soloed(path)))
        page.table.double_clicked.connect(lambda path: self.set_choice(self._before_click.soloed(path)))
        page.table.all_requested.connect(lambda: self.set_choice(replace(self._choice, hidden=frozenset(), solo="")))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self.redraw()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
