"""Watch of files while the program runs: shaders, the open project, models and images."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from sinew.app.project.digest import file_digest
from sinew.app.tasks import run_in_background

# Programs write a file in several steps, or replace it; the last event within this time [ms] counts.
PAUSE = 120


class FileWatch(QObject):
    """Watch of files whose content differs from the content that was read or written by this program.

    The system reports events of the files and their folders; a worker thread then compares the contents of files whose
    size or time has changed.

    Args:
        known: Returns the files to watch with their known digests; "" adopts the content at the first look.
    """

    changed = Signal(list)  # Paths, once for each new content; deleted files are not reported

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
        needed = {str(path) for path in before} | {str(path.parent) for path in before}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if removed := watched - needed:
            self._watcher.removePaths(sorted(removed))
        if new := needed - watched:  # a replaced file is no longer watched
            self._watcher.addPaths(sorted(new))
        run_in_background(lambda: self._digests_of(before), lambda found: self._compare(before, found), self)

    def _digests_of(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Returns the digests of files; runs on a worker thread, one at a time."""
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
    """Returns metadata that change with the content; empty if the file does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a null character in the path
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
