"""Known work that transform feedback and compute are compared with on a machine."""

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.back_end import SIZES, BackEnd, BackEndComparison
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.ping_pong import PingPong
from sim.gl.record import record
from sim.gl.transform_feedback import padded_count

if TYPE_CHECKING:
    from sim.gl.context import Context

PLACE = record("trial", bits=(4, "f4"))
ROUNDS = 3
RUNS = 8
"""In a row of the smallest number, as a step of a cloth has substeps; a quarter as many of a larger one."""


def compare_back_ends(context: "Context") -> BackEndComparison:
    """Times both in turn by the clock, since a driver's timer may be wrong for one of them; the context is current."""
    library = ShaderLibrary(context)
    kernels = [Kernel(library, "timing/neighbours.glsl", PLACE, back_end=back_end) for back_end in BackEnd]
    ratios = []
    for size, runs in zip(SIZES, (RUNS, RUNS // 4, 1), strict=True):
        records = np.random.default_rng(1).normal(size=(padded_count(size), 4)).astype(np.float32)
        state = PingPong(context, records.view(PLACE.dtype).ravel(), label="back end trial")
        rounds = [_round(context, state, kernels, runs) for _ in range(1 + ROUNDS)][1:]
        ratios.append(statistics.median(tf / compute for tf, compute in rounds))
        state.release()
    library.release()
    return BackEndComparison(tuple(ratios))


def _round(context: "Context", state: PingPong, kernels: list[Kernel], runs: int) -> tuple[float, float]:
    taken = []
    for kernel in kernels:
        context.finish()
        begun = time.perf_counter()
        state.run(kernel, "u_state", "u_progress", [(0.01, 0.0)] * runs)
        context.finish()
        taken.append(time.perf_counter() - begun)
    return taken[0], taken[1]
