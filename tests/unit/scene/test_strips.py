import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.sim.cache.history import CacheHistory
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
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


@given(st.lists(strips, min_size=1, max_size=5), seconds)
def test_every_moment_has_a_pose_within_its_clips(some, time):
    parts = parts_at(some, length, time)
    assert parts[0].weight == 1.0
    for part in parts:
        assert 0.0 <= part.weight <= 1.0
        assert 0.0 <= part.time <= LENGTHS[part.clip]


def test_strips_that_overlap_blend_smoothly():
    some = Strip(clip="walk", repeats=2.0), Strip(clip="turn", start=1.0, repeats=1.0)
    weights = [parts_at(some, length, 1.0 + share)[-1].weight for share in np.linspace(0.0, 1.0, 11, endpoint=False)]
    assert weights[0] == 0.0
    assert np.all(np.diff(weights) > 0.0)
    assert played(*some, time=1.5) == [("walk", 0.5, 1.0), ("turn", 0.5, 0.5)]
    assert [name for name, *_ in played(*some, time=2.0)] == ["turn"]


def test_in_out_speed_and_repeats_place_a_moment():
    for strip, time, expected in (
        (Strip(clip="turn", speed=0.5, repeats=1.0), 1.0, 0.5),
        (Strip(clip="turn", speed=-1.0, repeats=1.0), 0.5, 1.5),
        (Strip(clip="turn", clip_in=0.5, clip_out=1.0), 0.75, 0.75),
        (Strip(clip="turn", clip_in=0.5, speed=0.0), 7.0, 0.5),
        (Strip(clip="turn", repeats=1.5), 8.0, 1.0),
        (Strip(clip="pose"), 8.0, 0.0),
    ):
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


def test_solo_mutes_others_of_the_kind_and_mute_the_one() -> None:
    for states, simulated in (
        ({"a": "", "b": ""}, {"a", "b"}), ({"a": "m", "b": ""}, {"b"}), ({"a": "", "b": "s"}, {"b"}),
        ({"a": "s", "b": "s", "c": ""}, {"a", "b"}), ({"a": "ms", "b": ""}, set()), ({"a": "ms", "b": "s"}, {"b"}),
        ({"a": "h", "b": "h"}, {"a", "b"}), ({}, set()),
    ):  # fmt: skip
        nodes = [
            Node(id=name, visible="h" not in state, muted="m" in state, solo="s" in state, settings=EmitterSettings())
            for name, state in states.items()
        ]
        scene = Scene(nodes=(*nodes, Node(id="lamp", settings=LightSettings())))
        assert scene.simulated == simulated | {"lamp"}


END = 12


def fresh(values):
    state = 0
    for value in values:
        state = hash((state, value))
    return state


def settled(*values):
    return tuple(zip("nm", values, strict=False))


class Walk:
    def __init__(self, budget=10_000):
        self.dropped = []
        self.history = CacheHistory(settled("a"), self.dropped.append)
        self.value, self.at, self.budget, self.held = "a", 0, budget, 0
        self.shown = (0, ())

    def state(self, step):
        return self.content(step)[0]

    def course(self, step):
        return self.content(step)[1]

    def content(self, step):
        return (self.history.get(step) or self.shown) if step else (0, ())

    def play(self, count):
        for _ in range(count):
            step = self.at + 1
            if step > END:
                return
            if self.history.get(step) is None:
                content = hash((self.state(self.at), self.value)), (*self.course(self.at), self.value)
                line = self.history.owner(step)
                if step <= self.history.branch.reached and line is self.history.branch:
                    self.history.add(step, content)
                else:
                    self.history.put(step, content)
                self.held += 1
                self.make_room()
                self.shown = content
            self.at = step
            self.shown = self.content(step)

    def make_room(self):
        while self.held - len(self.dropped) > self.budget and self.history.evict():
            pass

    def scrub(self, step):
        self.at = self.history.latest(step)
        self.shown = self.content(self.at)

    def edit(self, value):
        before = (self.state(self.at), self.course(self.at))
        self.value = value
        if self.history.change(self.at, settled(value)):
            self.history.put(self.at, before)
            self.held += 1
        self.scrub(self.at)

    def restart(self):
        self.history.restart(settled(self.value))
        self.scrub(0)


acts = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 6)),
        st.tuples(st.just("scrub"), st.integers(0, END)),
        st.tuples(st.just("edit"), st.sampled_from("abc")),
        st.tuples(st.just("restart")),
    ),
    max_size=30,
)


def walked(walk, steps):
    for name, *values in steps:
        getattr(walk, name)(*values)
        for step in walk.history.cached:
            assert walk.state(step) == fresh(walk.course(step)), "every cached step is what its course leads to"
            assert len(walk.course(step)) == step
        assert walk.history.cached == sorted(set(walk.history.cached))
    return walk


@settings(max_examples=100, deadline=None)
@given(acts)
def test_every_walk_shows_what_a_run_of_the_same_course_shows(steps):
    walk = walked(Walk(), steps)
    walk.restart()
    walk.play(END)
    assert walk.course(END) == (walk.value,) * END
    assert walk.state(END) == fresh([walk.value] * END), "a run from the start knows nothing of the walk"


@settings(max_examples=100, deadline=None)
@given(acts, st.integers(3, 9))
def test_eviction_loses_no_bit(steps, budget):
    walk = walked(Walk(budget), steps)
    walk.restart()
    for _ in range(END + 1):
        walk.scrub(END)
        walk.play(1)
    assert walk.state(walk.at) == fresh([walk.value] * walk.at)


def test_taking_an_edit_back_finds_the_steps_again():
    walk = Walk()
    walk.play(10)
    walk.scrub(4)
    walk.edit("b")
    walk.play(5)
    assert walk.course(9) == ("a",) * 4 + ("b",) * 5
    walk.edit("a")
    assert walk.course(9) == ("a",) * 9
    assert walk.history.cached == list(range(1, 11))
    walk.edit("b")
    assert walk.course(9) == ("a",) * 4 + ("b",) * 5


def test_a_forked_branch_is_never_thinned():
    walk = Walk()
    walk.play(10)
    walk.scrub(3)
    assert walk.history.fork(3)
    assert not walk.history.is_fresh
    for step in (3, 4, 5):
        walk.history.put(step, (hash(("hand", step)), ("a",) * step))
    assert walk.history.cached == [1, 2, 3, 4, 5]
    while walk.history.evict():
        pass
    assert walk.history.cached[-3:] == [3, 4, 5]
