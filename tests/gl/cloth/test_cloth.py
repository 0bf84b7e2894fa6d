import msgspec
import numpy as np
import pytest

from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.cloth.buffers import LINE_VERTEX
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.kind import with_preset
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Effect, SettingsError
from sinew.sim.skin.attachment import attach
from tests.gl.back_ends import ON_BOTH
from tests.gl.cloth.cloth_cases import STILL, run, springs
from tests.oracles.attachment import attached_points

SMALL = ClothSettings(columns=8, rows=7, substeps=12)


def changed(settings: ClothSettings, **changes: object) -> ClothSettings:
    return msgspec.structs.replace(settings, **changes)


def test_pinned_particles_do_not_move(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, wind=(5.0, 0.0, 3.0), turbulence=4.0))
    before = cloth.positions()
    run(cloth, 60)
    np.testing.assert_array_equal(cloth.positions()[[0, 7]], before[[0, 7]])
    np.testing.assert_array_equal(cloth.velocities()[[0, 7]], 0.0)
    assert np.abs(cloth.positions() - before).max() > 0.1


def test_steps_create_no_objects(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, turbulence=1.0))
    run(cloth, 3)
    cloth.refresh()
    cloth.poll(0.0)
    live = [name for name in context.live if not name.startswith("Sync:")]
    for index in range(60):
        run(cloth, 1)
        cloth.refresh()
        cloth.poll(index * 0.1)
    assert [name for name in context.live if not name.startswith("Sync:")] == live


def test_a_particle_pinned_during_the_simulation_stays_where_it_is(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 20)
    here = cloth.positions()
    assert cloth.apply(changed(SMALL, pin_list="55")) is Effect.STEP
    assert cloth.step_count == 20
    run(cloth, 30)
    np.testing.assert_array_equal(cloth.positions()[[0, 7, 55]], here[[0, 7, 55]])
    assert np.abs(cloth.positions() - here).max() > 1e-3
    assert cloth.apply(changed(SMALL, pin_list="55 -0 -7")) is Effect.STEP
    run(cloth, 30)
    np.testing.assert_array_equal(cloth.positions()[55], here[55])
    assert np.linalg.norm(cloth.positions()[0] - here[0]) > 0.1
    cloth.reset()
    np.testing.assert_array_equal(cloth.positions(), cloth.model.positions.astype(np.float32))


def test_pins_move_with_the_node(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 5)
    moved = compose(np.array([0.02, 0.1, 0.0]), np.array([0.0, 0.0, np.sin(0.05), np.cos(0.05)]), np.ones(3))
    cloth.set_transform(moved)
    run(cloth, 1)
    expected = cloth.model.positions[[0, 7]] @ moved[:3, :3].T + moved[:3, 3]
    np.testing.assert_allclose(cloth.positions()[[0, 7]], expected, rtol=0, atol=1e-6)
    cloth.reset()
    everything = build_cloth(SMALL).positions @ moved[:3, :3].T + moved[:3, 3]
    np.testing.assert_allclose(cloth.positions(), everything, rtol=0, atol=1e-6)


def test_pins_follow_a_surface_on_the_gpu(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(4)
    triangles = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4]], np.uint32)
    world_from_model = compose(np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.6, 0.0, 0.8]), np.full(3, 2.0))
    model_points = random.normal(scale=0.3, size=(5, 3))

    def world(points: np.ndarray) -> np.ndarray:
        return points @ world_from_model[:3, :3].T + world_from_model[:3, 3]

    cloth = Cloth(context, library, SMALL)
    held = np.flatnonzero(cloth.pins.flags).astype(np.int32)
    attachment = attach(held, cloth.model.positions[held], world(model_points), triangles)
    np.testing.assert_allclose(
        attached_points(attachment, world(model_points)), cloth.model.positions[held], atol=1e-12
    )
    cloth.pins.attach(attachment)
    moved = (model_points + random.normal(scale=0.01, size=(5, 3))).astype(np.float32)
    records = SKINNED.zeros(5)
    records["position"][:, :3] = moved
    buffer = Buffer(context, records, label="surface")
    texture = BufferTexture(context, buffer, "rgba32f")
    cloth.pins.follow(texture, 2, world_from_model)
    run(cloth, 1)
    expected = attached_points(attachment, world(moved))
    np.testing.assert_allclose(cloth.positions()[held], expected, rtol=0, atol=3e-6)
    texture.release()
    buffer.release()


