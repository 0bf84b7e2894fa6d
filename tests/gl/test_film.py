"""Kept steps on the GPU: whatever way through time, a step is the one that a fresh run gives, to the bit."""

import random
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from sinew import resources
from sinew.app.cli.run import SceneRun
from sinew.app.cli.scene import OpenedScene, opened
from sinew.app.files.project_file import save_project
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.step_store import StepStore
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Grab
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.runner import SimulationRunner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from sinew.sim.scene.view_state import ViewState

END = 40
WALKS = ("fill", "scrub", "scrub", "edit", "restart", "pull")
SOFT = ParamRef("cape", "cloth", "stretch_stiffness"), 90.0
EDITS = {
    "cape": SOFT,
    "sparks": (ParamRef("glow", "emitter", "rate"), 1234.5),
}


FLOOR = Node(id="f", name="Floor", settings=ColliderSettings())


class Reel:
    """A shipped project and its film."""

    def __init__(self, context: Context, scene: OpenedScene, budget: int = 10**9) -> None:
        self.scene = scene
        self.run = SceneRun(context, self.scene)
        self.engine = self.run.engine
        self.store = StepStore(budget)
        self.runner = SimulationRunner(self.engine, self.store)
        self.time = 0.0
        self.take(self.scene.scene)

    def take(self, scene: Scene) -> None:
        self.engine.apply(scene)
        self.runner.take(self.time)

    def edit(self, ref: ParamRef, value: Any) -> None:
        self.take(with_value(self.engine.world.scene, ref, value))

    def scrub(self, step: int) -> None:
        self.time = self.runner.time_of(step)
        self.engine.advance(self.runner.show(self.time))

    def fill(self, step: int) -> None:
        """From what is shown to a step, as playing does."""
        for one in range(self.runner.shown + 1, step + 1):
            assert self.runner.advance(one)
        self.scrub(step)

    def bits(self) -> dict[str, bytes]:
        systems = self.engine.simulation.systems.items()
        return {f"{n}.{key}": one.read().tobytes() for n, system in systems for key, one in system.arrays().items()}

    def release(self) -> None:
        self.runner.release()
        self.run.release()


def fresh_bits(context: Context, scene: OpenedScene, changed: Scene, steps: list[int]) -> dict[int, dict[str, bytes]]:
    """What plain runs without a film give."""
    run = SceneRun(context, scene)
    run.engine.apply(changed)
    found = {}
    for step in sorted(steps):
        assert run.advance_to(step) == []
        systems = run.engine.simulation.systems.items()
        found[step] = {f"{n}.{k}": a.read().tobytes() for n, system in systems for k, a in system.arrays().items()}
    run.release()
    return found


@pytest.mark.parametrize(
    ("ref", "value"), [(("attachment", "node"), ""), (("emitter", "stateless"), True)], ids=["no surface", "no state"]
)
def test_what_has_no_state_any_more_takes_none_of_before(context: Context, ref: tuple[str, str], value: Any) -> None:
    """An emitter that loses the skin that it emits from is not there; one without a state is a formula of time."""
    reel = Reel(context, opened(resources.path("projects") / "sparks.sinew"))
    reel.fill(12)
    before = reel.bits()
    reel.time = reel.runner.time_of(5)  # the playhead went there; no picture followed
    reel.edit(ParamRef("glow", *ref), value)
    assert not (reel.engine.simulation.systems["glow"].is_ready and reel.engine.simulation.systems["glow"].has_state)
    reel.scrub(5)
    reel.fill(9)
    reel.take(reel.scene.scene)
    reel.scrub(12)
    assert reel.bits() == before
    reel.release()


@pytest.mark.parametrize("name", list(EDITS))
def test_steps_are_those_of_a_fresh_run_after_any_walk(context: Context, name: str) -> None:
    """Played, scrubbed, edited in mid-flight and taken back; pins, wind, births and colliders that ride on bones."""
    source, places = opened(resources.path("projects") / f"{name}.sinew"), [5, 17, 30, END]
    plain, changed = source.scene, with_value(source.scene, *EDITS[name])
    before, after = (fresh_bits(context, source, scene, places) for scene in (plain, changed))
    reel, walk = Reel(context, source), random.Random(3)
    reel.fill(END)
    assert reel.bits() == before[END]
    for step in walk.sample(places * 3, 12):
        reel.scrub(step)
        assert reel.bits() == before[step], step
    reel.scrub(17)
    reel.take(changed)
    assert reel.runner.cache.history.cached[-1] == 17, "what comes after the edit is gone"
    reel.fill(30)
    mixed = reel.bits()
    assert mixed not in (before[30], after[30])
    reel.scrub(5)
    assert reel.bits() == before[5], "what lies before an edit is history"
    reel.scrub(30)
    assert reel.bits() == mixed
    reel.take(plain)
    assert reel.runner.cache.history.cached[-1] == END, "undo finds the steps again"
    assert reel.runner.is_fresh
    reel.scrub(30)
    assert reel.bits() == before[30]
    reel.take(changed)
    reel.runner.restart()
    reel.fill(END)
    for step in places:
        reel.scrub(step)
        assert reel.bits() == after[step], step
    reel.release()


