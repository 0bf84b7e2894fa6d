"""Tasks: long work as a generator, so that a caller with little time can do a part of it at a time."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")

Task = Generator[None, None, Result]
"""Yields after every step and returns the result; dropping it cancels the work."""


def finish(task: Task[Result]) -> Result:
    while True:
        try:
            next(task)
        except StopIteration as done:
            result: Result = done.value
            return result
