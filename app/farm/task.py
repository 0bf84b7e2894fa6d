"""One task of a farm: a `sinew` command in a process of its own, here or on another machine."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sinew.app.cli.main import ENDS_WITH_INPUT
from sinew.app.cli.progress import LINE


@dataclass(slots=True)
class Finished:
    """Result of a command.

    Attributes:
        status: Exit status; negative if a signal ended the process.
        notes: Lines of standard output without progress.
        said: Lines of standard error.
        seconds: Time from start to end [s].
        first: Time [s] and finished fraction at the first progress line; None without one.
        files: Content of the written files by name, if they were written on another machine.
        worker: Address of that machine, or "".
    """

    status: int
    notes: list[str]
    said: list[str]
    seconds: float = 0.0
    first: tuple[float, float] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    worker: str = ""

    @property
    def reason(self) -> str:
        """The line of a command that failed."""
        lines = [line.removeprefix("sinew: ") for line in self.said if line.startswith("sinew: ")]
        line = (lines or self.said or ["ended without a message"])[-1]
        return f"{self.worker}: {line}" if self.worker else line


def run_command(
    words: Sequence[str], report: Callable[[float], object], started: Callable[[subprocess.Popen[str]], object],
    folder: str | None = None,
) -> Finished:  # fmt: skip
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
    return Finished(process.returncode, notes, said, time.monotonic() - begun, first)


def written_below(folder: Path) -> dict[str, bytes]:
    """Returns the content of all files below a folder by their relative names."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
