"""A state that is gone back to: whatever happened meanwhile, the steps after it give the same bits."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.run import SceneRun
from sinew.app.cli.scene import OpenedScene, opened
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.settings import ClothSource
from sinew.sim.scene.scene import ParamRef, Scene, with_value

TURN, HALF, END = 30, 60, 120
"""Steps: where a setting changes, where the state is taken, and where the outcome is compared; a walk takes 64."""

CHANGES: dict[str, tuple[ParamRef, Any]] = {
    "cape": (ParamRef("cape", "cloth", "wind"), (0.4, 0.0, -1.5)),
    "sparks": (ParamRef("glow", "emitter", "rate"), 1234.5),
}


class Run:
    """A shipped project in an engine of its own, one setting of which changes on the way."""

    def __init__(self, context: Context, name: str) -> None:
        self.scene: OpenedScene = opened(resources.path("projects") / f"{name}.sinew")
        self.changed: Scene = with_value(self.scene.scene, *CHANGES[name])
        self.run = SceneRun(context, self.scene)
        self.engine = self.run.engine

    def to(self, step: int) -> None:
        if self.run.step_count < TURN < step:
            assert self.run.advance_to(TURN) == []
            self.engine.apply(self.changed)
        assert self.run.advance_to(step) == []

    def mark(self) -> tuple[bytes, int]:
        """Where it is now."""
        return self.engine.simulation.state(), self.run.runner.shown

    def back(self, mark: tuple[bytes, int]) -> frozenset[str]:
        state, self.run.runner.shown = mark
        return self.engine.restore(state, self.run.runner.time_of(self.run.runner.shown))

    def bits(self) -> dict[str, bytes]:
        """Every array of every node."""
        systems = self.engine.simulation.systems.items()
        return {f"{n}.{key}": one.read().tobytes() for n, system in systems for key, one in system.arrays().items()}

    def release(self) -> None:
        self.run.release()


def nothing(_run: Run) -> None:
    """Gone back to at once."""


def further(run: Run) -> None:
    """Time went on, past a loop of the clip."""
    run.to(77)


def from_the_start(run: Run) -> None:
    run.engine.simulation.reset()
    run.engine.teleport(0.0)
    for step in range(7):
        run.engine.step((step + 1) / 60)


def elsewhere_in_time(run: Run) -> None:
    """Pictures at other times, as a cursor that is dragged shows them."""
    for time in (0.9, 0.1, 0.4):
        run.engine.teleport(time)
        run.engine.refresh(time)
    run.engine.advance(0.77)


def other_settings(run: Run) -> None:
    """What the node was set to meanwhile does not stay behind."""
    run.engine.apply(run.scene.scene)
    for step in range(3):
        run.engine.step(step / 60)
    run.engine.apply(run.changed)


ELSEWHERE: list[Callable[[Run], None]] = [nothing, further, from_the_start, elsewhere_in_time, other_settings]


@pytest.mark.parametrize("name", list(CHANGES))
def test_the_steps_after_a_state_give_the_same_bits(context: Context, name: str) -> None:
    """Wind, pins and colliders that ride on bones, births from moving skin, and a change on the way."""
    plain = Run(context, name)
    plain.to(END)
    expected = plain.bits()
    plain.release()
    run = Run(context, name)
    run.to(HALF)
    mark, at_half = run.mark(), run.bits()
    run.to(END)
    assert run.bits() == expected, "taking a state changes nothing"
    end = run.mark()[0]
    for go in ELSEWHERE:
        run.back(mark)
        go(run)
        run.back(mark)
        assert run.bits() == at_half, go.__name__
        assert run.mark() == mark, go.__name__
        run.to(END)
        assert run.bits() == expected, go.__name__
        assert run.mark()[0] == end, go.__name__
    run.release()


@pytest.mark.parametrize("name", list(CHANGES))
def test_another_engine_goes_on_from_a_state(context: Context, name: str) -> None:
    """It has seen neither the steps before nor the change of a setting, only its outcome."""
    first = Run(context, name)
    first.to(HALF)
    mark = first.mark()
    first.to(END)
    second = Run(context, name)
    second.engine.apply(second.changed)
    second.back(mark)
    second.to(END)
    assert second.bits() == first.bits()
    first.release()
    second.release()


@pytest.mark.parametrize(
    ("name", "other"), [("cape", {"source": ClothSource.GRID, "pin_list": ""}), ("sparks", {"capacity": 100})]
)
def test_a_state_of_other_settings_is_refused(context: Context, name: str, other: dict[str, Any]) -> None:
    """What has another number of particles takes nothing, and goes on."""
    run = Run(context, name)
    run.to(3)
    mark = run.mark()
    scene, node = run.scene.scene, run.scene.scene.node(CHANGES[name][0].owner)
    changed = msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, **other))
    nodes = tuple(changed if one is node else one for one in scene.nodes)
    run.engine.apply(msgspec.structs.replace(scene, nodes=nodes))
    assert run.back(mark) == {node.id}
    problems = [(p.node, p.text) for p in run.engine.simulation.take_problems()]
    assert [one for one, _ in problems] == [node.id]
    assert "the state is that of another" in problems[0][1]
    run.engine.simulation.reset()  # tries again what was left out
    run.to(9)
    assert np.isfinite(run.engine.simulation.systems[node.id].arrays()["positions"].read()).any()
    run.release()
