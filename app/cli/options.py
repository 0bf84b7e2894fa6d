"""Types of options, which complain in terms of the option, and checks of outputs before long work."""

import argparse
import enum
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.cli.failure import CommandError
from sim.assets.formats import Format, Formats
from sim.gl.back_end import BackEndChoice
from sim.refusal import refusal
from sim.scene.params import params_of, range_text, value_text

FRAME_MAX, PICTURES_MAX = 10**9, 100_000


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


def frame_range(text: str) -> tuple[int, int]:
    """Type of a range of frames, `A:B` or `A`."""
    match = re.fullmatch(r"([0-9]{1,20})(?::([0-9]{1,20}))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B with whole numbers from 0 on")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    if last > FRAME_MAX or last - first >= PICTURES_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} goes beyond frame {FRAME_MAX}, or is more than {PICTURES_MAX} pictures"
        )
    return first, last


def format_options(format: Format, texts: Sequence[str], path: Path) -> msgspec.Struct | None:
    """Options of a format from texts "name=value"; None where none are given.

    Raises:
        CommandError: If the format has no such option, or a value is not allowed.
    """
    if not texts:
        return None
    declared = {record.name: record for record in params_of(format.options)} if format.options else {}
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise CommandError(path, f"--option {text}", f"{format.name} has no option {name!r}; there are: {known}")
        values[name] = value
    assert format.options is not None
    try:
        made: msgspec.Struct = msgspec.convert(values, format.options, strict=False)
    except msgspec.ValidationError as error:
        raise CommandError(path, f"--option {' '.join(texts)}", ": ".join(refusal(error)).strip(": ")) from error
    return made


def option_lines(formats: Formats[Any]) -> str:
    """What can be chosen of some formats, for the end of a help text."""
    lines = []
    for format in formats:
        for record in params_of(format.options) if format.options else ():
            choices = "|".join(str(one.value) for one in record.type) if issubclass(record.type, enum.Enum) else ""
            allowed = f" ({choices or range_text(record.declared)})" if choices or range_text(record.declared) else ""
            default = value_text(record.default)
            lines.append(f"  {format.suffixes[0]} {record.name}{allowed}: {record.declared.doc} Default: {default}.")
    return "\n".join(["options of formats:", *lines]) if lines else ""
