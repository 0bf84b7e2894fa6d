import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.session.frame_info import FrameInfo
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.tasks import run_in_background
from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.gl.back_end import TITLES, BackEndChoice
from sinew.sim.profile.chrome_trace import write_chrome_trace
from sinew.sim.profile.csv_file import TimingsFileError, read_csv, write_csv
from sinew.sim.profile.history import ENDLESS, FRAMES_MAX, QuantityHistory, TimingRecording
from sinew.sim.profile.sample import FrameSample, TimerStatus

NAME_MAX = 80
RECORDINGS_MAX = 12  # the oldest recording is deleted for the next one


class Recordings(QObject):
    """Recordings in their order, which are not saved.

    Attributes:
        running: Name of the recording that runs, or None.
    """

    changed = Signal()  # The list has changed
    started = Signal(str)  # Name of the recording that started
    stopped = Signal(object)  # The `TimingRecording` that ended, or None if it has no frames

    def __init__(self) -> None:
        super().__init__()
        self.all: tuple[TimingRecording, ...] = ()
        self.running: str | None = None
        self._history = QuantityHistory(ENDLESS)
        self._status = self._first_status = TimerStatus()

    @property
    def length(self) -> int:
        return len(self._history)

    def start(self, name: str, status: TimerStatus) -> None:
        """Starts a recording and ends a running one."""
        self.stop()
        self.running, self._history = self._free_name(name), QuantityHistory(ENDLESS)
        self._status = self._first_status = status
        self.started.emit(self.running)

    def feed(self, samples: Iterable[FrameSample], status: TimerStatus) -> None:
        """Adds frames to the running recording, which ends at its maximum length."""
        if self.running is None:
            return
        for sample in itertools.islice(samples, FRAMES_MAX - len(self._history)):
            self._history.append(sample)
        self._status = status
        if len(self._history) == FRAMES_MAX:
            self.stop()

    def stop(self) -> None:
        """Ends the running recording; discards it if it has no frames."""
        if self.running is None:
            return
        name, self.running = self.running, None
        history, self._history = self._history, QuantityHistory(ENDLESS)
        status = replace(
            self._status,
            dropped=max(self._status.dropped - self._first_status.dropped, 0),
            warmup_discarded=max(self._status.warmup_discarded - self._first_status.warmup_discarded, 0),
        )
        recording = TimingRecording(name, tuple(history.samples), status, table=history) if len(history) else None
        if recording is not None:
            self._append(recording)
        self.stopped.emit(recording)

    def add(self, recording: TimingRecording) -> TimingRecording:
        """Adds a recording under a unique name."""
        named = recording.renamed(self._free_name(recording.name))
        self._append(named)
        return named

    def remove(self, name: str) -> None:
        self.all = tuple(other for other in self.all if other.name != name)
        self.changed.emit()

    def _append(self, recording: TimingRecording) -> None:
        self.all = (*self.all, recording)[-RECORDINGS_MAX:]
        self.changed.emit()

    def _free_name(self, name: str) -> str:
        name = " ".join(name.split())[:NAME_MAX] or "Recording"
        taken = {recording.name for recording in self.all}
        numbered = (f"{name} {number}" for number in itertools.count(2))
        return next(free for free in itertools.chain([name], numbered) if free not in taken)


# --- comparing back ends --------------------------------------------------------------------------------------------

SIDES = (BackEndChoice.TF, BackEndChoice.COMPUTE)
FRAMES = 60  # per back end: two seconds together at 60 fps

FIRST = 4
"""Number of first frames per back end that are discarded: drivers compile when a program first runs."""


