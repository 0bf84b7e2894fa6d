import itertools
import math
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sinew.sim.gl.back_end import SIZES, BackEnd, BackEndComparison
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner, get_integer
from sinew.sim.gl.record import record
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.timer import TimerStamps
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.profile.calibration import Timing, Trial, is_distrusted, try_out

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

STATE = record("trial", bits=(4, "f4"))
ROUNDS = 3
RUNS = 8
"""Number of runs with the smallest number of records, like the substeps of a cloth; a quarter for larger ones."""

SMALL, LARGE = 1_000, 60_000
"""Numbers of vertices of transform feedback; a timer may be right for one and wrong for the other."""

VERTEX_ROUNDS, PIXEL_ROUNDS = 16, 8
EDGE = 256

_FLAT = PipelineState(depth_test=False, depth_write=False)


def compare_back_ends(context: "Context") -> BackEndComparison:
    """Compares by the clock, since the GPU timer may be wrong for one back end; the context must be current."""
    library = ShaderLibrary(context)
    kernels = [Kernel(library, "timing/neighbours.glsl", STATE, back_end=back_end) for back_end in BackEnd]
    ratios = []
    for size, runs in zip(SIZES, (RUNS, RUNS // 4, 1), strict=True):
        records = np.random.default_rng(1).normal(size=(padded_count(size), 4)).astype(np.float32)
        state = PingPong(context, records.view(STATE.dtype).ravel(), label="back end trial")
        rounds = [[_seconds(context, state, kernel, runs) for kernel in kernels] for _ in range(1 + ROUNDS)][1:]
        ratios.append(statistics.median(tf / compute for tf, compute in rounds))
        state.release()
    library.release()
    return BackEndComparison(tuple(ratios))


def _seconds(context: "Context", state: PingPong, kernel: Kernel, runs: int) -> float:
    context.finish()
    begun = time.perf_counter()
    state.run(kernel, "u_state", "u_progress", [(0.01, 0.0)] * runs)
    context.finish()
    return time.perf_counter() - begun


def run_timer_trials(context: "Context") -> list[Trial]:
    """Compares the GPU timer with the clock on known work; measures a distrusted renderer only once.

    The context must be current; framebuffer and viewport are restored.
    """
    bound, viewport = get_integer(GL.GL_FRAMEBUFFER_BINDING), np.zeros(4, np.int32)
    GL.glGetIntegerv(GL.GL_VIEWPORT, viewport)
    context.invalidate()
    stamps, owner = TimerStamps(context), Owner()
    library = owner.owns(ShaderLibrary(context))
    kernel = Kernel(library, "timing/busy.glsl", STATE, back_end=BackEnd.TF)
    flat = library.program("viewport/fullscreen.vert", "timing/busy.frag")
    target = owner.owns(Buffer(context, LARGE * STATE.dtype.itemsize, usage="copy", label="timer trial"))
    image = owner.owns(Framebuffer(context, (EDGE, EDGE), depth=None, label="timer trial"))
    salts = itertools.count(1)

    def feed_back(count: int) -> None:
        kernel.run(None, target, count, u_rounds=VERTEX_ROUNDS, u_salt=next(salts))

    def fill() -> None:
        image.bind()
        _FLAT.apply(context)
        flat.update({"u_rounds": PIXEL_ROUNDS, "u_salt": next(salts)})
        library.no_vertices.draw(flat, count=3)

    workloads: dict[str, Callable[[], None]] = {
        "a small transform feedback": lambda: feed_back(SMALL),
        "a large transform feedback": lambda: feed_back(LARGE),
        "a filled picture": fill,
    }
    quick = is_distrusted(context.capabilities.renderer)
    try:
        return [try_out(name, _timed(context, stamps, step), quick=quick) for name, step in workloads.items()]
    finally:
        owner.release()
        stamps.release()
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, bound)
        GL.glViewport(*viewport.tolist())
        context.invalidate()


def _timed(context: "Context", stamps: TimerStamps, step: Callable[[], None]) -> Callable[[int], Timing]:
    """Returns a function that times steps; timer and clock both include submitting the work."""

    def run(repeats: int) -> Timing:
        context.finish()
        begun = time.perf_counter()
        first = stamps.stamp()
        for _ in range(repeats):
            step()
        last = stamps.stamp()
        context.finish()
        clock = time.perf_counter() - begun
        begin, end = stamps.time_of(first), stamps.time_of(last)
        stamps.give_back(first)
        stamps.give_back(last)
        return Timing(math.nan if begin is None or end is None else end - begin, clock)

    return run
