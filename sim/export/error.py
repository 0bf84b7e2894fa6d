"""Export errors, missing packages, and errors of libraries as export errors."""

import contextlib
import errno
import importlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sim.assets.formats import Format


class ExportError(Exception):
    """What cannot be written: file, element and reason in one line."""


def require_package(path: Path, format: Format) -> None:
    """Fails before long work where the package that a format needs is missing.

    Raises:
        ExportError: Naming the package and how it is installed.
    """
    if not format.module:
        return
    try:
        importlib.import_module(format.module)
    except ImportError as error:
        raise ExportError(f"{path}: {_hint(format)}") from error


def missing_package(format: Format) -> str:
    """What installs the package that a format needs, without importing it; "" where it is there."""
    return "" if not format.module or importlib.util.find_spec(format.module) else _hint(format)


def _hint(format: Format) -> str:
    return f"needs the package {format.package}: pip install sinew[{format.extra}]"


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
