"""Time spent inside OpenGL calls, so that the rest of a frame can be told from them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sim.gl.bootstrap import GL


class CallClock:
    """Adds up the time inside wrapped calls.

    Attributes:
        seconds: Time inside since the last `reset` [s].
        calls: Number of calls since then.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def reset(self) -> None:
        """Starts from zero."""
        self.seconds, self.calls = 0.0, 0

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, timed."""

        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.perf_counter() - start
                self.calls += 1

        return call


@contextmanager
def timed_gl_calls() -> Iterator[CallClock]:
    """Times every OpenGL function that is looked up meanwhile.

    Functions that a module has taken before (the setters of uniforms) are not seen; their time counts as outside,
    so that the time outside is never told too small.
    """
    clock = CallClock()
    originals = {name: value for name, value in vars(GL).items() if _is_function(name, value)}
    for name, function in originals.items():
        setattr(GL, name, clock.wrapped(function))
    try:
        yield clock
    finally:
        for name, function in originals.items():
            setattr(GL, name, function)


def _is_function(name: str, value: object) -> bool:
    return name.startswith("gl") and name[2:3].isupper() and callable(value)
