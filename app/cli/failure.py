"""How a command fails: exit statuses, and one line on standard error naming file, element and reason."""

import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from app.files.project_error import ProjectError
from sim.assets.raw import ModelError

DONE, FAILED, WRONG_COMMAND_LINE, INTERRUPTED = 0, 1, 2, 130


class CommandError(Exception):
    """Work that cannot be done.

    Args:
        subject: File (or part of the machine) concerned.
        element: Element, key or option within it, or "".
        reason: What is wrong with it.
    """

    def __init__(self, subject: Path | str, element: str, reason: str) -> None:
        super().__init__(f"{subject}: {element}: {reason}" if element else f"{subject}: {reason}")


def one_line(text: str) -> str:
    """`text` with its line breaks replaced by blanks."""
    return " ".join(text.split())


def failure_text(error: Exception) -> str:
    """What happened, in one line; a failure nobody foresaw carries the name of its class."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    if isinstance(error, CommandError | ModelError | ProjectError):
        return one_line(str(error))
    if isinstance(error, MemoryError):
        return "not enough memory"
    return one_line(f"unexpected {type(error).__name__}: {error}")


def print_failure(error: Exception, *, verbose: bool) -> None:
    """Prints the line and, if wanted, the traceback after it."""
    print(f"sinew: {failure_text(error)}", file=sys.stderr)
    if verbose:
        traceback.print_exception(error, file=sys.stderr)


def print_warnings(path: Path | str, warnings: Iterable[str]) -> None:
    """Prints what was odd about a file but did not stop the work."""
    for warning in warnings:
        print(f"sinew: {path}: warning: {one_line(warning)}", file=sys.stderr)
