import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Signal

from sinew.app.session.active_model import ActiveModel
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.frame_info import FrameInfo
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.timings.past_values import PastValues
from sinew.app.timings.recordings import FRAMES, SIDES, BackEndTrial, Recordings, TimingFiles
from sinew.sim.profile.by_frame import FrameCollector
from sinew.sim.profile.history import QuantityHistory, TimingRecording
from sinew.sim.profile.sample import FrameSample, TimeSource
from sinew.widgets.timeline.cost_strip import CostStrip
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.timings.view import TimingsView

_MEASURE, _LOOK = "timing/measure", "timing/look"
_LATEST = "Latest"
_CSV, _TRACE = "Timings (*.csv)", "Chrome trace (*.json)"


class TimingsPanel(QObject):
    """Connection of measured frames with the timings dock and the timeline.

    Args:
        settings: Stores whether to measure, and the layout of the dock.
        redraw: Requests a frame; measuring starts and ends with a frame.

    Attributes:
        history: Frames of the last minute.
        is_measuring: The renderer follows with its next frame.
    """

    toggled = Signal(bool)  # Measuring started or stopped
    paused = Signal(bool)  # The view was frozen or released
    recording = Signal(bool)  # A recording started or stopped
    hint = Signal(str)  # One line for the status bar
    informed = Signal(str, str)  # A file, or "", and one line
    failed = Signal(str, str)  # A file, or "", and one line

    def __init__(
        self,
        client: ViewportRenderer,
        active: ActiveModel,
        past: PastValues,
        timeline: Timeline,
        dialogs: Dialogs,
        settings: QSettings,
        redraw: Callable[[], None],
    ) -> None:
        super().__init__()
        self._client, self._past, self._dialogs, self._settings = client, past, dialogs, settings
        self._redraw = redraw
        self.view, self.history = TimingsView(), QuantityHistory()
        self.recordings, self.files = Recordings(), TimingFiles()
        self.trial = BackEndTrial(client, redraw)
        self.strip = FrameCostStrip(CostStrip(timeline), active)
        for part in (self.recordings, self.files, self.strip, self.trial):
            part.setParent(self)
        self.is_measuring = False
        self._held_from: int | None = None
        self.view.set_history(self.history)
        look = settings.value(_LOOK)
        self.view.restore(look if isinstance(look, dict) else {})
        self._connect()

    def restore(self) -> None:
        self.measure(bool(self._settings.value(_MEASURE, False, type=bool)))

    # --- commands -------------------------------------------------------------------------------------

    def measure(self, on: bool) -> None:
        """Starts or stops measuring; stopping ends a recording."""
        if not on:
            self.recordings.stop()
            self.trial.stop()
        self.is_measuring = on
        self._client.timing.wanted = on
        self._settings.setValue(_MEASURE, on)
        self._show_status()
        self.strip.set_measuring(on)
        self.toggled.emit(on)
        self._redraw()

    def record(self, name: str = "") -> None:
        if not self.is_measuring:
            self.measure(True)
        self.recordings.start(name, self._client.timing.status)

    def compare_back_ends(self) -> bool:
        """Starts a comparison of the back ends; returns False if it cannot start."""
        back_ends = self._client.engine.context.back_ends if self._client.engine is not None else None
        if back_ends is None or not back_ends.has_compute:
            self.hint.emit(back_ends.status if back_ends is not None else "No frame has been drawn yet")
            return False
        if not self.is_measuring:
            self.measure(True)
        self.trial.start()
        return True

    def clear(self) -> None:
        """Deletes the frames of the last minute and the strip under the ruler; recordings stay."""
        self.history.clear()
        self.strip.clear()
        self._past.clear()
        self.view.set_history(self.history)

    def export_csv(self) -> None:
        self._export(".csv", _CSV, self.files.export_csv)

    def export_trace(self) -> None:
        self._export(".json", _TRACE, self.files.export_trace)

    def import_csv(self) -> None:
        path = self._dialogs.timings_path()
        if path is not None:
            self.files.import_csv(path)

    # --- signals --------------------------------------------------------------------------------------

    def _connect(self) -> None:
        view, recordings, files = self.view, self.recordings, self.files
        self._client.drawn.connect(self._note)
        # Queued, because a change of the layout while painting may resize the viewport.
        self._client.drawn.connect(self._on_drawn, Qt.ConnectionType.QueuedConnection)
        self._client.measured.connect(self._on_measured, Qt.ConnectionType.QueuedConnection)
        view.toolbar.measure_button.toggled.connect(self.measure)
        view.toolbar.record_requested.connect(self.record)
        view.toolbar.record_stopped.connect(recordings.stop)
        view.frames_page.frame_chosen.connect(self._go_back)
        listed = view.compare_page.list
        listed.remove_requested.connect(recordings.remove)
        listed.export_csv_requested.connect(self.export_csv)
        listed.export_trace_requested.connect(self.export_trace)
        view.held_changed.connect(self._on_held)
        view.state_changed.connect(lambda: self._settings.setValue(_LOOK, view.state()))
        recordings.changed.connect(lambda: view.set_recordings(recordings.all))
        recordings.started.connect(self._on_started)
        recordings.stopped.connect(self._on_stopped)
        self.trial.progressed.connect(
            lambda count: self.hint.emit(f"Comparing back ends: {count} of {len(SIDES) * FRAMES} frames")
        )
        self.trial.finished.connect(self._on_compared)
        files.written.connect(lambda path: self.informed.emit(path, "timings exported"))
        files.failed.connect(self.failed)
        files.imported.connect(self._on_imported)

    def _note(self, drawn: FrameInfo) -> None:
        oldest = self.history[0].number if len(self.history) else 0
        self._past.note(drawn.frame, oldest if self._held_from is None else min(oldest, self._held_from))

    def _on_drawn(self, drawn: FrameInfo) -> None:
        self.strip.drawn(drawn.frame)
        self._show_status()

    def _on_measured(self, samples: list[FrameSample]) -> None:
        for sample in samples:
            self.history.append(sample)
        self.strip.feed(samples)
        self.recordings.feed(samples, self._client.timing.status)
        self.trial.feed(samples)
        if self.recordings.running:
            self.view.toolbar.set_recording(True, self.recordings.length)

    def _show_status(self) -> None:
        self.view.set_status(replace(self._client.timing.status, enabled=self.is_measuring))

    def _on_held(self, held: bool) -> None:
        # The scenes of frames in a frozen view are kept, as each can be clicked.
        self._held_from = self.history[0].number if held and len(self.history) else None
        self.paused.emit(held)

    def _go_back(self, sample: FrameSample) -> None:
        missing = self._past.show(sample)
        if missing:
            self.hint.emit(missing)

    def _on_started(self, _name: str) -> None:
        self.view.toolbar.set_recording(True)
        self.recording.emit(True)

    def _on_stopped(self, recording: TimingRecording | None) -> None:
        self.view.toolbar.set_recording(False)
        self.recording.emit(False)
        self.hint.emit(f"Recorded {recording.name}: {recording.summary}" if recording else "Nothing was recorded")

    def _on_compared(self, tf: TimingRecording, compute: TimingRecording) -> None:
        self.view.compare(*(self.recordings.add(recording).name for recording in (tf, compute)))
        self.hint.emit("Back ends compared: the same steps by transform feedback and by compute, frame by frame")

    def _on_imported(self, recording: TimingRecording) -> None:
        added = self.recordings.add(recording)
        self.informed.emit(recording.origin, f"imported as “{added.name}”: {added.summary}")
        self.hint.emit(f"Imported {added.name}: select it under Compare")

    def _export(self, suffix: str, kind: str, write: Callable[[Path, TimingRecording], None]) -> None:
        recording = self._displayed()
        if not recording.samples:
            self.hint.emit("No timings to export: choose Timing ▸ Measure, and play")
            return
        name = "".join(letter if letter.isalnum() or letter in " -_." else "_" for letter in recording.name)
        path = self._dialogs.save_path("Export timings", Path(f"{name}{suffix}"), kind)
        if path is not None:
            write(path if path.suffix else path.with_suffix(suffix), recording)

    def _displayed(self) -> TimingRecording:
        """Returns the recording selected for comparison, else the region of a frozen view, else the last minute."""
        view, status = self.view, self._client.timing.status
        chosen = view.compare_page.chosen if view.pages.currentWidget() is view.compare_page else None
        if chosen is not None:
            return chosen
        area = view.frames_page.area
        if not view.is_held or area.frames is None:
            return TimingRecording(_LATEST, tuple(self.history.samples), status)
        where = area.extent() if area.region is not None else slice(None)
        samples = (area.frames.sample(index) for index in range(*where.indices(len(area.frames))))
        return TimingRecording(_LATEST, tuple(samples), status)


