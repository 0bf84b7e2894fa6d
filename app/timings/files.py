"""Writes recordings to files and reads them, on worker threads."""

import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.tasks import run_in_background
from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.profile.chrome_trace import write_chrome_trace
from sinew.sim.profile.csv_file import TimingsFileError, read_csv, write_csv
from sinew.sim.profile.history import TimingRecording

Write = Callable[[Path, TimingRecording, LoadWatch], None]


class TimingFiles(QObject):
    """Transfers any number of files at the same time; `cancel` stops all.

    Signals:
        progressed: Text and progress, 0 to 1; an empty text when all transfers have ended.
        written: Path of a complete file.
        imported: The `TimingRecording` of a file.
        failed: Path, and one line about the error.
    """

    progressed = Signal(str, float)
    written = Signal(str)
    imported = Signal(object)
    failed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._running: list[threading.Event] = []

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def cancel(self) -> None:
        """Stops all transfers; half written files are deleted."""
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
        """Called by worker threads."""
        if share < 1.0 and not stopped.is_set():
            self.progressed.emit(text, share)


def _result(work: Callable[[LoadWatch], object], watch: LoadWatch) -> object:
    """Result of the work; one line of text for an error; the exception if it was cancelled."""
    try:
        return work(watch)
    except LoadCancelled as cancelled:
        return cancelled
    except TimingsFileError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
