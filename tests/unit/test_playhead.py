import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.scene.clock import FixedStep, FrameMeter
from sinew.sim.scene.playback import (
    LoopMode,
    PlaybackSettings,
    Playhead,
    advanced,
    frame_of,
    pause,
    play,
    play_range,
    simulation_start,
    stepped,
    stepped_frame,
    stepped_key,
    time_of,
)

LOOP, ONCE, PING_PONG = LoopMode.LOOP, LoopMode.ONCE, LoopMode.PING_PONG


def thousandths(lo: int, hi: int) -> st.SearchStrategy[float]:
    return st.integers(lo, hi).map(lambda value: value / 1000.0)


durations = thousandths(0, 5000)
points = st.none() | thousandths(-1000, 6000)
elapsed_times = thousandths(0, 60_000)
directions = st.sampled_from([1, -1])


@st.composite
def playback(draw, loops=tuple(LoopMode)):
    return PlaybackSettings(
        loop=draw(st.sampled_from(loops)),
        speed=draw(thousandths(-4000, 4000)),
        in_point=draw(points),
        out_point=draw(points),
    )


@given(playback(), durations)
def test_range_lies_in_the_clip_and_is_empty_only_with_it(settings, duration):
    start, end = play_range(settings, duration)
    assert 0.0 <= start <= end <= duration
    assert (end > start) == (duration > 0.0)
    if None not in (settings.in_point, settings.out_point):
        swapped = msgspec.structs.replace(settings, in_point=settings.out_point, out_point=settings.in_point)
        assert play_range(swapped, duration) == (start, end)


@given(playback(), durations, elapsed_times, directions, st.integers(0, 1000))
def test_inside_the_range_it_stays_inside(settings, duration, elapsed, direction, share):
    start, end = play_range(settings, duration)
    playhead = Playhead(start + (end - start) * share / 1000.0, True, direction)
    after = advanced(playhead, elapsed, settings, duration)
    assert start <= after.time <= end
    assert after.direction in (1, -1)


def circle_distance(a: float, b: float, length: float) -> float:
    gap = abs(a - b) % length if length > 0.0 else abs(a - b)
    return min(gap, length - gap) if length > 0.0 else gap


@given(playback(), durations, elapsed_times, elapsed_times, thousandths(-1000, 6000), directions)
def test_two_steps_are_one_long_step(settings, duration, first, second, time, direction):
    start, end = play_range(settings, duration)
    playhead = Playhead(time, True, direction)
    twice = advanced(advanced(playhead, first, settings, duration), second, settings, duration)
    once = advanced(playhead, first + second, settings, duration)
    assert circle_distance(twice.time, once.time, end - start if settings.loop is LOOP else 0.0) < 1e-6
    inside = start + 1e-6 < once.time < end - 1e-6
    if inside:  # at an edge rounding decides on which side of the turn a step ends
        assert (twice.direction, twice.playing) == (once.direction, once.playing)


@given(playback(), durations, elapsed_times, thousandths(-1000, 6000), directions)
def test_paused_or_without_elapsed_time_nothing_moves(settings, duration, elapsed, time, direction):
    paused = Playhead(time, False, direction)
    assert advanced(paused, elapsed, settings, duration) == paused
    playing = Playhead(time, True, direction)
    assert advanced(playing, 0.0, settings, duration) == playing
    for broken in (-1.0, math.nan, math.inf):
        assert advanced(playing, broken, settings, duration) == playing


@given(playback(), durations, elapsed_times, st.integers(0, 1000))
def test_backwards_is_forwards_seen_in_a_mirror(settings, duration, elapsed, share):
    start, end = play_range(settings, duration)
    gone = (end - start) * share / 1000.0
    forward = advanced(Playhead(start + gone, True, 1), elapsed, settings, duration)
    backward = advanced(Playhead(end - gone, True, -1), elapsed, settings, duration)
    length = end - start if settings.loop is LOOP else 0.0
    assert circle_distance(forward.time - start, end - backward.time, length) < 1e-9
    assert forward.playing == backward.playing


