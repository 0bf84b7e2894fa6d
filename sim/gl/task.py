"""Tasks: long work as a generator, so that a caller with little time can do a part of it at a time."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Delay:
    """Yielded by a task that has nothing to do for some time [s]."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Yielded by a task that the user waits for: what is done, and the fraction 0 to 1; an empty text hides it."""

    text: str
    share: float


Task = Generator[Delay | Progress | None, None, Result]
"""Yields after every step and returns the result; dropping it cancels the work."""


def finish(task: Task[Result]) -> Result:
    while True:
        try:
            next(task)
        except StopIteration as done:
            result: Result = done.value
            return result
