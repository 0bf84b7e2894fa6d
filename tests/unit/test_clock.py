"""Fixed steps out of real time, and the frame meter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.scene.clock import FixedStep, FrameMeter

DT = 1.0 / 60.0


@pytest.mark.parametrize(("dt", "max_steps"), [(0.0, 1), (-0.1, 1), (math.nan, 1), (math.inf, 1), (0.1, 0)])
def test_a_clock_without_a_positive_step_is_refused(dt, max_steps):
    with pytest.raises(ValueError, match="positive step"):
        FixedStep(dt, max_steps)


@given(st.lists(st.integers(0, 100_000).map(lambda value: value / 1e6), max_size=60))
def test_no_time_is_lost_or_invented(elapsed_times):
    clock = FixedStep(DT, 10_000)
    results = [clock.advance(elapsed) for elapsed in elapsed_times]
    assert all(0.0 <= result.alpha <= 1.0 and result.dropped == 0 for result in results)
    if results:
        reported = sum(result.steps for result in results) + results[-1].alpha
        assert reported == pytest.approx(sum(elapsed_times) / DT, abs=1e-6)


@given(st.lists(st.integers(0, 3000).map(lambda value: value / 1e3), max_size=30), st.integers(1, 8))
def test_no_frame_takes_more_steps_than_allowed_and_the_rest_is_told(elapsed_times, max_steps):
    clock = FixedStep(DT, max_steps)
    due = 0
    for elapsed in elapsed_times:
        result = clock.advance(elapsed)
        assert result.steps <= max_steps
        assert result.dropped == 0 or result.steps == max_steps
        due += result.steps + result.dropped
    assert due == pytest.approx(sum(elapsed_times) / DT, abs=1.0)


def test_a_slow_frame_does_not_burden_the_next():
    clock = FixedStep(0.01, 4)
    slow = clock.advance(1.0)
    assert (slow.steps, slow.dropped) == (4, 96)
    assert clock.advance(0.01).steps == 1


def test_frames_of_the_step_length_give_one_step_each():
    clock = FixedStep(DT, 5)
    assert [clock.advance(DT).steps for _ in range(1000)] == [1] * 1000


def test_half_a_step_is_half_way():
    clock = FixedStep(0.01, 5)
    first, second = clock.advance(0.005), clock.advance(0.005)
    assert (first.steps, second.steps) == (0, 1)
    assert first.alpha == pytest.approx(0.5)
    assert second.alpha == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("elapsed", [-1.0, math.nan, math.inf, -math.inf])
def test_time_that_makes_no_sense_counts_as_none(elapsed):
    clock = FixedStep(0.01, 5)
    clock.advance(0.004)
    result = clock.advance(elapsed)
    assert (result.steps, result.dropped) == (0, 0)
    assert result.alpha == pytest.approx(0.4)


def test_reset_forgets_the_share():
    clock = FixedStep(0.01, 5)
    clock.advance(0.009)
    clock.reset()
    assert clock.advance(0.0).alpha == 0.0


@pytest.mark.parametrize(("target", "window"), [(0.0, 1.0), (60.0, 0.0), (math.nan, 1.0)])
def test_a_meter_without_a_positive_target_is_refused(target, window):
    with pytest.raises(ValueError, match="positive rate"):
        FrameMeter(target, window)


def run(meter: FrameMeter, gaps: list[float]):
    now, rate = 100.0, meter.drawn(100.0)
    for gap in gaps:
        now += gap
        rate = meter.drawn(now)
    return rate


def test_steady_frames():
    rate = run(FrameMeter(60.0), [DT] * 120)
    assert rate.per_second == pytest.approx(60.0)
    assert rate.longest == pytest.approx(DT)
    assert (rate.dropped, rate.slow) == (0, False)


def test_slow_drawing_is_told():
    rate = run(FrameMeter(60.0), [0.1] * 30)
    assert rate.per_second == pytest.approx(10.0)
    assert rate.slow
    assert rate.dropped == 5 * 10


def test_one_hitch_is_counted_but_is_not_slow():
    rate = run(FrameMeter(60.0), [DT] * 30 + [3.0 * DT] + [DT] * 20)
    assert (rate.dropped, rate.slow) == (2, False)
    assert rate.longest == pytest.approx(3.0 * DT)


def test_jitter_is_no_dropped_frame():
    assert run(FrameMeter(60.0), [0.8 * DT, 1.2 * DT] * 20).dropped == 0


def test_old_frames_leave_the_window():
    rate = run(FrameMeter(60.0, window=0.5), [0.1] * 20 + [DT] * 60)
    assert rate.per_second == pytest.approx(60.0)
    assert rate.dropped == 0


def test_a_rest_is_no_dropped_frame():
    meter = FrameMeter(60.0)
    run(meter, [DT] * 10)
    meter.pause()
    assert meter.drawn(500.0).per_second == 0.0
    assert meter.drawn(500.0 + DT).dropped == 0


def test_a_clock_that_jumps_back_starts_anew():
    meter = FrameMeter(60.0)
    run(meter, [DT] * 10)
    assert meter.drawn(1.0).per_second == 0.0
    assert meter.drawn(1.0 + DT).per_second == pytest.approx(60.0)