def test_loop_wraps_and_shows_the_last_key_when_it_meets_it():
    settings = PlaybackSettings()
    assert advanced(Playhead(1.0, True), 0.5, settings, 1.2).time == pytest.approx(0.3)
    assert advanced(Playhead(1.0, True), 0.25, PlaybackSettings(speed=0.5), 1.125).time == 1.125
    backwards = advanced(Playhead(0.1, True, -1), 0.3, settings, 1.2)
    assert (backwards.time, backwards.direction) == (pytest.approx(1.0), -1)
    reversed_ = advanced(Playhead(0.1, True), 0.3, PlaybackSettings(speed=-1.0), 1.2)
    assert (reversed_.time, reversed_.direction) == (pytest.approx(1.0), 1)
    part = PlaybackSettings(in_point=0.5, out_point=1.0)
    assert advanced(Playhead(0.1, True), 0.6, part, 1.2).time == pytest.approx(0.7), "it runs in"
    assert advanced(Playhead(1.1, True), 0.2, part, 1.2).time == pytest.approx(0.7), "it enters at the start"
    for loop in LoopMode:
        assert 0.0 <= advanced(Playhead(0.3, True), 1e300, PlaybackSettings(loop=loop), 1.2).time <= 1.2
        still = PlaybackSettings(loop=loop)
        assert advanced(Playhead(0.0, True), 1.0, still, 0.0) == Playhead(0.0, loop is not ONCE)
        assert stepped(simulation_start(still, 0.0), still, 0.0).time == 0.0


@pytest.mark.parametrize(("speed", "end"), [(1.0, 1.2), (-2.0, 0.0)])
def test_once_stops_at_the_end_it_runs_to(speed, end):
    settings = PlaybackSettings(loop=ONCE, speed=speed)
    after = advanced(Playhead(0.6, True), 5.0, settings, 1.2)
    assert after == Playhead(end, False, 1)
    again = play(after, settings, 1.2)
    assert again == Playhead(1.2 - end, True, 1)


def test_playing_continues_unless_it_is_at_the_end():
    settings = PlaybackSettings(loop=ONCE, out_point=1.0)
    assert play(Playhead(0.4), settings, 1.2) == Playhead(0.4, True, 1)
    assert play(Playhead(1.0), settings, 1.2) == Playhead(0.0, True, 1)
    assert play(Playhead(1.1), settings, 1.2) == Playhead(0.0, True, 1)
    assert play(Playhead(1.0), settings, 1.2, direction=-1) == Playhead(1.0, True, -1)
    assert play(Playhead(0.0), settings, 1.2, direction=-1) == Playhead(1.0, True, -1)
    assert play(Playhead(1.2), PlaybackSettings(), 1.2) == Playhead(1.2, True, 1)
    assert pause(Playhead(0.4, True, -1)) == Playhead(0.4, False, -1)


@given(st.integers(0, 60), st.sampled_from([0.02, 1 / 60, 6.25 / 299, 0.1]))
def test_frame_and_time_are_inverse(frame, step):
    assert frame_of(time_of(frame, step), step) == pytest.approx(frame)
    assert frame_of(1.0, 0.0) == 0.0


@given(st.integers(1, 59), st.sampled_from([0.02, 1 / 60, 6.25 / 299, 0.1]))
def test_single_steps_meet_every_frame_and_come_back(frame, step):
    duration = 60 * step
    there = stepped_frame(Playhead(frame * step, True), 1, step, duration)
    assert there.time == pytest.approx((frame + 1) * step)
    assert not there.playing
    assert stepped_frame(there, -1, step, duration).time == pytest.approx(frame * step)
    keys = np.arange(61) * step
    assert stepped_key(Playhead(frame * step), 1, keys).time == keys[frame + 1]
    assert stepped_key(Playhead(frame * step), -1, keys).time == keys[frame - 1]


def test_from_between_frames_the_neighbour_comes_first():
    assert stepped_frame(Playhead(0.25), 1, 0.1, 1.0).time == pytest.approx(0.3)
    assert stepped_frame(Playhead(0.25), -1, 0.1, 1.0).time == pytest.approx(0.2)
    assert stepped_frame(Playhead(0.25), 3, 0.1, 1.0).time == pytest.approx(0.5)
    keys = [0.0, 0.2, 0.7, 1.0]
    assert stepped_key(Playhead(0.25), 1, keys).time == 0.7
    assert stepped_key(Playhead(0.25), -1, keys).time == 0.2
    assert stepped_key(Playhead(0.25), 2, keys).time == 1.0


def test_stepping_ends_at_the_clip():
    assert stepped_frame(Playhead(0.98), 5, 0.02, 1.0).time == 1.0
    assert stepped_frame(Playhead(0.02), -5, 0.02, 1.0).time == 0.0
    assert stepped_key(Playhead(1.0), 1, [0.0, 1.0]).time == 1.0
    assert stepped_key(Playhead(0.0), -1, [0.0, 1.0]).time == 0.0
    assert stepped_key(Playhead(0.4, True), 1, []) == Playhead(0.4)
    assert stepped_frame(Playhead(0.4, True), 1, 0.0, 0.0) == Playhead(0.4)


