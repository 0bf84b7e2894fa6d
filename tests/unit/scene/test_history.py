"""Which steps are kept of which course: random walks through time, edits and undo against what a plain run gives.

The simulation is a hash of the state before and the settings; a fresh run is one from the start.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.sim.cache.history import CacheHistory

END = 12


def fresh(values):
    """State after steps with these settings, from the start."""
    state = 0
    for value in values:
        state = hash((state, value))
    return state


def settled(*values):
    return tuple(zip("nm", values, strict=False))


class Walk:
    """A user who plays, scrubs, edits and takes edits back; `course` is what every step was simulated with."""

    def __init__(self, budget=10_000):
        self.dropped = []
        self.history = CacheHistory(settled("a"), self.dropped.append)
        self.value, self.at, self.budget, self.held = "a", 0, budget, 0
        self.stands = (0, ())

    def state(self, step):
        return self.content(step)[0]

    def course(self, step):
        return self.content(step)[1]

    def content(self, step):
        return (self.history.get(step) or self.stands) if step else (0, ())

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
                self.stands = content
            self.at = step
            self.stands = self.content(step)

    def make_room(self):
        while self.held - len(self.dropped) > self.budget and self.history.evict():
            pass

    def scrub(self, step):
        self.at = self.history.latest(step)
        self.stands = self.content(self.at)

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
            assert walk.state(step) == fresh(walk.course(step)), "every kept step is what its course leads to"
            assert len(walk.course(step)) == step
        assert walk.history.cached == sorted(set(walk.history.cached))
    return walk


@settings(max_examples=200, deadline=None)
@given(acts)
def test_every_walk_shows_what_a_run_of_the_same_course_shows(steps):
    walk = walked(Walk(), steps)
    walk.restart()
    walk.play(END)
    assert walk.course(END) == (walk.value,) * END
    assert walk.state(END) == fresh([walk.value] * END), "a run from the start knows nothing of the walk"


@settings(max_examples=200, deadline=None)
@given(acts, st.integers(3, 9))
def test_letting_go_loses_no_bit(steps, budget):
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


def test_what_the_hand_did_is_kept_apart_and_never_thinned():
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


def test_everything_is_dropped_in_the_end():
    walk = Walk()
    walk.play(5)
    walk.edit("b")
    walk.play(3)
    walk.history.clear(settled("a"))
    assert len(walk.dropped) == walk.held
    assert walk.history.cached == []
