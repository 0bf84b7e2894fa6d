import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from sinew import resources
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.project.project_file import save_project
from sinew.sim.cache.step_store import StepStore
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.maps import ClothMap, ClothTopology, packed
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Grab
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from sinew.sim.scene.view_state import ViewState
from tests.conftest import campaign, slow
from tests.permissions import OWN

END = 30
WALKS = ("fill", "scrub", "scrub", "edit", "restart", "pull")
SOFT = ParamRef("cape", "cloth", "stretch_stiffness"), 90.0
EDITS = {"cape": SOFT, "sparks": (ParamRef("glow", "emitter", "rate"), 1234.5)}


FLOOR = Node(id="f", name="Floor", settings=ColliderSettings())


class CachedRun:
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
    run = SceneRun(context, scene)
    run.engine.apply(changed)
    found = {}
    for step in sorted(steps):
        assert run.advance_to(step) == []
        systems = run.engine.simulation.systems.items()
        found[step] = {f"{n}.{k}": a.read().tobytes() for n, system in systems for k, a in system.arrays().items()}
    run.release()
    return found


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> OpenedScene:
    values = {"columns": 6, "rows": 6, "substeps": 12, "placement": ClothPlacement.HANGING, "wind": (1.0, 0.0, 2.0)}
    project = tmp_path_factory.mktemp("walks") / "sheet.sinew"
    save_project(project, Scene(nodes=(Node(id="c", name="Sheet", settings=ClothSettings(**values)),)), ViewState())
    return opened(project, OWN)


@pytest.mark.parametrize(
    ("ref", "value"), [(("attachment", "node"), ""), (("emitter", "stateless"), True)], ids=["no surface", "stateless"]
)
def test_a_node_without_state_restores_none(context: Context, ref: tuple[str, str], value: Any) -> None:
    """An emitter that loses the skin that it emits from is not there; one without a state is a formula of time."""
    run = CachedRun(context, opened(resources.path("projects") / "sparks.sinew", OWN))
    run.fill(12)
    before = run.bits()
    run.time = run.runner.time_of(5)  # the playhead went there; no picture followed
    run.edit(ParamRef("glow", *ref), value)
    assert not (run.engine.simulation.systems["glow"].is_ready and run.engine.simulation.systems["glow"].has_state)
    run.scrub(5)
    run.fill(9)
    run.take(run.scene.scene)
    run.scrub(12)
    assert run.bits() == before
    run.release()


@pytest.mark.parametrize("name", [slow("cape"), "sparks"])
def test_steps_have_the_bits_of_a_fresh_run_after_scrubs_and_edits(context: Context, name: str) -> None:
    """Played, scrubbed, edited in mid-flight and taken back; pins, wind, births and colliders that ride on bones."""
    source, places = opened(resources.path("projects") / f"{name}.sinew", OWN), [5, 17, 22, END]
    plain, changed = source.scene, with_value(source.scene, *EDITS[name])
    before, after = (fresh_bits(context, source, scene, places) for scene in (plain, changed))
    run, walk = CachedRun(context, source), random.Random(3)
    run.fill(END)
    assert run.bits() == before[END]
    for step in walk.sample(places * 2, 8):
        run.scrub(step)
        assert run.bits() == before[step], step
    run.scrub(17)
    run.take(changed)
    assert run.runner.cache.history.cached[-1] == 17, "steps after the edit are evicted"
    run.fill(22)
    mixed = run.bits()
    assert mixed not in (before[22], after[22])
    run.scrub(5)
    assert run.bits() == before[5], "steps before an edit are unchanged"
    run.scrub(22)
    assert run.bits() == mixed
    run.take(plain)
    assert run.runner.cache.history.cached[-1] == END, "undo finds the steps again"
    assert run.runner.is_fresh
    run.scrub(22)
    assert run.bits() == before[22]
    run.take(changed)
    run.runner.restart()
    run.fill(END)
    for step in places:
        run.scrub(step)
        assert run.bits() == after[step], step
    run.release()


def places_of(bits: dict[str, bytes], node: str) -> dict[int, Any]:
    places = np.frombuffer(bits[f"{node}.positions"], np.float32).reshape(-1, 3)
    names = np.frombuffer(bits[f"{node}.ids"], np.int64) if f"{node}.ids" in bits else np.arange(len(places))
    return {name: place for name, place in zip(names.tolist(), places, strict=True) if np.isfinite(place).all()}


