"""Cloths that were stopped: the reason that is told, and what lets them go on by themselves."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.cache.step_store import StepStore
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.kinds.cloth.stability import stable_substeps
from sinew.sim.kinds.cloth.system import PROOF, TRIES, ClothSystem
from sinew.sim.runner import SimulationRunner
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

SOUND = ClothSettings(columns=12, rows=12, substeps=24, pins=PinPreset.TOP)


class Stage:
    """One cloth in an engine."""

    def __init__(self, context: Context) -> None:
        self.engine, self.count = Engine(context), 0
        self.node = Node(id="cloth", name="Cloth", transform=Transform(position=(0.0, 2.0, 0.0)), settings=SOUND)
        self.change()

    @property
    def cloth(self) -> Cloth:
        system = self.engine.simulation.systems.get("cloth")
        assert isinstance(system, ClothSystem)
        assert system.cloth is not None
        return system.cloth

    @property
    def settings(self) -> ClothSettings:
        assert isinstance(self.node.settings, ClothSettings)
        return self.node.settings

    def change(self, **changes: Any) -> None:
        self.node = msgspec.structs.replace(self.node, settings=msgspec.structs.replace(self.settings, **changes))
        self.engine.apply(Scene(nodes=(self.node,)))

    def step(self, count: int) -> None:
        for _ in range(count):
            self.count += 1
            self.engine.step(self.count / 60.0)
        self.engine.simulation.check()

    def stop(self) -> None:
        """By a fabric that is far too stiff."""
        self.change(stretch_stiffness=1e7)
        self.step(20)
        assert self.cloth.stopped


@pytest.fixture
def stage(context: Context) -> Iterator[Stage]:
    made = Stage(context)
    made.step(PROOF + 5)
    assert made.cloth.stopped == ""
    yield made
    made.engine.release()


# --- going on -----------------------------------------------------------------------------------------


def test_more_substeps_let_it_go_on_from_where_it_was(stage: Stage) -> None:
    stage.change(stretch_stiffness=2e4)
    stage.step(20)
    assert stage.cloth.stopped
    cached, steps = stage.cloth.positions(), stage.cloth.step_count
    assert steps > PROOF
    stage.change(substeps=stable_substeps(stage.cloth.model, stage.settings))
    assert stage.cloth.stopped == ""
    np.testing.assert_array_equal(stage.cloth.positions(), cached)
    stage.step(10)
    assert stage.cloth.step_count == steps + 10
    assert stage.cloth.stopped == ""


def test_so_does_the_undo_of_the_cause(stage: Stage) -> None:
    stage.stop()
    stage.change(stretch_stiffness=SOUND.stretch_stiffness)
    assert stage.cloth.stopped == ""
    stage.step(30)
    assert stage.cloth.stopped == ""


def test_so_does_the_undo_of_the_cause_where_kept_steps_are_played_again(context: Context) -> None:
    stage = Stage(context)
    runner = SimulationRunner(stage.engine, StepStore())

    def take(time: float, **changes: Any) -> None:
        stage.change(**changes)
        runner.take(time)

    take(0.0, stretch_stiffness=1e7)
    for step in range(1, 31):
        assert runner.advance(step)
    stage.engine.simulation.check()
    assert stage.cloth.stopped
    runner.restart()
    middle = runner.time_of(30) - 0.5 / 60.0
    runner.show_between(middle)  # as playing on does: where the engine stands is no step
    take(middle, stretch_stiffness=SOUND.stretch_stiffness)
    assert stage.cloth.stopped == ""
    runner.show(middle)
    assert runner.advance(runner.shown + 1)
    stage.engine.simulation.check()
    assert stage.cloth.stopped == ""
    assert stage.cloth.step_count > 0
    runner.release()
    stage.engine.release()


def test_settings_under_which_it_ran_are_believed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.sim.kinds.cloth.system.StabilityEstimator.allows", lambda *_: False)
    stage.stop()
    stage.change(stretch_stiffness=1e6)
    assert stage.cloth.stopped
    stage.change(stretch_stiffness=SOUND.stretch_stiffness)
    assert stage.cloth.stopped == ""


@pytest.mark.parametrize(
    "changes", [{"colour": (1.0, 0.0, 0.0)}, {"wind": (0.0, 0.0, 1.0)}, {"stretch_stiffness": 9e6}]
)
def test_what_mends_nothing_leaves_it_stopped(stage: Stage, changes: dict[str, Any]) -> None:
    stage.stop()
    reason = stage.cloth.stopped
    stage.change(**changes)
    assert stage.cloth.stopped == reason


def test_it_does_not_try_for_ever(stage: Stage) -> None:
    """A hand that shakes a slider over settings that are stable, and yet tear the cloth at once."""
    stage.change(stretch_limit=1.01, gravity=(0.0, -400.0, 0.0))
    stage.step(20)
    assert stage.cloth.stopped
    tries = 0
    for index in range(3 * TRIES):
        stage.change(wind=(0.0, 0.0, 0.01 * (index + 1)))
        tries += not stage.cloth.stopped
        stage.step(20)
        assert stage.cloth.stopped
    assert tries == TRIES
    stage.engine.simulation.reset()
    stage.change(stretch_limit=5.0, gravity=SOUND.gravity)
    stage.step(20)
    assert stage.cloth.stopped == ""


# --- reasons ------------------------------------------------------------------------------------------


def stopped(cloth: Cloth, steps: int = 30) -> str:
    """Why it was stopped, however few of its steps went wrong."""
    for _ in range(steps):
        cloth.step()
    cloth.check()
    return cloth.stopped


def test_too_few_substeps_are_told(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, msgspec.structs.replace(SOUND, substeps=1, stretch_stiffness=1e5))
    needed = stable_substeps(cloth.model, cloth.settings)
    assert stopped(cloth).endswith(f"; {needed:,} substeps or a softer fabric keep it stable, it has 1")


def test_a_fabric_that_no_substeps_would_hold_is_told(
    context: Context, library: ShaderLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sinew.sim.kinds.cloth.stability.SUBSTEPS_MAX", 100)
    monkeypatch.setattr("sinew.sim.kinds.cloth.stability.SUBSTEPS_MAX", 100)
    cloth = Cloth(context, library, msgspec.structs.replace(SOUND, stretch_stiffness=1e7))
    assert stopped(cloth).endswith("no number of substeps is enough, a softer or heavier fabric keeps it stable")


def test_pins_that_pull_too_far_are_told(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SOUND)
    cloth.step()
    cloth.pins.set_targets(cloth.model.positions + np.array([3.0, 0.0, 0.0]))
    assert "its pins pull further than the fabric can follow; fewer pins" in stopped(cloth)


def test_pins_that_pull_apart_are_told(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SOUND)
    cloth.step()
    cloth.pins.set_targets(cloth.model.positions * np.array([8.0, 1.0, 1.0]))
    assert "its pins pull further" in stopped(cloth)


def test_weight_that_no_substeps_would_help_against_is_told(context: Context, library: ShaderLibrary) -> None:
    heavy = msgspec.structs.replace(SOUND, stretch_limit=1.01, gravity=(0.0, -400.0, 0.0))
    assert "beyond 1.01 times its length under weight, wind or colliders; a stiffer" in stopped(
        Cloth(context, library, heavy)
    )


def test_a_start_that_is_stretched_already_is_told(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, msgspec.structs.replace(SOUND, stretch_stiffness=1.0))
    cloth.start_from(cloth.model.positions * np.array([1.0, 8.0, 1.0]))
    assert "in the pose that it starts in; a higher stretch limit" in stopped(cloth)
