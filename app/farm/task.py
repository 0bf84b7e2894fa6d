"""One task of a farm: a `sinew` command in a process of its own, here or on another machine."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sinew.app.failure.progress import LINE

ENDS_WITH_INPUT = "SINEW_ENDS_WITH_INPUT"
"""Environment variable of a process that ends when its standard input is closed: a killed parent leaves no orphan."""

Report = Callable[[float], object]
"""Gets the finished fraction, from any thread."""


@dataclass(slots=True)
class TaskResult:
    status: int  # Negative if a signal ended the process
    notes: list[str]  # Lines of standard output without progress
    said: list[str]  # Lines of standard error
    seconds: float = 0.0  # From start to end
    first: tuple[float, float] | None = None  # Time [s] and finished fraction at the first progress line
    files: dict[str, bytes] = field(default_factory=dict)  # What another machine wrote, by name
    worker: str = ""  # Address of that machine

    @property
    def reason(self) -> str:
        """The line of a command that failed."""
        lines = [line.removeprefix("sinew: ") for line in self.said if line.startswith("sinew: ")]
        line = (lines or self.said or ["ended without a message"])[-1]
        return f"{self.worker}: {line}" if self.worker else line


def run_command(
    words: Sequence[str], report: Report, started: Callable[[subprocess.Popen[str]], object],
    folder: str | None = None,
) -> TaskResult:  # fmt: skip
    """Runs a command to its end in a folder; `started` gets its process."""
    begun, first = time.monotonic(), None
    notes: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "sinew", *words, "--progress"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=errors, text=True, errors="replace", env={**os.environ, ENDS_WITH_INPUT: "1"}, cwd=folder,
        )  # fmt: skip
        with process:
            started(process)
            assert process.stdout is not None
            for line in process.stdout:
                word, _, rest = line.rstrip().partition(" ")
                if word == LINE:
                    first = first or (time.monotonic() - begun, float(rest))
                    report(float(rest))
                elif line.strip():
                    notes.append(line.rstrip())
        errors.seek(0)
        said = errors.read().splitlines()
    return TaskResult(process.returncode, notes, said, time.monotonic() - begun, first)
