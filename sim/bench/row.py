"""One line of a benchmark, and how it is measured: wall-clock around work that has really finished.

A case that uses the graphics card hands over a `finish` that waits.  Where the card's timer tells the truth, what it
says stands beside the clock.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.gl.timer import Timers
from sim.profile.recorder import WARM_UP
from sim.profile.sample import SceneMoment, TimeSource

PASS = "bench"
MILLISECONDS = 1e3


def gpu_seconds(
    timers: Timers, step: Callable[[], object], finish: Callable[[], object], *, steps: int, repeat: int
) -> float | None:
    """Median time of a step on the card [s]; None where the timer is not trusted, or saw no work.

    Rounds of their own are measured, so that the clock is not read around the instrument.

    Args:
        timers: Those of the context, which is current.
        step: Does the work of one step once.
        finish: Returns when all work is done.
        steps: Steps in a round.
        repeat: Rounds.
    """
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
    spans = [one.gpu / steps for sample in samples for one in sample.slices if one.path == PASS]
    known = [span for span in spans if not math.isnan(span)]
    return statistics.median(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Result of one case."""

    system: str  # What was measured, "skinning"; also the word that selects it
    variant: str  # Which way of doing it; the first variant of a system and size is what the others compare with
    size: int  # How many elements one step handles
    unit: str  # What the elements are, "vertices"
    steps: int  # Steps between two readings of the clock
    # ms_per_step_min, ms_per_step_median, ms_per_step_max: Over the repetitions [ms]
    ms_per_step_min: float
    ms_per_step_median: float
    ms_per_step_max: float
    elements_per_second: float  # Of the fastest repetition
    gpu_ms_median: float | None = None  # What the graphics card's own timer says [ms], or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Something to measure.

    Attributes:
        system, variant, size, unit, steps: As in `Row`.
        step: Does the work of one step once.
        finish: Returns when all work handed out by `step` is done.
        timers: Those of the context whose work it is, for the card's own timer.
        clock: What tells the time [s]; `time.process_time` for work that waits for nothing, which others on the
            machine disturb less.
    """

    system: str
    variant: str
    size: int
    unit: str
    step: Callable[[], object]
    steps: int = 1
    finish: Callable[[], object] = lambda: None
    timers: Timers | None = None
    clock: Callable[[], float] = time.perf_counter


def measure(cases: Sequence[Case], *, repeat: int) -> list[Row]:
    """Measures cases that are to be compared: in turn, `repeat` times over, after one round that does not count.

    Taking turns spreads the disturbances of a shared machine evenly.

    Raises:
        ValueError: If `repeat` is not positive.
    """
    if repeat < 1:
        raise ValueError(f"repeat is {repeat}, must be at least 1")
    durations: list[list[float]] = [[] for _ in cases]
    for round_index in range(repeat + 1):
        for case, taken in zip(cases, durations, strict=True):
            duration = _duration(case)
            if round_index > 0:
                taken.append(duration)
    return [
        row_of(case.system, case.variant, case.size, case.unit, taken, steps=case.steps, gpu=_gpu(case, repeat))
        for case, taken in zip(cases, durations, strict=True)
    ]


def row_of(
    system: str,
    variant: str,
    size: int,
    unit: str,
    seconds_per_step: Sequence[float],
    *,
    steps: int = 1,
    gpu: float | None = None,
) -> Row:
    """A row from the durations [s] of one step in each repetition, and what the card's timer says of one [s]."""
    fastest = min(seconds_per_step)
    return Row(
        system=system,
        variant=variant,
        size=size,
        unit=unit,
        steps=steps,
        ms_per_step_min=fastest * MILLISECONDS,
        ms_per_step_median=statistics.median(seconds_per_step) * MILLISECONDS,
        ms_per_step_max=max(seconds_per_step) * MILLISECONDS,
        elements_per_second=size / fastest if fastest > 0.0 else 0.0,
        gpu_ms_median=None if gpu is None else gpu * MILLISECONDS,
    )


def _gpu(case: Case, repeat: int) -> float | None:
    if case.timers is None:
        return None
    return gpu_seconds(case.timers, case.step, case.finish, steps=case.steps, repeat=repeat)


def _duration(case: Case) -> float:
    case.finish()
    start = case.clock()
    for _ in range(case.steps):
        case.step()
    case.finish()
    return (case.clock() - start) / case.steps
