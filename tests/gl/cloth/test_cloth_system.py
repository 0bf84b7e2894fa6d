"""A cloth as an object of the scene: pins, the hand, changes on the fly, the guard, and what is drawn."""

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
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Effect, SettingsError
from sinew.sim.skin.attachment import attach
from tests.gl.cloth.cloth_cases import STILL, run, springs
from tests.oracles.attachment import attached_points

SMALL = ClothSettings(columns=8, rows=7, substeps=12)


def changed(settings: ClothSettings, **changes: object) -> ClothSettings:
    return msgspec.structs.replace(settings, **changes)


# --- pins ---------------------------------------------------------------------------------------------


def test_pinned_particles_do_not_move_at_all(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, wind=(5.0, 0.0, 3.0), turbulence=4.0))
    before = cloth.positions()
    run(cloth, 200)
    np.testing.assert_array_equal(cloth.positions()[[0, 7]], before[[0, 7]])
    np.testing.assert_array_equal(cloth.velocities()[[0, 7]], 0.0)
    assert np.abs(cloth.positions() - before).max() > 0.1


@pytest.mark.slow
def test_a_hundred_thousand_steps_leave_pins_and_objects_as_they_were(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(columns=6, rows=6, substeps=4, stretch_stiffness=20.0, wind=(1.0, 0.0, 2.0))
    cloth = Cloth(context, library, settings)
    run(cloth, 10)
    cloth.refresh()
    before, live = cloth.positions(), list(context.live)
    for index in range(100_000):
        cloth.step()
        if index % 1000 == 0:
            cloth.refresh()
            cloth.poll(index / 60.0)
    np.testing.assert_array_equal(cloth.positions()[[0, 5]], before[[0, 5]])
    assert cloth.stopped == ""
    assert [name for name in context.live if not name.startswith("Sync:")] == live


def test_many_steps_make_no_objects(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, turbulence=1.0))
    run(cloth, 3)
    cloth.refresh()
    cloth.poll(0.0)
    live = list(context.live)
    for index in range(300):
        run(cloth, 1)
        cloth.refresh()
        cloth.poll(index * 0.1)
    assert context.live == live


def test_a_particle_pinned_in_flight_stays_where_it_is(context: Context, library: ShaderLibrary) -> None:
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


def test_a_free_particle_keeps_its_mass_after_it_was_pinned(context: Context, library: ShaderLibrary) -> None:
    settings = springs(**(STILL | {"gravity": (0.0, -1.0, 0.0)}), pin_list="0-80")
    cloth = Cloth(context, library, settings)
    run(cloth, 10)
    cloth.apply(changed(settings, pin_list=""))
    run(cloth, 30)
    np.testing.assert_allclose(cloth.velocities()[:, 1], -30 * settings.step_time, rtol=1e-4)


def test_targets_are_reached_with_the_step_and_the_speed_is_that_of_the_way(
    context: Context, library: ShaderLibrary
) -> None:
    cloth = Cloth(context, library, SMALL)
    targets = cloth.model.positions + np.array([0.01, 0.02, 0.03])
    cloth.pins.set_targets(targets)
    run(cloth, 1)
    np.testing.assert_allclose(cloth.positions()[[0, 7]], targets[[0, 7]], rtol=0, atol=1e-6)
    np.testing.assert_allclose(cloth.velocities()[0], np.array([0.01, 0.02, 0.03]) * 60.0, rtol=1e-3)


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


