"""Runs a function on a worker thread and hands its result to the GUI thread."""

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from shiboken6 import isValid

R = TypeVar("R")


class _Relay(QObject):
    """Lives in the GUI thread, so that what a worker emits is queued there."""

    finished = Signal(object)


def run_in_background(work: Callable[[], R], done: Callable[[R], Any], owner: QObject) -> None:
    """Calls `work` on a worker thread, then `done` with its result on the calling (GUI) thread if the owner lives.

    `work` must not raise: whatever can go wrong is part of its result.
    """
    relay = _Relay()

    def deliver(result: R) -> None:
        # The closure keeps the relay alive until the result is there.
        relay.finished.disconnect()
        if isValid(owner):
            done(result)

    relay.finished.connect(deliver, Qt.ConnectionType.QueuedConnection)
    QThreadPool.globalInstance().start(lambda: relay.finished.emit(work()))
