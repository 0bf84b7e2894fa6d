"""What libraries raise when they cannot write a file, as one line of ours."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sim.export.error import ExportError

FULL = 1 << 16
"""Free bytes of a disk below which it is full: libraries write in blocks, and do not tell what stopped them."""


@contextlib.contextmanager
def failures_of_libraries(path: Path) -> Iterator[None]:
    """Errors of a library that was to write a file name it and the reason.

    Raises:
        OSError: If the disk is full.
        ExportError: If the library failed otherwise, with the last line of what it says, which tells most.
    """
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if is_full(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ExportError(f"{path}: {lines[-1] if lines else 'cannot be written'}") from error


def is_full(path: Path) -> bool:
    """Whether the disk of a file has no room left."""
    return shutil.disk_usage(path.parent).free < FULL
