"""The line solver on the GPU against the reference in double precision."""

from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import Bounds
from sinew.sim.colliders.pack import arranged
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.pass_list import run_passes
from sinew.sim.kinds.cloth.buffers import LONG, SEGMENTS
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.kind import new_cloth
from sinew.sim.kinds.cloth.line_solver import BEND_ERROR, LineSolver, chebyshev_steps
from sinew.sim.kinds.cloth.maps import ClothMap, packed
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, ClothSource, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.stability import ERROR, MARGIN, ClothStability, line_stability
from sinew.sim.kinds.contract import AddPlace
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import campaign, slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.gl.cloth.cloth_cases import STILL, collider_inputs, run
from tests.gl.cloth.test_cloth_reference import colliders, uneven_surface
from tests.oracles import cloth_lines as reference
from tests.oracles.cloth import Actions, Particles

STEPS = 24
FALL = 36
GUSTY = {"wind": (0.6, 0.0, 1.5), "turbulence": 0.4, "turbulence_scale": 0.8}


def lines(**changes: Any) -> ClothSettings:
    values: dict[str, Any] = {
        "columns": 12, "rows": 10, "solver": ClothSolving.LINES, "stretch_stiffness": 1e4, "air_drag": 0.5,
        "substeps": 16,
    }  # fmt: skip
    return ClothSettings(**(values | changes))


CASES = {
    "cotton": lines(),
    "in the wind": lines(pins=PinPreset.TOP, **GUSTY),
    "undamped": lines(internal_damping=0.0, normal_drag=0.0, tangent_drag=0.0),
    "stiff, bending": lines(
        placement=ClothPlacement.FLAT,
        pins=PinPreset.TOP,
        stretch_stiffness=1e6,
        shear_stiffness=1e4,
        bend_stiffness=1e-2,
    ),
    "only threads": lines(placement=ClothPlacement.FLAT, shear_stiffness=0.0, bend_stiffness=0.0, pins=PinPreset.TOP),
    "nothing": lines(stretch_limit=1000.0, stretch_stiffness=0.0, shear_stiffness=0.0, bend_stiffness=0.0),
    "narrow": lines(columns=2, rows=30, substeps=24),
    "a segment and a point": lines(columns=17, rows=9),
    "many segments": lines(columns=3, rows=129, width=0.05, height=2.0, pins=PinPreset.TOP),
    "long segments": lines(columns=3, rows=LONG + 1, width=0.05, height=4.0, pins=PinPreset.TOP, bend_stiffness=1e-3),
    "mesh": lines(source=ClothSource.MESH, pin_list="0 3-5 8", wind=(0.0, 0.0, 3.0)),
    "mesh in the wind": lines(source=ClothSource.MESH, pin_list="0 3-5 8", bend_stiffness=1e-4, **GUSTY),
}

QUICK = ("in the wind", "mesh in the wind")


def steps_of(settings: ClothSettings) -> int:
    """Uneven triangles fold in the plane, which magnifies rounding."""
    return STEPS // 2 if settings.source is ClothSource.MESH else STEPS


@cache
def expected(name: str) -> np.ndarray:
    settings = CASES[name]
    surface = uneven_surface() if settings.source is ClothSource.MESH else None
    return reference.run(build_cloth(settings, surface), settings, steps_of(settings)).positions


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    "name",
    [*QUICK, *(slow(name) for name in CASES if name not in (*QUICK, "long segments")), campaign("long segments")],
)
def test_a_cloth_of_lines_moves_as_the_reference(context: Context, library: ShaderLibrary, name: str) -> None:
    settings = CASES[name]
    cloth = Cloth(context, library, settings, uneven_surface() if settings.source is ClothSource.MESH else None)
    run(cloth, steps_of(settings))
    found = expected(name)
    assert np.abs(found - cloth.model.positions).max() > 1e-4
    assert np.abs(cloth.positions() - found).max() < 5e-4 * cloth.model.extent


def test_both_back_ends_give_the_same_bits(library: ShaderLibrary, context: Context) -> None:
    if not context.back_ends.has_compute:
        pytest.skip("no compute here")
    kept = context.back_ends.choice
    sheet = lines(columns=40, rows=31, self_collision=True, **GUSTY)
    for settings in (sheet, CASES["long segments"], CASES["mesh in the wind"]):
        results = []
        for choice in (BackEndChoice.TF, BackEndChoice.COMPUTE, BackEndChoice.TF):
            context.back_ends.choice = choice
            cloth = Cloth(context, library, settings, uneven_surface() if settings.pin_list else None)
            run(cloth, 6)
            results.append(cloth.snapshot().packed())
            cloth.release()
        assert results[0] == results[1] == results[2]
    context.back_ends.choice = kept


