import argparse
import runpy
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sinew.app.failure.errors import FAILED, CommandError, one_line
from sinew.app.project.project_json import ProjectError
from sinew.sim.assets.raw import ModelError
from sinew.sim.export.formats import ExportError
from sinew.sim.scene.params import ParamError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", type=Path, metavar="SCRIPT.py", help="a Python program; it uses `import sinew`")
    arguments = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the program, in its sys.argv"
    )
    arguments.required = False


def run(options: argparse.Namespace) -> int:
    try:
        run_script(options.script, options.arguments)
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            raise
        print(one_line(str(leaving.code)), file=sys.stderr)
        return FAILED
    return 0


def run_script(script: Path, arguments: Sequence[str] = (), names: Mapping[str, Any] | None = None) -> None:
    """Runs a program as `python SCRIPT` does, with `names` as globals.

    Raises:
        CommandError: If it cannot be read, or raises an exception; it names the line of the script.
    """
    if not script.is_file():
        raise CommandError(script, "", "no such file")
    before = sys.argv, list(sys.path)
    sys.argv, sys.path[:0] = [str(script), *arguments], [str(script.absolute().parent)]
    try:
        runpy.run_path(str(script), dict(names or {}), "__main__")
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        line = _line_of(error, script)
        raise CommandError(script, f"line {line}" if line else "", reason(error)) from error
    finally:
        sys.argv, sys.path[:] = before[0], before[1]


def reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg
    if isinstance(error, CommandError | ExportError | ModelError | ParamError | ProjectError):
        return str(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _line_of(error: BaseException, script: Path) -> int:
    """Returns the innermost line of the script that led to an exception; 0 for none."""
    if isinstance(error, SyntaxError) and error.filename == str(script):
        return error.lineno or 0
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)]
    return lines[-1] or 0 if lines else 0
