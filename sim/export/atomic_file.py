"""Atomic writing: at any time the old or the new content of a file is there, complete."""

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LOCK_PATIENCE = 2.0  # [s]

_FOREIGN_STALE_AGE = 24 * 3600.0
"""Age [s] after which a temporary file of another machine, or on Windows, counts as abandoned."""


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Opens a binary file that replaces `path` when the block ends; an exception leaves `path` unchanged.

    Links are followed, permissions kept.  The data is on disk when the block ends.  Temporary files of killed processes
    for the same target are removed.

    Raises:
        OSError: If that fails; the error names `path`, not the temporary file.
    """
    with _replacement(path) as (temporary, mode), naming(path), _new_file(temporary) as file:
        yield file
        _complete(file, mode)


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary name with the same suffix, for libraries that write by name; else like `atomic_file`.

    Raises:
        OSError: If that fails; errors of the block itself name the temporary file.
    """
    with _replacement(path, path.suffix) as (temporary, mode):
        with naming(path):  # fails early if the file cannot be created
            _new_file(temporary).close()
            temporary.unlink()
        yield temporary
        with naming(path), open(temporary, "rb+") as file:
            _complete(file, mode)


def write_atomically(path: Path, data: bytes) -> None:
    with atomic_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Excludes other processes and threads that use this function for a file of the same folder.

    Nothing stays on the disk, whatever ends the process.  Folders that cannot be locked, as on some network drives,
    exclude no caller.

    Raises:
        OSError: If somebody else is in the block for longer than `LOCK_PATIENCE`.
    """
    target, ends = Path(os.path.realpath(path)), time.monotonic() + LOCK_PATIENCE
    while (handle := _locked(target)) is None:
        if time.monotonic() > ends:
            raise OSError(errno.EAGAIN, "is being saved by another program", str(path))
        time.sleep(0.01)
    try:
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _locked(target: Path) -> int | None:
    """Returns a handle that holds the lock of a folder until it is closed, -1 if it has none; None if it is held."""
    if sys.platform == "win32":  # a folder has no handle, but files can vanish with theirs
        name = target.with_name(".sinew.lock")
        try:
            return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_TEMPORARY)
        except (FileExistsError, PermissionError):
            return None
        except OSError:
            return -1
    import fcntl

    try:
        handle = os.open(target.parent, os.O_RDONLY)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK):
            os.close(handle)
            return None
    return handle


@contextlib.contextmanager
def _replacement(path: Path, suffix: str = "") -> Iterator[tuple[Path, int | None]]:
    """Yields a temporary name that replaces `path` when the block ends, and the permissions to keep."""
    target = Path(os.path.realpath(path))
    with naming(path):
        mode = _writable_mode(target)
        prefix = f".sinew-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"  # short for any name
        _remove_stale(target.parent, prefix)
    temporary = target.parent / f"{prefix}{_host()}-{os.getpid()}-{secrets.token_hex(4)}.tmp{suffix}"
    try:
        yield temporary, mode
        with naming(path):
            os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    _sync_folder(target.parent)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Makes errors of the system within the block name the requested file, and its folder if that is missing."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        is_lost = error.errno == errno.ENOENT and not path.parent.is_dir()
        reason = f"the folder {path.parent} does not exist" if is_lost else error.strerror
        raise OSError(error.errno, reason, str(path)) from error


def _writable_mode(target: Path) -> int | None:
    """Returns permission bits, None if the target does not exist; refuses targets that must not be replaced."""
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


def _new_file(temporary: Path) -> BinaryIO:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(temporary, flags, 0o666), "wb")


def _complete(file: BinaryIO, mode: int | None) -> None:
    file.flush()
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode)
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Makes a renaming durable; Windows has no handle of a folder, some network drives refuse."""
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


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _remove_stale(folder: Path, prefix: str) -> None:
    pattern = re.compile(re.escape(prefix) + r"([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp(?:\.\w+)?")
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
