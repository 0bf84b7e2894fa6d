"""Being asked to end, by Ctrl-C or by whoever started the command."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A command was asked to end.

    Attributes:
        status: Exit status that tells by what, 130 or 143.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def _replaced(handler: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Handles the signals, but for one that is ignored, as in the background of a shell; returns what did before."""
    simulated = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in simulated}


@contextmanager
def ended_politely() -> Iterator[None]:
    """Being asked to end raises `Interrupted` meanwhile, so that half-written files are removed."""

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        raise Interrupted(number)

    before = _replaced(interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class EndRequest:
    """Remembers the first request to end, for work that stops between two pieces; the second one interrupts.

    Attributes:
        number: The signal, or 0 as long as there was none.
    """

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
