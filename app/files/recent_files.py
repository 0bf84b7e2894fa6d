import os
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal

from sinew.app.project.settings_store import app_settings

COUNT_MAX = 10
_KEY = "recent_files"


class RecentFiles(QObject):
    """Recent files, the newest first, each once; shared with other running instances through the settings."""

    changed = Signal()

    def __init__(self, settings: QSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings if settings is not None else app_settings()

    def paths(self) -> tuple[Path, ...]:
        """Returns the recent files; some may be missing by now."""
        self._settings.sync()
        stored = self._settings.value(_KEY, [])
        texts = [stored] if isinstance(stored, str) else stored  # an INI file does not distinguish a list of one
        if not isinstance(texts, list):
            return ()
        return tuple(Path(text) for text in texts if isinstance(text, str) and text)[:COUNT_MAX]

    def folder(self) -> Path | None:
        """Returns the folder of the most recent file that still exists."""
        return next((path.parent for path in self.paths() if path.parent.is_dir()), None)

    def add(self, path: Path) -> None:
        added = path.absolute()
        rest = (other for other in self.paths() if _key(other) != _key(added))
        paths = (added, *rest)[:COUNT_MAX]
        if paths != self.paths():
            self._settings.setValue(_KEY, [str(path) for path in paths])
            self._settings.sync()
            self.changed.emit()


def _key(path: Path) -> str:
    """Returns a key that is the same for two spellings of a path."""
    return os.path.normcase(os.path.normpath(path))
