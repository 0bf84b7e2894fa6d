import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from sinew.sim.kinds.contract import Service
from sinew.sim.memo import same_objects

T = TypeVar("T")

Pause = Callable[[float], None]
"""Callback of long work with its progress, 0 to 1; an exception from it ends the work."""


def unpaused(_share: float) -> None:
    """Does nothing; the pause of work without progress and cancelling."""


def part_of(pause: Pause, first: float, last: float) -> Pause:
    """Returns a pause that maps the progress of a part of the work to `first` ... `last`."""
    return lambda share: pause(first + share * (last - first))


class Cancelled(Exception):
    """Error that ends cancelled work."""


class BackgroundJob(Generic[T]):
    """Work on a worker thread; without `threads`, the constructor does it at once."""

    def __init__(self, work: Callable[[Pause], T], threads: ThreadPoolExecutor | None) -> None:
        self.share = 0.0
        self._stopped = threading.Event()
        self._future: Future[T] = Future()
        if threads is not None:
            self._future = threads.submit(work, self._pause)
            return
        try:
            self._future.set_result(work(self._pause))
        except Exception as error:  # raised by `result`
            self._future.set_exception(error)

    @property
    def is_done(self) -> bool:
        return self._future.done()

    def result(self) -> T:
        """Returns the result after waiting for it; raises the exception of the work."""
        return self._future.result()

    def cancel(self) -> None:
        self._stopped.set()
        self._future.cancel()

    def _pause(self, share: float) -> None:
        self.share = share
        if self._stopped.is_set():
            raise Cancelled


class KeyedJob(Generic[T]):
    """The job of the latest inputs, if any; `key` are these, which are compared by identity."""

    def __init__(self) -> None:
        self.key: tuple[object, ...] = ()
        self.job: BackgroundJob[T] | None = None

    def is_of(self, key: tuple[object, ...]) -> bool:
        return same_objects(key, self.key)

    def set(self, key: tuple[object, ...], job: BackgroundJob[T] | None = None) -> None:
        self.key, self.job = key, job


class Background(Service):
    """Worker that runs pure functions one after another; without `is_on`, `start` does the work at once."""

    def __init__(self, *_: object) -> None:
        self.is_on = False
        self._threads: ThreadPoolExecutor | None = None
        self._jobs: weakref.WeakSet[BackgroundJob[Any]] = weakref.WeakSet()  # the result belongs to the caller

    def start(self, work: Callable[[Pause], T]) -> BackgroundJob[T]:
        if self.is_on and self._threads is None:
            self._threads = ThreadPoolExecutor(1, "background")
        job = BackgroundJob(work, self._threads if self.is_on else None)
        self._jobs.add(job)
        return job

    def release(self) -> None:
        for job in self._jobs:
            job.cancel()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None
