from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.recovery import PROOF, TRIES
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.run.engine import Engine
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

STABLE = ClothSettings(columns=12, rows=12, substeps=24, pins=PinPreset.TOP)


class Stage:
    def __init__(self, context: Context) -> None:
        self.engine, self.count = Engine(context), 0
        self.node = Node(id="cloth", name="Cloth", transform=Transform(position=(0.0, 2.0, 0.0)), settings=STABLE)
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


def test_more_substeps_resume_it(stage: Stage) -> None:
    stage.change(stretch_stiffness=2e4)
    stage.step(20)
    assert stage.cloth.stopped
    cached, steps = stage.cloth.positions(), stage.cloth.step_count
    assert steps > PROOF
    stage.change(substeps=stability(stage.cloth.model, stage.settings).substeps)
    assert stage.cloth.stopped == ""
    np.testing.assert_array_equal(stage.cloth.positions(), cached)
    stage.step(10)
    assert stage.cloth.step_count == steps + 10
    assert stage.cloth.stopped == ""


def test_settings_that_were_stable_before_resume_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.sim.kinds.cloth.recovery.StabilityEstimator.allows", lambda *_: False)
    stage.stop()
    stage.change(stretch_stiffness=1e6)
    assert stage.cloth.stopped
    stage.change(stretch_stiffness=STABLE.stretch_stiffness)
    assert stage.cloth.stopped == ""


def test_changes_that_fix_nothing_leave_it_stopped_and_undoing_the_cause_resumes_it(stage: Stage) -> None:
    stage.stop()
    reason = stage.cloth.stopped
    for changes in ({"colour": (1.0, 0.0, 0.0)}, {"wind": (0.0, 0.0, 1.0)}, {"stretch_stiffness": 9e6}):
        stage.change(**changes)
        assert stage.cloth.stopped == reason
    stage.change(stretch_stiffness=STABLE.stretch_stiffness)
    assert stage.cloth.stopped == ""
    stage.step(10)
    assert stage.cloth.stopped == ""


def test_it_resumes_a_limited_number_of_times(stage: Stage) -> None:
    """Settings count as stable and yet tear the cloth at once, while a slider is dragged."""
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
    stage.change(stretch_limit=5.0, gravity=STABLE.gravity)
    stage.step(20)
    assert stage.cloth.stopped == ""


def stopped(cloth: Cloth, steps: int = 30) -> str:
    for _ in range(steps):
        cloth.step()
    cloth.check()
    return cloth.stopped


def test_too_few_substeps_are_reported(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, msgspec.structs.replace(STABLE, substeps=1, stretch_stiffness=1e5))
    needed = stability(cloth.model, cloth.settings).substeps
    assert stopped(cloth).endswith(f"; {needed:,} substeps or a softer fabric keep it stable, it has 1")


def test_a_fabric_too_stiff_for_any_number_of_substeps_is_reported(context, library, monkeypatch):
    monkeypatch.setattr("sinew.sim.kinds.cloth.stability.SUBSTEPS_MAX", 100)
    cloth = Cloth(context, library, msgspec.structs.replace(STABLE, stretch_stiffness=1e7))
    assert stopped(cloth).endswith("no number of substeps is enough, a softer or heavier fabric keeps it stable")


def test_pins_weight_and_stretched_starts_are_reported(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, STABLE)
    cloth.step()
    cloth.pins.set_targets(cloth.model.positions + np.array([3.0, 0.0, 0.0]))
    assert "its pins move 3 m within a step, further than the fabric can follow; a start of" in stopped(cloth)
    cloth = Cloth(context, library, msgspec.structs.replace(STABLE, stretch_limit=1.05))
    cloth.step()
    cloth.pins.set_targets(cloth.model.positions + np.array([0.2 * cloth.model.extent, 0.0, 0.0]))
    assert "its pins pull further than the fabric can follow; fewer pins" in stopped(cloth)
    heavy = msgspec.structs.replace(STABLE, stretch_limit=1.01, gravity=(0.0, -400.0, 0.0))
    reason = "beyond 1.01 times its length under weight, wind or colliders; a stiffer"
    assert reason in stopped(Cloth(context, library, heavy))
    cloth = Cloth(context, library, msgspec.structs.replace(STABLE, stretch_stiffness=1.0))
    cloth.start_from(cloth.model.positions * np.array([1.0, 8.0, 1.0]))
    assert "in the pose that it starts in; a higher stretch limit" in stopped(cloth)
