"""The list of recently used files."""

import os
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal

from app.files.settings_store import app_settings

COUNT_MAX = 10
_KEY = "recent_files"


class RecentFiles(QObject):
    """Most recent first, each file once; shared with other running instances through the settings.

    Signals:
        changed: The list is another.
    """

    changed = Signal()

    def __init__(self, settings: QSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings if settings is not None else app_settings()

    def paths(self) -> tuple[Path, ...]:
        """The files, most recent first; they may be missing by now."""
        self._settings.sync()
        stored = self._settings.value(_KEY, [])
        texts = [stored] if isinstance(stored, str) else stored  # an INI file does not tell a list of one
        if not isinstance(texts, list):
            return ()
        return tuple(Path(text) for text in texts if isinstance(text, str) and text)[:COUNT_MAX]

    def folder(self) -> Path | None:
        """Folder of the most recent file that still exists."""
        return next((path.parent for path in self.paths() if path.parent.is_dir()), None)

    def add(self, path: Path) -> None:
        added = path.absolute()
        rest = (other for other in self.paths() if _same(other) != _same(added))
        self._store([added, *rest])

    def _store(self, paths: Iterable[Path]) -> None:
        cached = tuple(paths)[:COUNT_MAX]
        if cached == self.paths():
            return
        self._settings.setValue(_KEY, [str(path) for path in cached])
        self._settings.sync()
        self.changed.emit()


def _same(path: Path) -> str:
    """Key under which two spellings of a path are one file."""
    return os.path.normcase(os.path.normpath(path))
