from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.characters.skinning import rest_records
from sinew.sim.colliders.pack import arranged
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.colliders.skin import SceneSkins, SkinPlacement
from sinew.sim.colliders.skin_mesh import skin_corners
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.maps import UNLIMITED_DISTANCE, ClothMap, packed, unpacked
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, ClothSource, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Effect
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN
from tests.gl.cloth.cloth_cases import STILL, collider_inputs, run, springs
from tests.gl.cloth.test_cloth_reference import uneven_surface
from tests.gl.colliders.test_skin import box
from tests.model_samples import mesh_of
from tests.oracles import cloth as reference
from tests.oracles import cloth_maps
from tests.oracles.cloth_maps import rate_of
from tests.oracles.skin_contact import SkinTriangles

Float64 = np.ndarray[Any, np.dtype[np.float64]]

SHEET = ClothSettings(columns=9, rows=8, width=0.8, height=0.7, pins=PinPreset.NONE, substeps=45, internal_damping=1e-3)
MESH = msgspec.structs.replace(SHEET, source=ClothSource.MESH, stretch_stiffness=80.0)
BASES = {
    "sheet": SHEET,
    "mesh": MESH,
    "sheet of lines": msgspec.structs.replace(SHEET, solver=ClothSolving.LINES, bend_stiffness=1e-3),
    "mesh of lines": msgspec.structs.replace(MESH, solver=ClothSolving.LINES, bend_stiffness=1e-4),
}
EACH_STEP = np.array([0.004, 0.001, 0.002])


def release(cloth: Cloth, inputs: ClothInputs, buffer: Buffer) -> None:
    cloth.release()
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


def surface(settings: ClothSettings) -> Any:
    return uneven_surface() if settings.source is ClothSource.MESH else None


def painted(settings: ClothSettings, **values: Any) -> ClothSettings:
    topology = build_cloth(settings, surface(settings)).topology(np.eye(4))
    maps = packed({ClothMap(name): np.asarray(numbers, float) for name, numbers in values.items()}, topology)
    return msgspec.structs.replace(settings, maps=maps)


def from_top(settings: ClothSettings) -> Float64:
    """Part of the height below the top, shape (P,)."""
    height = build_cloth(settings, surface(settings)).positions[:, 1]
    return (height.max() - height) / np.ptp(height)


def everything(settings: ClothSettings) -> ClothSettings:
    down = from_top(settings)
    random = np.random.default_rng(3)
    return painted(
        settings,
        pin=np.clip(1.0 - 3.0 * down, 0.0, 1.0),
        distance=np.where(down > 0.7, 0.02 + 0.1 * down, UNLIMITED_DISTANCE),
        stretch=random.uniform(0.5, 2.0, len(down)),
        bend=random.uniform(0.2, 3.0, len(down)),
        mass=random.uniform(0.5, 2.0, len(down)),
        friction=random.uniform(0.0, 2.0, len(down)),
    )


def walls() -> list[ColliderState]:
    place = compose(np.array([0.0, -0.2, 0.12]), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
    return [ColliderState(ColliderShape.ELLIPSOID, np.array([0.25, 0.3, 0.1]), place, place, 0.6, 0.0)]


@cache
def expected(name: str, steps: int) -> tuple[ClothSettings, reference.Particles]:
    settings = everything(BASES[name])
    model = build_cloth(settings, surface(settings))
    values = unpacked(settings.maps[0])
    return settings, cloth_maps.run(model, settings, values, steps, way=EACH_STEP, colliders=walls())


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    ("name", "steps"),
    [("mesh", 12), ("sheet of lines", 12), slow("sheet", 40), slow("mesh", 40), slow("mesh of lines", 12)],
)
def test_all_maps_together_are_as_in_the_reference(
    context: Context, library: ShaderLibrary, name: str, steps: int
) -> None:
    """Lines magnify rounding, because velocities come from positions."""
    settings, wanted = expected(name, steps)
    cloth = Cloth(context, library, settings, surface(settings))
    assert stability(cloth.model, settings).is_stable
    states, layout = arranged(walls())
    inputs, buffer = collider_inputs(context, states, layout, settings)
    place = np.eye(4)
    for _ in range(steps):
        place[:3, 3] += EACH_STEP
        cloth.set_transform(place, is_animated=True)
        run(cloth, 1, inputs)
    errors = np.linalg.norm(cloth.positions() - wanted.positions, axis=1) / cloth.model.extent
    assert np.median(errors) < (3e-4 if settings.has_lines else 1e-4), "the passes of bending leave a part of it"
    assert errors.max() < 1e-3
    energies = cloth.check()
    heavy = cloth_maps.weighed(cloth.model, cloth.values)
    found = reference.Particles(cloth.positions().astype(float), cloth.velocities().astype(float))
    right = reference.energies(heavy, constants_of(settings), found)
    assert (energies.kinetic, energies.elastic) == pytest.approx((right.kinetic, right.elastic), rel=1e-3)
    release(cloth, inputs, buffer)