class BackEndTrial(QObject):
    """Comparison of transform feedback with compute in the running scene.

    The back end changes with every frame, so that both run the same steps at the same time.
    """

    progressed = Signal(int)  # Number of measured frames of both
    finished = Signal(object, object)  # Both recordings, transform feedback first

    def __init__(self, client: ViewportRenderer, redraw: Callable[[], None]) -> None:
        super().__init__()
        self._client, self._redraw = client, redraw
        self._made_by: dict[int, BackEndChoice] = {}
        self._samples: dict[BackEndChoice, list[FrameSample]] = {}
        self.running = False
        client.drawn.connect(self._on_drawn)

    def start(self) -> None:
        """Starts the comparison; measuring must be on."""
        self._made_by, self._samples = {}, {side: [] for side in SIDES}
        self.running = True
        self._redraw()

    def stop(self) -> None:
        """Ends the comparison without a result and restores the back end of the user."""
        if self.running and self._client.engine is not None:
            self._client.engine.context.back_ends.choice = self._client.back_end
        self.running = False

    def feed(self, samples: list[FrameSample]) -> None:
        if not self.running:
            return
        for sample in samples:
            side = self._made_by.pop(sample.number, None)
            if side is not None:
                self._samples[side].append(sample)
        counts = [max(len(samples) - FIRST, 0) for samples in self._samples.values()]
        self.progressed.emit(sum(min(count, FRAMES) for count in counts))
        if min(counts) >= FRAMES:
            self.stop()
            status = self._client.timing.status
            recordings = (
                TimingRecording(TITLES[side], tuple(samples[FIRST : FIRST + FRAMES]), status)
                for side, samples in self._samples.items()
            )
            self.finished.emit(*recordings)

    def _on_drawn(self, drawn: FrameInfo) -> None:
        """Switches the back end for the next frame and its steps."""
        engine = self._client.engine
        if not self.running or engine is None:
            return
        back_ends = engine.context.back_ends
        if drawn.frame is not None and back_ends.choice in SIDES:
            self._made_by[drawn.frame] = back_ends.choice
        back_ends.choice = SIDES[1] if back_ends.choice is SIDES[0] else SIDES[0]
        self._redraw()


Write = Callable[[Path, TimingRecording, LoadWatch], None]


class TimingFiles(QObject):
    """Transfers of timings files, any number at the same time; `cancel` stops all."""

    progressed = Signal(str, float)  # Text and progress, 0 to 1; an empty text when all transfers have ended
    written = Signal(str)  # Path of a complete file
    imported = Signal(object)  # The `TimingRecording` of a file
    failed = Signal(str, str)  # Path, and one line about the error

    def __init__(self) -> None:
        super().__init__()
        self._running: list[threading.Event] = []

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def cancel(self) -> None:
        """Cancels all transfers and deletes half written files."""
        for stopped in self._running:
            stopped.set()

    def export_csv(self, path: Path, recording: TimingRecording) -> None:
        self._export(path, recording, write_csv)

    def export_trace(self, path: Path, recording: TimingRecording) -> None:
        self._export(path, recording, write_chrome_trace)

    def import_csv(self, path: Path) -> None:
        self._run(f"Reading {path.name}", path, lambda watch: read_csv(path, watch), self.imported.emit)

    def _export(self, path: Path, recording: TimingRecording, write: Write) -> None:
        def work(watch: LoadWatch) -> None:
            write(path, recording, watch)

        self._run(f"Writing {path.name}", path, work, lambda _: self.written.emit(str(path)))

    def _run(self, text: str, path: Path, work: Callable[[LoadWatch], object], done: Callable[[object], None]) -> None:
        stopped = threading.Event()
        self._running.append(stopped)
        self.progressed.emit(text, 0.0)
        watch = LoadWatch(lambda share: self._report(text, share, stopped), stopped.is_set)

        def finish(result: object) -> None:
            self._running.remove(stopped)
            if not self._running:
                self.progressed.emit("", 1.0)
            if isinstance(result, str):
                self.failed.emit(str(path), result)
            elif not isinstance(result, LoadCancelled):
                done(result)

        run_in_background(lambda: _result(work, watch), finish, self)

    def _report(self, text: str, share: float, stopped: threading.Event) -> None:
        """Reports progress; worker threads call it."""
        if share < 1.0 and not stopped.is_set():
            self.progressed.emit(text, share)


def _result(work: Callable[[LoadWatch], object], watch: LoadWatch) -> object:
    """Returns the result of the work; one line of text for an error, the exception if it was cancelled."""
    try:
        return work(watch)
    except LoadCancelled as cancelled:
        return cancelled
    except TimingsFileError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