def settled(context: Context, library: ShaderLibrary, settings: ClothSettings) -> Cloth:
    cloth = Cloth(context, library, settings)
    substeps = stability(cloth.model, settings).substeps
    cloth.apply(msgspec.structs.replace(settings, substeps=substeps))
    for _ in range(40):
        cloth.step()
    return cloth


def drag(cloth: Cloth, particle: int, hand: np.ndarray, steps: int = 40) -> np.ndarray:
    x, y, z = (float(value) for value in hand)
    for _ in range(steps):
        cloth.step(ClothInputs(grabbed=particle, hand=(x, y, z)))
    return cloth.positions()[particle]


@pytest.mark.parametrize("name", ["Silk (springs)", "Rubber (springs)"])
def test_dragging_beyond_reach_does_not_tear_a_fabric(context: Context, library: ShaderLibrary, name: str) -> None:
    settings = with_preset(msgspec.structs.replace(ClothSettings(), columns=20, rows=20), name)
    cloth = settled(context, library, settings)
    particle = cloth.model.particle_count - 1
    start = cloth.positions()[particle].astype(np.float64)
    for way in ((4.0, 0.0, 0.0), (-4.0, 2.0, 3.0), (0.0, -5.0, 0.0)):
        reached = drag(cloth, particle, start + way)
        assert np.linalg.norm(reached - start - way) > 0.5  # out of reach for every fabric
        strain = cloth.check().strain
        assert strain < cloth.settings.stretch_limit - 1.0
        assert cloth.stopped == ""


def test_a_dragged_particle_within_reach_is_at_the_mouse(context: Context, library: ShaderLibrary) -> None:
    cloth = settled(context, library, ClothSettings(columns=20, rows=20))
    particle = cloth.model.particle_count - 1
    hand = cloth.positions()[particle] + np.array([0.2, 0.1, 0.4])
    np.testing.assert_allclose(drag(cloth, particle, hand), hand, rtol=0, atol=1e-6)
    chosen = np.array([399, 0, 57])
    np.testing.assert_array_equal(cloth.positions_of(chosen), cloth.positions()[chosen])
    assert cloth.positions_of(np.zeros(0, np.intp)).shape == (0, 3)


def test_changed_settings_have_their_declared_effect(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 10)
    assert cloth.apply(SMALL) is Effect.VIEW
    assert cloth.apply(changed(SMALL, stretch_stiffness=200.0, density=0.3)) is Effect.STEP
    assert cloth.step_count == 10
    assert cloth.apply(changed(SMALL, rows=9)) is Effect.REBUILD
    assert (cloth.step_count, cloth.model.particle_count) == (0, 72)


def test_refused_settings_leave_the_cloth_as_it_was(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 5)
    for bad in (changed(SMALL, source=ClothSource.MESH), changed(SMALL, pin_list="3 x")):
        with pytest.raises(SettingsError):
            cloth.apply(bad)
        assert cloth.settings == SMALL
    run(cloth, 5)
    assert cloth.step_count == 10


def test_release_deletes_everything_and_may_be_repeated(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 2)
    cloth.refresh()
    cloth.spring_lines()
    cloth.poll(1.0)
    cloth.release()
    cloth.release()
    library.release()
    assert context.live == []


UNSTABLE = changed(SMALL, columns=24, rows=24, substeps=1)


def test_an_unstable_cloth_stops_in_its_last_finite_state(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, UNSTABLE)
    stopped_now = False
    for index in range(40):
        cloth.step()
        cloth.refresh()
        drawn = cloth.sheet.vertices.read()["position"][:, :3]
        assert np.isfinite(drawn).all()
        assert np.abs(drawn).max() < 50.0
        stopped_now = stopped_now or cloth.poll(float(index))
    assert stopped_now
    assert "substeps or a softer fabric keep it stable" in cloth.stopped
    stopped = cloth.step_count
    assert not cloth.step()
    assert cloth.step_count == stopped
    good = cloth.positions()
    lengths = np.linalg.norm(np.diff(good.reshape(24, 24, 3), axis=1), axis=2)
    assert lengths.max() < UNSTABLE.stretch_limit * 1.5 / 23
    cloth.apply(changed(UNSTABLE, substeps=30))
    cloth.resume()
    np.testing.assert_array_equal(cloth.positions(), good)
    cloth.reset()
    run(cloth, 30)
    assert cloth.check().strain < 1.0
    assert cloth.stopped == ""


