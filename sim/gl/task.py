"""Long work as a generator, so that a caller with little time can do a part of it at a time."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Delay:
    """Delay [s] that a task of the editor yields if it has nothing to do."""

    seconds: float


Task = Generator[None, None, Result]
"""A task, which yields after every step and returns the result; dropping it cancels the work."""


def finish(task: Task[Result]) -> Result:
    while True:
        try:
            next(task)
        except StopIteration as done:
            result: Result = done.value
            return result