@COMPUTE_IN_CAMPAIGN
def test_a_weight_of_one_is_a_pin_and_less_pulls(context: Context, library: ShaderLibrary) -> None:
    corners = np.zeros(72)
    corners[[0, 8]] = 1.0
    sheets = msgspec.structs.replace(SHEET, pins=PinPreset.CORNERS), painted(SHEET, pin=corners)
    results = []
    for settings in sheets:
        cloth = Cloth(context, library, settings)
        run(cloth, 30)
        results.append(cloth.positions().tobytes() + cloth.velocities().tobytes())
        cloth.release()
    assert results[0] == results[1]
    # Particles without springs: after a step each has gone its part of the way to its place.
    loose = springs(particle_mass=1.0, structural_stiffness=0.0, shear_stiffness_spring=0.0, bend_stiffness_spring=0.0)
    weights = np.float16(np.linspace(0.0, 1.0, 81)).astype(float)
    cloth = Cloth(context, library, painted(msgspec.structs.replace(loose, **STILL), pin=weights))
    way = np.array([0.0, 0.0, 0.3])
    cloth.write(cloth.model.positions + way, np.zeros((81, 3)))
    run(cloth, 1)
    left = (cloth.positions() - cloth.model.positions)[:, 2] / 0.3
    np.testing.assert_allclose(left, 1.0 - weights, atol=1e-5)
    cloth.release()


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    ("scale", "at", "substeps"),
    [(1.0, (0.0, 0.0, 0.0), 24), (0.25, (30.0, -2.0, 5.0), 7), slow(2.0, (-8.0, 1.0, 4.0), 96)],
)
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_a_body_helps_pins_that_pull_out_of_it(
    context: Context, library: ShaderLibrary, monkeypatch: pytest.MonkeyPatch, solver: ClothSolving, scale: float,
    at: tuple[float, float, float], substeps: int,
) -> None:  # fmt: skip
    """The sheet begins 17 to 23 thousandths deep in a box, and its places move out."""
    settings = painted(
        ClothSettings(
            solver=solver, columns=13, rows=5, width=0.6 * scale, height=0.2 * scale, placement=ClothPlacement.FLAT,
            pins=PinPreset.NONE, stretch_stiffness=20.0 * scale**2, shear_stiffness=5.0 * scale**2, bend_stiffness=0.0,
            internal_damping=1e-3, substeps=substeps, thickness=0.02 * scale,
        ),
        pin=np.linspace(0.5, 0.95, 65),
    )  # fmt: skip
    way, place = scale * np.array([0.0, 0.06, 0.001]), compose(np.array(at), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
    cloth = Cloth(context, library, settings, None, place)
    tilt = quaternion.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.01)
    body = box((0.5, 0.1, 0.3), 1)
    corners = skin_corners(body, ())
    down = np.array([0.0, -0.08, 0.0])
    places = scale * (quaternion.rotate(tilt, body.positions.astype(np.float64)) + down) + at
    vertices = Buffer(context, rest_records(mesh_of(places, body.triangles)), usage="copy")
    skins = SceneSkins(context, library)
    now = skins.advance({"s": SkinPlacement(corners, vertices, np.eye(4), friction=0.4, restitution=0.0)})
    triangles = np.float32(places).astype(np.float64)[corners[:, :3]]
    skin = SkinTriangles(triangles, triangles, corners[:, 3], 0.4, 0.0)
    wanted = cloth_maps.run(cloth.model, settings, cloth.values, 1, way=way, skin=skin)
    moved = place.copy()
    moved[:3, 3] += way
    cloth.set_transform(moved, is_animated=True)
    assert cloth.step(ClothInputs(Colliders(skin=now)))
    errors = np.linalg.norm(cloth.positions() - wanted.positions, axis=1)
    assert errors.max() < 2e-5 * max(scale, 1.0)
    monkeypatch.setattr("sinew.sim.kinds.cloth.oracle.HELP", 0.0)
    without = cloth_maps.run(cloth.model, settings, cloth.values, 1, way=way, skin=skin)
    assert (wanted.positions - without.positions)[:, 1].max() > 1e-4 * scale
    for owned in (cloth, skins, vertices):
        owned.release()