def test_positions_that_are_not_finite_or_far_away_stop_the_cloth(context: Context, library: ShaderLibrary) -> None:
    for bad in (np.nan, np.inf, 1e9):
        cloth = Cloth(context, library, SMALL)
        run(cloth, 3)
        good = cloth.positions()
        records = cloth._state.newest.read()
        records["position"][20, 1] = bad
        cloth._state.write(records)
        cloth.step()
        assert not cloth.check().is_finite
        assert "left the world" in cloth.stopped
        np.testing.assert_array_equal(cloth.positions(), good)
        assert cloth.step_count == 3


def test_vertices_have_positions_and_smooth_normals(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, wind=(0.0, 0.0, 4.0)))
    cloth.refresh()
    np.testing.assert_allclose(cloth.sheet.vertices.read()["normal"], np.tile([0.0, 0.0, 1.0, 0.0], (56, 1)), atol=1e-6)
    run(cloth, 30)
    assert cloth.refresh()
    assert not cloth.refresh(), "nothing has moved since"
    records = cloth.sheet.vertices.read()
    np.testing.assert_array_equal(records["position"][:, :3], cloth.positions())
    expected = vertex_normals(cloth.positions(), cloth.model.faces)
    assert np.abs(expected[:, 0]).max() > 0.01 or np.abs(expected[:, 1]).max() > 0.01
    inner = np.arange(56).reshape(7, 8)[1:-1, 1:-1].ravel()
    np.testing.assert_allclose(np.linalg.norm(records["normal"], axis=1), 1.0, atol=1e-5)
    assert (np.sum(records["normal"][inner, :3] * expected[inner], axis=1) > 0.99).all()
    assert cloth.sheet.triangles.read(np.uint32).reshape(-1, 3).tolist() == cloth.model.surface.triangles.tolist()
    assert cloth.sheet.texcoords.count == 56


def split_tetrahedron() -> ClothSurface:
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    positions = corners[faces].reshape(-1, 3)
    return ClothSurface(positions, np.zeros((12, 2), np.float32), np.arange(12, dtype=np.uint32).reshape(-1, 3))


def test_vertices_along_seams_share_a_particle(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(source=ClothSource.MESH, pin_list="0", substeps=20)
    cloth = Cloth(context, library, settings, split_tetrahedron())
    assert cloth.model.particle_count == 4
    run(cloth, 60)
    cloth.refresh()
    drawn = cloth.sheet.vertices.read()
    np.testing.assert_array_equal(drawn["position"][:, :3], cloth.positions()[cloth.model.particle_of_vertex])
    cloth.reset()
    cloth.refresh()
    normals = cloth.sheet.vertices.read()["normal"][:, :3]
    expected = vertex_normals(cloth.positions(), cloth.model.faces)[cloth.model.particle_of_vertex]
    np.testing.assert_allclose(normals, expected, atol=1e-5)


def test_spring_lines_have_positions_and_strain(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 20)
    lines = cloth.spring_lines().read(LINE_VERTEX).reshape(-1, 2)
    pairs = cloth.model.springs.pairs
    ends = cloth.positions()[pairs]
    np.testing.assert_array_equal(lines["position"], ends)
    strain = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) / cloth.model.springs.rest - 1.0
    np.testing.assert_allclose(lines["strain"], np.stack([strain, strain], axis=1), atol=1e-5)
    measures = cloth.measures.read()[: cloth.model.particle_count]
    assert measures["strain"].max() == pytest.approx(strain[cloth.model.springs.kinds == 0].max(), abs=1e-5)


