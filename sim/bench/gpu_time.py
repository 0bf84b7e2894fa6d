"""What the graphics card's own timer says of a step, where it tells the truth."""

import math
import statistics
from collections.abc import Callable

from sim.gl.timer import Timers
from sim.profile.recorder import WARM_UP
from sim.profile.sample import Moment, TimeSource

PASS = "bench"


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
        timers.finish_frame(Moment(step=index))
        finish()
        samples += timers.poll()
    timers.switch(False)
    spans = [one.gpu / steps for sample in samples for one in sample.slices if one.path == PASS]
    known = [span for span in spans if not math.isnan(span)]
    return statistics.median(known) if known else None
