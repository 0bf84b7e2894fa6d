"""A lock file that the system releases when its process ends, however it ends."""

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class ProcessLock:
    """Exclusive lock between processes, and between two locks of one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; whether that succeeded.

        Raises:
            OSError: If the lock file cannot be made.
        """
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
            with contextlib.suppress(FileNotFoundError):  # the folder was cleared by hand
                self._path.unlink()
            os.close(self._handle)
        self._handle = None

    def _is_current(self, handle: int) -> bool:
        """Whether the file was not removed by its last owner between opening and locking."""
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
