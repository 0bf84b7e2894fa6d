"""Strips on scene time: where in a clip a moment lies, what is blended, and where a pose may jump."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.scene.strips import Strip, is_cut, last_end, parts_at

LENGTHS = {"walk": 1.0, "turn": 2.0, "pose": 0.0}
length = LENGTHS.__getitem__
seconds = st.integers(-3000, 9000).map(lambda value: value / 1000.0)
strips = st.builds(
    Strip,
    clip=st.sampled_from(list(LENGTHS)),
    start=seconds,
    clip_in=st.integers(0, 2500).map(lambda value: value / 1000.0),
    clip_out=st.none() | st.integers(0, 2500).map(lambda value: value / 1000.0),
    speed=st.sampled_from([1.0, -1.0, 0.5, 3.0, 0.0]),
    repeats=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]),
)


def played(*some, time):
    return [(p.clip, p.time, p.weight) for p in parts_at(some, length, time)]


@given(seconds.filter(lambda time: time >= 0.0))
def test_one_strip_that_repeats_is_a_clip_that_loops(time):
    (part,) = parts_at([Strip(clip="walk")], length, time)
    assert part.time == (time if time <= 1.0 else time % 1.0)  # the end of the clip, then from its start again


@given(st.lists(strips, min_size=1, max_size=5), seconds)
def test_every_moment_has_a_pose_within_its_clips(some, time):
    parts = parts_at(some, length, time)
    assert parts[0].weight == 1.0
    for part in parts:
        assert 0.0 <= part.weight <= 1.0
        assert 0.0 <= part.time <= LENGTHS[part.clip]


def test_a_pose_stands_before_between_and_after_strips():
    some = Strip(clip="walk", start=1.0, repeats=2.0), Strip(clip="turn", start=4.0, repeats=1.0, clip_in=0.5)
    assert played(*some, time=0.0) == [("walk", 0.0, 1.0)]
    assert played(*some, time=3.5) == [("walk", 1.0, 1.0)], "the end of a clip is not its beginning"
    assert played(*some, time=9.0) == [("turn", 2.0, 1.0)]


def test_strips_that_overlap_blend_smoothly():
    some = Strip(clip="walk", repeats=2.0), Strip(clip="turn", start=1.0, repeats=1.0)
    weights = [parts_at(some, length, 1.0 + share)[-1].weight for share in np.linspace(0.0, 1.0, 11, endpoint=False)]
    assert weights[0] == 0.0
    assert np.all(np.diff(weights) > 0.0)
    assert played(*some, time=1.5) == [("walk", 0.5, 1.0), ("turn", 0.5, 0.5)]
    assert [name for name, *_ in played(*some, time=2.0)] == ["turn"]


@pytest.mark.parametrize(
    ("strip", "time", "expected"),
    [
        (Strip(clip="turn", speed=0.5, repeats=1.0), 1.0, 0.5),
        (Strip(clip="turn", speed=-1.0, repeats=1.0), 0.5, 1.5),
        (Strip(clip="turn", clip_in=0.5, clip_out=1.0), 0.75, 0.75),
        (Strip(clip="turn", clip_in=0.5, speed=0.0), 7.0, 0.5),
        (Strip(clip="turn", repeats=1.5), 8.0, 1.0),
        (Strip(clip="pose"), 8.0, 0.0),
    ],
)
def test_in_out_speed_and_repeats_place_a_moment(strip, time, expected):
    assert parts_at([strip], length, time)[0].time == pytest.approx(expected)


def test_a_repetition_and_a_strip_without_overlap_are_cuts_and_a_blend_is_none():
    at = lambda some, time: parts_at(some, length, time)  # noqa: E731
    walk = [Strip(clip="walk")]
    assert is_cut(at(walk, 0.99), at(walk, 1.01))
    assert not is_cut(at(walk, 0.49), at(walk, 0.51))
    apart = [Strip(clip="walk", repeats=1.0), Strip(clip="turn", start=1.0)]
    assert is_cut(at(apart, 0.99), at(apart, 1.01))
    blended = [Strip(clip="walk", repeats=1.0), Strip(clip="turn", start=0.5)]
    assert not any(is_cut(at(blended, t), at(blended, t + 0.02)) for t in np.arange(0.02, 1.2, 0.02))


def test_ends_and_keys_in_the_scene():
    some = Strip(clip="walk", start=1.0, repeats=3.0), Strip(clip="turn", start=2.0)
    assert last_end(some, length) == 4.0
    assert some[1].end(2.0) == math.inf
    assert some[0].moments([0.0, 0.5, 1.0], 1.0, 3.0) == [1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 3.0]
