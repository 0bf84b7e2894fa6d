"""Scene time to clip time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.scene.playback import LoopMode
from tests.oracles.looping import clip_time

times = st.integers(-100_000, 100_000).map(lambda value: value / 1000.0)


@given(times, st.integers(0, 5000).map(lambda value: value / 1000.0), st.sampled_from(LoopMode))
def test_result_lies_in_the_clip_and_times_within_it_are_unchanged(time, duration, loop):
    result = clip_time(time, duration, loop)
    assert 0.0 <= result <= duration
    if 0.0 <= time <= duration:
        assert result == time


@pytest.mark.parametrize(
    ("loop", "time", "expected"),
    [
        (LoopMode.LOOP, 2.5, 0.5),
        (LoopMode.LOOP, -0.5, 1.5),
        (LoopMode.LOOP, 2.0, 2.0),
        (LoopMode.ONCE, 9.0, 2.0),
        (LoopMode.ONCE, -1.0, 0.0),
        (LoopMode.PING_PONG, 2.5, 1.5),
        (LoopMode.PING_PONG, 4.5, 0.5),
        (LoopMode.PING_PONG, -0.5, 0.5),
    ],
)
def test_past_the_ends_of_a_two_second_clip(loop, time, expected):
    assert clip_time(time, 2.0, loop) == pytest.approx(expected)
