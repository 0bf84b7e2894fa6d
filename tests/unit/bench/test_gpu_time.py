"""The card's own timer stands beside the clock, where it is trusted."""

import math

import pytest

from sinew.sim.bench.report import report, table
from sinew.sim.bench.runner import PASS, Case, gpu_seconds, measure, row_of
from sinew.sim.profile.recorder import NO_RUN, WARM_UP
from sinew.sim.profile.sample import Calibration, FrameSample, SceneMoment, Slice, TimeSource


class FakeTimers:
    """Timers whose card takes the given times [s] for the rounds."""

    def __init__(self, spans: list[float], source: TimeSource = TimeSource.TIMER) -> None:
        self._spans, self._source = spans, source
        self.switched: list[bool] = []
        self.frames = 0

    def calibrate(self) -> Calibration:
        return Calibration(self._source, "a test")

    def switch(self, on: bool) -> None:
        self.switched.append(on)

    def scope(self, name: str):
        assert name == PASS
        return NO_RUN

    def finish_frame(self, moment: SceneMoment) -> None:
        assert self.switched == [True]
        self.frames += 1

    def poll(self) -> list[FrameSample]:
        if self.frames <= WARM_UP:
            return []
        slices = (
            Slice(PASS, 0.0, 0.0, 0.0, self._spans[self.frames - WARM_UP - 1]),
            Slice("bench/x", 0.0, 0.0, 0.0, 9.0),
        )
        return [FrameSample(0, 0.0, math.nan, SceneMoment(), slices, TimeSource.TIMER)]


def test_the_median_of_the_rounds_that_are_known() -> None:
    timers, done = FakeTimers([0.03, 0.01, math.nan, 0.02]), []
    seconds = gpu_seconds(timers, lambda: done.append(1), lambda: None, steps=10, repeat=4)
    assert seconds == pytest.approx(0.002)
    assert len(done) == 10 * (WARM_UP + 4)
    assert timers.switched == [True, False]


def test_a_timer_that_lies_is_not_asked() -> None:
    timers = FakeTimers([], TimeSource.CLOCK)
    assert gpu_seconds(timers, lambda: None, lambda: None, steps=1, repeat=1) is None
    assert timers.switched == []


def test_work_that_the_card_never_saw_has_no_time() -> None:
    assert gpu_seconds(FakeTimers([math.nan]), lambda: None, lambda: None, steps=1, repeat=1) is None


def test_the_figure_stands_beside_the_clock_in_table_and_report() -> None:
    case = Case(
        system="cloth", variant="a", size=4, unit="particles", step=lambda: None, steps=2, timers=FakeTimers([0.008])
    )
    (row,) = measure([case], repeat=1)
    assert row.gpu_ms_median == pytest.approx(4.0)
    assert row.ms_per_step_min < 4.0
    plain = row_of("cloth", "numpy", 4, "particles", [0.1])
    lines = table([row, plain]).splitlines()
    assert lines[0].endswith("gpu ms")
    assert lines[1].endswith(" 4")
    assert "gpu_ms_median" in report({}, [row, plain])["rows"][0]
    assert "gpu_ms_median" not in report({}, [row, plain])["rows"][1]
    assert "gpu ms" not in table([plain])
