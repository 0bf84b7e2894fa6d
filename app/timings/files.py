"""Writes recordings to files and reads them back, off the GUI thread."""

import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import run_in_background
from sim.assets.raw import LoadCancelled, LoadWatch
from sim.profile.chrome_trace import write_chrome_trace
from sim.profile.csv_file import TimingsFileError, read_csv, write_csv
from sim.profile.history import TimingRecording

Write = Callable[[Path, TimingRecording, LoadWatch], None]


class TimingFiles(QObject):
    """One file after the other or several at once; `cancel` gives up all.

    Signals:
        progressed: What is done, and the share of it, 0 to 1; an empty text when nothing is left.
        written: A file that is complete.
        imported: The `TimingRecording` of a file.
        failed: A file, and one line why it was not written or read.
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
        """Whether a file is being written or read."""
        return bool(self._running)

    def cancel(self) -> None:
        """Gives up; what is half written does not appear."""
        for given_up in self._running:
            given_up.set()

    def export_csv(self, path: Path, recording: TimingRecording) -> None:
        """Writes a row for each frame and pass."""
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
        given_up = threading.Event()
        self._running.append(given_up)
        self.progressed.emit(text, 0.0)
        watch = LoadWatch(lambda share: self._report(text, share, given_up), given_up.is_set)

        def finish(result: object) -> None:
            self._running.remove(given_up)
            if not self._running:
                self.progressed.emit("", 1.0)
            if isinstance(result, str):
                self.failed.emit(str(path), result)
            elif not isinstance(result, LoadCancelled):
                done(result)

        run_in_background(lambda: _result(work, watch), finish, self)

    def _report(self, text: str, share: float, given_up: threading.Event) -> None:
        """Called by workers; what is over says nothing any more."""
        if share < 1.0 and not given_up.is_set():
            self.progressed.emit(text, share)


def _result(work: Callable[[LoadWatch], object], watch: LoadWatch) -> object:
    """What the work returns; one line where it failed; the error itself where it was given up."""
    try:
        return work(watch)
    except LoadCancelled as given_up:
        return given_up
    except TimingsFileError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