def places_of(bits: dict[str, bytes], node: str) -> dict[int, Any]:
    """Places of what a node has, by its name where that is told."""
    places = np.frombuffer(bits[f"{node}.positions"], np.float32).reshape(-1, 3)
    names = np.frombuffer(bits[f"{node}.ids"], np.int64) if f"{node}.ids" in bits else np.arange(len(places))
    return {name: place for name, place in zip(names.tolist(), places, strict=True) if np.isfinite(place).all()}


@pytest.mark.parametrize("name", ["cape", "sparks", "hair-on-sphere"])
def test_between_two_steps_what_moves_is_on_the_straight_way_and_goes_on_as_before(context: Context, name: str) -> None:
    reel = Reel(context, opened(resources.path("projects") / f"{name}.sinew"))
    try:
        reel.fill(12)
        cached = {}
        for step in (8, 9, 12):
            reel.scrub(step)
            cached[step] = reel.bits()
        runner, moment = reel.runner, reel.runner.time_of(8) + 0.25 * STEP_TIME
        assert runner.show_between(moment) == moment
        reel.engine.advance(moment)
        between = reel.bits()
        for node in {key.split(".")[0] for key in between}:
            one, other, seen = (places_of(bits, node) for bits in (cached[8], cached[9], between))
            stay = sorted(one.keys() & other.keys())
            assert seen.keys() == one.keys(), "who is born or dies on the way"
            variants = [np.array([places[name] for name in stay]) for places in (one, other, seen)]
            assert not np.array_equal(variants[0], variants[1])
            np.testing.assert_allclose(variants[2], variants[0] + 0.25 * (variants[1] - variants[0]), atol=1e-5)
        assert runner.show_between(runner.time_of(8)) == runner.time_of(8)
        assert reel.bits() == cached[8], "a step itself is shown exactly"
        runner.show_between(moment)
        assert runner.advance(13)
        after = reel.bits()
        reel.scrub(12)
        assert reel.bits() == cached[12]
        runner.restart()
        reel.scrub(0)
        reel.fill(13)
        assert reel.bits() == after, "looking leaves no trace"
    finally:
        reel.release()


def test_thinned_steps_are_simulated_again_to_the_bit(context: Context) -> None:
    source = opened(resources.path("projects") / "cape.sinew")
    expected = fresh_bits(context, source, source.scene, [9, 21, END])
    reel = Reel(context, source)
    reel.fill(2)
    reel.runner.cache.flush()
    room = reel.store.used // 2
    reel.release()
    reel = Reel(context, source, 5 * room)
    reel.fill(END)
    assert len(reel.runner.cache.history.cached) <= 5
    assert END in reel.runner.cache.history.cached
    for step in (21, END, 9):
        reel.scrub(step)
        while reel.runner.is_catching_up:
            reel.scrub(step)
        assert reel.bits() == expected[step], step
        assert reel.store.used <= 5 * room
    reel.release()


def test_a_pull_by_hand_is_kept_and_the_run_without_it_stays(context: Context) -> None:
    reel = Reel(context, opened(resources.path("projects") / "cape.sinew"))
    reel.fill(12)
    plain = reel.bits()
    reel.scrub(6)
    at_six = reel.bits()
    for _ in range(3):
        reel.runner.pull(Grab("cape", 400, (0.0, 2.0, -1.0)))
    pulled = reel.bits()
    assert pulled != at_six
    assert reel.runner.step_count == 9
    reel.scrub(3)
    reel.scrub(6)
    assert reel.bits() == pulled
    reel.runner.restart()
    reel.scrub(12)
    assert reel.bits() == plain
    reel.release()


