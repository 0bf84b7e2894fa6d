"""Watches files while the program runs: shaders, the open project, models and images."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.background import run_in_background
from app.files.digest import file_digest

# Programs write a file in several steps, or replace it; the last notice within this time [ms] counts.
PAUSE = 120


class FileWatch(QObject):
    """Tells which files have another content than the one that was read or written here.

    The system says when something happens to the files and in their folders; contents are compared on a worker thread,
    those of files with another size or time than at the last look.

    Args:
        known: Gives the files now, each with its known digest; "" takes what it holds at the first look.
        parent: Owner.

    Signals:
        changed: Paths, once for each other content; a file that is gone is not told.
    """

    changed = Signal(list)

    def __init__(self, known: Callable[[], Mapping[Path, str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known = known
        self._digests: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._reported: dict[Path, str] = {}
        self._is_looking = False
        self._watcher = QFileSystemWatcher(self)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._look)
        self._watcher.fileChanged.connect(lambda _: self._pause.start())
        self._watcher.directoryChanged.connect(self.look)
        self.look()

    def look(self, *_: object) -> None:
        if not self._pause.isActive():
            self._pause.start()

    def _look(self) -> None:
        if self._is_looking:
            self._pause.start()
            return
        self._is_looking, before = True, dict(self._known())
        wanted = {str(path) for path in before} | {str(path.parent) for path in before}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - wanted:
            self._watcher.removePaths(sorted(gone))
        if new := wanted - watched:  # one that was replaced is no longer watched by its old identity
            self._watcher.addPaths(sorted(new))
        run_in_background(lambda: self._found(before), lambda found: self._compare(before, found), self)

    def _found(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Digests of the contents; runs on a worker thread, one at a time."""
        found = {}
        for path in paths:
            stamp = _stamp(path)
            if stamp != self._digests.get(path, ((), ""))[0]:
                self._digests[path] = stamp, file_digest(path)
            found[path] = self._digests[path][1] if stamp else ""
        return found

    def _compare(self, before: Mapping[Path, str], found: Mapping[Path, str]) -> None:
        self._is_looking, now = False, self._known()
        reported, self._reported = self._reported, dict(found)
        changed = []
        for path, digest in found.items():
            expected = {before[path], now.get(path, digest), reported.get(path, digest if not before[path] else "")}
            if digest and digest not in expected:
                changed.append(path)
        if changed:
            self.changed.emit(changed)


def _stamp(path: Path) -> tuple[int, ...]:
    """What differs for another content of a file as far as the system tells; empty where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a null character in the path
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
