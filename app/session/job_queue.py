"""Queue of exports and renderings: each is a command in its own process, one after another.

The window stays responsive, a job that fails affects nothing else, and the result is the same as on the command line.
"""

import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from sinew.app.document.document import Document
from sinew.app.failure.progress import LINE, time_left
from sinew.app.headless.image_sink import NUMBERED
from sinew.app.jobs.job import Job, words_of
from sinew.app.jobs.options import Opening, with_plugins
from sinew.app.project.access import FileAccess
from sinew.app.project.project_file import PROJECT_SUFFIX, save_project
from sinew.app.project.project_json import ProjectError
from sinew.sim.printable import printable
from sinew.sim.scene.params import ParamError

J = TypeVar("J", bound=Opening)
PATIENCE = 5000  # [ms] that a cancelled job may take to end before it is killed

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


@dataclass(slots=True, eq=False)
class OutputJob:
    path: Path
    command: Job
    folder: tempfile.TemporaryDirectory[str]  # With a copy of the project
    state: str = WAITING  # One of the constants above
    share: float = 0.0  # Finished fraction, 0 to 1
    text: str = ""  # Last message: a note, or why it failed
    started: float = 0.0  # Monotonic time [s]
    notes: list[str] = field(default_factory=list)
    title: str = ""  # In place of the name of the file
    again: Callable[[], None] | None = None  # Queues the same work for the scene as it is then

    @property
    def preview(self) -> Path:
        return Path(self.folder.name) / "preview"

    def plain(self, line: str) -> str:
        """Returns a line of the command without the paths of the project copy and of the file."""
        if self.title:  # it may name several files
            return line.removeprefix(f"{self.path.parent}{os.sep}")
        subject, mark, text = line.partition(": warning: ")
        warning = text if mark and Path(subject).parent in (Path(self.folder.name), self.path.parent) else line
        return warning.removeprefix(f"{self.path}: ")

    @property
    def name(self) -> str:
        return self.title or NUMBERED.sub("…", self.path.name)

    @property
    def status(self) -> str:
        """Text about the state, such as "42 %, 1:20 left"."""
        if self.state == RUNNING:
            return f"{100.0 * self.share:.0f} %{time_left(time.monotonic() - self.started, self.share)}"
        return self.text if self.state in (FAILED, DONE) else self.state


