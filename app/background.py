"""Runs a function on a worker thread and passes its result to the GUI thread."""

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from shiboken6 import isValid

R = TypeVar("R")


class _Relay(QObject):
    """Lives in the GUI thread, so that signals from workers are queued there."""

    finished = Signal(object)


def run_in_background(work: Callable[[], R], done: Callable[[R], Any], owner: QObject) -> None:
    """Calls `work` on a worker thread, then `done` with its result on the calling (GUI) thread if `owner` still exists.

    `work` must not raise: errors are part of its result.
    """
    relay = _Relay()

    def deliver(result: R) -> None:
        # The closure keeps the relay alive until the result is there.
        relay.finished.disconnect()
        if isValid(owner):
            done(result)

    relay.finished.connect(deliver, Qt.ConnectionType.QueuedConnection)
    QThreadPool.globalInstance().start(lambda: relay.finished.emit(work()))
