from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.cloth.settings import (
    ClothComparisonChoice,
    ClothPlacement,
    ClothSettings,
    ClothSolving,
    PinPreset,
    compared_settings,
)
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.render.render_view import DisplayOptions, Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from tests.conftest import slow

LINES = ClothSettings(columns=12, rows=12, solver=ClothSolving.LINES, substeps=8)


def scene_of(**changes: Any) -> Scene:
    settings = msgspec.structs.replace(LINES, **changes)
    return Scene(nodes=(Node(id="c", name="Sheet", transform=Transform(position=(0.0, 2.0, 0.0)), settings=settings),))


def stepped(engine: Engine, scene: Scene, first: int, last: int) -> ClothSystem:
    engine.apply(scene)
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)
    assert engine.simulation.take_problems() == []
    system = engine.simulation.systems["c"]
    assert isinstance(system, ClothSystem)
    assert system.cloth is not None
    return system


COMPARED = {"rival": ClothComparisonChoice.SPRINGS, "rival_substeps": 24}


def test_a_second_solver_changes_nothing_and_measures_its_distance(engine: Engine) -> None:
    alone = stepped(engine, scene_of(), 0, 20)
    assert alone.cloth is not None
    expected = alone.cloth.positions()
    engine.simulation.reset()
    system = stepped(engine, scene_of(**COMPARED), 0, 20)
    assert system.cloth is not None
    assert system.comparison is not None
    np.testing.assert_array_equal(system.cloth.positions(), expected)
    other = system.comparison.cloth
    assert (other.settings.solver, other.settings.substeps) == (ClothSolving.SPRINGS, 24)
    apart = np.linalg.norm(other.positions() - expected, axis=1)
    found = system.measures()
    assert (found["apart"], found["apart_mean"]) == pytest.approx((apart.max(), apart.mean()), rel=1e-5)
    assert apart.max() > 1e-4
    engine.refresh(0.0)
    view = engine.views.view("c")
    drawn = [
        view.parts(DisplayOptions(ViewSettings(), Overlay(), second=second))[0].arrays.vertices
        for second in (False, True)
    ]
    assert drawn == [system.cloth.sheet.vertices, other.sheet.vertices]


def test_the_second_solver_is_restored_and_starts_again_with_the_first(engine: Engine) -> None:
    scene = scene_of(**COMPARED)
    system = stepped(engine, scene, 0, 10)
    assert system.comparison is not None
    state = engine.simulation.state()
    stepped(engine, scene, 10, 20)
    later = system.comparison.cloth.positions().tobytes()
    engine.restore(state, 10 * STEP_TIME)
    stepped(engine, scene, 10, 20)
    assert system.comparison.cloth.positions().tobytes() == later
    engine.simulation.reset()
    stepped(engine, scene, 0, 0)
    engine.refresh(0.0)
    assert system.cloth is not None
    assert system.comparison.cloth.positions().tobytes() == system.cloth.positions().tobytes()
    assert stepped(engine, scene_of(rival=ClothComparisonChoice.LINES), 0, 2).comparison is None
    assert stepped(engine, scene_of(columns=9, **COMPARED), 2, 4).comparison is not None


def meeting(**changes: Any) -> Scene:
    small = {"columns": 7, "rows": 7, "width": 0.6, "height": 0.6, "placement": ClothPlacement.FLAT, "thickness": 0.06}
    low = msgspec.structs.replace(
        LINES, **small, pins=PinPreset.ALL_CORNERS, other_cloths=True, stretch_stiffness=1e3, **changes
    )
    high = msgspec.structs.replace(LINES, **small, pins=PinPreset.NONE)
    above = Transform(position=(0.02, 0.08, 0.0), rotation=(4.0, 25.0, 7.0))
    return Scene(
        nodes=(Node(id="c", name="Low", settings=low), Node(id="d", name="High", transform=above, settings=high))
    )


@pytest.mark.parametrize("steps", [8, slow(20)])
def test_the_second_solver_meets_second_cloths_as_if_it_were_the_first(engine: Engine, steps: int) -> None:
    def positions(system: Any) -> list[bytes]:
        cloths = [system.cloth] + ([] if system.comparison is None else [system.comparison.cloth])
        return [cloth.positions().tobytes() for cloth in cloths]

    found = []
    springs = {"solver": ClothSolving.SPRINGS, "substeps": 24}
    for scene in (meeting(), meeting(**springs), meeting(**COMPARED)):
        engine.simulation.reset()
        stepped(engine, scene, 0, steps)
        found.append([positions(engine.simulation.systems[name]) for name in "cd"])
    first, second, both = found
    assert both == [[one, other] for (one,), (other,) in zip(first, second, strict=True)]
    assert first[1] != second[1], "they must have touched"
    state = engine.simulation.state()
    stepped(engine, meeting(**COMPARED), steps, steps + 4)
    later = [positions(engine.simulation.systems[name]) for name in "cd"]
    engine.restore(state, steps * STEP_TIME)
    stepped(engine, meeting(**COMPARED), steps, steps + 4)
    assert [positions(engine.simulation.systems[name]) for name in "cd"] == later


def test_settings_without_another_solver_compare_nothing() -> None:
    assert compared_settings(LINES) is None
    assert compared_settings(msgspec.structs.replace(LINES, rival=ClothComparisonChoice.LINES)) is None
