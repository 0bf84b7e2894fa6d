"""Loader of projects on a worker thread; signals arrive on the thread of the loader."""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from sinew.app.files.recovery import Recovery
from sinew.app.project.project_file import LoadedProject, load_project
from sinew.app.project.project_json import ProjectError
from sinew.app.project.project_paths import OutsideFile, outside_files
from sinew.app.tasks import run_in_background
from sinew.sim.assets.raw import LoadCancelled
from sinew.sim.printable import printable

_log = logging.getLogger(__name__)
_TEXT_MAX = 200


@dataclass(frozen=True, slots=True)
class ReadProject:
    """A project that was read: `outside` are files outside its folders; `recovery` is its recovery, or None."""

    path: Path
    project: LoadedProject
    outside: tuple[OutsideFile, ...]
    recovery: Recovery | None


@dataclass(frozen=True, slots=True, eq=False)
class _ProjectRequest:
    path: Path
    trusted: tuple[Path, ...]
    recovery: Recovery | None
    stopped: threading.Event = field(default_factory=threading.Event)


class ProjectLoader(QObject):
    """Loader of one project at a time; a later request replaces an earlier one."""

    progress = Signal(str, float)  # File and finished fraction, 0 to 1
    loaded = Signal(object)  # A `ReadProject`
    failed = Signal(str, str, object)  # File, one line why it cannot be used, and the `Recovery` of the request or None
    cancelled = Signal(str)  # File whose request was cancelled

    _advanced = Signal(object, float)

    def __init__(self) -> None:
        super().__init__()
        self._request: _ProjectRequest | None = None
        self._advanced.connect(self._on_advanced, Qt.ConnectionType.QueuedConnection)

    @property
    def path(self) -> Path | None:
        return self._request.path if self._request is not None else None

    def load(self, path: Path, trusted: Iterable[Path] = (), recovery: Recovery | None = None) -> None:
        """Starts to read a project; it may name `trusted` folders, and paths of a `recovery` count from its project."""
        self.cancel()
        request = self._request = _ProjectRequest(path, tuple(trusted), recovery)
        run_in_background(lambda: self._read(request), lambda outcome: self._finish(request, outcome), self)

    def cancel(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            request.stopped.set()
            self.cancelled.emit(str(request.path))

    def _read(self, request: _ProjectRequest) -> ReadProject | str:
        """Reads a project on the worker thread, where exceptions would be lost."""
        try:
            project = load_project(
                request.path,
                progress=lambda fraction: self._advanced.emit(request, fraction),
                cancelled=request.stopped.is_set,
            )
            recovery = request.recovery
            place = request.path if recovery is None else recovery.origin or recovery.folder
            outside = outside_files(project.scene, place, request.trusted)
            return ReadProject(request.path, project, outside, recovery)
        except LoadCancelled:
            return ""
        except ProjectError as error:
            return str(error)
        except Exception as error:
            _log.exception("reading %s failed", printable(str(request.path)))
            return f"{request.path}: {type(error).__name__}: {printable(str(error), _TEXT_MAX)}"

    def _on_advanced(self, request: _ProjectRequest, fraction: float) -> None:
        if request is self._request:
            self.progress.emit(str(request.path), fraction)

    def _finish(self, request: _ProjectRequest, outcome: ReadProject | str) -> None:
        if request is not self._request:
            return
        self._request = None
        if isinstance(outcome, ReadProject):
            self.loaded.emit(outcome)
        else:
            self.failed.emit(str(request.path), outcome, request.recovery)
