"""Recovery files of crashed sessions, found again at the next start.

Every session with unsaved changes owns a folder `NAME/` and a lock `NAME.lock`. A running session holds its lock, the
lock of a crashed one is free; a session that ends normally removes both.
"""

import contextlib
import json
import os
import secrets
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sinew.app.project.project_file import PROJECT_SUFFIX, save_project
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view_state import ViewState

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class ProcessLock:
    """A lock that excludes other processes, and other locks of this process; the system releases it when they end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Takes the lock without waiting; returns False if it is taken. Raises OSError without a lock file."""
        handle = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        if _locked(handle) and self._is_current(handle):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def release(self) -> None:
        if self._handle is None:
            return
        if sys.platform == "win32":
            os.close(self._handle)
            with contextlib.suppress(OSError):  # another process took it in between
                self._path.unlink()
        else:
            with contextlib.suppress(FileNotFoundError):  # the folder was cleared manually
                self._path.unlink()
            os.close(self._handle)
        self._handle = None

    def _is_current(self, handle: int) -> bool:
        """Returns False if the last owner removed the file between opening and locking."""
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False


def _locked(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_PROJECT = f"project{PROJECT_SUFFIX}"
_ORIGIN = "origin.json"
_LOCK_SUFFIX = ".lock"
_STARTING = 60.0
"""Time [s] during which a lock without a folder may belong to a session that is about to make it."""


@dataclass(frozen=True, slots=True)
class Recovery:
    folder: Path
    origin: Path | None  # Project file that was open, or None for a project that was never saved
    saved_at: datetime
    digest: str = ""  # Of the content of that file when it was last read or written; "" if unknown

    @property
    def project(self) -> Path:
        return self.folder / _PROJECT


class RecoveryStore:
    """Recovery files of this session and of crashed ones; methods may be called from any thread.

    A recovery that was found is locked for this session until it is recovered, discarded or the store is closed, so
    that two instances that start at once do not offer the same one.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._own: Path | None = None
        self._locks: dict[Path, ProcessLock] = {}
        self._guard = threading.RLock()

    def write(
        self, scene: Scene, view_state: ViewState, unknown: UnknownContent, origin: Path | None, digest: str = ""
    ) -> None:
        """Writes the recovery file of this session; `digest` is of `origin`.

        Raises:
            OSError: If the folder cannot be used.
            ProjectError: If the project cannot be written.
        """
        text = json.dumps({"project": None if origin is None else os.fspath(origin), "digest": digest})
        with self._guard:
            folder = self._own_folder()
            write_atomically(folder / _ORIGIN, text.encode())
            save_project(folder / _PROJECT, scene, view_state, unknown)

    def forget(self) -> None:
        with self._guard:
            if self._own is not None:
                self._remove(self._own)
                self._own = None

    def pending(self) -> list[Recovery]:
        with self._guard:
            found = [recovery for folder in self._abandoned() if (recovery := _recovery(folder)) is not None]
        return sorted(found, key=lambda recovery: recovery.saved_at, reverse=True)

    def adopt(self, recovery: Recovery) -> None:
        """Makes an opened recovery the file of this session, so that another crash loses nothing."""
        with self._guard:
            if recovery.folder != self._own:
                self.forget()
                self._own = recovery.folder

    def discard(self, recovery: Recovery) -> None:
        with self._guard:
            self._remove(recovery.folder)

    def close(self) -> None:
        """Removes the file of this session and keeps all others for the next start."""
        with self._guard:
            self.forget()
            for lock in self._locks.values():
                lock.release()
            self._locks.clear()

    def _own_folder(self) -> Path:
        if self._own is None:
            folder = self._root / f"{os.getpid()}-{secrets.token_hex(6)}"
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._hold(folder):
                raise OSError(11, "is locked", str(folder))
            folder.mkdir(mode=0o700)
            self._own = folder
        return self._own

    def _abandoned(self) -> list[Path]:
        """Returns folders without a running owner, locked from now on; empty ones are removed."""
        if not self._root.is_dir():
            return []
        folders = []
        for folder in sorted(path for path in self._root.iterdir() if path.is_dir()):
            if folder == self._own or not self._hold(folder):
                continue
            if (folder / _PROJECT).is_file():
                folders.append(folder)
            else:
                self._remove(folder)
        self._remove_lonely_locks()
        return folders

    def _remove_lonely_locks(self) -> None:
        """Removes locks of sessions that were killed before they had a folder, or after they had removed it."""
        for path in self._root.glob(f"*{_LOCK_SUFFIX}"):
            lock = ProcessLock(path)
            with contextlib.suppress(OSError):  # another process was faster
                is_old = time.time() - path.stat().st_mtime > _STARTING
                if is_old and not path.with_suffix("").exists() and lock.acquire():
                    lock.release()

    def _hold(self, folder: Path) -> bool:
        """Takes the lock of a folder if it is free; returns False if another session holds it."""
        if folder in self._locks:
            return True
        lock = ProcessLock(folder.with_name(folder.name + _LOCK_SUFFIX))
        if not lock.acquire():
            return False
        self._locks[folder] = lock
        return True

    def _remove(self, folder: Path) -> None:
        """Removes a folder and then its lock, so that no other session takes the folder for abandoned."""
        shutil.rmtree(folder, ignore_errors=True)
        if (lock := self._locks.pop(folder, None)) is not None:
            lock.release()


def _recovery(folder: Path) -> Recovery | None:
    try:
        seconds = (folder / _PROJECT).stat().st_mtime
    except FileNotFoundError:
        return None
    origin, digest = _origin(folder)
    return Recovery(folder, origin, datetime.fromtimestamp(seconds, UTC), digest)


def _origin(folder: Path) -> tuple[Path | None, str]:
    """Returns the project of a recovery and its digest; a damaged note gives None and ""."""
    try:
        note = json.loads((folder / _ORIGIN).read_bytes())
        project, digest = note["project"], note.get("digest", "")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None, ""
    return (Path(project) if isinstance(project, str) and project else None), str(digest)
