from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.emitter.buffers import ScratchPool
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import NO_INPUTS, EmitterInputs
from sinew.sim.kinds.emitter.presets import PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings, EmitterSource
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


def test_rate_times_lifetime_particles_are_alive(context: Context, library: ShaderLibrary) -> None:
    rate = 1234.5
    system = Emitter(context, library, changed(BASE, rate=rate))
    run(system, 62)
    found = []
    for _ in range(18):
        run(system, 1)
        found.append(system.count())
    assert max(abs(count - rate) for count in found) <= 1.0
    assert np.mean(found) == pytest.approx(rate, abs=0.51)
    assert system.spawned == int(np.ceil(rate * 80 * STEP_TIME - 1e-6))
    assert system.spawned_per_second == pytest.approx(rate)


def test_counts_arrive_without_waiting(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, BASE), 70)
    assert not system.poll(0.0)
    context.finish()
    assert system.poll(0.1)
    assert system.alive == system.count() == 600


def test_a_full_emitter_is_always_full(context: Context, library: ShaderLibrary) -> None:
    for capacity in (1, 64, 4097):
        settings = changed(BASE, mode=EmissionMode.FULL, capacity=capacity, lifetime=0.2, lifetime_variance=0.6)
        system = Emitter(context, library, settings)
        for _ in range(20):
            run(system, 1)
            assert system.count() == capacity
        assert alive(system)["velocity"][:, 3].max() >= 1.0


def test_too_small_a_capacity_is_reported(context: Context, library: ShaderLibrary) -> None:
    system = Emitter(context, library, changed(BASE, capacity=100))
    assert "601" in system.warning
    assert system.needed_capacity == 601
    assert run(system, 12).count() == 100
    system.apply(changed(BASE, capacity=601))
    assert system.warning == ""


@ON_BOTH
def test_equal_seeds_give_equal_bits(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, turbulence=1.0, drag=0.5, source=EmitterSource.SPHERE, lifetime_variance=0.5)
    states = [run(Emitter(context, library, changed(settings, seed=seed)), 40).read().tobytes() for seed in (5, 5, 6)]
    assert states[0] == states[1]
    assert states[0] != states[2]


def seek(system: Emitter, step_count: int, inputs_of: Callable[[int], EmitterInputs]) -> None:
    if step_count < system.step_count:
        system.reset()
    while system.step_count < step_count:
        assert system.step(inputs_of(system.step_count))


def test_seeking_gives_the_bits_of_playing(context: Context, library: ShaderLibrary) -> None:
    def inputs_of(index: int) -> EmitterInputs:
        return EmitterInputs(placed(0.01 * index, 0, 0), placed(0.01 * (index + 1), 0, 0))

    system = Emitter(context, library, BASE)
    played = {}
    for index in range(40):
        system.step(inputs_of(index))
        played[index + 1] = system.read().tobytes()
    seek(system, 15, inputs_of)
    assert system.read().tobytes() == played[15]
    seek(system, 30, inputs_of)
    assert (system.step_count, system.read().tobytes()) == (30, played[30])
    seek(system, 5, inputs_of)
    assert (system.step_count, system.read().tobytes()) == (5, played[5])


def test_changed_settings_have_their_declared_effect(context: Context, library: ShaderLibrary) -> None:
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


def test_refused_settings_leave_the_emitter_as_it_was(context: Context, library: ShaderLibrary) -> None:
    system = run(Emitter(context, library, BASE), 5)
    before = system.read().tobytes()
    for wrong in ({"lifetime": 0.0}, {"capacity": -4}, {"bursts": "no"}):
        settings = changed(BASE, **wrong)
        with pytest.raises(SettingsError):
            system.apply(settings)
        with pytest.raises(SettingsError):
            system.rebuild(settings)
        assert system.settings == BASE
        assert system.read().tobytes() == before
        with pytest.raises(SettingsError):
            Emitter(context, library, settings)


def test_more_particles_than_the_driver_allows_are_refused(context, library, monkeypatch):
    monkeypatch.setattr(context, "capabilities", replace(context.capabilities, max_texture_buffer_size=6000))
    system = run(Emitter(context, library, BASE), 3)
    with pytest.raises(SettingsError, match="capacity = 3001: this driver holds 3000 particles at most"):
        system.apply(changed(BASE, capacity=3001))
    assert system.count() == 30


def test_a_missing_surface_is_refused_and_an_empty_one_allowed(context: Context, library: ShaderLibrary) -> None:
    with pytest.raises(SettingsError, match="surface"):
        Emitter(context, library, changed(BASE, source=EmitterSource.FACES))
    table = np.array([[2**32 - 1, 0, 1, 2]], np.uint32)
    system = Emitter(context, library, changed(BASE, source=EmitterSource.FACES), faces=table)
    run(system, 3)
    assert system.count() == 0


def test_emitters_share_scratch_buffers_and_are_independent(context: Context, library: ShaderLibrary) -> None:
    pool = ScratchPool(context)
    settings = [changed(BASE, seed=1), changed(BASE, seed=2, speed=5.0), changed(BASE, seed=3, capacity=50)]
    together = [Emitter(context, library, one, pool=pool) for one in settings]
    buffers = [label for label in context.live if label == "Buffer:particles"]
    # One each, and a spare one for each of the two sizes.
    assert len(buffers) == 3 + 2
    for _ in range(20):
        for system in together:
            run(system, 1)
    for system, one in zip(together, settings, strict=True):
        alone = run(Emitter(context, library, one), 20)
        assert system.read().tobytes() == alone.read().tobytes()
        alone.release()
        system.release()
        system.release()
    pool.release()
    assert not [label for label in context.live if "particle" in label and not label.startswith("Program")]


def test_steps_create_no_objects(context: Context, library: ShaderLibrary) -> None:
    settings = changed(BASE, turbulence=1.0, bursts="0.3:20", burst_period=0.5)
    system = Emitter(context, library, settings)
    with colliders(context, [floor()]) as scene:
        inputs, _ = scene.inputs(0)
        run(system, 60, inputs)
        system.poll(0.0)
        live = [name for name in context.live if not name.startswith("Sync:")]
        for index in range(60):
            run(system, 1, inputs)
            system.poll(index * 0.1)
            if index % 20 == 19:
                system.reset()
                system.apply(changed(settings, rate=500.0 + index))
        assert [name for name in context.live if not name.startswith("Sync:")] == live
    system.release()


def test_presets_stay_finite_and_near(context: Context, library: ShaderLibrary) -> None:
    for name in PRESETS:
        system = Emitter(context, library, changed(with_preset(BASE, name), seed=4))
        with colliders(context, [floor(0.5, 0.3, height=-2.0)]) as scene:
            inputs, _ = scene.inputs(0)
            run(system, 60, inputs)
        found = alive(system)
        assert len(found) > 20, name
        assert np.isfinite(found["position"]).all(), name
        assert np.abs(found["position"][:, :3]).max() < 30.0, name
        assert found["position"][:, 1].min() > -2.0 - 1e-3 or system.settings.stateless, name
