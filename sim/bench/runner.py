"""The benchmark runner: a `Case` is a name, a size and a step; a `Row` is the measured result.

Times are taken around finished work.  The GPU's own timer is read as well, where it is trusted.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.timer import Timers
from sinew.sim.profile.recorder import WARM_UP
from sinew.sim.profile.sample import SceneMoment, TimeSource

SYSTEMS = {
    "load": "sinew.sim.bench.load",
    "pose": "sinew.sim.bench.pose",
    "skinning": "sinew.sim.bench.skinning",
    "shape": "sinew.sim.bench.skinning",
    "cloth": "sinew.sim.bench.cloth",
    "particles": "sinew.sim.bench.particles",
    "backends": "sinew.sim.bench.backends",
    "hair": "sinew.sim.bench.hair",
    "frame": "sinew.sim.bench.frames",
    "timing": "sinew.sim.bench.frames",
    "kept": "sinew.sim.bench.frames",
    "compile": "sinew.sim.bench.compile",
    "film": "sinew.sim.bench.output",
    "export": "sinew.sim.bench.output",
    "launch": "sinew.app.cli.bench",
}
"""Module of each system; its function `NAME_rows(repeat, sizes)` measures with default sizes."""

ON_ONE_BACK_END = ("skinning", "cloth", "particles", "hair", "frame", "timing")
"""Systems whose function also takes `backend`."""

PASS = "bench"
MILLISECONDS = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Result of one case."""

    system: str  # Also the word that selects it, "skinning"
    variant: str  # The first variant of a system and size is the baseline of the others
    size: int  # Elements that one step handles
    unit: str  # Of the elements, "vertices"
    steps: int  # Steps between two readings of the clock
    # Over the repetitions [ms]
    ms_per_step_min: float
    ms_per_step_median: float
    ms_per_step_max: float
    elements_per_second: float  # Of the fastest repetition
    gpu_ms_median: float | None = None  # By the GPU's own timer [ms]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row to measure.

    Attributes:
        step: Does the work of one step once.
        steps: Calls of `step` between two readings of the clock.
        substeps: Steps of the result in one call of `step`.
        finish: Waits until all work of `step` is done.
        timers: Timers of the GL context, to read the GPU's own timer too.
        clock: Returns the time [s]; `time.process_time` is disturbed least, for work that never waits.
        within: Makes a context manager around each measurement, which is not timed itself.
    """

    system: str
    variant: str
    size: int
    unit: str
    step: Callable[[], object]
    steps: int = 1
    substeps: int = 1
    finish: Callable[[], object] = lambda: None
    timers: Timers | None = None
    clock: Callable[[], float] = time.perf_counter
    within: Callable[[], AbstractContextManager[Any]] = nullcontext


def rows_on_gpu(
    rows_of_size: Callable[[Context, ShaderLibrary, int, int], Iterable[Row]],
    sizes: Sequence[int],
    repeat: int,
    backend: BackEndChoice = BackEndChoice.TF,
) -> list[Row]:
    """Rows of `rows_of_size(context, library, size, repeat)` for each size, in a context of their own.

    Raises:
        GLError: If the machine has no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        library = ShaderLibrary(context)
        return [row for size in sizes for row in rows_of_size(context, library, size, repeat)]


def measure(cases: Sequence[Case], *, repeat: int) -> list[Row]:
    """Measures cases in turns, `repeat` rounds after a warm-up round; all share the load of the machine.

    Raises:
        ValueError: If `repeat` is not positive.
    """
    if repeat < 1:
        raise ValueError(f"repeat is {repeat}, must be at least 1")
    durations: list[list[float]] = [[] for _ in cases]
    for _ in range(repeat + 1):
        for case, taken in zip(cases, durations, strict=True):
            taken.append(_duration(case))
    rows = []
    for case, (_, *taken) in zip(cases, durations, strict=True):
        gpu = None
        if case.timers is not None:
            gpu = gpu_seconds(case.timers, case.step, case.finish, steps=case.steps, repeat=repeat)
        seconds, count = [duration / case.substeps for duration in taken], case.steps * case.substeps
        gpu = None if gpu is None else gpu / case.substeps
        rows.append(row_of(case.system, case.variant, case.size, case.unit, seconds, steps=count, gpu=gpu))
    return rows


def row_of(
    system: str, variant: str, size: int, unit: str, seconds: Sequence[float], *, steps: int = 1,
    gpu: float | None = None,
) -> Row:  # fmt: skip
    """A row from the durations of one step in each repetition [s], and the duration by the GPU's timer [s]."""
    fastest = min(seconds)
    return Row(
        system=system,
        variant=variant,
        size=size,
        unit=unit,
        steps=steps,
        ms_per_step_min=fastest * MILLISECONDS,
        ms_per_step_median=statistics.median(seconds) * MILLISECONDS,
        ms_per_step_max=max(seconds) * MILLISECONDS,
        elements_per_second=size / fastest if fastest > 0.0 else 0.0,
        gpu_ms_median=None if gpu is None else gpu * MILLISECONDS,
    )


def gpu_seconds(
    timers: Timers, step: Callable[[], object], finish: Callable[[], object], *, steps: int, repeat: int
) -> float | None:
    """Median time of a step on the GPU [s], in rounds of its own; None if its timer is not trusted or saw no work."""
    if timers.calibrate().source is not TimeSource.TIMER:
        return None
    timers.switch(True)
    samples = []
    for index in range(WARM_UP + repeat):
        with timers.scope(PASS):
            for _ in range(steps):
                step()
        timers.finish_frame(SceneMoment(step=index))
        finish()
        samples += timers.poll()
    timers.switch(False)
    spans = [part.gpu / steps for sample in samples for part in sample.slices if part.path == PASS]
    known = [span for span in spans if not math.isnan(span)]
    return statistics.median(known) if known else None


def _duration(case: Case) -> float:
    with case.within():
        case.finish()
        start = case.clock()
        for _ in range(case.steps):
            case.step()
        case.finish()
        return (case.clock() - start) / case.steps
