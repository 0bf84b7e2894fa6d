"""How an export fails."""

import importlib
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
        hint = f"needs the package {format.package}: pip install sinew[{format.extra}]"
        raise ExportError(f"{path}: {hint}") from error
