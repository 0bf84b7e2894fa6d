import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from sinew.app.project.project_json import ProjectError
from sinew.sim.assets.raw import ModelError
from sinew.sim.cache.bake import BakeError
from sinew.sim.export.formats import ExportError
from sinew.sim.printable import printable

DONE, FAILED, WRONG_COMMAND_LINE = 0, 1, 2
_ELEMENT_MAX = 200


class CommandError(Exception):
    """Failure of a command; `subject` is a file or a part of the machine, `element` a key or option of it, or ""."""

    def __init__(self, subject: Path | str, element: str, reason: str) -> None:
        place = f"{printable(element, _ELEMENT_MAX)}: " if element else ""
        super().__init__(f"{subject}: {place}{reason}")


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def failure_text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return one_line(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    if isinstance(error, CommandError | BakeError | ExportError | ModelError | ProjectError):
        return one_line(str(error))
    if isinstance(error, MemoryError):
        return "not enough memory"
    return one_line(f"unexpected {type(error).__name__}: {error}")


def print_failure(error: Exception, *, verbose: bool) -> None:
    print(f"sinew: {failure_text(error)}", file=sys.stderr)
    if verbose:
        traceback.print_exception(error, file=sys.stderr)


def print_line(text: str) -> None:
    print(one_line(text), flush=True)


def print_notes(path: Path, notes: Iterable[str]) -> None:
    """Prints different lines about a written file."""
    for note in dict.fromkeys(notes):
        print_line(f"{path}: {note}")


def print_warnings(path: Path | str, notes: Iterable[str]) -> None:
    for warning in notes:
        print(f"sinew: {printable(str(path))}: warning: {one_line(warning)}", file=sys.stderr)


@contextmanager
def quiet_libraries(*, verbose: bool) -> Iterator[None]:
    """Prints libraries' warnings in one line each if verbose, else suppresses them."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if verbose:
            print(f"sinew: {category.__name__}: {one_line(str(message))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """Interruption by a signal; `status` is the exit status, 130 or 143."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def _replaced(handler: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Installs the handler for signals that are not ignored; returns the previous handlers."""
    handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in handled}


@contextmanager
def interruptible() -> Iterator[None]:
    """Raises `Interrupted` at signals within the block, so that half-written files are removed."""

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        raise Interrupted(number)

    before = _replaced(interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class EndRequest:
    """Request to end: the first signal is for work that stops at the next step, the second raises `Interrupted`."""

    def __init__(self) -> None:
        self.number = 0

    def __enter__(self) -> "EndRequest":
        self._before = _replaced(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.number:
            raise Interrupted(number)
        self.number = number
