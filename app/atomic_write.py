"""Writing a file so that at every moment the old or the new content is there, complete."""

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import stat
import time
from pathlib import Path

_FOREIGN_STALE_AGE = 24 * 3600.0
"""Age [s] after which a temporary file is taken for abandoned where its process cannot be asked for."""


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the content of `path`, or create it; links are followed, permissions kept.

    The data is on the disk when this returns.  Temporary files that a killed process left beside the target
    are removed.

    Raises:
        OSError: If that fails; the old content is still there then.
    """
    target = Path(os.path.realpath(path))
    mode = _writable_mode(target)
    prefix = _temporary_prefix(target)
    _remove_stale(target.parent, prefix)
    temporary = target.parent / f"{prefix}{_host()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        _write_new(temporary, data, mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _writable_mode(target: Path) -> int | None:
    """Permission bits of the target, None where there is none; refuses what must not be replaced."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "is a folder", str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(22, "is not a regular file", str(target))
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(13, "is read-only", str(target))
    return stat.S_IMODE(status.st_mode)


def _write_new(temporary: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself lasting; Windows has no handle of a folder, some network drives refuse."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _temporary_prefix(target: Path) -> str:
    """Short and the same for every write of one target, whatever the length of its name."""
    return f".sinew-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _remove_stale(folder: Path, prefix: str) -> None:
    pattern = re.compile(re.escape(prefix) + r"([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp")
    for entry in os.scandir(folder):
        match = pattern.fullmatch(entry.name)
        if match and _is_stale(entry, match[1], int(match[2])):
            with contextlib.suppress(OSError):  # another process was faster, or holds it open
                os.unlink(entry.path)


def _is_stale(entry: "os.DirEntry[str]", host: str, process: int) -> bool:
    if os.name != "nt" and host == _host():
        return not _is_running(process)
    try:
        return time.time() - entry.stat().st_mtime > _FOREIGN_STALE_AGE
    except FileNotFoundError:
        return False


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
