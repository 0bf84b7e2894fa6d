"""Progress of long work on a terminal; silent when the output goes elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

WAIT = 0.5
PERIOD = 0.1
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """A line "label 42 %" that appears when the work takes longer than a moment and vanishes at its end.

    Args:
        label: What is being done.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._visible = False
        self._enabled = sys.stderr.isatty()
        self._next = time.monotonic() + WAIT

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._visible:
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)

    def __call__(self, fraction: float) -> None:
        """Shows that `fraction` (0 to 1) of the work is done; cheap enough to call often."""
        now = time.monotonic()
        if self._enabled and now >= self._next:
            self._next = now + PERIOD
            self._visible = True
            print(f"{CLEAR_LINE}{self._label} {100.0 * fraction:3.0f} %", end="", file=sys.stderr, flush=True)
