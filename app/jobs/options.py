import argparse
import enum
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sinew.app.failure.errors import CommandError
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import PROJECT_SUFFIX, is_project
from sinew.sim.assets.formats import MODEL_FORMATS, Format, Formats
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.refusal import refusal
from sinew.sim.scene.params import params_of, range_text, switch_of, value_text

FRAME_MAX, PICTURES_MAX = 10**9, 100_000


def whole_number(lo: int, hi: int | None = None) -> Callable[[str], int]:
    """Returns a parser of whole numbers from `lo` to `hi`."""

    def parsed(text: str) -> int:
        if not (text.isdecimal() and lo <= int(text) and (hi is None or int(text) <= hi)):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {lo}{f' to {hi}' if hi else ''}")
        return int(text)

    return parsed


def finite_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def output_file(formats: Formats[Any]) -> Callable[[str], Path]:
    def checked(text: str) -> Path:
        try:
            formats.of(Path(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return Path(text)

    return checked


def any_of(formats: Formats[Any]) -> str:
    """Returns the suffixes of formats for a help text, such as ".npz|.obj"."""
    return "|".join(formats.suffixes())


def add_back_end_option(
    parser: argparse.ArgumentParser, default: BackEndChoice | None = BackEndChoice.AUTO, more: str = ""
) -> None:
    """Adds the option `--backend`; its default None means the choice made in the editor."""
    parser.add_argument(
        "--backend",
        type=BackEndChoice,
        choices=list(BackEndChoice),
        default=default,
        metavar=f"{{{','.join(BackEndChoice)}}}",
        help="GPU back end of simulation and skinning: transform feedback, compute (OpenGL 4.3), or the faster one"
        f"{more} (default: {'as chosen in the editor' if default is None else default})",
    )


def require_folder(path: Path) -> None:
    """Checks a target before long work: raises CommandError if its folder is missing, or `path` is a folder."""
    if not path.parent.is_dir():
        raise CommandError(path, "", f"the folder {path.parent} does not exist")
    if path.is_dir():
        raise CommandError(path, "", "is a folder")


def frame_range(text: str) -> tuple[int, int]:
    """Parses `A:B` or `A`."""
    match = re.fullmatch(r"([0-9]{1,20})(?::([0-9]{1,20}))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B with whole numbers from 0")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    if last > FRAME_MAX or last - first >= PICTURES_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} goes beyond frame {FRAME_MAX}, or is more than {PICTURES_MAX} frames"
        )
    return first, last


def format_options(format: Format, texts: Sequence[str], path: Path) -> msgspec.Struct | None:
    """Parses "name=value" texts; None without any. Raises CommandError for unknown options or refused values."""
    if not texts:
        return None
    declared = {record.name: record for record in params_of(format.options)} if format.options else {}
    values: dict[str, str | bool] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise CommandError(path, f"--option {text}", f"{format.name} has no option {name!r}; there are: {known}")
        values[name] = switch_of(value) if declared[name].type is bool else value
    assert format.options is not None
    try:
        made: msgspec.Struct = msgspec.convert(values, format.options, strict=False)
    except msgspec.ValidationError as error:
        raise CommandError(path, f"--option {' '.join(texts)}", ": ".join(refusal(error)).strip(": ")) from error
    return made


def option_lines(formats: Formats[Any]) -> str:
    lines = []
    for format in formats:
        for record in params_of(format.options) if format.options else ():
            choices = (
                "|".join(str(member.value) for member in record.type) if issubclass(record.type, enum.Enum) else ""
            )
            allowed = f" ({choices or range_text(record.declared)})" if choices or range_text(record.declared) else ""
            default = value_text(record.default)
            lines.append(f"  {format.suffixes[0]} {record.name}{allowed}: {record.declared.doc} Default: {default}.")
    return "\n".join(["options of formats:", *lines]) if lines else ""


def add_outside_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="read files that a project names outside its own folder and the one above it, also on other machines",
    )


def add_permission_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `permitted`."""
    add_outside_option(parser)
    parser.add_argument(
        "--no-kernels", action="store_true", help="use the shipped shaders instead of the kernels of the project"
    )


def permitted(options: argparse.Namespace) -> Permitted:
    return Permitted(outside=options.allow_outside, kernels=not options.no_kernels)


def add_scene_argument(parser: argparse.ArgumentParser, verb: str) -> None:
    """Adds the argument of the model or project; `verb` completes "what to ..." in the help."""
    kinds = f"{any_of(MODEL_FORMATS)}|{PROJECT_SUFFIX}"
    parser.add_argument("path", type=Path, metavar="MODEL|PROJECT", help=f"what to {verb} ({kinds})")


def add_output_option(parser: argparse.ArgumentParser, formats: Formats[Any], help: str | None = None) -> None:
    metavar = f"FILE{any_of(formats)}"
    parser.add_argument("--output", required=True, type=output_file(formats), metavar=metavar, help=help)


def add_format_options(parser: argparse.ArgumentParser, formats: Formats[Any]) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = option_lines(formats)
    text = "option of the format, see below; repeatable"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)


def require_project(path: Path) -> None:
    if not is_project(path):
        raise CommandError(path, "", f"is not a project ({PROJECT_SUFFIX})")