@pytest.mark.parametrize("name", ["cape", slow("sparks")])
def test_another_engine_continues_from_a_state(context: Context, name: str) -> None:
    source = opened(resources.path("projects") / f"{name}.sinew", OWN)
    changed = with_value(source.scene, *EDITS[name])
    first, second = SceneRun(context, source), SceneRun(context, source)
    first.advance_to(4)
    first.engine.apply(changed)
    first.advance_to(8)
    state = first.engine.simulation.state()
    assert first.engine.simulation.state() == state
    first.advance_to(14)
    expected = first.engine.simulation.state()
    second.advance_to(3)
    second.engine.teleport(0.9)
    second.engine.refresh(0.9)
    second.engine.apply(changed)
    for run in (first, second):
        assert run.engine.restore(state, run.runner.time_of(8)) == frozenset()
        run.runner.shown = 8
        assert run.engine.simulation.state() == state
        run.advance_to(14)
        assert run.engine.simulation.state() == expected
    first.release()
    second.release()


@pytest.mark.parametrize(
    ("name", "other"), [slow("cape", {"source": ClothSource.GRID, "pin_list": ""}), ("sparks", {"capacity": 100})]
)
def test_a_state_of_another_size_is_refused(context: Context, name: str, other: dict[str, Any]) -> None:
    source = opened(resources.path("projects") / f"{name}.sinew", OWN)
    run = SceneRun(context, source)
    run.advance_to(3)
    state = run.engine.simulation.state()
    node = source.scene.node(EDITS[name][0].owner)
    changed = structs.replace(node, settings=structs.replace(node.settings, **other))
    nodes = tuple(changed if one is node else one for one in source.scene.nodes)
    run.engine.apply(structs.replace(source.scene, nodes=nodes))
    assert run.engine.restore(state, run.runner.time_of(3)) == {node.id}
    (problem,) = run.engine.simulation.take_problems()
    assert problem.node == node.id
    assert "the state belongs to another" in problem.text
    run.engine.simulation.reset()  # includes the node again
    run.advance_to(9)
    assert np.isfinite(run.engine.simulation.systems[node.id].arrays()["positions"].read()).any()
    run.release()


@pytest.mark.parametrize("name", ["cape", slow("sparks"), "hair-on-sphere"])
def test_positions_between_two_steps_are_interpolated_linearly(context: Context, name: str) -> None:
    run = CachedRun(context, opened(resources.path("projects") / f"{name}.sinew", OWN))
    try:
        run.fill(12)
        cached = {}
        for step in (8, 9, 12):
            run.scrub(step)
            cached[step] = run.bits()
        runner, moment = run.runner, run.runner.time_of(8) + 0.25 * STEP_TIME
        assert runner.show_between(moment) == moment
        run.engine.advance(moment)
        between = run.bits()
        for node in {key.split(".")[0] for key in between}:
            one, other, seen = (places_of(bits, node) for bits in (cached[8], cached[9], between))
            stay = sorted(one.keys() & other.keys())
            assert seen.keys() == one.keys(), "who is born or dies on the way"
            variants = [np.array([places[name] for name in stay]) for places in (one, other, seen)]
            assert not np.array_equal(variants[0], variants[1])
            np.testing.assert_allclose(variants[2], variants[0] + 0.25 * (variants[1] - variants[0]), atol=1e-5)
        assert runner.show_between(runner.time_of(8)) == runner.time_of(8)
        assert run.bits() == cached[8], "a step itself is shown exactly"
        runner.show_between(moment)
        assert runner.advance(13)
        after = run.bits()
        run.scrub(12)
        assert run.bits() == cached[12]
        runner.restart()
        run.scrub(0)
        run.fill(13)
        assert run.bits() == after, "showing changes nothing"
    finally:
        run.release()


@pytest.mark.slow
def test_evicted_steps_are_simulated_again_with_the_same_bits(context: Context) -> None:
    source = opened(resources.path("projects") / "cape.sinew", OWN)
    expected = fresh_bits(context, source, source.scene, [9, 21, END])
    run = CachedRun(context, source)
    run.fill(2)
    run.runner.cache.flush()
    room = run.store.used // 2
    run.release()
    run = CachedRun(context, source, 5 * room)
    run.fill(END)
    assert len(run.runner.cache.history.cached) <= 5
    assert END in run.runner.cache.history.cached
    for step in (21, END, 9):
        run.scrub(step)
        while run.runner.is_catching_up:
            run.scrub(step)
        assert run.bits() == expected[step], step
        assert run.store.used <= 5 * room
    run.release()


