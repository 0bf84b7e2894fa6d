import numpy as np
import pytest

from sinew import resources
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import opened
from sinew.app.session.playback import STEP_BUDGET, Playback
from sinew.sim.gl.context import Context
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.playback import PlaybackSettings
from tests.conftest import slow
from tests.gui.editor_harness import Clock
from tests.permissions import OWN


class Steps:
    is_active = has_state = True
    step_count = 0

    def can_reach(self, time: float) -> bool:
        return True

    def is_held(self, time: float) -> bool:
        return False

    def pull(self) -> None: ...


class Costly(Steps):
    def __init__(self, clock: Clock, cost: float) -> None:
        self._clock, self.cost = clock, cost

    def step(self, time: float) -> float:
        self._clock.now += self.cost
        self.step_count += 1
        return time

    def reset(self) -> None:
        self.step_count = 0


class EngineSteps(Steps):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, time: float) -> float:
        self._engine.step(time)
        return time

    def reset(self) -> None:
        self._engine.restart(0.0)


def test_a_tick_does_as_many_steps_as_fit_and_at_least_one(qapp):
    for cost, expected in ((0.0, 4), (0.2, 4), (0.3, 3), (0.45, 2), (0.6, 1), (5.0, 1)):
        clock = Clock()
        stepper = Costly(clock, cost * STEP_BUDGET)
        playback = Playback(PlaybackSettings, lambda: 1000.0, stepper, clock=clock)
        playback.toggle()
        for tick in range(1, 4):
            clock.now += 4.01 * STEP_TIME
            before = clock.now
            playback.tick()
            assert stepper.step_count == tick * expected
            assert clock.now - before <= max(STEP_BUDGET, stepper.cost) + 1e-9
            playback.hold(False)
        playback.pause()


def test_the_cause_of_slow_motion_is_named(qapp):
    for step, image, cause in ((0.03, 0.0, "simulation"), (0.001, 0.3, "drawing")):
        clock = Clock()
        playback = Playback(PlaybackSettings, lambda: 0.0, Costly(clock, step), clock=clock)
        playback.toggle()
        for _ in range(40):
            clock.now += image + STEP_TIME
            playback.tick()
        assert playback.pace < 0.8
        assert playback.slowed_by == cause
        playback.pause()


def test_slow_motion_interpolates_between_steps(qapp):
    clock = Clock()
    playback = Playback(lambda: PlaybackSettings(speed=0.25), lambda: 1000.0, Costly(clock, 0.0), clock=clock)
    reported = []
    playback.seen_changed.connect(lambda: reported.append(playback.seen))
    playback.toggle()
    seen, reached = [], []
    for _ in range(20):
        clock.now += STEP_TIME
        playback.tick()
        seen.append(playback.seen)
        reached.append(playback.playhead.time)
    assert np.diff(seen[4:]) == pytest.approx(0.25 * STEP_TIME), "evenly"
    assert np.array(reached) / STEP_TIME == pytest.approx([tick // 4 for tick in range(1, 21)]), "by whole steps"
    assert len(reported) == 15, "in ticks without a step"
    assert playback.is_between
    playback.pause()
    assert playback.seen == playback.playhead.time
    assert not playback.is_between
    playback = Playback(PlaybackSettings, lambda: 1000.0, Costly(clock, 0.0), clock=clock)
    playback.toggle()
    for _ in range(5):
        clock.now += 1.3 * STEP_TIME
        playback.tick()
        assert playback.seen == playback.playhead.time, "at full speed"
    playback.pause()


def test_waiting_goes_on_while_the_scene_keeps_its_length(qapp):
    clock, ends = Clock(), [5.0]
    playback = Playback(PlaybackSettings, lambda: ends[0], Costly(clock, 0.0), clock=clock)
    playback.scrub(2.0)
    playback.wait()
    playback.fit()
    assert playback.is_waiting
    ends[0] = 1.0
    playback.fit()
    assert playback.playhead.time == 1.0
    assert not playback.is_waiting
    ends[0] = 5.0
    playback.fit()
    assert playback.playhead.time == 2.0, "where the user had moved it"


@pytest.mark.parametrize("steps", [8, slow(70)])  # 70 is more than the 64 of the walk
def test_the_cape_moves_as_the_command_line_simulates_it(qapp, steps):
    scene = opened(resources.path("projects") / "cape.sinew", OWN)
    with Context.headless() as context:
        run = SceneRun(context, scene)
        run.advance_to(steps)
        expected = run.engine.simulation.systems["cape"].cloth.positions()
        engine = SceneRun(context, scene).engine
        playback = Playback(lambda: scene.scene.playback, lambda: 5.0, EngineSteps(engine))
        for _ in range(2):
            for _ in range(steps):
                playback.step_simulation()
            np.testing.assert_array_equal(engine.simulation.systems["cape"].cloth.positions(), expected)
            playback.reset_simulation()
        run.release()
        engine.release()
