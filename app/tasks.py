"""Long work while the window stays responsive: small steps on the GUI thread, and functions on worker threads."""

import contextlib
import enum
import functools
import logging
import math
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal
from shiboken6 import isValid

from sinew.sim.gl.task import Delay
from sinew.sim.printable import printable

Result = TypeVar("Result")

TURN = 0.02
"""Time budget of a turn of the event loop [s]; a turn ends after the first step that exceeds it."""

_TEXT_MAX = 200
_log = logging.getLogger(__name__)


class Priority(enum.IntEnum):
    """Order of tasks: each runs in the time that tasks of higher priority leave."""

    PREPARE = 0
    DRAW = 1
    UPLOAD = 2
    SIMULATE = 3
    COMPARE = 4


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """Progress of a task that the user waits for: its text and finished fraction, 0 to 1; an empty text hides it."""

    text: str
    share: float


QueueTask = Generator[Delay | TaskProgress | None, None, Result]
"""A task, which yields after every small step and returns the result."""


class TaskHandle:
    """Handle of a task, or of none without a queue; `busy` is False after the end and after `cancel`."""

    def __init__(self, queue: "TaskQueue | None" = None) -> None:
        self._queue = queue
        self.busy = queue is not None

    def cancel(self) -> None:
        """Ends the task without calling `on_done`; safe to call twice."""
        if self._queue is not None and self.busy:
            self.busy = False
            self._queue.drop(self)


@dataclass(eq=False)
class _Entry:
    """A task of the queue; its next step is due at monotonic time `wakes` [s]."""

    handle: TaskHandle
    task: QueueTask[Any]
    priority: Priority
    on_done: Callable[[Any], object]
    on_error: Callable[[Exception], object]
    progress: TaskProgress = TaskProgress("", 1.0)
    wakes: float = -math.inf


class TaskQueue(QObject):
    """Queue of tasks that run in turns of the event loop, the most urgent first.

    The OpenGL context of the viewport is current in every step, but not in callbacks.  An exception ends only the task
    that raised it.

    Args:
        clock: Monotonic time [s].

    Signals:
        progressed: Text, fraction 0 to 1 and priority of the most urgent task that reports progress; an empty text if
        there is none.
        failed: One line about a task that raised and has no `on_error`; each line once.
    """

    progressed = Signal(str, float, int)
    failed = Signal(str)

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._gl_current: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
        self._entries: list[_Entry] = []
        self._running: _Entry | None = None
        self._reported = TaskProgress("", 1.0)
        self._failures: set[str] = set()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._turn)

    def bind(self, gl_current: Callable[[], AbstractContextManager[None]]) -> None:
        """Sets the function that makes the context current within a block."""
        self._gl_current = gl_current

    def add(
        self,
        task: QueueTask[Result],
        priority: Priority,
        *,
        on_done: Callable[[Result], object] = lambda _: None,
        on_error: Callable[[Exception], object] | None = None,
    ) -> TaskHandle:
        """Adds a task that starts with the next turn; `on_error` takes an exception that a step raised."""
        handle = TaskHandle(self)
        self._entries.append(_Entry(handle, task, priority, on_done, on_error or self.fail))
        self._schedule()
        return handle

    def has(self, priority: Priority) -> bool:
        return any(entry.priority == priority for entry in self._entries)

    def release(self) -> None:
        """Cancels all tasks, because the context is lost."""
        for entry in list(self._entries):
            entry.handle.cancel()

    def drop(self, handle: TaskHandle) -> None:
        for entry in [entry for entry in self._entries if entry.handle is handle]:
            self._entries.remove(entry)
            if entry is not self._running:  # else it is closed after its step
                entry.task.close()
        self._report()
        self._schedule()

    def _schedule(self) -> None:
        if self._entries:
            delay = min(entry.wakes for entry in self._entries) - self._clock()
            self._timer.start(math.ceil(max(delay, 0.0) * 1000.0))
        else:
            self._timer.stop()

    def _turn(self) -> None:
        if self._running is not None:  # a step runs an event loop
            return
        now = self._clock()
        try:
            for entry in sorted(self._entries, key=lambda entry: entry.priority):
                if entry.handle.busy and entry.wakes <= now:
                    self._run(entry, now + TURN)
                    if self._clock() >= now + TURN:
                        break
        finally:
            self._report()
            self._schedule()

    def _run(self, entry: _Entry, ends: float) -> None:
        """Runs a task until it waits or ends, or until monotonic time `ends` [s]."""
        self._running = entry
        try:
            with self._gl_current():
                report_end = self._run_steps(entry, ends)
        finally:
            self._running = None
        if not entry.handle.busy:
            entry.task.close()
        elif report_end is not None:
            entry.handle.busy = False
            self._entries.remove(entry)
            report_end()

    def _run_steps(self, entry: _Entry, ends: float) -> Callable[[], object] | None:
        """Runs steps of a task; returns the callback that reports its end, None if it has not ended."""
        while entry.handle.busy:
            try:
                step = next(entry.task)
            except StopIteration as done:
                return functools.partial(entry.on_done, done.value)
            except Exception as error:
                return functools.partial(entry.on_error, error)
            now = self._clock()
            if isinstance(step, TaskProgress):
                entry.progress = step
            elif step is not None:
                entry.wakes = now + step.seconds
                break
            if now >= ends:
                break
        return None

    def fail(self, error: Exception) -> None:
        """Reports an exception of a task; each line once."""
        _log.error("task", exc_info=error)
        text = f"{type(error).__name__}: {printable(str(error), _TEXT_MAX)}"
        if text not in self._failures:
            self._failures.add(text)
            self.failed.emit(text)

    def _report(self) -> None:
        reporting = [entry for entry in self._entries if entry.progress.text]
        first = min(reporting, key=lambda entry: entry.priority, default=None)
        progress = first.progress if first is not None else TaskProgress("", 1.0)
        if progress != self._reported:
            self._reported = progress
            self.progressed.emit(progress.text, progress.share, first.priority if first is not None else -1)


class _Relay(QObject):
    """Carrier of signals from workers; it lives in the GUI thread, so that they are queued there."""

    finished = Signal(object)


def run_in_background(work: Callable[[], Result], done: Callable[[Result], Any], owner: QObject) -> None:
    """Calls `work` on a worker thread, then `done` with its result on the calling (GUI) thread if `owner` still exists.

    `work` must not raise: errors are part of its result.
    """
    relay = _Relay()

    def deliver(result: Result) -> None:
        # The closure keeps the relay alive until the result is there.
        relay.finished.disconnect()
        if isValid(owner):
            done(result)

    relay.finished.connect(deliver, Qt.ConnectionType.QueuedConnection)
    QThreadPool.globalInstance().start(lambda: relay.finished.emit(work()))