class Coming:
    """A state that is there when it was asked for some times."""

    def __init__(self, state: bytes, lag: int) -> None:
        self.state, self.lag = state, lag

    @property
    def passed(self) -> bool:
        self.lag -= 1
        return self.lag < 0

    def read(self) -> bytes:
        return self.state


class Counter:
    """An engine whose state is a number of steps, large as a cloth."""

    has_state = True
    baked_steps = range(0)
    simulation = property(lambda self: self)

    def __init__(self, lag: int = 0) -> None:
        self.lag = lag
        self.value = 0
        self.world = SimpleNamespace(scene=Scene(), characters={}, assets=SceneAssets(), in_force={})
        self.stopped: dict[str, str] = {}

    def step(self, time: float, grab: object = None) -> None:
        self.value += 1

    def restart(self, time: float) -> None:
        self.value = 0

    def show(self, time: float) -> None:
        """Nothing depends on the time."""

    def prefetch_poses(self, number: int, time_of: Callable[[int], float]) -> None:
        """There are no poses."""

    def show_baked(self, step: int, time: float) -> bool:
        return False

    def capture(self) -> "Coming":
        return Coming(np.full(3000, self.value, np.int64).tobytes(), self.lag)

    def restore(self, state: bytes, time: float) -> None:
        self.value = int(np.frombuffer(state, np.int64)[0])


@pytest.mark.parametrize("lag", [0, 3, 1000])
def test_ten_thousand_seeks_take_no_more_room(lag: int) -> None:
    engine, store = Counter(lag), StepStore(40 * 24 * 1024)
    runner = SimulationRunner(engine, store)
    runner.take(0.0)
    for step in range(1, 301):
        assert runner.advance(step)
    ends, walk = set(), random.Random(1)
    for number in range(10_000):
        step = walk.randrange(301)
        runner.show(runner.time_of(step))
        assert engine.value == runner.shown <= step
        if number > 2000:
            ends.add(store._end)
    assert store.used <= 40 * 24 * 1024
    assert len(ends) == 1, "the file does not grow"
    runner.release()


@pytest.mark.campaign
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("share", [2.0, 0.4])
def test_ten_thousand_seeks_through_the_cape_do_not_grow_the_process(context: Context, share: float) -> None:
    """Random ones, with all steps kept, and with most let go of, so that they are simulated again on the way."""
    reel = Reel(context, opened(resources.path("projects") / "cape.sinew"))
    reel.fill(64)
    reel.runner.cache.limit(int(reel.store.used * share))
    process, walk, reported, file_sizes = psutil.Process(), random.Random(7), [], set()
    for number in range(10_000):
        reel.scrub(walk.randrange(65))
        reel.engine.refresh(number / 60)
        if number % 1000 == 999:
            context.finish()
            reel.runner.cache.flush()
            reported.append(process.memory_info().rss)
            file_sizes.add(reel.store._end)
    assert max(reported[5:]) - reported[1] < 4 * 2**20, reported
    assert len(file_sizes) == 1, "freed room of the file is used again"
    reel.release()


@pytest.mark.parametrize("lag", [0, 2])
def test_a_full_disk_ends_keeping_and_nothing_else(lag: int) -> None:
    engine = Counter(lag)
    runner = SimulationRunner(engine, StepStore(0))
    runner.take(0.0)
    for step in range(1, 20):
        assert runner.advance(step)
    runner.cache.flush()
    assert runner.cache.is_full
    assert runner.cache.history.cached == []
    assert (runner.shown, engine.value) == (19, 19)
    runner.show(runner.time_of(3))
    assert runner.is_catching_up, "from the start, which is always there"
    while runner.is_catching_up:
        runner.show(runner.time_of(3))
    assert engine.value == 3
    runner.release()


def test_a_state_on_its_way_is_that_of_its_moment(context: Context) -> None:
    """Copies on the GPU are those of the step, whatever is written into the buffers before they are read."""
    reel = Reel(context, opened(resources.path("projects") / "sparks.sinew"))
    states, captures = [], []
    for step in range(1, 7):
        reel.engine.step(reel.runner.time_of(step))
        states.append(reel.engine.simulation.state())
        captures.append(reel.engine.simulation.capture())
    assert [capture.read() for capture in reversed(captures)] == states[::-1]
    again = reel.engine.simulation.capture()
    reel.engine.step(reel.runner.time_of(7))
    assert again.read() == states[-1], "from a staging buffer that was used before"
    reel.release()


