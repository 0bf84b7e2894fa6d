"""How a running load reports its progress and learns that nobody wants it any more."""

from collections.abc import Callable

from sim.assets.raw import LoadCancelled

SMALLEST_STEP = 0.005


class LoadWatch:
    """Counts finished work and checks for cancellation; passed to everything that may take long.

    Attributes:
        total: Work in all, in bytes of text or in nodes; set once the reader knows it.
    """

    def __init__(
        self, progress: Callable[[float], None] | None = None, cancelled: Callable[[], bool] | None = None
    ) -> None:
        self.total = 0
        self._done = 0
        self._reported = -1.0
        self._progress = progress
        self._cancelled = cancelled

    def advance(self, work: int = 0) -> None:
        """Note `work` more as done.

        Raises:
            LoadCancelled: If the caller has asked to stop.
        """
        if self._cancelled is not None and self._cancelled():
            raise LoadCancelled
        self._done += work
        if self.total > 0:
            self._report(min(1.0, self._done / self.total))

    def finish(self) -> None:
        self._report(1.0)

    def _report(self, fraction: float) -> None:
        step = fraction - self._reported
        if self._progress is not None and (step >= SMALLEST_STEP or fraction == 1.0 > self._reported):
            self._reported = fraction
            self._progress(fraction)