@pytest.mark.parametrize("speed", [-3.0, -1.0, 0.3, 1.0, 4.0])
def test_steps_of_a_simulation_are_even_and_forwards_at_any_speed(speed: float) -> None:
    settings = PlaybackSettings(speed=speed, start=5, rate=20.0, run_up=1.0)
    playhead = simulation_start(settings, 2.0)
    assert playhead.time == 0.25
    times = [0.25]
    for _ in range(130):
        playhead = stepped(playhead, settings, 2.0)
        times.append(playhead.time)
    np.testing.assert_allclose(np.diff(times[:106]), 1 / 60, rtol=1e-12)
    np.testing.assert_allclose(times[106:], [0.25 + (k / 60 - 1.75) % 1.75 for k in range(106, 131)], rtol=1e-12)


DT = 1.0 / 60.0


@given(st.lists(st.integers(0, 100_000).map(lambda value: value / 1e6), max_size=60))
def test_no_time_is_lost_or_invented(elapsed_times):
    clock = FixedStep(DT, 10_000)
    results = [clock.advance(elapsed) for elapsed in elapsed_times]
    assert all(0.0 <= result.alpha <= 1.0 and result.dropped == 0 for result in results)
    if results:
        reported = sum(result.steps for result in results) + results[-1].alpha
        assert reported == pytest.approx(sum(elapsed_times) / DT, abs=1e-6)


@given(st.lists(st.integers(0, 3000).map(lambda value: value / 1e3), max_size=30), st.integers(1, 8))
def test_no_frame_takes_more_steps_than_allowed_and_the_rest_is_counted(elapsed_times, max_steps):
    clock = FixedStep(DT, max_steps)
    due = 0
    for elapsed in elapsed_times:
        result = clock.advance(elapsed)
        assert result.steps <= max_steps
        assert result.dropped == 0 or result.steps == max_steps
        due += result.steps + result.dropped
    assert due == pytest.approx(sum(elapsed_times) / DT, abs=1.0)
    clock.reset()
    for nonsense in (-1.0, math.nan, math.inf):
        assert clock.advance(nonsense).steps == 0
    assert clock.advance(0.0).alpha == 0.0
    assert [clock.advance(DT).steps for _ in range(9)] == [1] * 9


def run(meter: FrameMeter, gaps: list[float]):
    now, rate = 100.0, meter.drawn(100.0)
    for gap in gaps:
        now += gap
        rate = meter.drawn(now)
    return rate


def test_the_rate_of_frames():
    for gaps, per_second, dropped, slow in (
        ([DT] * 120, 60.0, 0, False),
        ([0.1] * 30, 10.0, 50, True),
        ([DT] * 30 + [3.0 * DT] + [DT] * 30, 60.0 * 60 / 62, 2, False),  # one hitch
        ([0.8 * DT, 1.2 * DT] * 40, 60.0, 0, False),
        ([0.1] * 20 + [DT] * 90, 60.0, 0, False),  # old frames leave the window
    ):
        rate = run(FrameMeter(60.0), gaps)
        assert rate.per_second == pytest.approx(per_second, rel=0.02)
        assert (rate.dropped, rate.slow) == (dropped, slow)


def test_a_rest_is_no_dropped_frame():
    meter = FrameMeter(60.0)
    run(meter, [DT] * 10)
    meter.pause()
    assert meter.drawn(500.0).per_second == 0.0
    assert meter.drawn(500.0 + DT).dropped == 0
    assert meter.drawn(1.0).per_second == 0.0, "a clock that jumps back"


@pytest.mark.parametrize("direction", [1, -1])
def test_ping_pong_equals_bouncing_in_tiny_steps(direction):
    settings = PlaybackSettings(loop=PING_PONG, speed=1.7, in_point=0.25, out_point=1.0)
    time, sense, step = 0.5, direction, 1e-4
    for _ in range(50_000):
        time += sense * 1.7 * step
        if not 0.25 <= time <= 1.0:
            sense, time = -sense, (0.5 - time if time < 0.25 else 2.0 - time)
    after = advanced(Playhead(0.5, True, direction), 5.0, settings, 1.2)
    assert after.time == pytest.approx(time, abs=1e-6)
    assert after.direction == sense


def test_clocks_without_a_positive_step_or_rate_are_refused():
    for dt, max_steps in ((0.0, 1), (math.nan, 1), (math.inf, 1), (0.1, 0)):
        with pytest.raises(ValueError, match="positive step"):
            FixedStep(dt, max_steps)
    with pytest.raises(ValueError, match="positive rate"):
        FrameMeter(0.0, 1.0)
