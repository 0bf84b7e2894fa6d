"""An emitter as an object of the scene: counts, seeds, time, changes, collisions, and what it leaves behind."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.emitter.buffers import ScratchPool
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import NO_INPUTS, EmitterInputs
from sinew.sim.kinds.emitter.presets import PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import CollisionResponse, EmissionMode, EmitterSettings, EmitterSource
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, SettingsError
from tests.gl.back_ends import ON_BOTH
from tests.gl.particles.particle_cases import changed, colliders, floor, placed

BASE = EmitterSettings(capacity=3000, rate=600.0, lifetime=1.0, lifetime_variance=0.0)


def run(system: Emitter, steps: int, inputs: EmitterInputs = NO_INPUTS) -> Emitter:
    for _ in range(steps):
        system.step(inputs)
    return system


def alive(system: Emitter) -> np.ndarray:
    records = system.read()
    return records[records["position"][:, 3] >= 0.0]


# --- counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [600.0, 37.0, 1234.5])
def test_as_many_live_as_are_born_in_a_life(context: Context, library: ShaderLibrary, rate: float) -> None:
    system = Emitter(context, library, changed(BASE, rate=rate))
    run(system, 100)
    found = []
    for _ in range(30):
        run(system, 1)
        found.append(system.count())
    assert max(abs(count - rate) for count in found) <= 1.0
    assert np.mean(found) == pytest.approx(rate, abs=0.51)
    assert system.spawned == int(np.ceil(rate * 130 * STEP_TIME - 1e-6))
    assert system.spawned_per_second == pytest.approx(rate)


def test_with_lives_that_differ_as_many_live_as_in_a_mean_life(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, rate=20_000.0, capacity=40_000, lifetime=0.8, lifetime_variance=0.5)
    system = run(Emitter(context, library, settings), 100)
    # Whether one that was born 0.4 to 1.2 s ago lives is a draw: 16 000 of them, with a variance of a quarter at most.
    assert system.count() == pytest.approx(16_000, abs=4.0 * np.sqrt(4000.0))


def test_counts_without_waiting_come_a_little_later(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, BASE), 120)
    assert not system.poll(0.0)
    context.finish()
    assert system.poll(0.1)
    assert system.alive == system.count() == 600


@pytest.mark.parametrize("capacity", [1, 2, 63, 64, 65, 4097])
def test_always_full_means_always_full(context: Context, library: ShaderLibrary, capacity: int) -> None:
    settings = changed(BASE, mode=EmissionMode.FULL, capacity=capacity, lifetime=0.5, lifetime_variance=0.6)
    system = Emitter(context, library, settings)
    for _ in range(60):
        run(system, 1)
        assert system.count() == capacity
    assert alive(system)["velocity"][:, 3].max() >= 1.0


def test_deaths_of_one_that_is_always_full_are_spread_from_the_start(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, mode=EmissionMode.FULL, capacity=6000, lifetime=1.0)
    system = run(Emitter(context, library, settings), 30)
    again = np.count_nonzero(system.read()["velocity"][:, 3] >= 1.0)
    assert again == pytest.approx(3000, abs=200)


def test_an_emitter_without_births_costs_and_draws_nothing(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, changed(BASE, rate=0.0)), 10)
    assert (system.slot_count, system.count(), system.spawned) == (0, 0, 0)


def test_a_starving_emitter_says_what_it_takes(context: Context, library: ShaderLibrary) -> None:
    system = Emitter(context, library, changed(BASE, capacity=100))
    assert "601" in system.warning
    assert system.needed_capacity == 601
    assert run(system, 100).count() == 100
    system.apply(changed(BASE, capacity=601))
    assert system.warning == ""


# --- the same numbers ---------------------------------------------------------------------------------


@ON_BOTH
def test_the_same_seed_gives_the_same_bits_and_another_gives_others(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, turbulence=1.0, drag=0.5, source=EmitterSource.SPHERE, lifetime_variance=0.5)
    states = [run(Emitter(context, library, changed(settings, seed=seed)), 90).read().tobytes() for seed in (5, 5, 6)]
    assert states[0] == states[1]
    assert states[0] != states[2]


def test_two_seeds_share_no_values(context: Context, library: ShaderLibrary) -> None:
    first, second = (
        run(Emitter(context, library, changed(BASE, seed=seed, cone_angle=180.0, gravity=(0.0, 0.0, 0.0))), 50)
        for seed in (5, 6)
    )
    one, other = first.read()["velocity"][:, :3], second.read()["velocity"][:, :3]
    assert np.count_nonzero(np.all(one == other, axis=1)) == 0
    for axis in range(3):
        assert abs(np.corrcoef(one[:, axis], other[:, axis])[0, 1]) < 4.0 / np.sqrt(len(one))


def test_births_do_not_depend_on_substeps(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, gravity=(0.0, 0.0, 0.0), drag=0.0, lifetime_variance=0.4, bursts="0.11:30")
    first, second = (
        run(Emitter(context, library, changed(settings, substeps=substeps)), 50).read() for substeps in (1, 7)
    )
    np.testing.assert_array_equal(first["velocity"], second["velocity"])
    np.testing.assert_allclose(first["position"], second["position"], atol=2e-5)


def test_a_stream_shows_no_bunches(context: Context, library: ShaderLibrary) -> None:
    settings = changed(
        BASE, cone_angle=0.0, speed=6.0, speed_variance=0.0, drag=0.0, gravity=(0.0, 0.0, 0.0), rate=600.0
    )
    heights = np.sort(alive(run(Emitter(context, library, settings), 30))["position"][:, 1])
    np.testing.assert_allclose(np.diff(heights), 6.0 / 600.0, rtol=1e-3)


# --- time ---------------------------------------------------------------------------------------------


def seek(system: Emitter, step_count: int, inputs_of: Callable[[int], EmitterInputs]) -> None:
    """Goes to a step by simulating from the start, or from where the emitter is."""
    if step_count < system.step_count:
        system.reset()
    while system.step_count < step_count:
        assert system.step(inputs_of(system.step_count))


def test_seeking_gives_the_very_state_of_playing(context: Context, library: ShaderLibrary) -> None:
    def inputs_of(index: int) -> EmitterInputs:
        return EmitterInputs(placed(0.01 * index, 0, 0), placed(0.01 * (index + 1), 0, 0))

    system = Emitter(context, library, BASE)
    played = {}
    for index in range(80):
        system.step(inputs_of(index))
        played[index + 1] = system.read().tobytes()
    seek(system, 35, inputs_of)
    assert system.read().tobytes() == played[35]
    seek(system, 60, inputs_of)
    assert (system.step_count, system.read().tobytes()) == (60, played[60])
    assert system.step_count * STEP_TIME == pytest.approx(1.0)
    seek(system, 5, inputs_of)
    assert (system.step_count, system.read().tobytes()) == (5, played[5])


def test_the_formula_knows_no_history(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, stateless=True)
    played = run(Emitter(context, library, settings), 100)
    jumped = Emitter(context, library, settings)
    for step in (300, 100):
        jumped.show(step, NO_INPUTS)
    assert played.read().tobytes() == jumped.read().tobytes()
    assert jumped.count() == pytest.approx(600, abs=1)


# --- changes ------------------------------------------------------------------------------------------


def test_changes_cost_what_they_declare(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, BASE), 30)
    assert system.apply(BASE) is Effect.VIEW
    assert system.apply(changed(BASE, softness=0.3)) is Effect.VIEW
    assert system.apply(changed(BASE, gravity=(0.0, 1.0, 0.0))) is Effect.STEP
    assert (system.step_count, system.count()) == (30, 300)
    assert system.apply(changed(BASE, seed=3)) is Effect.RESET
    assert (system.step_count, system.count()) == (0, 0)
    run(system, 5)
    assert system.apply(changed(BASE, capacity=20)) is Effect.REBUILD
    assert (system.step_count, system.slot_count) == (0, 0)


def test_a_rate_changed_on_the_way_bears_without_gap_or_jump(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, BASE), 30)
    system.apply(changed(BASE, rate=60.0))
    run(system, 20)
    assert system.spawned == 300 + 20
    assert len(np.unique(alive(system)["position"][:, 3])) == 320


@pytest.mark.parametrize(
    "settings", [changed(BASE, lifetime=0.0), changed(BASE, capacity=-4), changed(BASE, bursts="no")]
)
def test_what_is_refused_leaves_the_emitter_as_it_was(
    context: Context, library: ShaderLibrary, settings: EmitterSettings
) -> None:
    system = run(Emitter(context, library, BASE), 30)
    before = system.read().tobytes()
    with pytest.raises(SettingsError):
        system.apply(settings)
    with pytest.raises(SettingsError):
        system.rebuild(settings)
    assert system.settings == BASE
    assert system.read().tobytes() == before
    run(system, 1)
    with pytest.raises(SettingsError):
        Emitter(context, library, settings)


def test_more_particles_than_the_driver_holds_are_refused(
    context: Context, library: ShaderLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "capabilities", replace(context.capabilities, max_texture_buffer_size=6000))
    system = run(Emitter(context, library, BASE), 3)
    with pytest.raises(SettingsError, match="capacity = 3001: this driver holds 3000 particles at most"):
        system.apply(changed(BASE, capacity=3001))
    assert system.count() == 30


def test_a_surface_that_is_missing_is_refused_and_one_that_comes_later_waited_for(
    context: Context, library: ShaderLibrary
) -> None:
    with pytest.raises(SettingsError, match="surface"):
        Emitter(context, library, changed(BASE, source=EmitterSource.FACES))
    table = np.array([[2**32 - 1, 0, 1, 2]], np.uint32)
    system = Emitter(context, library, changed(BASE, source=EmitterSource.FACES), faces=table)
    run(system, 3)
    assert system.count() == 0


# --- motion -------------------------------------------------------------------------------------------


def test_a_path_without_drag_is_the_discrete_parabola(context: Context, library: ShaderLibrary) -> None:
    settings = changed(
        BASE, mode=EmissionMode.BURST, bursts="0:1", cone_angle=0.0, speed=20.0, speed_variance=0.0, drag=0.0,
        lifetime=10.0,
    )  # fmt: skip
    system, h = Emitter(context, library, settings), STEP_TIME
    for n in range(1, 301):
        run(system, 1)
        if n % 50 == 0:
            expected = 20.0 * n * h - 9.81 * h * h * n * (n + 1) / 2.0
            assert system.read()["position"][0, 1] == pytest.approx(expected, abs=2e-4)


def test_a_bounce_keeps_the_square_of_the_restitution(context: Context, library: ShaderLibrary) -> None:
    settings = changed(
        BASE, mode=EmissionMode.BURST, bursts="0:1", cone_angle=0.0, speed=0.0, drag=0.0, lifetime=20.0, clearance=0.0,
        substeps=16,
    )  # fmt: skip
    system, heights = Emitter(context, library, settings), []
    with colliders(context, [floor(restitution=0.8)]) as scene:
        for index in range(400):
            place = placed(0.0, 5.0, 0.0)
            system.step(scene.inputs(index, world_from_start=place, world_from_end=place)[0])
            heights.append(float(system.read()["position"][0, 1]))
    track = np.array(heights)
    tops = track[1:-1][(track[1:-1] > track[:-2]) & (track[1:-1] >= track[2:])]
    assert len(tops) >= 3
    np.testing.assert_allclose(tops[:3], 5.0 * 0.64 ** np.arange(1, 4), rtol=0.02)
    assert track.min() >= -1e-6


@pytest.mark.parametrize("shape", [ColliderShape.SPHERE, ColliderShape.BOX, ColliderShape.CAPSULE])
def test_nothing_fast_goes_through_anything_thin(
    context: Context, library: ShaderLibrary, shape: ColliderShape
) -> None:
    size = {
        ColliderShape.SPHERE: np.array([0.02, 0.0, 0.0]),
        ColliderShape.BOX: np.array([2.0, 0.005, 2.0]),
        ColliderShape.CAPSULE: np.array([0.02, 3.0, 0.0]),
    }[shape]
    along_x = np.array([[0.0, -1.0, 0, 0], [1.0, 0.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    start = along_x if shape is ColliderShape.CAPSULE else np.eye(4)
    end = start.copy()
    start, end = placed(0, 0.0, 0) @ start, placed(0, 0.01, 0) @ end
    settings = changed(
        BASE, cone_angle=0.0, speed=200.0, drag=0.0, gravity=(0.0, 0.0, 0.0), capacity=2000, lifetime=0.5,
        source=EmitterSource.LINE, source_size=(0.001 if shape is ColliderShape.SPHERE else 3.0, 0.0, 0.0),
    )  # fmt: skip
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    down[1, 3] = 1.03
    system = Emitter(context, library, settings)
    with colliders(context, [ColliderState(shape, size, start, end)]) as scene:
        inputs, _ = scene.inputs(0, world_from_start=down, world_from_end=down)
        run(system, 20, inputs)
    found = alive(system)["position"][:, 1]
    assert len(found) == 200
    assert found.min() > 0.0


def test_what_sticks_rides_along_and_what_dies_is_gone(context: Context, library: ShaderLibrary) -> None:
    def carried(index: int) -> list[ColliderState]:
        places = [placed(0.02 * i, 0.05 * np.sin(0.2 * i), 0.0) for i in (index, index + 1)]
        return [ColliderState(ColliderShape.BOX, np.array([9.0, 0.1, 9.0]), *places)]

    settings = changed(BASE, mode=EmissionMode.BURST, bursts="0:50", cone_angle=60.0, speed=0.5, lifetime=9.0)
    above = placed(0.0, 0.6, 0.0)
    for response, left in ((CollisionResponse.STICK, 50), (CollisionResponse.DIE, 0)):
        system = Emitter(context, library, changed(settings, collision=response))
        with colliders(context, carried) as scene:
            for index in range(120):
                system.step(scene.inputs(index, world_from_start=above, world_from_end=above)[0])
                if index == 59:
                    before = system.read()["position"].copy()
        assert system.count() == left
        if left:
            moved = system.read()["position"][:, :3] - before[:, :3]
            lift = 0.05 * (np.sin(0.2 * 120) - np.sin(0.2 * 60))
            np.testing.assert_allclose(moved, np.tile([0.02 * 60, lift, 0.0], (50, 1)), atol=2e-5)


def test_a_newborn_takes_along_the_velocity_of_its_source(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, speed=0.0, gravity=(0.0, 0.0, 0.0), drag=0.0, inherited_velocity=0.5, rate=1200.0)
    system = Emitter(context, library, settings)
    system.step(EmitterInputs(placed(1.0, 0, 0), placed(1.1, 0.2, 0)))
    found = system.read()
    np.testing.assert_allclose(found["velocity"][:, :3], np.tile([3.0, 6.0, 0.0], (20, 1)), rtol=1e-5)
    moments = np.arange(20) / 20.0
    expected = 1.0 + 0.1 * moments + (1.0 - moments) * STEP_TIME * 3.0
    np.testing.assert_allclose(found["position"][:, 0], expected, rtol=1e-6)


# --- what it leaves behind ----------------------------------------------------------------------------


def test_emitters_share_their_spare_buffer_and_disturb_nobody(context: Context, library: ShaderLibrary) -> None:
    pool = ScratchPool(context)
    settings = [changed(BASE, seed=1), changed(BASE, seed=2, speed=5.0), changed(BASE, seed=3, capacity=50)]
    together = [Emitter(context, library, one, pool=pool) for one in settings]
    buffers = [label for label in context.live if label == "Buffer:particles"]
    # One each, and a spare one for each of the two sizes.
    assert len(buffers) == 3 + 2
    for _ in range(70):
        for system in together:
            run(system, 1)
    for system, one in zip(together, settings, strict=True):
        alone = run(Emitter(context, library, one), 70)
        assert system.read().tobytes() == alone.read().tobytes()
        alone.release()
        system.release()
        system.release()
    pool.release()
    assert not [label for label in context.live if "particle" in label and not label.startswith("Program")]


def test_many_steps_make_no_objects(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, turbulence=1.0, bursts="0.3:20", burst_period=0.5)
    system = Emitter(context, library, settings)
    with colliders(context, [floor()]) as scene:
        inputs, _ = scene.inputs(0)
        run(system, 60, inputs)
        system.poll(0.0)
        live = [name for name in context.live if not name.startswith("Sync:")]
        for index in range(300):
            run(system, 1, inputs)
            system.poll(index * 0.1)
            if index % 50 == 49:
                system.reset()
                system.apply(changed(settings, rate=500.0 + index))
        assert [name for name in context.live if not name.startswith("Sync:")] == live
    system.release()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_run_and_stay_in_the_room(context: Context, library: ShaderLibrary, name: str) -> None:
    system = Emitter(context, library, changed(with_preset(BASE, name), seed=4))
    with colliders(context, [floor(0.5, 0.3, height=-2.0)]) as scene:
        inputs, _ = scene.inputs(0)
        run(system, 240, inputs)
    found = alive(system)
    assert len(found) > 20
    assert np.isfinite(found["position"]).all()
    assert np.abs(found["position"][:, :3]).max() < 30.0
    assert found["position"][:, 1].min() > -2.0 - 1e-3 or system.settings.stateless