def test_many_seeks_need_no_more_memory(context: Context, sheet: OpenedScene) -> None:
    run = CachedRun(context, sheet, budget=8 * 4096)
    run.fill(20)
    ends, walk = set(), random.Random(1)
    for number in range(300):
        run.scrub(walk.randrange(21))
        run.runner.cache.flush()
        if number > 150:
            ends.add(run.store._end)
    assert run.store.used <= 8 * 4096
    assert len(ends) == 1, "freed parts of the file are used again"
    run.release()


def test_a_full_disk_ends_caching_and_nothing_else(context: Context, sheet: OpenedScene) -> None:
    run = CachedRun(context, sheet, budget=0)
    run.fill(3)
    expected = run.bits()
    for step in range(4, 10):
        assert run.runner.advance(step)
    run.runner.cache.flush()
    assert run.runner.cache.is_full
    assert run.runner.cache.history.cached == []
    run.scrub(3)
    assert run.runner.is_catching_up, "from the start"
    while run.runner.is_catching_up:
        run.scrub(3)
    assert run.bits() == expected
    run.release()


def test_a_pending_capture_has_the_state_of_its_step(context: Context) -> None:
    run = CachedRun(context, opened(resources.path("projects") / "sparks.sinew", OWN))
    states, captures = [], []
    for step in range(1, 7):
        run.engine.step(run.runner.time_of(step))
        states.append(run.engine.simulation.state())
        captures.append(run.engine.simulation.capture())
    assert [capture.read() for capture in reversed(captures)] == states[::-1]
    again = run.engine.simulation.capture()
    run.engine.step(run.runner.time_of(7))
    assert again.read() == states[-1], "from a staging buffer that was used before"
    run.release()


def test_statistics_of_a_cached_step_are_shown_again(context: Context) -> None:
    run = CachedRun(context, opened(resources.path("projects") / "cape.sinew", OWN))
    run.fill(12)
    cloth = run.engine.simulation.systems["cape"].cloth
    reported = {12: cloth.check()}
    now = 0.0
    for step in (5, 12, 8, 5):
        for _ in range(6):
            run.scrub(step - 1)
            run.scrub(step)  # playing through kept steps goes back with every picture
            now += 1.0
            run.engine.refresh(now)
            context.finish()
        assert cloth.statistics.time == pytest.approx(step / 60)
        assert reported.setdefault(step, cloth.statistics) == cloth.statistics
    assert reported[12] != reported[5]
    run.runner.restart()
    run.fill(5)
    assert cloth.check() == reported[5]
    run.release()


class BakedSteps:
    def __init__(self, states: dict[tuple[str, int], bytes], ends: dict[str, int]) -> None:
        self.states, self.ends = states, ends

    def steps(self, node: str) -> range:
        return range(1, self.ends[node] + 1) if node in self.ends else range(0)

    def state(self, node: str, step: int) -> bytes | None:
        return self.states[node, step] if step in self.steps(node) else None


def of(bits: dict[str, bytes], node: str) -> dict[str, bytes]:
    return {name: data for name, data in bits.items() if name.startswith(f"{node}.")}


