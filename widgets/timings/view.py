"""The Timings panel: what every frame costs, pass by pass."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QLayout, QSizePolicy, QVBoxLayout, QWidget

from sim.profile.history import QuantityHistory, TimingRecording
from sim.profile.sample import FrameSample, TimerStatus
from widgets.empty_state import EmptyState
from widgets.parts import Pages, packed
from widgets.theme import SPACE, icon, tabular
from widgets.timings.choice import TimingsOptions
from widgets.timings.compare_page import ComparePage
from widgets.timings.frames import FrameTable
from widgets.timings.frames_page import FramesPage
from widgets.timings.texts import empty_texts, honesty_text, honesty_tip
from widgets.timings.toolbar import Toolbar
from widgets.timings.window import TimeWindow

INTERVAL = 100
"""Between two refreshes [ms]: ten pictures a second look live."""

_FIGURES_INTERVAL = 500
"""Least time between two counts of the figures [ms], which could not be read faster."""

_FIGURES_SHARE = 100
"""Counting takes at most this part of the time."""


class SourceLabel(QLabel):
    """Source, latency, dropped and discarded samples, vsync and own cost; the reasons are in the tooltip."""

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
        """Says something else, if it differs."""
        text, tip = honesty_text(status), honesty_tip(status)
        if text != self.text():
            self.setText(text)
        if tip != self.toolTip():
            self.setToolTip(tip)
            self.setAccessibleDescription(tip)


class TimingsView(QWidget):
    """Shows a history that others fill, and tells what the user wants.

    Attributes:
        pause_action: Holds and releases the view; its key works inside the panel.
    """

    frame_chosen = Signal(object)  # A `FrameSample` was chosen
    held_changed = Signal(bool)  # The view is held, or live again
    timing_toggled = Signal(bool)  # Measuring is to be switched on or off
    record_requested = Signal(str)  # Name of a recording to begin
    record_stopped = Signal()  # The recording is to end
    recording_removed = Signal(str)  # Name of a recording to forget
    # import_requested, export_csv_requested, export_trace_requested, clear_requested: Menu entries
    import_requested = Signal()
    export_csv_requested = Signal()
    export_trace_requested = Signal()
    clear_requested = Signal()
    back_ends_requested = Signal()  # Transform feedback and compute are to be compared
    state_changed = Signal()  # `state()` is another one

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = QuantityHistory()
        self._held: FrameTable | None = None
        self._choice = self._before_click = TimingsOptions()
        self._drawn_version = -1
        self._since_figures, self._since_status = QElapsedTimer(), QElapsedTimer()
        self._since_status.start()
        self._figures_pause = 0
        self.status = TimerStatus()
        self.toolbar, self.honesty = Toolbar(self), SourceLabel(self)
        self.frames_page, self.compare_page = FramesPage(self), ComparePage(self)
        self.empty = EmptyState("mdi6.timer-outline", "", "", self)
        self.pages = Pages(self.empty, self.frames_page, self.compare_page)
        self.pause_action = self._make_pause_action()
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self._refresh_if_seen)
        self._arrange()
        self._connect()
        self._show_page()

    # --- what others tell -----------------------------------------------------------------------------

    def set_history(self, history: QuantityHistory) -> None:
        """Shows another history; a held view is live again."""
        self._history = history
        self.choose_frame(None)
        self.go_live()
        self.redraw()

    def set_status(self, status: TimerStatus) -> None:
        is_urgent = (status.enabled, status.source) != (self.status.enabled, self.status.source)
        self.status = status
        # Its counts change with every frame, faster than they could be read.
        if is_urgent or self._since_status.elapsed() > _FIGURES_INTERVAL:
            self._show_status()

    def _show_status(self) -> None:
        status = self.status
        self._since_status.start()
        self.honesty.set_status(status)
        self.frames_page.set_status(status)
        self.toolbar.set_measuring(status.enabled)
        self._show_page()

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        self.toolbar.set_taken([one.name for one in recordings])
        self.compare_page.set_recordings(recordings)

    def set_recording(self, active: bool, frames: int = 0) -> None:
        self.toolbar.set_recording(active, frames)

    def choose_frame(self, sample: FrameSample | None) -> None:
        """Marks a frame without telling of it."""
        self.frames_page.choose(sample)

    def compare(self, a: str, b: str) -> None:
        self.compare_page.choose(a, b)
        self.toolbar.compare_button.setChecked(True)

    # --- live or held ---------------------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def hold(self) -> None:
        """The view stands still; frames go on to be measured and kept."""
        if self._held is None:
            self._held = FrameTable(self._history).cached()
            self.frames_page.area.set_held(True)
            self.frames_page.draw(self._held, self._choice)
            self._count()
            self._show_held()

    def go_live(self) -> None:
        """The newest frames are shown again."""
        if self._held is not None:
            self._held = None
            self.frames_page.area.set_held(False)
            self._show_held()
            self.redraw()

    def _show_held(self) -> None:
        self.toolbar.set_held(self.is_held)
        self.pause_action.setChecked(self.is_held)
        self.held_changed.emit(self.is_held)

    # --- drawing --------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draws what is new, unless the view is held."""
        if self._held is not None or self._history.version == self._drawn_version:
            return
        self._drawn_version = self._history.version
        self._show_page()
        self.frames_page.draw(FrameTable(self._history), self._choice)
        if self._since_figures.elapsed() >= self._figures_pause:
            self._count()

    def redraw(self) -> None:
        """Draws everything once more."""
        self._show_page()
        self._drawn_version = self._history.version
        self.frames_page.draw(FrameTable(self._history) if self._held is None else self._held, self._choice)
        self._count()

    def _count(self) -> None:
        """Counts the figures; the longer that takes, the longer it waits until it does so again."""
        self._since_figures.start()
        self.frames_page.count()
        self._figures_pause = max(_FIGURES_INTERVAL, _FIGURES_SHARE * self._since_figures.elapsed())

    def _refresh_if_seen(self) -> None:
        # Behind another tab the panel is not hidden, but nothing of it can be seen.
        if self.visibleRegion().isEmpty():
            return
        self.refresh()
        if self._since_status.elapsed() > _FIGURES_INTERVAL:
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
        """Shows something else of the frames."""
        if choice != self._choice:
            self._choice = choice
            self.toolbar.show_choice(choice)
            self.redraw()
            self.state_changed.emit()

    def _toggle(self, path: str) -> None:
        self._before_click = self._choice
        self.set_choice(self._choice.toggled(path))

    def state(self) -> dict[str, str]:
        """View settings, to be kept between sessions."""
        return self._choice.state() | {"seconds": f"{self.frames_page.area.window_shown.span:g}"}

    def restore(self, state: dict[str, str]) -> None:
        """Takes what `state` gave; what is missing or unknown stays as it is."""
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

    def _make_pause_action(self) -> QAction:
        action = QAction(icon("pause"), "Pause", self)
        action.setCheckable(True)
        action.setShortcut(QKeySequence("Shift+P"))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setToolTip("Hold the view of the timings; measuring goes on.")
        action.triggered.connect(self._set_held)
        self.addAction(action)
        return action

    def _set_held(self, held: bool) -> None:
        (self.hold if held else self.go_live)()

    def _arrange(self) -> None:
        layout = packed(QVBoxLayout(self), self.toolbar, (self.pages, 1), self.honesty)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.toolbar.show_choice(self._choice)

    def _connect(self) -> None:
        bar, page = self.toolbar, self.frames_page
        bar.measure_button.toggled.connect(self.timing_toggled)
        bar.pause_button.toggled.connect(self._set_held)
        bar.live_button.clicked.connect(self.go_live)
        bar.choice_edited.connect(lambda: self.set_choice(bar.apply_to(self._choice)))
        bar.record_requested.connect(self._record)
        bar.record_stopped.connect(self.record_stopped)
        bar.compare_button.toggled.connect(lambda _: self._show_page())
        for text, name, signal in (
            ("Compare Back Ends", "compare", self.back_ends_requested),
            ("Import CSV…", "open", self.import_requested),
            ("Export CSV…", "save", self.export_csv_requested),
            ("Export Chrome Trace…", "save", self.export_trace_requested),
            ("Clear", "clear", self.clear_requested),
        ):
            bar.menu.addAction(icon(name), text).triggered.connect(signal)
        page.frame_chosen.connect(self.frame_chosen)
        page.area.hold_requested.connect(self.hold)
        page.area.window_changed.connect(self.state_changed)
        page.table.toggled.connect(self._toggle)
        page.table.soloed.connect(lambda path: self.set_choice(self._choice.soloed(path)))
        page.table.double_clicked.connect(lambda path: self.set_choice(self._before_click.soloed(path)))
        page.table.all_requested.connect(lambda: self.set_choice(replace(self._choice, hidden=frozenset(), solo="")))
        self.compare_page.remove_requested.connect(self.recording_removed)
        self.compare_page.list.export_csv_requested.connect(self.export_csv_requested)
        self.compare_page.list.export_trace_requested.connect(self.export_trace_requested)

    def _record(self, name: str) -> None:
        """A recording needs frames that are measured."""
        if not self.status.enabled:
            self.timing_toggled.emit(True)
        self.record_requested.emit(name)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self.redraw()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