@pytest.mark.parametrize("substeps", [slow(1), 4, slow(12)])
@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_a_sheet_on_two_corners_does_not_jitter(context: Context, library: ShaderLibrary, substeps: int) -> None:
    """Without more inertia at the corners a thread there is as long as 6 to 60 at rest."""
    settings = lines(columns=64, rows=64, width=1.0, height=1.0, density=0.12, shear_stiffness=40.0, substeps=substeps)
    cloth = Cloth(context, library, settings)
    run(cloth, 24)
    cloth.measures_lines = True
    statistics = cloth.check()
    assert cloth.stopped == ""
    assert cloth.lines is not None
    assert statistics.strain < (0.03 if substeps > 1 else 0.3)
    assert np.abs(cloth.velocities()).max() < 2.0
    assert cloth.lines.load > 1.0


@pytest.mark.parametrize(("size", "steps"), [campaign(0.6, 60), (1.8, 24), slow(1.8, 60), campaign(9.0, 60)])
@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_a_new_cloth_holds_its_load_and_one_remedy_is_enough(
    context: Context, library: ShaderLibrary, size: float, steps: int
) -> None:
    place = AddPlace(Scene(), ViewState(), Bounds(np.zeros(3), np.full(3, size / 3**0.5)))
    settings = new_cloth(place).settings
    assert isinstance(settings, ClothSettings)
    cloth = Cloth(context, library, settings)
    cloth.measures_lines = True

    def found(count: int) -> ClothStability:
        for _ in range(count // 6):
            run(cloth, 6)
            cloth.check()
        assert cloth.lines is not None
        return line_stability(cloth.settings, cloth.lines)

    first = found(steps)
    assert first.ratio < MARGIN
    assert first.usual_error < ERROR
    cloth.apply(msgspec.structs.replace(settings, substeps=settings.substeps // 2))
    cloth.reset()
    short = found(min(steps, 48))
    assert short.ratio > MARGIN
    cloth.apply(msgspec.structs.replace(settings, substeps=short.substeps))
    after = found(steps)
    assert after.ratio < MARGIN
    assert after.usual_error < ERROR


@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_more_substeps_are_taken_when_needed_and_a_reset_forgets_them(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(
        columns=8, rows=40, width=0.2, height=1.0, solver=ClothSolving.LINES, substeps=2, stretch_stiffness=1e4,
        more_substeps=True,
    )  # fmt: skip
    cloth = Cloth(context, library, settings)
    counts = []
    for _ in range(60):
        cloth.take_needed_substeps()
        run(cloth, 1)
        counts.append(cloth.settings.substeps)
    assert counts[0] == 2
    assert counts == sorted(counts)
    assert counts[-1] >= 8
    cloth.measures_lines = True
    cloth.check()
    assert line_stability(cloth.settings, cloth.lines).ratio < 1.0
    assert cloth.chosen is settings
    cloth.apply(msgspec.structs.replace(settings, colour=(0.1, 0.2, 0.3)))
    assert cloth.settings.substeps == counts[-1], "a colour changes nothing"
    state = cloth.snapshot().packed()
    cloth.reset()
    assert cloth.settings.substeps == 2
    cloth.restore(state)
    assert cloth.settings.substeps == counts[-1]
    cloth.apply(msgspec.structs.replace(settings, more_substeps=False))
    assert cloth.settings.substeps == 2
    cloth.take_needed_substeps()
    assert cloth.settings.substeps == 2


@ON_BOTH
@pytest.mark.parametrize("name", ["in the wind", slow("undamped"), slow("mesh in the wind")])
def test_the_error_of_lines_is_what_a_substep_of_the_reference_leaves(
    context: Context, library: ShaderLibrary, name: str
) -> None:
    settings, errors = CASES[name], []
    for substeps in (settings.substeps, 2 * settings.substeps):
        chosen = msgspec.structs.replace(settings, substeps=substeps)
        cloth = Cloth(context, library, chosen, uneven_surface() if settings.source is ClothSource.MESH else None)
        cloth.measures_lines = True
        for step in range(12):
            cloth.pins.set_targets(cloth.model.positions + np.array([0.01 * step, 0.0, 0.0]))
            run(cloth, 1)
        before = cloth.snapshot().packed()
        cloth.check()
        assert cloth.snapshot().packed() == before
        solver = reference.MeasuredLines(cloth.model, chosen)
        start = Particles(*(values.astype(np.float64) for values in (cloth.positions(), cloth.velocities())))
        actions = Actions(cloth.model.pinned(chosen), start.positions + STEP_TIME * start.velocities)
        load, expected = solver.measured(start, actions, time=12 * STEP_TIME)
        found = cloth.lines
        assert found is not None
        assert found.load == pytest.approx(load, rel=2e-3, abs=2e-6)
        assert found.error == pytest.approx(expected.max(), rel=0.02, abs=2e-6)
        assert found.usual_error == pytest.approx(np.quantile(expected, 0.99), rel=0.02, abs=2e-6)
        errors.append(found.error)
    assert 1e-5 < errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize(
    ("size", "substeps"), [(0.3, 14), *(slow(*values) for values in ((0.3, 20), (0.3, 28), (0.15, 24)))]
)
@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_a_small_sheet_bears_loads_that_come_within_a_step(
    context: Context, library: ShaderLibrary, size: float, substeps: int
) -> None:
    """The load that the step begins with says nothing: impulses along the former edges alone would tear the sheet."""
    settings = lines(columns=48, rows=48, width=size, height=size, density=0.12, shear_stiffness=40.0,
                     bend_stiffness=1e-5, air_drag=0.1, substeps=substeps)  # fmt: skip
    cloth = Cloth(context, library, settings)
    run(cloth, 30)
    assert cloth.check().strain < 0.1
    assert np.abs(cloth.velocities()).max() < 1.0


@pytest.mark.parametrize("apart", [0.5, 0.8])
@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_nearly_straight_lines_between_near_pins_do_not_fly_aside(
    context: Context, library: ShaderLibrary, apart: float
) -> None:
    """Such a line becomes longer only by moving aside, to first order some thousand times as far."""
    only_threads = {
        "stretch_stiffness": 1e6,
        "shear_stiffness": 0.0,
        "bend_stiffness": 0.0,
        "pins": PinPreset.ALL_CORNERS,
    }
    settings = lines(columns=2, rows=13, width=0.1, height=1.2, substeps=1, **(STILL | only_threads))
    cloth = Cloth(context, library, settings)
    places = cloth.model.positions * np.array([1.0, apart, 1.0])
    places[2:-2, 2] += np.where(np.arange(22) // 2 % 2, 1e-4, 0.0)
    cloth.start_from(places)
    run(cloth, 1)
    assert cloth.check().strain < 0.1
    assert np.abs(cloth.positions() - places).max() < 0.1


@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_a_hand_that_pulls_too_far_does_not_tear_a_stiff_fabric(context: Context, library: ShaderLibrary) -> None:
    settings = lines(columns=16, rows=16, pins=PinPreset.TOP, stretch_stiffness=1e5, substeps=8)
    cloth = Cloth(context, library, settings)
    corner, hand = 15 * 16, (5.0, 0.0, 3.0)
    before = cloth.positions()[corner]
    run(cloth, 20, ClothInputs(grabbed=corner, hand=hand))
    assert cloth.check().strain < 1.0
    moved = cloth.positions()[corner]
    assert np.linalg.norm(moved - hand) < np.linalg.norm(before - hand) - 0.2
    run(cloth, 20)
    assert cloth.check().strain < 0.05


@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_touches_do_not_drive_a_sheet_that_jitters(context: Context, library: ShaderLibrary) -> None:
    """A narrow sheet that hangs on many of its particles, with a load of several times what its substeps hold."""
    random = np.random.default_rng(5)
    settings = lines(
        columns=19, rows=17, width=0.16, height=0.0124, density=0.2, stretch_stiffness=5e4, shear_stiffness=5e3,
        bend_stiffness=0.0, air_drag=0.0, normal_drag=0.0, tangent_drag=0.05, wind=(12.0, 21.0, 10.0), substeps=4,
        pins=PinPreset.NONE, gravity=(-2.0, -8.0, 11.0), thickness=0.01, self_collision=True, stretch_limit=1000.0,
    )  # fmt: skip
    held, masses = random.random(323) < 0.2, random.choice([0.01, 1.0, 1.0, 1.0, 2.2], 323)
    topology = build_cloth(settings).topology(np.eye(4))
    maps = packed({ClothMap.PIN: held.astype(np.float64), ClothMap.MASS: masses}, topology)
    cloth = Cloth(context, library, msgspec.structs.replace(settings, maps=maps))
    cloth.measures_lines = True
    run(cloth, 30)
    cloth.check()
    assert cloth.lines is not None
    assert cloth.lines.load > 2.0
    assert np.abs(cloth.velocities()).max() < 30.0


@pytest.mark.parametrize("context", ["tf"], indirect=True)
def test_wind_moves_no_loose_particle_faster_than_itself(context: Context, library: ShaderLibrary) -> None:
    """Without stiffness along the threads faces grow, and their slow corners would drive the fast ones on."""
    settings = lines(
        source=ClothSource.MESH, pin_list="0 3-5", density=0.2, stretch_stiffness=0.0, shear_stiffness=3.0,
        bend_stiffness=0.0, wind=(-11.0, -55.0, 18.0), normal_drag=1.2, tangent_drag=1.2, air_drag=0.1, substeps=4,
        stretch_limit=1000.0,
    )  # fmt: skip
    cloth = Cloth(context, library, settings, uneven_surface())
    run(cloth, 30)
    assert cloth.stopped == ""
    assert np.linalg.norm(cloth.velocities(), axis=1).max() < 1.2 * np.linalg.norm(settings.wind)


FALLING = lines(
    columns=13, rows=13, width=2.0, height=2.0, placement=ClothPlacement.FLAT, pins=PinPreset.NONE, air_drag=1.0,
    shear_stiffness=200.0, internal_damping=1e-3,
)  # fmt: skip


@pytest.mark.slow
@COMPUTE_IN_CAMPAIGN
def test_a_sheet_of_lines_falls_on_colliders_as_the_reference(context: Context, library: ShaderLibrary) -> None:
    states, layout = arranged(colliders())
    cloth = Cloth(context, library, FALLING)
    inputs, buffer = collider_inputs(context, states, layout, FALLING)
    run(cloth, FALL, inputs)
    actions = Actions(cloth.model.pinned(FALLING), cloth.model.positions, states)
    found = reference.run(cloth.model, FALLING, FALL, actions).positions
    errors = np.linalg.norm(cloth.positions() - found, axis=1)
    assert found[:, 1].min() < -0.5
    assert np.median(errors) < 2e-3
    assert errors.max() < 4e-2
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


@ON_BOTH
@pytest.mark.parametrize("edges", [2, 8, 17, 64, 300, *map(slow, (7, 9, 15, 16, 63))])
@pytest.mark.parametrize("folded", [False, True])
def test_segments_solve_as_thomas(context: Context, library: ShaderLibrary, edges: int, folded: bool) -> None:
    """The columns of a strip, with held particles and masses 1 : 100; all heavy, so that no edge has a choice."""
    random = np.random.default_rng(edges)
    rows = edges + 1
    settings = lines(
        columns=2, rows=rows, width=0.05, height=0.05 * edges, shear_stiffness=0.0, bend_stiffness=0.0,
        internal_damping=0.0, **STILL, substeps=4,
    )  # fmt: skip
    cloth = Cloth(context, library, settings)
    solver = cloth._solver
    assert isinstance(solver, LineSolver)
    solver.constants(settings)
    weights = random.choice([0.0, 50.0, 5000.0], 2 * rows, p=[0.1, 0.6, 0.3])
    offsets = random.normal(scale=0.004, size=(2 * rows, 3))
    if folded:
        at = cloth.model.positions[:, 1] / 0.05
        offsets[:, 1] += 0.05 * (np.abs((at + 1000.0) % 6.0 - 3.0) - at)
    points = solver._points[0].buffer.read()
    points["point"][: 2 * rows] = np.column_stack([offsets, -weights])
    solver._points[0].buffer.write(points)
    passes = solver._between(cloth._state.texture)
    run_passes(passes)
    size = SEGMENTS[edges >= LONG - 1]
    padded = -(-rows // size) * size
    last = solver._last(passes).buffer.read()["point"][: 2 * padded, :3]
    found = last.reshape(2, padded, 3)[:, :rows].transpose(1, 0, 2).reshape(-1, 3)
    oracle = reference.LineOracle(cloth.model, settings)
    start = cloth.model.positions.astype(np.float32).astype(np.float64)
    places = start + points["point"][: 2 * rows, :3]
    for family in oracle.families:
        oracle._solve(family, places, start, weights, np.ones(2 * rows, np.bool_), adds_load=False)
    moved = np.abs(places - start - offsets).max()
    assert moved > 1e-4
    assert np.abs(found - (places - start)).max() < 2e-5 * max(1.0, moved / 0.05)


def test_the_steps_of_bending_leave_little_and_never_swing_back() -> None:
    for high in (1.0, 1.3, 2.0, 4.0, 7.0, 60.0, 120.0, 1e7):
        steps = chebyshev_steps(high)
        left = np.prod([1.0 - step * np.linspace(1.0, high, 500) for step in steps], axis=0)
        assert left.min() >= -1e-12
        assert left.max() < (1.001 * BEND_ERROR if high < 200.0 else 1.0)
