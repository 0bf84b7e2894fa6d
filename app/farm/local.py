import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from sinew.app.farm.task import Report, TaskResult, run_command

PATIENCE = 5.0  # [s] that an ended command may take


class LocalWorkers:
    """Processes on this machine; the block waits until all have ended."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._threads = ThreadPoolExecutor(slots)
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._cancelled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def submit(self, words: Sequence[str], output: Path | None, report: Report) -> Future[TaskResult]:
        target = ["--output", str(output)] if output is not None else []
        return self._threads.submit(run_command, [*words, *target], report, self._add)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            running = [process for process in self._processes if process.poll() is None]
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _add(self, process: subprocess.Popen[str]) -> None:
        with self._lock:
            self._processes.add(process)
            if self._cancelled:
                process.terminate()
