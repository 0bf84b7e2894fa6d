"""Autosave: a recovery file is written some seconds after an edit, off the GUI thread."""

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal

from sinew.app.document.document import Document
from sinew.app.files.recovery import RecoveryStore
from sinew.app.project.project_json import ProjectError
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view_state import ViewState

DELAY = 20.0  # [s] from the last edit to the recovery file

_Values = tuple[Scene, ViewState, UnknownContent, Path | None, str]

_PATIENCE = 3.0  # continuous edits are saved after this many delays


class Autosave(QObject):
    status_changed = Signal(str)  # Text for the status bar, such as "autosaved 12 s ago", or ""
    saved = Signal()  # A recovery file was written
    failed = Signal(str)  # One line why it could not be written; it is tried again after the next edit

    _written = Signal(str, float)

    def __init__(
        self,
        document: Document,
        store: RecoveryStore,
        *,
        delay: float = DELAY,
        now: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._store, self._delay, self._now = document, store, delay, now
        self._waiting_since: float | None = None
        self._saved_at: float | None = None
        self._failure = ""
        self._status = ""
        self._writing = self._is_cached = False
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._timer = self._single_shot(self._write)
        self._settling = self._single_shot(self._settle)
        self._ticking = QTimer(self, interval=1000)
        self._ticking.timeout.connect(self._update_status)
        self._written.connect(self._on_written, Qt.ConnectionType.QueuedConnection)
        document.changed.connect(self._on_changed)
        document.title_changed.connect(self._on_title_changed)

    @property
    def status(self) -> str:
        return self._status

    def flush(self) -> str:
        """Writes unsaved changes at once and keeps the file after the end; returns why that failed, or ""."""
        self._pool.waitForDone()
        self._is_cached = self._document.modified
        return self._outcome(self._values()) if self._is_cached else ""

    def shutdown(self) -> None:
        """Waits for a running write, then removes the recovery file of this session."""
        self._timer.stop()
        self._settling.stop()
        self._ticking.stop()
        self._pool.waitForDone()
        if not self._is_cached:
            self._store.close()

    def _single_shot(self, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True)
        timer.timeout.connect(slot)
        return timer

    def _on_changed(self, _change: object) -> None:
        """Starts to write after a pause of the edits, at the latest after `_PATIENCE` delays."""
        now = self._now()
        if self._waiting_since is None:
            self._waiting_since = now
        left = self._waiting_since + _PATIENCE * self._delay - now
        self._timer.start(round(1000 * max(0.0, min(self._delay, left))))

    def _on_title_changed(self) -> None:
        """Checks the modified state once the whole edit or save is done."""
        self._settling.start(0)

    def _settle(self) -> None:
        if self._document.modified:
            return
        self._timer.stop()
        self._waiting_since = self._saved_at = None
        self._failure = ""
        self._store.forget()
        self._update_status()

    def _write(self) -> None:
        """Starts to write the current values, which are immutable, on the worker."""
        if self._writing:
            self._timer.start(round(1000 * self._delay))
            return
        self._waiting_since = None
        if not self._document.modified:
            return
        values = self._values()
        self._writing = True
        self._pool.start(lambda: self._written.emit(self._outcome(values), self._now()))

    def _values(self) -> _Values:
        document = self._document
        return document.scene, document.view_state, document.unknown, document.path, document.digest

    def _outcome(self, values: _Values) -> str:
        """Writes the recovery file on the worker thread; returns why that failed, or ""."""
        try:
            self._store.write(*values)
        except ProjectError as error:
            return error.reason
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def _on_written(self, failure: str, at: float) -> None:
        self._writing = False
        self._failure = failure
        if not self._document.modified:
            self._settle()
            return
        if failure:
            self.failed.emit(f"autosave failed: {failure}")
        else:
            self._saved_at = at
            self.saved.emit()
        self._update_status()

    def _update_status(self) -> None:
        status = "" if self._saved_at is None else autosave_text(self._now() - self._saved_at)
        if self._failure:
            status = f"autosave failed: {self._failure}"
        if self._saved_at is None:
            self._ticking.stop()
        elif not self._ticking.isActive():
            self._ticking.start()
        if status != self._status:
            self._status = status
            self.status_changed.emit(status)


def autosave_text(age: float) -> str:
    """Returns a text about the last autosave; `age` is in [s]."""
    if age < 60.0:
        return f"autosaved {int(age)} s ago"
    return f"autosaved {int(age / 60.0)} min ago"