@pytest.mark.parametrize("substeps", [24, slow(96)])
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_pins_that_pull_carry_the_weight_as_springs_and_stretch_no_thread(
    context: Context, library: ShaderLibrary, solver: ClothSolving, substeps: int
) -> None:
    stiffness = 1e4 if solver is ClothSolving.LINES else 20.0
    settings = ClothSettings(
        solver=solver, columns=6, rows=9, width=0.25, height=0.4, pins=PinPreset.TOP,
        pin_strength=0.9, stretch_stiffness=stiffness, shear_stiffness=5.0, bend_stiffness=0.0,
        internal_damping=1e-3, air_drag=4.0, substeps=substeps,
    )  # fmt: skip
    cloth = Cloth(context, library, settings)
    place = compose(np.array([30.0, -2.0, 50.0]), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
    cloth.set_transform(place)
    run(cloth, 240)
    assert np.isfinite(cloth.check().kinetic), cloth.stopped
    assert cloth.stopped == ""
    places, masses = cloth.positions().astype(float), cloth.model.shares * constants_of(settings).mass_scale
    sunk = (cloth.rest() - places)[:6, 1]
    rate = rate_of(0.9, substeps) / settings.substep_time
    assert (sunk > 0.7e-3).all()
    assert (sunk < 4e-3).all()
    assert np.sum(masses[:6] * rate**2 * sunk) == pytest.approx(masses.sum() * 9.81, rel=0.01)
    threads = cloth.model.springs.of_kind(SpringKind.STRUCTURAL)
    strain = np.linalg.norm(np.diff(places[threads.pairs], axis=1)[:, 0], axis=1) / threads.rest - 1.0
    assert strain.max() < 2.0 * masses.sum() * 9.81 / (stiffness * settings.width) + 2e-4
    cloth.release()


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("name", ["sheet", slow("mesh"), slow("sheet of lines"), "mesh of lines"])
def test_the_strength_of_pins_is_a_map_of_pins(context: Context, library: ShaderLibrary, name: str) -> None:
    base = msgspec.structs.replace(BASES[name], pins=PinPreset.NONE, pin_list="0-3 20")
    held, results = np.zeros(SHEET.columns * SHEET.rows), []
    held[[0, 1, 2, 3, 20]] = 0.75
    weak = msgspec.structs.replace(base, pin_strength=0.75)
    mapped = painted(msgspec.structs.replace(base, pin_list=""), pin=held)
    for settings in (weak, mapped):
        cloth = Cloth(context, library, settings, surface(settings))
        place = np.eye(4)
        for _ in range(10):
            place[:3, 3] += EACH_STEP
            cloth.set_transform(place, is_animated=True)
            run(cloth, 1)
        results.append(cloth.positions().tobytes() + cloth.velocities().tobytes())
        assert not cloth.held.any()
        cloth.apply(msgspec.structs.replace(weak, pin_strength=1.0, maps=()))
        assert np.flatnonzero(cloth.held).tolist() == [0, 1, 2, 3, 20]
        run(cloth, 1)
        cloth.release()
    assert results[0] == results[1]


@COMPUTE_IN_CAMPAIGN
def test_the_largest_distance_is_never_exceeded(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(5)
    limits = np.float16(random.choice([0.0, 0.003, 0.05, 0.2], 72)).astype(float)
    stormy = msgspec.structs.replace(SHEET, wind=(0.0, 2.0, 9.0), turbulence=3.0, thickness=0.05)
    cloth = Cloth(context, library, painted(stormy, distance=limits))
    states, layout = arranged(walls())
    inputs, buffer = collider_inputs(context, states, layout, stormy)
    place, reached = np.eye(4), 0.0
    for step in range(40):
        place[:3, 3] = np.sin(0.3 * step), 0.2 * np.cos(0.4 * step), 0.1 * step
        cloth.set_transform(place, is_animated=True)
        run(cloth, 1, inputs)
        places = cloth.pins.targets.read()["pin"][:72, :3].astype(float)
        np.testing.assert_allclose(places, cloth.rest(), atol=3e-6)
        apart = np.linalg.norm(cloth.positions() - places, axis=1)
        assert (apart <= limits + 3e-7 * np.abs(places).max()).all()
        reached = max(reached, float((apart / np.maximum(limits, 1e-9)).max()))
    assert reached > 0.99, "nothing came to the limit"
    release(cloth, inputs, buffer)


def test_a_distance_that_is_painted_far_away_pulls_particles_back_without_a_stop(
    context: Context, library: ShaderLibrary
) -> None:
    cloth = Cloth(context, library, SHEET)  # no pins: it falls
    run(cloth, 40)
    assert np.linalg.norm(cloth.positions() - cloth.rest(), axis=1).min() > 1.0
    lower = from_top(SHEET) > 0.5
    cloth.apply(painted(SHEET, distance=np.where(lower, 0.01, UNLIMITED_DISTANCE)))
    apart = [np.linalg.norm(cloth.positions() - cloth.rest(), axis=1)]
    for _ in range(60):
        run(cloth, 1)
        cloth.check()
        assert cloth.stopped == ""
        apart.append(np.linalg.norm(cloth.positions() - cloth.rest(), axis=1))
    for one, other in pairwise(apart):
        expected = np.maximum(one - 4.0 / 60.0, 0.01)
        assert (other[lower] <= expected[lower] + 1e-4).all()
    assert apart[-1][lower].max() <= 0.01 + 1e-5
    assert apart[-1].max() < 1.0, "the others hang on them"
    cloth.release()


@COMPUTE_IN_CAMPAIGN
def test_friction_on_a_slope(context: Context, library: ShaderLibrary) -> None:
    slope, friction = 0.5, 0.8
    turn = np.array([0.0, 0.0, np.sin(slope / 2.0), np.cos(slope / 2.0)])
    plane = compose(np.array([0.0, -0.005, 0.0]), turn, np.ones(3))
    states = [ColliderState(ColliderShape.PLANE, np.zeros(3), plane, plane, friction, 0.0)]
    loose = springs(structural_stiffness=0.0, shear_stiffness_spring=0.0, bend_stiffness_spring=0.0, thickness=0.01)
    flat = msgspec.structs.replace(loose, **(STILL | {"gravity": (0.0, -9.81, 0.0)}), placement=ClothPlacement.FLAT)
    factors = np.linspace(0.0, 1.0, 81)
    cloth = Cloth(context, library, painted(flat, friction=factors))
    cloth.set_transform(compose(np.zeros(3), turn, np.ones(3)))
    inputs, buffer = collider_inputs(context, *arranged(states), flat)
    run(cloth, 30, inputs)
    factors = np.float16(factors).astype(float)
    down = np.array([-np.cos(slope), -np.sin(slope), 0.0])
    wanted = 9.81 * np.maximum(np.sin(slope) - friction * factors * np.cos(slope), 0.0) * 0.5
    np.testing.assert_allclose(cloth.velocities() @ down, wanted, atol=0.01 * wanted.max())
    assert (wanted == 0.0).any()
    release(cloth, inputs, buffer)


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("is_mesh", [False, True])
def test_a_free_cloth_keeps_its_momentum(context: Context, library: ShaderLibrary, is_mesh: bool) -> None:
    random = np.random.default_rng(7)
    still = msgspec.structs.replace(MESH if is_mesh else SHEET, **STILL, self_collision=True, substeps=90)
    mass, stretch, bend = random.uniform(0.3, 3.0, (3, 72))
    cloth = Cloth(context, library, painted(still, mass=mass, stretch=stretch, bend=bend), surface(still))
    masses = cloth.model.shares * np.float16(mass) * still.density
    cloth.write(cloth.model.positions, random.normal(scale=0.3, size=(72, 3)))
    before = masses @ cloth.velocities().astype(float)
    run(cloth, 60)
    after = masses @ cloth.velocities().astype(float)
    np.testing.assert_allclose(after, before, atol=2e-5 * masses.sum())
    assert np.abs(cloth.velocities()).max() > 0.05
    cloth.release()


@pytest.mark.parametrize("name", ["sheet", slow("mesh of lines")])
def test_maps_change_in_mid_flight_and_back_and_states_are_exact(
    context: Context, library: ShaderLibrary, name: str
) -> None:
    base = msgspec.structs.replace(BASES[name], pin_list="" if name == "sheet" else "0 3-5")
    bare, full = msgspec.structs.replace(base, pins=PinPreset.TOP), everything(base)
    cloth = Cloth(context, library, bare, surface(bare))
    run(cloth, 10)
    middle = cloth.snapshot().packed()
    run(cloth, 20)
    undisturbed = cloth.snapshot().packed()
    cloth.restore(middle)
    assert cloth.apply(msgspec.structs.replace(full, pins=PinPreset.TOP)) is Effect.STEP
    apart = np.linalg.norm(cloth.positions() - cloth.rest(), axis=1)
    run(cloth, 5)
    mapped = cloth.snapshot().packed()
    run(cloth, 20)
    further = cloth.snapshot().packed()
    assert (np.linalg.norm(cloth.positions() - cloth.rest(), axis=1) <= cloth.values[ClothMap.DISTANCE] + 1e-6).all()
    assert apart.max() > 0.0
    cloth.restore(mapped)
    run(cloth, 20)
    assert cloth.snapshot().packed() == further
    cloth.apply(bare)
    cloth.restore(further)
    energies = cloth.check()
    right = reference.Particles(cloth.positions().astype(float), cloth.velocities().astype(float))
    elastic = reference.energies(cloth.model, constants_of(bare), right).elastic
    assert energies.elastic == pytest.approx(elastic, rel=1e-3), "no map is left"
    cloth.restore(middle)
    run(cloth, 20)
    assert cloth.snapshot().packed() == undisturbed
    cloth.reset()
    run(cloth, 10)
    assert cloth.snapshot().packed() == middle
    cloth.release()


@pytest.mark.parametrize("steps", [5, slow(20)])
def test_both_back_ends_give_the_same_bits(context: Context, library: ShaderLibrary, steps: int) -> None:
    if not context.back_ends.has_compute:
        pytest.skip("no compute here")
    results = []
    for back_end in (BackEndChoice.TF, BackEndChoice.COMPUTE):
        context.back_ends.choice = back_end
        for base in BASES.values():
            settings = everything(base)
            cloth = Cloth(context, library, settings, surface(settings))
            inputs, buffer = collider_inputs(context, *arranged(walls()), settings)
            run(cloth, steps, inputs)
            results.append(cloth.snapshot().packed())
            release(cloth, inputs, buffer)
    assert results[: len(BASES)] == results[len(BASES) :]
