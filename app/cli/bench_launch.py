"""Launch time: from the start of the process to the first frame of the sample project."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sinew import resources
from sinew.app.cli.failure import CommandError
from sinew.sim.bench.runner import Row, row_of

SAMPLE = "projects/humanoid.sinew"
FIRST_FRAME = "first-frame"
"""First word of the line that the editor prints after the first frame with --exit-after-first-frame."""

PATIENCE = 120.0
"""Time limit of one launch [s]."""


def launch_rows(repeat: int, sizes: Sequence[int] = ()) -> list[Row]:  # noqa: ARG001  # all systems are called alike
    """One row for the sample project; `sizes` is ignored.

    Raises:
        CommandError: If an editor fails or ends without a frame, for instance without a display.
    """
    sample = resources.path(SAMPLE)
    _launch(sample)
    durations = [_launch(sample) for _ in range(repeat)]
    return [row_of("launch", "editor with sample project", 1, "windows", durations)]


def _launch(project: Path) -> float:
    command = [sys.executable, "-m", "sinew", str(project), "--exit-after-first-frame"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    elapsed = time.perf_counter() - start
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise CommandError("launch", "", f"the editor did not end within {PATIENCE:g} s") from None
    if process.returncode != 0 or not line.startswith(FIRST_FRAME):
        last = errors.strip().splitlines()[-1:] or ["no message"]
        raise CommandError("launch", "", f"the editor ended with status {process.returncode}: {last[0]}")
    return elapsed
