"""Measurements around finished work; the GPU's own timer is read as well, where it is trusted.

Where it is not, the processor time of the process is: on a software renderer it counts all work, whatever else runs.

Rows confirm each speed that README and guide state: a substep of lines takes about as long as four of springs (cloth),
16 samples and shells (images of hair), fitted colliders and the skin (colliders), and the faster back end (back-ends).
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sinew.sim.assets.formats import resolved
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.timer import Timers
from sinew.sim.profile.recorder import WARM_UP
from sinew.sim.profile.sample import SceneMoment, TimeSource


@dataclass(frozen=True, slots=True)
class BenchSystem:
    """A system to measure.

    Attributes:
        rows: "package.module:name" of a function that takes a `GpuBench` and a size, and returns rows.
        sizes: Default sizes.
        has_back_end: Whether the back end can be chosen.
    """

    rows: str
    sizes: tuple[int, ...]
    has_back_end: bool = True


SYSTEMS = {
    "skinning": BenchSystem("sinew.sim.bench.skinning:skinning_rows", (10_000, 100_000, 200_000, 1_000_000)),
    "cloth": BenchSystem("sinew.sim.bench.cloth:cloth_rows", (1024, 4096, 16_384, 65_536, 262_144)),
    "hair": BenchSystem("sinew.sim.bench.hair:hair_rows", (10_000,)),
    "particles": BenchSystem("sinew.sim.bench.particles:particles_rows", (10_000, 100_000, 10**6)),
    "colliders": BenchSystem("sinew.sim.bench.skin:collider_rows", (40,)),
    "back-ends": BenchSystem("sinew.sim.bench.backends:back_end_rows", (500, 16_384, 65_536, 262_144), False),
}

PASS = "bench"
MILLISECONDS = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
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
    cpu_ms_min: float | None = None  # Processor time of all threads, where the GPU's timer is not used [ms]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row to measure.

    Attributes:
        step: Does the work of one step once.
        steps: Calls of `step` between two readings of the clock.
        substeps: Steps of the result in one call of `step`.
        finish: Waits until all work of `step` is done.
        timers: Timers of the GL context, to read the GPU's own timer too.
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


def rows_of(name: str, repeat: int, sizes: Sequence[int] = (), back_end: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Measures a system, by default at its own sizes; raises GLError if the machine has no OpenGL."""
    system, rows = SYSTEMS[name], list[Row]()
    function = resolved(system.rows)
    with Context.headless() as context:
        context.back_ends.choice = back_end if system.has_back_end else BackEndChoice.TF
        library = ShaderLibrary(context)
        for size in sizes or system.sizes:
            bench = GpuBench(context, library, repeat)
            rows += function(bench, size)
            bench.release()
    return rows


def measure(cases: Sequence[Case], *, repeat: int) -> list[Row]:
    """Measures cases in turns, `repeat` rounds (at least 1) after a warm-up, so that all share the machine's load."""
    if repeat < 1:
        raise ValueError(f"repeat is {repeat}, must be at least 1")
    durations: list[list[tuple[float, float]]] = [[] for _ in cases]
    for _ in range(repeat + 1):
        for case, taken in zip(cases, durations, strict=True):
            taken.append(_duration(case))
    rows = []
    for case, (_, *taken) in zip(cases, durations, strict=True):
        gpu = None
        if case.timers is not None:
            gpu = gpu_seconds(case.timers, case.step, case.finish, steps=case.steps, repeat=repeat)
        seconds, count = [duration / case.substeps for duration, _ in taken], case.steps * case.substeps
        cpu = min(busy for _, busy in taken) / case.substeps if gpu is None else None
        gpu = None if gpu is None else gpu / case.substeps
        rows.append(row_of(case.system, case.variant, case.size, case.unit, seconds, steps=count, gpu=gpu, cpu=cpu))
    return rows


class GpuBench(Owner):
    """Measurements of one size in a GL context; objects that it owns are released after them."""

    def __init__(self, context: Context, library: ShaderLibrary, repeat: int) -> None:
        self.context, self.library, self.repeat = context, library, repeat

    def case(self, **values: Any) -> Case:
        gpu: dict[str, Any] = {"finish": self.context.finish, "timers": self.context.timers}
        return Case(**gpu | values)

    def rows(self, variants: Mapping[str, Callable[[], object]], **values: Any) -> list[Row]:
        """Measures the step of each variant; `values` are the other attributes of `Case`."""
        cases = [self.case(variant=name, step=step, **values) for name, step in variants.items()]
        return measure(cases, repeat=self.repeat)


def row_of(
    system: str, variant: str, size: int, unit: str, seconds: Sequence[float], *, steps: int = 1,
    gpu: float | None = None, cpu: float | None = None,
) -> Row:  # fmt: skip
    """Returns a row of durations of one step in each repetition, its time on the GPU, and its processor time [s]."""
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
        cpu_ms_min=None if cpu is None else cpu * MILLISECONDS,
    )


def gpu_seconds(
    timers: Timers, step: Callable[[], object], finish: Callable[[], object], *, steps: int, repeat: int
) -> float | None:
    """Returns the median time of a step [s], in rounds of its own; None if the GPU's timer is not trusted or idle."""
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


def _duration(case: Case) -> tuple[float, float]:
    """Returns the duration of a step by the clock, and its processor time [s]."""
    case.finish()
    start, busy = time.perf_counter(), time.process_time()
    for _ in range(case.steps):
        case.step()
    case.finish()
    return (time.perf_counter() - start) / case.steps, (time.process_time() - busy) / case.steps
