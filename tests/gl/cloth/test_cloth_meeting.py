"""Cloths that collide with one another."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.step_store import StepStore
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.group import ClothGroup, ClothInStep
from sinew.sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, ClothSolving, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from sinew.sim.scene.transform import Transform
from tests.conftest import campaign, slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN
from tests.gl.cloth.cloth_cases import STILL, springs
from tests.oracles.cloth_meeting import Sheet, crossings, listed, substep

HEAVY = 1e15
"""Mass of held particles [kg]."""

LOOSE = {"structural_stiffness": 0.0, "shear_stiffness_spring": 0.0, "bend_stiffness_spring": 0.0} | STILL
SMALL: dict[str, Any] = {
    "columns": 8, "rows": 8, "width": 0.6, "height": 0.6, "placement": ClothPlacement.FLAT, "pins": PinPreset.NONE,
    "stretch_stiffness": 60.0, "shear_stiffness": 10.0, "substeps": 12,
}  # fmt: skip

Bits = dict[str, bytes]


def sheet(name: str, above: float = 0.0, turn: tuple[float, float, float] = (0.0, 0.0, 0.0), **changes: Any) -> Node:
    place = Transform(position=(0.02, above, 0.0), rotation=turn)
    return Node(id=name, name=name, transform=place, settings=ClothSettings(**{**SMALL, **changes}))


LOW = sheet("low", pins=PinPreset.ALL_CORNERS, other_cloths=True)
HIGH = sheet("high", 0.06, (4.0, 25.0, 7.0), density=0.1)
ALONE = sheet("alone", 0.03, (2.0, 5.0, 3.0))
PAIR = Scene(nodes=(LOW, HIGH))


def opened(scene: Scene) -> OpenedScene:
    return OpenedScene(Path("a.sinew"), scene, None, {}, {}, SceneAssets())


def bits(run: SceneRun) -> Bits:
    systems = run.engine.simulation.systems.items()
    return {f"{name}.{key}": one.read().tobytes() for name, system in systems for key, one in system.arrays().items()}


def cloth_of(run: SceneRun, name: str) -> Cloth:
    cloth = run.engine.simulation.systems[name].cloth
    assert isinstance(cloth, Cloth)
    return cloth


def run_of(context: Context, scene: Scene, last: int, each: Callable[[SceneRun], object] = lambda _: None) -> Bits:
    run = SceneRun(context, opened(scene))
    for step in range(1, last + 1):
        assert run.advance_to(step) == []
        each(run)
    found = bits(run)
    run.release()
    return found


def as_sheet(cloth: Cloth, particle_mass: float) -> Sheet:
    settings, places = cloth.settings, cloth.positions().astype(np.float64)
    masses = np.where(cloth.pins.flags, HEAVY, particle_mass)
    velocities = cloth.velocities().astype(np.float64)
    return Sheet(
        places, velocities, cloth.model.faces.astype(np.intp), masses, settings.thickness, settings.self_friction
    )


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    ("masses", "pins", "sides"),
    [
        slow((0.01, 0.01), PinPreset.NONE, (5, 4)),
        ((0.03, 0.008), PinPreset.NONE, (5, 4)),
        slow((0.01, 0.02), PinPreset.ALL_CORNERS, (5, 4)),
        campaign((0.002, 0.02), PinPreset.NONE, (13, 5)),
    ],
)
def test_two_sheets_meet_as_in_the_reference(
    context: Context, library: ShaderLibrary, masses: tuple[float, float], pins: PinPreset, sides: tuple[int, int]
) -> None:
    """Sheets without springs are thrown at each other; if they are free their momentum stays.

    A fine one on a coarse one fills the lists of its leaves and particles.
    """
    random, cloths = np.random.default_rng(3), []
    for mass, side, thickness in zip(masses, sides, (0.06, 0.04), strict=True):
        settings = springs(
            columns=side, rows=side, width=0.4, height=0.4, placement=ClothPlacement.FLAT, particle_mass=mass,
            thickness=thickness, self_friction=0.5, **(LOOSE | {"pins": pins if side == sides[1] else PinPreset.NONE}),
        )  # fmt: skip
        cloths.append(Cloth(context, library, settings))
    for cloth, height, speed in zip(cloths, (0.0, 0.07), ((0.1, 0.5, 0.0), (0.0, -1.5, 0.3)), strict=True):
        places = cloth.model.positions + random.normal(scale=0.01, size=cloth.model.positions.shape)
        velocities = speed + random.normal(scale=0.1, size=places.shape)
        velocities[cloth.pins.flags] = 0.0
        cloth.write(places + np.array([0.013, height, 0.02]), velocities)
        cloth.pins.set_targets(cloth.positions().astype(np.float64))
    one, other = (as_sheet(cloth, mass) for cloth, mass in zip(cloths, masses, strict=True))
    momentum = one.momentum + other.momentum
    group = ClothGroup(context, library, {"a": cloths[0].model, "b": cloths[1].model}, [("a", "b")])
    substeps = 8
    for _ in range(3 if sides == (5, 4) else 1):
        group.step([ClothInStep(cloth, ClothInputs()) for cloth in cloths], substeps)
        lists = listed(one, other, STEP_TIME), listed(other, one, STEP_TIME)
        for _ in range(substeps):
            substep(one, other, lists, STEP_TIME / substeps)
    assert np.abs(one.velocities[:, 1] - 0.5).max() > 0.5, "they must have touched"
    for cloth, reference in zip(cloths, (one, other), strict=True):
        np.testing.assert_allclose(cloth.positions(), reference.positions, rtol=0, atol=2e-5)
        np.testing.assert_allclose(cloth.velocities(), reference.velocities, rtol=0, atol=2e-3)
    if pins is PinPreset.NONE:
        np.testing.assert_allclose(one.momentum + other.momentum, momentum, rtol=0, atol=1e-12)
        total = sum(as_sheet(cloth, mass).momentum for cloth, mass in zip(cloths, masses, strict=True))
        np.testing.assert_allclose(total, momentum, rtol=0, atol=1e-6)
    for owner in (group, *cloths):
        owner.release()


@pytest.mark.parametrize("solver", [ClothSolving.SPRINGS, slow(ClothSolving.LINES)])
def test_a_sheet_rests_on_a_pinned_one_at_the_mean_thickness(context: Context, solver: ClothSolving) -> None:
    under = sheet("a", solver=solver, columns=12, rows=12, pins=PinPreset.ALL, other_cloths=True, thickness=0.01)
    above = sheet("b", 0.08, (0.0, 25.0, 0.0), thickness=0.006, width=0.4, height=0.4, substeps=40, solver=solver)
    run = SceneRun(context, opened(Scene(nodes=(under, above))))
    assert run.advance_to(45) == []
    heights = [cloth_of(run, "b").positions()[:, 1].astype(np.float64)]
    assert run.advance_to(60) == []
    heights.append(cloth_of(run, "b").positions()[:, 1].astype(np.float64))
    np.testing.assert_allclose(heights, 0.008, rtol=0, atol=3e-4)
    np.testing.assert_allclose(*heights, rtol=0, atol=1e-5)
    run.release()


@pytest.mark.parametrize(
    ("solver", "last_step"),
    [(ClothSolving.SPRINGS, 90), slow(ClothSolving.SPRINGS, 300), slow(ClothSolving.LINES, 150)],
)
def test_nothing_crosses_between_a_skirt_and_a_cape(context: Context, solver: ClothSolving, last_step: int) -> None:
    """Two hanging sheets, one blown against the other; thin against their cells of 8 cm."""
    shared = {
        "solver": solver,
        "placement": ClothPlacement.HANGING,
        "pins": PinPreset.TOP,
        "thickness": 0.006,
        "turbulence": 0.8,
    }
    skirt = sheet("skirt", 0.0, other_cloths=True, wind=(0.3, 0.0, 0.5), turbulence_seed=4, **shared)
    cape = sheet("cape", 0.03, width=0.7, height=0.65, columns=10, rows=9, wind=(0.0, 0.0, -2.0), **shared)
    cape = structs.replace(cape, transform=Transform(position=(0.0, 0.05, 0.05)))
    last: list[Any] = []
    touched = []

    def follow(run: SceneRun) -> None:
        cloths = [cloth_of(run, name) for name in ("skirt", "cape")]
        now = [cloth.positions().astype(np.float64) for cloth in cloths]
        for own, other in ((0, 1), (1, 0)) if last else ():
            faces = cloths[other].model.faces.astype(np.intp)
            assert crossings((last[own], last[other]), (now[own], now[other]), faces) == 0
        last[:] = now
        touched.append(np.linalg.norm(now[0][:, None] - now[1], axis=2).min() < 0.03)

    run_of(context, Scene(nodes=(skirt, cape)), last_step, follow)
    assert sum(touched) > last_step / 3
    last.clear()
    apart = with_value(Scene(nodes=(skirt, cape)), ParamRef("skirt", "cloth", "other_cloths"), False)
    with pytest.raises(AssertionError):
        run_of(context, apart, 120, follow)


@pytest.mark.parametrize("steps", [7, slow(12)])
def test_orders_of_nodes_and_back_ends_give_the_same_bits(context: Context, steps: int) -> None:
    """With different substeps, of which the larger number counts, and lines in the third, which only one chooses."""
    low = structs.replace(LOW, settings=structs.replace(LOW.settings, substeps=20))
    chosen = structs.replace(ALONE.settings, other_cloths=True, met_cloths=("high",), solver=ClothSolving.LINES)
    alone = structs.replace(ALONE, settings=chosen)
    nodes = low, HIGH, alone
    first = run_of(context, Scene(nodes=nodes), steps)
    for choice in (BackEndChoice.TF, BackEndChoice.COMPUTE) if context.back_ends.has_compute else ():
        context.back_ends.choice = choice
        assert run_of(context, Scene(nodes=nodes[::-1]), steps) == first
    without = run_of(context, with_value(Scene(nodes=nodes), ParamRef("alone", "cloth", "other_cloths"), False), steps)
    assert without["low.positions"] != first["low.positions"]


def test_cloths_that_choose_others_do_not_meet_the_rest(context: Context) -> None:
    settings = structs.replace(LOW.settings, met_cloths=("nobody",))
    scene = Scene(nodes=(structs.replace(LOW, settings=settings), HIGH))
    apart = Scene(nodes=(structs.replace(LOW, settings=structs.replace(settings, other_cloths=False)), HIGH))
    assert run_of(context, scene, 10) == run_of(context, apart, 10)
    muted = Scene(nodes=(LOW, structs.replace(HIGH, muted=True)))
    plain = structs.replace(LOW.settings, other_cloths=False)
    without = Scene(nodes=(structs.replace(LOW, settings=plain),))
    assert run_of(context, muted, 10)["low.positions"] == run_of(context, without, 10)["low.positions"]


class _OneBaked:
    """States of one of the two cloths, of the first steps."""

    def __init__(self, node: str, states: Mapping[int, bytes]) -> None:
        self.node, self.known = node, states

    def steps(self, node: str) -> range:
        return range(1, len(self.known) + 1) if node == self.node else range(0)

    def state(self, node: str, step: int) -> bytes | None:
        return self.known.get(step) if node == self.node else None


@pytest.mark.parametrize("baked", ["low", "high"])
def test_a_cloth_is_simulated_as_long_as_its_partner_is(context: Context, baked: str) -> None:
    """A bake of one of two cloths is shown with the other one only where that is baked too: the bits stay."""
    states: dict[int, bytes] = {}
    run = SceneRun(context, opened(PAIR))
    fresh = []
    for step in range(1, 16):
        assert run.advance_to(step) == []
        states[step] = run.engine.simulation.systems[baked].snapshot().packed()
        fresh.append(bits(run))
    run.release()
    run = SceneRun(context, opened(PAIR))
    run.engine.simulation.baked = _OneBaked(baked, {step: states[step] for step in range(1, 11)})
    for step in range(1, 16):
        assert run.advance_to(step) == []
        assert bits(run) == fresh[step - 1]
    run.release()


def test_scrubs_and_edits_have_the_bits_of_a_fresh_run(context: Context) -> None:
    """Played, scrubbed, edited in mid-flight and undone: settings, muting, a partner that goes and comes back."""
    edits = [
        with_value(PAIR, ParamRef("high", "cloth", "density"), 0.3),
        with_value(PAIR, ParamRef("low", "cloth", "other_cloths"), False),
        Scene(nodes=(LOW, structs.replace(HIGH, muted=True))),
        Scene(nodes=(LOW,)),
        with_value(PAIR, ParamRef("high", "cloth", "substeps"), 17),
    ]
    steps, last = (4, 9, 14), 18
    fresh: dict[int, Bits] = {}
    run = SceneRun(context, opened(PAIR))
    for step in range(1, last + 1):
        assert run.advance_to(step) == []
        fresh[step] = bits(run)
    run.release()
    run = SceneRun(context, opened(PAIR))
    runner = SimulationRunner(run.engine, StepStore(10**9))

    def take(scene: Scene, step: int) -> None:
        run.engine.apply(scene)
        runner.take(runner.time_of(step))

    def fill(step: int) -> None:
        while runner.shown < step:
            assert runner.advance(runner.shown + 1)
        run.engine.advance(runner.show(runner.time_of(step)))

    take(PAIR, 0)
    fill(last)
    assert bits(run) == fresh[last]
    for step in steps * 2:
        run.engine.advance(runner.show(runner.time_of(step)))
        assert bits(run) == fresh[step]
        fill(step + 2)
        assert bits(run) == fresh[step + 2]
    for number, edited in enumerate(edits):
        step = steps[number % 3]
        run.engine.advance(runner.show(runner.time_of(step)))
        take(edited, step)
        fill(step + 4)
        assert runner.engine.simulation.take_problems() == []
        take(PAIR, step + 4)
        run.engine.advance(runner.show(runner.time_of(step)))
        assert bits(run) == fresh[step], number
        fill(last)
        assert bits(run) == fresh[last], number
    runner.release()
    run.release()


@pytest.mark.parametrize("seed", [2, 5, *map(slow, (0, 1, 3, 4))])
def test_any_settings_stay_finite_or_stop_with_a_reason(context: Context, seed: int) -> None:
    """Thin and thick sheets of all resolutions on top of one another, also without thickness, mass or substeps."""
    random = np.random.default_rng(seed)
    nodes = []
    for number in range(3):
        changes = {
            "columns": int(random.choice([2, 3, 9])),
            "rows": int(random.choice([2, 5, 12])),
            "mode": random.choice(list(ClothMode)),
            "density": float(random.choice([1e-4, 0.1, 1e3])),
            "particle_mass": float(random.choice([1e-9, 1e-3, 1e6])),
            "structural_stiffness": 0.0,
            "thickness": float(random.choice([0.0, 1e-4, 0.01, 0.3, 1.0])),
            "self_friction": float(random.choice([0.0, 0.3, 10.0])),
            "self_collision": bool(random.integers(2)),
            "pins": random.choice([PinPreset.NONE, PinPreset.ALL, PinPreset.CORNERS]),
            "substeps": int(random.choice([1, 3, 24])),
            "other_cloths": True,
        }
        turn = tuple(random.uniform(-30.0, 30.0, 3).tolist())
        nodes.append(sheet(f"c{number}", float(random.choice([0.0, 0.02, 0.1])), turn, **changes))
    run = SceneRun(context, opened(Scene(nodes=tuple(nodes))))
    for step in range(1, 21):
        assert all("stopped at" in line for line in run.advance_to(step))
    run.engine.simulation.check()
    for node in nodes:
        assert np.isfinite(cloth_of(run, node.id).positions()).all()
        assert np.abs(cloth_of(run, node.id).positions()).max() < 1e3 or cloth_of(run, node.id).stopped
    run.release()


def test_a_cloth_that_fails_does_not_spoil_the_others(context: Context) -> None:
    """Whether and when the failure is read back does not matter either."""
    wild = sheet("wild", 0.05, stretch_stiffness=1e6, density=1e-3, substeps=2)
    scene = Scene(nodes=(LOW, wild))
    found = []
    for checks in (True, False):
        run = SceneRun(context, opened(scene))
        for step in range(1, 16):
            run.advance_to(step)
            if checks:
                run.engine.simulation.check()
        run.engine.simulation.check()
        assert cloth_of(run, "wild").stopped
        assert not cloth_of(run, "low").stopped
        found.append(cloth_of(run, "low").positions().tobytes())
        run.release()
    assert found[0] == found[1]