_REFRESH_MS = 200  # a median can be read five times a second


class FrameCostStrip(QObject):
    """Strip of frame times by frame of the timeline; another clip, model or source of times clears them."""

    def __init__(self, strip: CostStrip, active: ActiveModel) -> None:
        super().__init__()
        self._strip, self._active = strip, active
        self.by_frame = FrameCollector()
        self._measuring = False
        self._subject: object = None
        self._source = TimeSource.CLOCK
        self._newest, self._from = -1, 0
        self._shown_version = -1
        self._timer = QTimer(self, interval=_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)

    def set_measuring(self, on: bool) -> None:
        self._measuring = on
        if on:
            self._timer.start()
        else:
            self._timer.stop()
        self._shown_version = -1
        self.refresh()

    def clear(self) -> None:
        """Clears the strip; frames drawn before do not count any more."""
        self.by_frame.clear(math.ceil(self._active.duration / self._active.frame_step) + 1)
        self._from = self._newest + 1
        self.refresh()

    def drawn(self, number: int | None) -> None:
        """Notes a frame that was drawn; `number` is None if it is not measured."""
        self._check_subject()
        if number is not None:
            self._newest = number

    def feed(self, samples: Iterable[FrameSample]) -> None:
        self._check_subject()
        for sample in samples:
            if sample.source is not self._source:
                self._source = sample.source
                self.clear()
                self._from = sample.number
            if sample.number >= self._from:
                self.by_frame.add(sample, sample.moment.time / self._active.frame_step)

    def refresh(self) -> None:
        self._check_subject()
        if self.by_frame.version == self._shown_version:
            return
        self._shown_version = self.by_frame.version
        costs = self.by_frame.costs()
        if self._measuring or len(costs.frames):
            self._strip.show_costs(costs, self._source)
        else:
            self._strip.hide()

    def _check_subject(self) -> None:
        node, clip = self._active.node, self._active.clip
        name = clip.name if clip is not None else ""
        subject = (node.id if node else None, id(self._active.model), name, self._active.frame_step)
        if subject != self._subject:
            self._subject = subject
            self.clear()
