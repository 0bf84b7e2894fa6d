"""How a running load reports its progress and learns that nobody wants it any more."""

from collections.abc import Callable

from sim.assets.raw import LoadCancelled

SMALLEST_STEP = 0.005


class LoadWatch:
    """Counts finished work and checks for cancellation; passed to everything that may take long.

    Attributes:
        total: Work in all, in bytes of text; set once the reader knows it.
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
        """Note `work` bytes as done.

        Raises:
            LoadCancelled: If the caller has asked to stop.
        """
        if self._cancelled is not None and self._cancelled():
            raise LoadCancelled
        self._done += work
        if self._progress is None or self.total <= 0:
            return
        fraction = min(1.0, self._done / self.total)
        if fraction - self._reported >= SMALLEST_STEP:
            self._reported = fraction
            self._progress(fraction)