def test_what_is_known_of_a_kept_step_is_told_again_when_it_is_shown(context: Context) -> None:
    reel = Reel(context, opened(resources.path("projects") / "cape.sinew"))
    reel.fill(12)
    cloth = reel.engine.simulation.systems["cape"].cloth
    reported = {12: cloth.check()}
    now = 0.0
    for step in (5, 12, 8, 5):
        for _ in range(6):
            reel.scrub(step - 1)
            reel.scrub(step)  # playing through kept steps goes back with every picture
            now += 1.0
            reel.engine.refresh(now)
            context.finish()
        assert cloth.statistics.time == pytest.approx(step / 60)
        assert reported.setdefault(step, cloth.statistics) == cloth.statistics
    assert reported[12] != reported[5]
    reel.runner.restart()
    reel.fill(5)
    assert cloth.check() == reported[5]
    reel.release()


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> OpenedScene:
    """A small sheet in the wind."""
    values = {"columns": 6, "rows": 6, "substeps": 12, "placement": ClothPlacement.HANGING, "wind": (1.0, 0.0, 2.0)}
    project = tmp_path_factory.mktemp("walks") / "sheet.sinew"
    save_project(project, Scene(nodes=(Node(id="c", name="Sheet", settings=ClothSettings(**values)),)), ViewState())
    return opened(project)


class Recorded:
    """Gives the steps of nodes, up to one."""

    def __init__(self, states: dict[tuple[str, int], bytes], ends: dict[str, int]) -> None:
        self.states, self.ends = states, ends

    def steps(self, node: str) -> range:
        return range(1, self.ends[node] + 1) if node in self.ends else range(0)

    def state(self, node: str, step: int) -> bytes | None:
        return self.states[node, step] if step in self.steps(node) else None


def of(bits: dict[str, bytes], node: str) -> dict[str, bytes]:
    return {name: data for name, data in bits.items() if name.startswith(f"{node}.")}


