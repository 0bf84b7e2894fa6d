"""Export errors, missing packages, and errors of libraries as export errors."""

import contextlib
import errno
import importlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sinew.sim.assets.formats import Format


class ExportError(Exception):
    """Something that cannot be written: file, element and reason in one line."""


def require_package(path: Path, format: Format) -> None:
    """Fails before long work if the package of a format is missing.

    Raises:
        ExportError: Naming the package and how to install it.
    """
    if not format.module:
        return
    try:
        importlib.import_module(format.module)
    except ImportError as error:
        raise ExportError(f"{path}: {_hint(format)}") from error


def missing_package(format: Format) -> str:
    """How to install the missing package of a format, or ""; does not import it."""
    return "" if not format.module or importlib.util.find_spec(format.module) else _hint(format)


def _hint(format: Format) -> str:
    return f"needs the package {format.package}: pip install sinew[{format.extra}]"


FULL = 1 << 16
"""Free bytes below which a disk counts as full: libraries write in blocks and do not report the reason."""


@contextlib.contextmanager
def failures_of_libraries(path: Path) -> Iterator[None]:
    """Converts errors of a library that writes a file.

    Raises:
        OSError: If the disk is full.
        ExportError: Otherwise, with the last line of the library's message.
    """
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if is_full(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ExportError(f"{path}: {lines[-1] if lines else 'cannot be written'}") from error


def is_full(path: Path) -> bool:
    return shutil.disk_usage(path.parent).free < FULL
