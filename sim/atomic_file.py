"""Files that appear complete or not at all: written beside their place under another name, then renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Binary file that takes the place of `path` when the block ends; any exception leaves `path` as it was.

    A link is followed, and an existing file keeps its permissions.

    Raises:
        OSError: If the folder is missing or cannot be written; the error names `path`.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with _naming(path), temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _naming(path):
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of the system name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
