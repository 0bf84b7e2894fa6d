"""Division of a long command into chunks of neighbouring items, which workers run in any order."""

import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from typing import Protocol

from sinew.app.failure.errors import CommandError, print_warnings
from sinew.app.farm.task import Report, TaskResult
from sinew.sim.printable import counted

FIRST_SIZE = 16
FIXED_SHARE, FIXED_SHARE_MAX = 0.1, 0.5
"""Wanted part of a chunk's time for starting and loading, and the largest one where the last items are divided."""
RETRIES = 10
"""How often a chunk is started again after its process or its worker died."""

Chunk = tuple[int, int]
"""First and last item."""


class WorkerLost(Exception):
    """A worker died with its task."""


class Workers(Protocol):
    """Machines or processes that run commands."""

    @property
    def slots(self) -> int:
        """Number of commands at a time."""

    def submit(self, words: Sequence[str], output: Path | None, report: Report) -> Future[TaskResult]:
        """Starts a command with an output. The result may raise WorkerLost."""

    def cancel(self) -> None:
        """Ends all commands."""


class TaskError(CommandError):
    """Failure of a task with the line that it printed."""

    def __init__(self, line: str) -> None:
        Exception.__init__(self, line)


def run_chunks(
    items: Iterable[int],
    workers: Workers,
    words_of: Callable[[Chunk], Sequence[str]],
    output: Path | None,
    take: Callable[[Chunk, TaskResult], object],
    progress: Callable[[float], object],
    *,
    largest: int = sys.maxsize,
    keeps_failed: bool = False,
) -> None:
    """Runs all items.

    Chunks become so long that starting and loading is at most a tenth of their time, or half of it at the end, so that
    all workers have something to do.

    Args:
        items: Numbers in ascending order.
        words_of: Returns the command of a chunk.
        take: Gets each finished chunk.
        progress: Gets the finished fraction.
        largest: Number of items that one command takes.
        keeps_failed: `take` gets failed chunks, too; the others go on.

    Raises:
        CommandError: If a chunk fails or no worker can be reached; the others are ended.
    """
    left = deque(items)
    total, done = max(len(left), 1), 0
    size = min(FIRST_SIZE, math.ceil(total / workers.slots), largest)
    again: deque[Chunk] = deque()
    lost: Counter[Chunk] = Counter()
    running: dict[Future[TaskResult], Chunk] = {}
    shares: dict[Chunk, float] = {}
    try:
        while left or again or running:
            while (left or again) and len(running) < workers.slots:
                chunk = again.popleft() if again else _taken(left, size)
                shares[chunk] = 0.0
                running[workers.submit(words_of(chunk), output, partial(shares.__setitem__, chunk))] = chunk
            for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                chunk = running.pop(future)
                try:
                    finished = future.result()
                except WorkerLost as error:
                    finished = TaskResult(-1, [], [f"sinew: {error}"])
                if finished.status < 0:
                    lost[chunk] += 1
                    if lost[chunk] > RETRIES:
                        raise TaskError(f"{counted(RETRIES + 1, 'attempt')} of one task ended early: {finished.reason}")
                    again.extend(_halves(chunk))  # where workers live shortly, long chunks would never end
                    size = max(size // 2, 1)
                elif finished.status and not keeps_failed:
                    raise TaskError(finished.reason)
                else:
                    take(chunk, finished)
                    done += _length(chunk)
                    size = min(better_size(finished, chunk, size, math.ceil(len(left) / workers.slots)), largest)
            progress((done + sum(shares[chunk] * _length(chunk) for chunk in running.values())) / total)
    except BaseException:
        workers.cancel()
        raise
    if lost:
        print_warnings("workers", [f"{counted(lost.total(), 'task')} ended early and ran again"])


def better_size(finished: TaskResult, chunk: Chunk, size: int, even: int) -> int:
    """Returns the size of the next chunk, by the time that a finished one took; `even` is left for each worker."""
    if finished.first is None:
        return max(min(size, even), 1)
    first, share = finished.first
    if share >= 1.0:
        return max(min(2 * size, even), 1)  # its items took no time that can be told from the start
    item = max((finished.seconds - first) / ((1.0 - share) * _length(chunk)), 1e-6)
    fixed = max(first - share * _length(chunk) * item, 0.0)
    least, wanted = (fixed / item * (1.0 / part - 1.0) for part in (FIXED_SHARE_MAX, FIXED_SHARE))
    return max(math.ceil(min(wanted, max(even, least))), 1)


def _taken(left: deque[int], size: int) -> Chunk:
    """Removes neighbouring items from the front."""
    first = last = left.popleft()
    while left and left[0] == last + 1 and last - first + 1 < size:
        last = left.popleft()
    return first, last


def _halves(chunk: Chunk) -> list[Chunk]:
    first, last = chunk
    middle = (first + last) // 2
    return [(first, middle), (middle + 1, last)] if first < last else [chunk]


def _length(chunk: Chunk) -> int:
    return chunk[1] - chunk[0] + 1
