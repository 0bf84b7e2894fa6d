"""Watches the shader files while the program runs; a saved shader shows in the next picture."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

import shaders

# Editors write a file in several steps, or replace it; the last notice within this time [ms] counts.
PAUSE = 120


class ShaderWatch(QObject):
    """Tells which shader files changed.

    Args:
        root: Folder of the shaders.
        parent: Owner.

    Signals:
        changed: Names relative to the root, with forward slashes.
    """

    changed = Signal(list)

    def __init__(self, root: Path = shaders.ROOT, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self._seen = self._stamps()
        self._watcher = QFileSystemWatcher(self)
        self._watcher.addPaths([str(root), *(str(path) for path in root.rglob("*") if _is_watched(path))])
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._report)
        self._watcher.fileChanged.connect(lambda _: self._pause.start())
        self._watcher.directoryChanged.connect(lambda _: self._pause.start())

    def _report(self) -> None:
        now = self._stamps()
        names = [name for name, stamp in now.items() if self._seen.get(name) != stamp]
        self._seen = now
        # A file that was replaced is no longer watched by its old identity.
        self._watcher.addPaths([str(self._root / name) for name in names])
        if names:
            self.changed.emit(names)

    def _stamps(self) -> dict[str, int]:
        files = (path for path in self._root.rglob("*") if path.is_file() and path.suffix != ".py")
        return {path.relative_to(self._root).as_posix(): path.stat().st_mtime_ns for path in files}


def _is_watched(path: Path) -> bool:
    return path.name != "__pycache__" and path.suffix not in (".py", ".pyc")