def steps_done(reel: Reel, node: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The moments that a node is simulated at from now on."""
    done: list[int] = []
    system = reel.engine.simulation.systems[node]
    plain = system.step
    monkeypatch.setattr(system, "step", lambda inputs: (done.append(inputs.moment), plain(inputs)))
    return done


def test_a_node_that_is_added_changed_or_removed_leaves_the_steps_of_others(
    context: Context, sheet: OpenedScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown at once, not simulated again, and whatever goes on from them has the bits of a fresh run."""
    one = sheet.scene
    node = one.node("c")
    other = Node(id="d", name="Other", settings=structs.replace(node.settings, wind=(0.0, 0.0, 5.0)))
    two = structs.replace(one, nodes=(other, node))
    soft = with_value(two, ParamRef("d", "cloth", "wind"), (0.0, 3.0, 1.0))
    wide = with_value(two, ParamRef("d", "cloth", "columns"), 7)
    places = [3, 9, 12, 20, 24]
    alone, both, changed = (fresh_bits(context, sheet, scene, places) for scene in (one, two, soft))
    reel = Reel(context, sheet)
    reel.fill(20)
    reel.scrub(12)
    reel.take(two)
    for step in (12, 3, 20, 9):
        reel.scrub(step)
        assert of(reel.bits(), "c") == of(alone[step], "c"), f"step {step} is shown when a node is added"
        assert reel.runner.is_held(reel.time), "the new one has none"
    assert [span[:2] for span in reel.runner.cache.spans("c")] == [(0, 20)]
    assert reel.runner.cache.spans("d") == []
    done = steps_done(reel, "c", monkeypatch)
    reel.scrub(0)
    reel.fill(24)
    assert done == [21, 22, 23, 24], "what is there is not simulated again"
    for step in places:
        reel.scrub(step)
        assert reel.bits() == both[step], step

    reel.scrub(12)
    reel.take(soft)
    assert reel.runner.cache.spans("d") == [(0, 11, False, True), (11, 12, False, False)]
    assert [(first, last, old) for first, last, _, old in reel.runner.cache.spans("c")] == [(0, 24, False)]
    reel.scrub(20)
    assert of(reel.bits(), "c") == of(alone[20], "c")
    reel.scrub(12)
    reel.fill(24)
    assert done == [21, 22, 23, 24]
    assert of(reel.bits(), "c") == of(both[24], "c")
    assert of(reel.bits(), "d") not in (of(both[24], "d"), of(changed[24], "d"))
    reel.runner.restart()
    reel.scrub(0)
    reel.fill(24)
    assert done == [21, 22, 23, 24]
    assert reel.bits() == changed[24]

    reel.take(wide)
    reel.scrub(9)
    assert of(reel.bits(), "c") == of(alone[9], "c"), "also where another one is built anew"
    reel.take(one)
    for step in (20, 3, 24):
        reel.scrub(step)
        assert not reel.runner.is_held(reel.time), "without the others, all is there"
        assert reel.bits() == alone[step]
    reel.fill(26)
    assert reel.bits() == fresh_bits(context, sheet, one, [26])[26]
    assert done == [21, 22, 23, 24, 25, 26]
    reel.release()


def test_unrelated_nodes_views_and_names_change_nothing_that_is_kept(context: Context, sheet: OpenedScene) -> None:
    reel = Reel(context, sheet)
    reel.fill(8)
    version, line = reel.runner.cache.version, reel.runner.cache.history.cached
    for change in (
        lambda scene: structs.replace(scene, nodes=(Node(id="l", settings=LightSettings()), *scene.nodes)),
        lambda scene: with_value(scene, ParamRef("c", "node", "name"), "Flag"),
        lambda scene: with_value(scene, ParamRef("c", "cloth", "colour"), (1.0, 0.0, 0.0)),
        lambda scene: with_value(scene, ParamRef("l", "transform", "position"), (1.0, 0.0, 0.0)),
    ):
        reel.take(change(reel.engine.world.scene))
        assert (reel.runner.cache.version, reel.runner.cache.history.cached) == (version, line)
    reel.take(structs.replace(reel.engine.world.scene, nodes=(*reel.engine.world.scene.nodes, FLOOR)))
    assert reel.runner.cache.version > version, "what it collides with does"
    reel.release()


def test_steps_of_which_a_part_is_pulled_by_hand_are_given_to_no_other_course(
    context: Context, sheet: OpenedScene
) -> None:
    node = sheet.scene.node("c")
    two = structs.replace(sheet.scene, nodes=(node, Node(id="d", name="Other", settings=node.settings)))
    reel = Reel(context, replace(sheet, scene=two))
    reel.fill(6)
    for _ in range(3):
        reel.runner.pull(Grab("c", 20, (0.0, 2.0, -1.0)))
    reel.fill(10)
    by_hand = reel.bits()
    reel.scrub(7)
    reel.edit(ParamRef("d", "cloth", "wind"), (0.0, 3.0, 1.0))
    reel.scrub(10)
    assert reel.runner.shown == 7
    assert not reel.runner.cache.steps("c")
    reel.scrub(7)
    reel.fill(10)
    assert of(reel.bits(), "c") == of(by_hand, "c"), "it is simulated again"
    reel.release()


def test_a_row_that_cannot_be_used_is_not_shown_and_what_follows_is_simulated(
    context: Context, sheet: OpenedScene
) -> None:
    reel = Reel(context, sheet)
    steps, states = [reel.bits()], {}
    for step in range(1, 15):
        reel.fill(step)
        steps.append(reel.bits())
        states |= {(name, step): state for name, state in reel.engine.simulation.states().items()}
    reel.release()

    class Damaged(Recorded):
        """The tenth row is found to be damaged when it is read."""

        def state(self, node: str, step: int) -> bytes | None:
            if step == 10 and step in self.steps(node):
                self.ends[node] = step - 1
            return super().state(node, step)

    reel = Reel(context, sheet)
    reel.engine.simulation.baked = Damaged(states, {"c": 14})
    reel.scrub(12)
    assert reel.bits() == steps[12]
    reel.scrub(10)
    assert (reel.runner.shown, reel.bits()) == (9, steps[9]), "the last one before is held"
    reel.fill(14)
    assert reel.bits() == steps[14]
    reel.release()
    reel = Reel(context, sheet)
    reel.engine.simulation.baked = Damaged(states, {"c": 14})
    reel.fill(14)
    assert reel.bits() == steps[14], "going through, it is simulated from the one before"
    reel.release()


def test_what_is_given_is_shown_at_any_moment_and_the_rest_stands(context: Context, sheet: OpenedScene) -> None:
    node = sheet.scene.node("c")
    other = Node(id="d", name="Other", settings=structs.replace(node.settings, wind=(0.0, 0.0, 5.0)))
    two = replace(sheet, scene=structs.replace(sheet.scene, nodes=(node, other)))
    reel = Reel(context, two)
    steps, states = [reel.bits()], {}
    for step in range(1, 15):
        reel.fill(step)
        steps.append(reel.bits())
        states |= {(name, step): state for name, state in reel.engine.simulation.states().items()}
    reel.release()

    def shown(reel: Reel, step: int) -> tuple[int, int]:
        """The steps at which both are, when one is asked for."""
        reel.scrub(step)
        now = reel.bits()
        at = [[i for i, one in enumerate(steps) if one[f"{n}.positions"] == now[f"{n}.positions"]] for n in "cd"]
        return at[0][0], at[1][0]

    reel = Reel(context, two)
    reel.engine.simulation.baked = Recorded(states, {"c": 14})
    assert shown(reel, 9) == (9, 0)
    assert reel.runner.is_held(reel.time)
    reel.scrub(0)
    reel.fill(5)
    assert [shown(reel, step) for step in (9, 3, 12, 5, 0)] == [(9, 5), (3, 3), (12, 5), (5, 5), (0, 0)]
    reel.scrub(5)
    reel.fill(14)
    assert reel.bits() == steps[14]
    reel.release()

    reel = Reel(context, two, budget=6 * 24 * 1024)
    reel.engine.simulation.baked = Recorded(states, {"c": 9, "d": 8})
    assert reel.engine.simulation.baked_steps == range(1, 9)
    assert [shown(reel, step) for step in (8, 3, 9)] == [(8, 8), (3, 3), (9, 8)]
    assert not reel.runner.cache.history.cached
    for step in range(9, 15):
        assert reel.runner.advance(step)
    assert [shown(reel, step) for step in (14, 4)] == [(14, 14), (4, 4)]
    while reel.runner.cache.history.evict():
        pass
    for step in (12, 10, 14):
        reel.scrub(step)
        while reel.runner.is_catching_up:
            reel.scrub(step)
        assert reel.bits() == steps[step]
    reel.release()


@pytest.mark.parametrize("walks", [20, pytest.param(200, marks=pytest.mark.campaign)])
def test_walks_through_time_edits_and_undo_show_the_same_bits(context: Context, sheet: OpenedScene, walks: int) -> None:
    """What is shown of a course of events is always the same, and that of a fresh run where it is one."""
    last, winds = 14, [sheet.scene.node("c").settings.wind, (0.0, 0.0, -3.0), (2.0, 1.0, 0.0)]
    scenes = [with_value(sheet.scene, ParamRef("c", "cloth", "wind"), wind) for wind in winds]
    fresh = [fresh_bits(context, sheet, scene, list(range(last + 1))) for scene in scenes]

    @settings(max_examples=walks, deadline=None, derandomize=True, database=None)
    @given(st.lists(st.tuples(st.sampled_from(WALKS), st.integers(0, last), st.integers(0, 2)), max_size=14))
    def walk(moves: list[tuple[str, int, int]]) -> None:
        reel, current, seen = Reel(context, sheet, budget=9 * 24 * 1024), 0, {}
        for move, step, scene in moves:
            if move == "fill":
                reel.fill(max(step, reel.runner.shown))
            elif move == "scrub":
                reel.scrub(step)
            elif move == "edit":
                current = scene
                reel.take(scenes[current])
                reel.runner.settle()
            elif move == "restart":
                reel.runner.restart()
                reel.scrub(0)
            else:
                reel.runner.pull(Grab("c", step, (0.0, 3.0, 0.0)))
            shown, now = reel.runner.shown, reel.bits()
            if reel.runner.is_fresh:
                assert now == fresh[current][shown]
            mark = reel.runner.mark(shown)
            if mark is not None:
                assert seen.setdefault(mark, now) == now
        reel.release()

    walk()


def test_a_muted_collider_ends_what_was_kept_and_unmuted_the_steps_are_found_again(context: Context) -> None:
    reel = Reel(context, opened(resources.path("projects") / "cape.sinew"))
    reel.fill(12)
    before = reel.bits()
    reel.scrub(6)
    reel.edit(ParamRef("collider chest", "node", "muted"), True)
    assert reel.runner.cache.history.cached[-1] == 6
    reel.fill(12)
    assert reel.engine.simulation.colliders.now.count == 22
    reel.take(reel.scene.scene)
    assert reel.runner.cache.history.cached[-1] == 12
    reel.scrub(12)
    assert reel.bits() == before
    reel.release()