def test_before_the_first_step_the_whole_cloth_moves_with_the_node(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    moved = np.eye(4)
    moved[:3, 3] = 1.0, 2.0, 3.0
    cloth.set_transform(moved)
    np.testing.assert_allclose(cloth.positions(), build_cloth(SMALL).positions + np.array([1.0, 2.0, 3.0]), atol=1e-6)


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


# --- the hand -----------------------------------------------------------------------------------------


def test_a_dragged_particle_follows_the_hand_and_falls_when_let_go(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    hand = tuple(cloth.model.positions[30] + [0.0, 0.1, 0.3])
    run(cloth, 30, ClothInputs(grabbed=30, hand=hand))
    np.testing.assert_allclose(cloth.positions()[30], hand, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(cloth.velocities()[30], 0.0)
    run(cloth, 10)
    assert cloth.positions()[30, 1] < hand[1] - 0.01


def test_a_hand_that_jumps_far_does_not_tear_the_cloth(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, changed(SMALL, substeps=20, stretch_limit=4.0))
    for hand in ((1.0, -0.5, 0.8), (-1.0, -0.3, -0.8), (0.5, 0.2, 0.5)):
        run(cloth, 10, ClothInputs(grabbed=30, hand=hand))
        assert cloth.check().is_finite
    assert cloth.stopped == ""


# --- changes on the fly -------------------------------------------------------------------------------


def test_each_change_costs_what_it_declares(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 10)
    assert cloth.apply(SMALL) is Effect.VIEW
    assert cloth.apply(changed(SMALL, stretch_stiffness=200.0, density=0.3)) is Effect.STEP
    assert cloth.step_count == 10
    assert cloth.apply(changed(SMALL, rows=9)) is Effect.REBUILD
    assert (cloth.step_count, cloth.model.particle_count) == (0, 72)


def test_a_heavier_fabric_hangs_lower_without_a_new_start(context: Context, library: ShaderLibrary) -> None:
    settings = changed(SMALL, pins=PinPreset.TOP, air_drag=5.0, internal_damping=1e-3, stretch_stiffness=100.0)
    cloth = Cloth(context, library, settings)
    run(cloth, 120)
    light = 1.5 + cloth.positions()[:, 1].min()
    cloth.apply(changed(settings, density=0.4))
    run(cloth, 120)
    heavy = 1.5 + cloth.positions()[:, 1].min()
    assert heavy / light == pytest.approx(2.0, rel=0.02)


def test_refused_settings_leave_the_cloth_as_it_was(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 5)
    for bad in (changed(SMALL, source=ClothSource.MESH), changed(SMALL, pin_list="3 x")):
        with pytest.raises(SettingsError):
            cloth.apply(bad)
        assert cloth.settings == SMALL
    run(cloth, 5)
    assert cloth.step_count == 10


def test_release_leaves_nothing_and_may_be_repeated(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 2)
    cloth.refresh()
    cloth.spring_lines()
    cloth.poll(1.0)
    cloth.release()
    cloth.release()
    library.release()
    assert context.live == []


def test_cloths_that_share_their_programs_keep_their_own_fabric(context: Context, library: ShaderLibrary) -> None:
    both = [changed(SMALL, pins=PinPreset.TOP), changed(SMALL, columns=6, pins=PinPreset.TOP, density=0.9, width=0.8)]
    alone = []
    for settings in both:
        cloth = Cloth(context, library, settings)
        run(cloth, 20)
        alone.append((cloth.positions(), cloth.check()))
    together = [Cloth(context, library, settings) for settings in both]
    for _ in range(20):
        for cloth in together:
            run(cloth, 1)
    for cloth, (place, statistics) in zip(together, alone, strict=True):
        np.testing.assert_array_equal(cloth.positions(), place)
        assert cloth.check() == statistics


# --- the guard ----------------------------------------------------------------------------------------

WILD = changed(SMALL, columns=24, rows=24, substeps=1)


def test_a_cloth_that_blows_up_halts_and_shows_its_last_good_state(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, WILD)
    halted_now = False
    for index in range(40):
        cloth.step()
        cloth.refresh()
        drawn = cloth.sheet.vertices.read()["position"][:, :3]
        assert np.isfinite(drawn).all()
        assert np.abs(drawn).max() < 50.0
        halted_now = halted_now or cloth.poll(float(index))
    assert halted_now
    assert "substeps or a softer fabric keep it stable" in cloth.stopped
    stopped = cloth.step_count
    assert not cloth.step()
    assert cloth.step_count == stopped
    good = cloth.positions()
    lengths = np.linalg.norm(np.diff(good.reshape(24, 24, 3), axis=1), axis=2)
    assert lengths.max() < WILD.stretch_limit * 1.5 / 23
    cloth.apply(changed(WILD, substeps=30))
    cloth.resume()
    np.testing.assert_array_equal(cloth.positions(), good)
    cloth.reset()
    run(cloth, 30)
    assert cloth.check().strain < 1.0
    assert cloth.stopped == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e9])
def test_a_place_that_is_no_number_is_found(context: Context, library: ShaderLibrary, bad: float) -> None:
    cloth = Cloth(context, library, SMALL)
    run(cloth, 3)
    good = cloth.positions()
    cloth._state.write(_spoiled(cloth, bad))
    cloth.step()
    assert not cloth.check().is_finite
    assert "left the world" in cloth.stopped
    np.testing.assert_array_equal(cloth.positions(), good)
    assert cloth.step_count == 3


def _spoiled(cloth: Cloth, bad: float) -> np.ndarray:
    records = cloth._state.newest.read()
    records["position"][20, 1] = bad
    return records


# --- what is drawn ------------------------------------------------------------------------------------


def test_vertices_have_places_and_smooth_normals(context: Context, library: ShaderLibrary) -> None:
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
    """Four faces that share no vertices, as along seams of a texture."""
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    positions = corners[faces].reshape(-1, 3)
    return ClothSurface(positions, np.zeros((12, 2), np.float32), np.arange(12, dtype=np.uint32).reshape(-1, 3))


def test_a_mesh_holds_together_along_its_seams(context: Context, library: ShaderLibrary) -> None:
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


def test_spring_lines_have_ends_and_strain(context: Context, library: ShaderLibrary) -> None:
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
