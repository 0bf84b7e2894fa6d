"""Types of options, which complain in terms of the option, and checks of outputs before long work."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from app.cli.failure import CommandError


def positive(text: str) -> int:
    """Type of an option that counts."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def finite_number(text: str) -> float:
    """Type of an option that is a number; argparse reports what it raises."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def file_with_suffix(*suffixes: str) -> Callable[[str], Path]:
    """Type of an output option whose ending names the format."""

    def checked(text: str) -> Path:
        path = Path(text)
        if path.suffix.lower() not in suffixes:
            raise argparse.ArgumentTypeError(f"{text!r} does not end in {' or '.join(suffixes)}")
        return path

    return checked


def require_folder(path: Path) -> None:
    """Fails before long work rather than after it.

    Raises:
        CommandError: If the folder of `path` does not exist, or `path` is itself a folder.
    """
    if not path.parent.is_dir():
        raise CommandError(path, "", f"the folder {path.parent} does not exist")
    if path.is_dir():
        raise CommandError(path, "", "is a folder")