def test_statistics_arrive_without_waiting(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    assert not cloth.poll(0.0)
    assert cloth.statistics is None
    run(cloth, 6)
    cloth.poll(1.0)
    context.finish()
    cloth.poll(1.01)
    assert cloth.statistics is not None
    assert cloth.statistics.time == pytest.approx(0.1)
    found = cloth.statistics
    cloth.check()
    assert found == cloth.statistics


def random_start(cloth: Cloth, speed: float, seed: int = 3) -> None:
    random = np.random.default_rng(seed)
    cloth.write(cloth.model.positions, random.normal(scale=speed, size=cloth.model.positions.shape))


def test_cloth_at_rest_stays_at_rest(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, springs(**STILL))
    before = cloth.positions()
    run(cloth, 50)
    np.testing.assert_array_equal(cloth.positions(), before)
    np.testing.assert_array_equal(cloth.velocities(), 0.0)
    for placement in ClothPlacement:
        settings = ClothSettings(columns=20, rows=13, width=1.37, height=0.9, placement=placement, **STILL)
        cloth = Cloth(context, library, settings)
        before = cloth.positions()
        run(cloth, 50)
        np.testing.assert_allclose(cloth.positions(), before, rtol=0, atol=2e-6)


def test_gravity_acts_in_very_short_substeps(context: Context, library: ShaderLibrary) -> None:
    settings = springs(**(STILL | {"gravity": (0.0, -9.81, 0.0)}), columns=3, rows=3, substeps=4096)
    cloth = Cloth(context, library, settings)
    run(cloth, 6)
    count, h = 6 * 4096, settings.substep_time
    fallen = -9.81 * h * h * count * (count + 1) / 2.0
    np.testing.assert_allclose(cloth.positions()[:, 1] - cloth.model.positions[:, 1], fallen, rtol=2e-2)
    np.testing.assert_allclose(cloth.velocities()[:, 1], -9.81 * h * count, rtol=1e-3)


@pytest.mark.parametrize("columns", [12, 13])
def test_a_mirrored_sheet_has_mirrored_bits(context: Context, library: ShaderLibrary, columns: int) -> None:
    settings = ClothSettings(columns=columns, rows=11, width=1.3, wind=(0.0, 0.4, 3.0), substeps=20)
    cloth = Cloth(context, library, settings)
    run(cloth, 40)
    place = cloth.positions().reshape(11, columns, 3)
    mirrored = place[:, ::-1] * np.array([-1.0, 1.0, 1.0], np.float32)
    assert np.ptp(place[..., 2]) > 0.02
    # Compilers of cards contract one of two mirrored products with a sum.
    np.testing.assert_allclose(place, mirrored, rtol=0, atol=0.0 if context.capabilities.is_software else 1e-3)


@ON_BOTH
def test_the_same_bits_twice_and_after_a_reset(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(columns=14, rows=14, wind=(3.0, 0.0, 2.0), turbulence=3.0, substeps=20)
    results = []
    for _ in range(2):
        cloth = Cloth(context, library, settings)
        run(cloth, 30)
        results.append((cloth.positions(), cloth.velocities()))
        cloth.reset()
        run(cloth, 30)
        results.append((cloth.positions(), cloth.velocities()))
    for place, velocity in results[1:]:
        np.testing.assert_array_equal(place, results[0][0])
        np.testing.assert_array_equal(velocity, results[0][1])


@pytest.mark.parametrize(("part", "stable"), [(0.98, True), (1.02, False)])
def test_the_stability_limit_is_where_the_cloth_becomes_unstable(context, library, part, stable):
    settings = springs(**STILL, columns=12, rows=12, substeps=10, structural_damping=0.02, shear_damping=0.02)
    settings = at_ratio(settings, part)
    cloth = Cloth(context, library, settings)
    random_start(cloth, 1e-5)
    strain = 0.0
    for _ in range(10):
        for _ in range(10):
            cloth.step()
        strain = max(strain, cloth.check().strain)
    assert (strain < 1e-3) is stable
    assert (strain > 0.05) is not stable


def at_ratio(settings: ClothSettings, ratio: float) -> ClothSettings:
    """Settings whose masses are such that the substep is `ratio` times the largest stable one."""
    model = build_cloth(settings)
    low, high = 1e-6, 1e3
    for _ in range(30):
        middle = float(np.sqrt(low * high))
        tried = msgspec.structs.replace(settings, particle_mass=middle)
        low, high = (middle, high) if stability(model, tried).ratio > ratio else (low, middle)
    return msgspec.structs.replace(settings, particle_mass=float(np.sqrt(low * high)))


def test_springs_of_zero_length_stay_finite(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, springs(columns=5, rows=5, **(STILL | {"normal_drag": 1.0})))
    cloth.write(np.zeros((25, 3)), np.zeros((25, 3)))
    run(cloth, 20)
    assert np.isfinite(cloth.positions()).all()
    place = cloth.model.positions.copy()
    place[0] = place[1]
    cloth.write(place, np.zeros((25, 3)))
    run(cloth, 20)
    assert np.isfinite(cloth.positions()).all()
    assert cloth.check().is_finite
