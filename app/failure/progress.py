import sys
import time
from types import TracebackType
from typing import Self

from sinew.sim.printable import printable

WAIT = 0.5
PERIOD = 0.1
LINE = "progress"  # first word of the lines that another program reads

CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Progress line "label 42 %, 1:20 left", which appears if work takes longer than a moment and vanishes at its end.

    With `lines` it prints "progress 0.42" on standard output instead, for a program that runs this one.
    """

    def __init__(self, label: str, *, lines: bool = False) -> None:
        self._label = printable(label)
        self._lines = lines
        self._visible = False
        self._enabled = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + WAIT

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._visible:
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)

    def __call__(self, fraction: float) -> None:
        """Reports the finished fraction, 0 to 1; cheap enough to call often."""
        now = time.monotonic()
        if self._lines:
            if now >= self._next or fraction >= 1.0:
                self._next = now + PERIOD
                print(f"{LINE} {fraction:.4f}", flush=True)
        elif self._enabled and now >= self._next:
            self._next = now + PERIOD
            self._visible = True
            left = time_left(now - self._start, fraction)
            print(f"{CLEAR_LINE}{self._label} {100.0 * fraction:3.0f} %{left}", end="", file=sys.stderr, flush=True)


def time_left(elapsed: float, fraction: float) -> str:
    """Returns a text such as ", 1:20 left" for work that reached `fraction` after `elapsed` seconds; "" if short."""
    seconds = round(elapsed * (1.0 - fraction) / fraction) if fraction > 0.0 else 0
    if seconds < 2:
        return ""
    minutes, hours = seconds // 60 % 60, seconds // 3600
    return f", {hours}:{minutes:02d}:{seconds % 60:02d} left" if hours else f", {minutes}:{seconds % 60:02d} left"
