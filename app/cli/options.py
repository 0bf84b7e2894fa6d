"""Types of options, which complain in terms of the option, and checks of outputs before long work."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.cli.failure import CommandError
from sim.assets.format_registry import Formats
from sim.gl.back_end import BackEndChoice


def positive(text: str) -> int:
    """Type of an option that counts."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def whole_number(text: str) -> int:
    """Type of an option that numbers something from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
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


def output_file(formats: Formats[Any]) -> Callable[[str], Path]:
    """Type of an output option whose ending names the format."""

    def checked(text: str) -> Path:
        try:
            formats.of(Path(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return Path(text)

    return checked


def any_of(formats: Formats[Any]) -> str:
    """Endings of the files of some formats for a help text, such as ".npz|.obj"."""
    return "|".join(formats.suffixes())


def add_back_end_option(
    parser: argparse.ArgumentParser, default: BackEndChoice | None = BackEndChoice.AUTO, more: str = ""
) -> None:
    """Declares what kernels run on; None for what the user chose in the editor."""
    parser.add_argument(
        "--backend",
        type=BackEndChoice,
        choices=list(BackEndChoice),
        default=default,
        metavar=f"{{{','.join(BackEndChoice)}}}",
        help="what the GPU simulates and skins with: transform feedback, compute (OpenGL 4.3), or what is faster here"
        f"{more} (default: {'as chosen in the editor' if default is None else default})",
    )


def require_folder(path: Path) -> None:
    """Fails before long work rather than after it.

    Raises:
        CommandError: If the folder of `path` does not exist, or `path` is itself a folder.
    """
    if not path.parent.is_dir():
        raise CommandError(path, "", f"the folder {path.parent} does not exist")
    if path.is_dir():
        raise CommandError(path, "", "is a folder")