def record_steps(run: CachedRun, node: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    done: list[int] = []
    system = run.engine.simulation.systems[node]
    plain = system.step
    monkeypatch.setattr(system, "step", lambda inputs: (done.append(inputs.moment), plain(inputs)))
    return done


def test_adding_changing_or_removing_a_node_keeps_the_steps_of_others(context, sheet, monkeypatch):
    """Shown at once, not simulated again, and whatever goes on from them has the bits of a fresh run."""
    one = sheet.scene
    node = one.node("c")
    other = Node(id="d", name="Other", settings=structs.replace(node.settings, wind=(0.0, 0.0, 5.0)))
    two = structs.replace(one, nodes=(other, node))
    soft = with_value(two, ParamRef("d", "cloth", "wind"), (0.0, 3.0, 1.0))
    wide = with_value(two, ParamRef("d", "cloth", "columns"), 7)
    places = [3, 9, 12, 20, 24]
    alone, both, changed = (fresh_bits(context, sheet, scene, places) for scene in (one, two, soft))
    run = CachedRun(context, sheet)
    run.fill(20)
    run.scrub(12)
    run.take(two)
    for step in (12, 3, 20, 9):
        run.scrub(step)
        assert of(run.bits(), "c") == of(alone[step], "c"), f"step {step} is shown when a node is added"
        assert run.runner.is_held(run.time), "the new one has none"
    assert [span[:2] for span in run.runner.cache.spans("c")] == [(0, 20)]
    assert run.runner.cache.spans("d") == []
    done = record_steps(run, "c", monkeypatch)
    run.scrub(0)
    run.fill(24)
    assert done == [21, 22, 23, 24], "what is there is not simulated again"
    for step in places:
        run.scrub(step)
        assert run.bits() == both[step], step

    run.scrub(12)
    run.take(soft)
    assert run.runner.cache.spans("d") == [(0, 11, False, True), (11, 12, False, False)]
    assert [(first, last, old) for first, last, _, old in run.runner.cache.spans("c")] == [(0, 24, False)]
    run.scrub(20)
    assert of(run.bits(), "c") == of(alone[20], "c")
    run.scrub(12)
    run.fill(24)
    assert done == [21, 22, 23, 24]
    assert of(run.bits(), "c") == of(both[24], "c")
    assert of(run.bits(), "d") not in (of(both[24], "d"), of(changed[24], "d"))
    run.runner.restart()
    run.scrub(0)
    run.fill(24)
    assert done == [21, 22, 23, 24]
    assert run.bits() == changed[24]

    run.take(wide)
    run.scrub(9)
    assert of(run.bits(), "c") == of(alone[9], "c"), "also where another one is built anew"
    run.take(one)
    for step in (20, 3, 24):
        run.scrub(step)
        assert not run.runner.is_held(run.time), "without the others, all is there"
        assert run.bits() == alone[step]
    run.fill(26)
    assert run.bits() == fresh_bits(context, sheet, one, [26])[26]
    assert done == [21, 22, 23, 24, 25, 26]
    run.release()


def test_names_colours_and_lights_keep_the_cache(context: Context, sheet: OpenedScene) -> None:
    run = CachedRun(context, sheet)
    run.fill(8)
    version, line = run.runner.cache.version, run.runner.cache.history.cached
    for change in (
        lambda scene: structs.replace(scene, nodes=(Node(id="l", settings=LightSettings()), *scene.nodes)),
        lambda scene: with_value(scene, ParamRef("c", "node", "name"), "Flag"),
        lambda scene: with_value(scene, ParamRef("c", "cloth", "colour"), (1.0, 0.0, 0.0)),
        lambda scene: with_value(scene, ParamRef("l", "transform", "position"), (1.0, 0.0, 0.0)),
    ):
        run.take(change(run.engine.world.scene))
        assert (run.runner.cache.version, run.runner.cache.history.cached) == (version, line)
    run.take(structs.replace(run.engine.world.scene, nodes=(*run.engine.world.scene.nodes, FLOOR)))
    assert run.runner.cache.version > version, "what it collides with does"
    run.release()


def test_dragged_steps_are_not_reused_after_an_edit(context: Context, sheet: OpenedScene) -> None:
    node = sheet.scene.node("c")
    two = structs.replace(sheet.scene, nodes=(node, Node(id="d", name="Other", settings=node.settings)))
    run = CachedRun(context, replace(sheet, scene=two))
    run.fill(6)
    for _ in range(3):
        run.runner.pull(Grab("c", 20, (0.0, 2.0, -1.0)))
    run.fill(10)
    by_hand = run.bits()
    run.scrub(7)
    run.edit(ParamRef("d", "cloth", "wind"), (0.0, 3.0, 1.0))
    run.scrub(10)
    assert run.runner.shown == 7
    assert not run.runner.cache.steps("c")
    run.scrub(7)
    run.fill(10)
    assert of(run.bits(), "c") == of(by_hand, "c"), "it is simulated again"
    run.release()


def test_baked_nodes_are_shown_at_any_step_and_others_wait(context: Context, sheet: OpenedScene) -> None:
    node = sheet.scene.node("c")
    other = Node(id="d", name="Other", settings=structs.replace(node.settings, wind=(0.0, 0.0, 5.0)))
    two = replace(sheet, scene=structs.replace(sheet.scene, nodes=(node, other)))
    run = CachedRun(context, two)
    steps, states = [run.bits()], {}
    for step in range(1, 15):
        run.fill(step)
        steps.append(run.bits())
        states |= {(name, step): state for name, state in run.engine.simulation.states().items()}
    run.release()

    def shown(run: CachedRun, step: int) -> tuple[int, int]:
        run.scrub(step)
        now = run.bits()
        at = [[i for i, one in enumerate(steps) if one[f"{n}.positions"] == now[f"{n}.positions"]] for n in "cd"]
        return at[0][0], at[1][0]

    run = CachedRun(context, two)
    run.engine.simulation.baked = BakedSteps(states, {"c": 14})
    assert shown(run, 9) == (9, 0)
    assert run.runner.is_held(run.time)
    run.scrub(0)
    run.fill(5)
    assert [shown(run, step) for step in (9, 3, 12, 5, 0)] == [(9, 5), (3, 3), (12, 5), (5, 5), (0, 0)]
    run.scrub(5)
    run.fill(14)
    assert run.bits() == steps[14]
    run.release()

    run = CachedRun(context, two, budget=6 * 24 * 1024)
    run.engine.simulation.baked = BakedSteps(states, {"c": 9, "d": 8})
    assert run.engine.simulation.baked_steps == range(1, 9)
    assert [shown(run, step) for step in (8, 3, 9)] == [(8, 8), (3, 3), (9, 8)]
    assert not run.runner.cache.history.cached
    for step in range(9, 15):
        assert run.runner.advance(step)
    assert [shown(run, step) for step in (14, 4)] == [(14, 14), (4, 4)]
    while run.runner.cache.history.evict():
        pass
    for step in (12, 10, 14):
        run.scrub(step)
        while run.runner.is_catching_up:
            run.scrub(step)
        assert run.bits() == steps[step]
    run.release()


@pytest.mark.parametrize("walks", [8, slow(20), campaign(200)])
def test_random_scrubs_edits_and_drags_show_the_same_bits(context: Context, sheet: OpenedScene, walks: int) -> None:
    """What is shown of a course of events is always the same, and that of a fresh run where it is one."""
    last, winds = 14, [sheet.scene.node("c").settings.wind, (0.0, 0.0, -3.0), (2.0, 1.0, 0.0)]
    scenes = [with_value(sheet.scene, ParamRef("c", "cloth", "wind"), wind) for wind in winds]
    down = np.linspace(0.0, 1.0, 36)
    values = {ClothMap.PIN: 1.0 - down, ClothMap.DISTANCE: 0.1 * down, ClothMap.MASS: 1.0 + down, ClothMap.BEND: down}
    maps = packed(values, ClothTopology("6x6", np.zeros((36, 3))))
    scenes[2] = with_value(scenes[2], ParamRef("c", "cloth", "maps"), maps)
    fresh = [fresh_bits(context, sheet, scene, list(range(last + 1))) for scene in scenes]

    @settings(max_examples=walks, deadline=None, derandomize=True, database=None)
    @given(st.lists(st.tuples(st.sampled_from(WALKS), st.integers(0, last), st.integers(0, 2)), max_size=14))
    @example([("edit", 0, 2), ("fill", 1, 0)])  # pins at a height of -0
    def walk(moves: list[tuple[str, int, int]]) -> None:
        run, current, seen = CachedRun(context, sheet, budget=9 * 24 * 1024), 0, {}
        for move, step, scene in moves:
            if move == "fill":
                run.fill(max(step, run.runner.shown))
            elif move == "scrub":
                run.scrub(step)
            elif move == "edit":
                current = scene
                run.take(scenes[current])
                run.runner.settle()
            elif move == "restart":
                run.runner.restart()
                run.scrub(0)
            else:
                run.runner.pull(Grab("c", step, (0.0, 3.0, 0.0)))
            shown, now = run.runner.shown, run.bits()
            if run.runner.is_fresh:
                assert now == fresh[current][shown]
            mark = run.runner.mark(shown)
            if mark is not None:
                assert seen.setdefault(mark, now) == now
        run.release()

    walk()
