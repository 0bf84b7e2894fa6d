import argparse
import atexit
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sinew.app.failure.errors import DONE, FAILED, CommandError, one_line, print_failure
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
    status = DONE

    def report(failure: threading.ExceptHookArgs) -> None:
        """Reports an exception of a thread, which ends alone: the program runs on, and fails at its end."""
        nonlocal status
        if not isinstance(failure.exc_value, SystemExit | None):
            status = FAILED
            print_failure(_failure_of(options.script, failure.exc_value), verbose=options.verbose)

    before, threads = threading.excepthook, threading.enumerate()
    threading.excepthook = report
    try:
        run_script(options.script, options.arguments)
    except SystemExit as leaving:
        if leaving.code is not None and not isinstance(leaving.code, int):
            print(one_line(str(leaving.code)), file=sys.stderr)
            return FAILED
        return leaving.code or status
    finally:
        if any(thread not in threads and not thread.daemon for thread in threading.enumerate()):
            atexit.register(lambda: _leave(status))  # once the threads have ended
        else:
            threading.excepthook = before
    return status


def _leave(status: int) -> None:
    """Ends the process with the status of a failure that came after the end of the program."""
    if status != DONE:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


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
        raise _failure_of(script, error) from error
    finally:
        sys.argv, sys.path[:] = before[0], before[1]


def _failure_of(script: Path, error: BaseException) -> CommandError:
    line = _line_of(error, script)
    return CommandError(script, f"line {line}" if line else "", reason(error))


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
