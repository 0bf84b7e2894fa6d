"""Work that is done in steps, so that whoever has little time can do a part of it in every turn."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")

Task = Generator[None, None, Result]
"""Yields after every step and returns the result; dropping it gives the work up."""


def finish(steps: Task[Result]) -> Result:
    """Does all steps at once; returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