class JobQueue(QObject):
    """Queue of output jobs; `access` blocks files that jobs may not read."""

    changed = Signal(object)  # A job with a new state
    written = Signal(str, str)  # A file and a note
    failed = Signal(str, str)  # A file and one line why it was not written
    warned = Signal(str, str)  # A file and one warning

    def __init__(self, document: Document, access: FileAccess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._access = document, access
        self.jobs: list[OutputJob] = []
        self._waiting: deque[OutputJob] = deque()
        self._running: OutputJob | None = None
        self._process: QProcess | None = None
        self._force = QTimer(self, interval=PATIENCE, singleShot=True)
        self._force.timeout.connect(lambda: self._process and self._process.kill())

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def unfinished(self) -> str:
        """A sentence about unfinished jobs, or ""."""
        names = [printable(job.name) for job in self.jobs if job.state in (WAITING, RUNNING)]
        are = "is" if len(names) == 1 else "are"
        return f"{', '.join(names)} {are} not finished yet and will be cancelled." if names else ""

    def snapshot(self, *, is_shared: bool = False) -> tuple[tempfile.TemporaryDirectory[str], Path]:
        """Returns a temporary folder with a copy of the current project, and the path of the copy.

        The copy does not name blocked files, so that a job may read everything that it names.

        Args:
            is_shared: The folder is made next to the project, where other machines find it.

        Raises:
            ProjectError: If it cannot be written, needs a blocked file, or shall be shared and was never saved.
        """
        document = self._document
        if is_shared and document.path is None:
            raise ProjectError(Path(document.title), "", "save it first in a folder that the workers share")
        place = document.path.parent if is_shared and document.path is not None else None
        try:
            scene = self._access.readable(document.scene)
        except ParamError as error:
            raise ProjectError(document.path or Path(document.title), "", str(error)) from error
        try:
            folder = tempfile.TemporaryDirectory(prefix=".sinew-output-", dir=place, ignore_cleanup_errors=True)
        except OSError as error:
            raise ProjectError(document.path or Path(document.title), "", str(error)) from error
        path = Path(folder.name) / f"{document.title}{PROJECT_SUFFIX}"
        try:
            save_project(path, scene, document.view_state)
        except ProjectError:
            folder.cleanup()
            raise
        return folder, path

    def for_copy(self, job: J) -> J:
        """Returns a job for a copy by `snapshot`, which may do what the user has allowed the project."""
        return msgspec.structs.replace(job, allow_outside=True, no_kernels=not self._access.takes_kernels)

    def add(self, job: OutputJob) -> None:
        job.command = with_plugins(job.command, self._document.scene)
        self.jobs.append(job)
        self._waiting.append(job)
        self.changed.emit(job)
        self._start_next()

    def cancel(self, job: OutputJob) -> None:
        """Cancels a job; no half-written file remains."""
        if job is self._running and self._process is not None:
            job.state = CANCELLED
            self._process.terminate()
            self._force.start()
        elif job in self._waiting:
            self._waiting.remove(job)
            self._end(job, CANCELLED)

    def forget_finished(self) -> None:
        self.jobs = [job for job in self.jobs if job.state in (WAITING, RUNNING)]

    def cancel_all(self) -> None:
        """Cancels all jobs and waits for the running one."""
        for job in list(self._waiting):
            self.cancel(job)
        if self._running is not None and self._process is not None:
            process = self._process
            self.cancel(self._running)
            if not process.waitForFinished(PATIENCE):
                process.kill()
                process.waitForFinished(PATIENCE)

    def _start_next(self) -> None:
        if self._running is not None or not self._waiting:
            return
        job = self._running = self._waiting.popleft()
        job.state, job.started = RUNNING, time.monotonic()
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(lambda: self._read(job, process))
        process.finished.connect(lambda status, _how: self._finished(job, process, status))
        process.errorOccurred.connect(lambda error: self._could_not_start(job, process, error))
        process.start(sys.executable, ["-m", "sinew", *words_of(job.command), "--progress"])
        self.changed.emit(job)

    def _read(self, job: OutputJob, process: QProcess) -> None:
        for line in bytes(process.readAllStandardOutput().data()).decode(errors="replace").splitlines():
            word, _, rest = line.partition(" ")
            if word == LINE:
                job.share = float(rest)
            elif line.strip():
                job.notes.append(line)
        self.changed.emit(job)

    def _could_not_start(self, job: OutputJob, process: QProcess, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            job.notes.append(process.errorString())
            self._finished(job, process, 1)

    def _finished(self, job: OutputJob, process: QProcess, status: int) -> None:
        self._force.stop()
        said = bytes(process.readAllStandardError().data()).decode(errors="replace").splitlines()
        self._running = self._process = None
        process.deleteLater()
        lines = [line.removeprefix("sinew: ") for line in said if line.startswith("sinew: ")]
        if job.state == CANCELLED:
            self._end(job, CANCELLED)
            self._start_next()
            return
        reasons = [line for line in lines if status and ": warning: " not in line]
        for line in lines:
            if line not in reasons:
                self.warned.emit(str(job.path), job.plain(line))
        if status == 0:
            notes = list(map(job.plain, job.notes)) or ["written"]
            job.share, job.text = 1.0, "\n".join(notes)
            self._end(job, DONE)
            self.written.emit(str(job.path), "; ".join(notes))
        else:
            reasons = reasons or lines[-1:] or said[-1:] or job.notes[-1:] or ["ended without a message"]
            reasons = list(map(job.plain, reasons))
            job.text = "\n".join([*reasons, *(map(job.plain, job.notes) if job.title else ())])
            self._end(job, FAILED)
            for reason in reasons:
                self.failed.emit(str(job.path), reason)
        self._start_next()

    def _end(self, job: OutputJob, state: str) -> None:
        job.state = state
        self.changed.emit(job)
        job.folder.cleanup()
