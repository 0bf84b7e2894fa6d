"""How an export fails."""

import importlib
import importlib.util
from pathlib import Path

from sim.assets.format_registry import Format


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
