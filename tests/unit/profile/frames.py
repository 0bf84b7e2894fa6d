import math
from collections.abc import Mapping

from sinew.sim.profile.history import QuantityHistory
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource

MS = 1e-3


def frame(
    number: int,
    gpu: Mapping[str, float],
    *,
    begin: float | None = None,
    interval: float = math.nan,
    moment: SceneMoment | None = None,
    source: TimeSource = TimeSource.CLOCK,
) -> FrameSample:
    """A frame of passes with these GPU times [s], handed out one after the other in half of that."""
    slices, clock = [], 0.0
    for path, time in gpu.items():
        slices.append(Slice(path, clock, 0.0 if math.isnan(time) else 0.5 * time, clock, time))
        clock += 1e-6
    begin = number / 60.0 if begin is None else begin
    return FrameSample(number, begin, interval, moment or SceneMoment(), tuple(slices), source)


def history_of(*samples: FrameSample) -> QuantityHistory:
    history = QuantityHistory()
    for sample in samples:
        history.append(sample)
    return history
