"""Steps count from the start of the simulation, which is the pre-roll before the start of the scene; at step 0 nothing
has moved yet.  A cached step is an exact state: continuing from it gives the same bits as the first time.
"""

import math
from collections.abc import Hashable

import msgspec

from sinew.sim.cache.history import Branch
from sinew.sim.cache.keys import start_key, step_key
from sinew.sim.cache.simulation_cache import CachedState, SimulationCache
from sinew.sim.cache.step_store import StepStore
from sinew.sim.kinds.contract import Grab
from sinew.sim.memo import same_objects
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME, step_at, step_end

_NEAR = 1e-3
"""Distance from a step, in steps, within which the step itself is shown."""

CATCH_UP = 2
"""Number of steps that are simulated per frame where cached steps were evicted."""


class SimulationRunner:
    """Runner that steps, seeks and resets the simulation of an engine, and caches its steps.

    Call `take` after every `Engine.apply`.

    Args:
        store: Cache of steps; without one, `advance` simulates every step, and only `reset` goes back.

    Attributes:
        start_time: Start of the scene [s], after the pre-roll.
        preroll: Steps before the start of the scene.
        shown: The step of this frame, or of the next one.
        is_catching_up: Whether the requested step was evicted and is being simulated again, frame by frame.
    """

    def __init__(self, engine: Engine, store: StepStore | None = None) -> None:
        self.engine = engine
        self.cache = SimulationCache(store or StepStore(0))
        self._is_cached = store is not None
        if self._is_cached:
            engine.simulation.cached = self.cache
        self._marks: dict[tuple[CachedState | None, ...], object] = {}
        self._inputs: tuple[object, ...] = ()
        self._start_key: Hashable = None
        self.start_time, self.preroll = 0.0, 0
        self._position: tuple[Branch[CachedState], int, int] | None = None
        """Branch and step of the engine's state, and the step whose baked states it shows."""
        self.shown = 0
        self.is_catching_up = False

    def step_of(self, time: float) -> int:
        return max(step_at(self.start_time, time) + self.preroll, 0)

    def time_of(self, step: int) -> float:
        return step_end(self.start_time, step - self.preroll)

    # --- the scene ------------------------------------------------------------------------------------

    def take(self, time: float) -> None:
        """Takes the scene of the engine while scene time `time` [s] is shown.

        Cached steps up to that time stay; the following steps are on another branch if the simulation changed.
        Settings that were used before find their steps again.
        """
        world = self.engine.world
        assets = world.assets
        contents = (*assets.meshes.values(), *assets.images.values(), *assets.strands.values())
        allowed = world.applied.allowed
        inputs = (allowed, *world.active_settings.values(), *world.characters.values(), *contents)
        if same_objects(inputs, self._inputs):
            return
        self._inputs = inputs
        playback = allowed.playback
        self.start_time, self.preroll = playback.start_time, round(playback.run_up / STEP_TIME)
        if not self._is_cached:
            return
        self.cache.baked = {node.id for node in world.scene.nodes if node.baked}
        history, key, start = self.cache.history, step_key(world), start_key(world)
        if key == history.branch.settings:
            self._start_key = start
            return
        self.cache.version += 1
        self._marks.clear()
        self.cache.flush()
        if start != self._start_key:
            self._start_key = start
            self.restart()
            return
        shown = self._shown_at(self.step_of(time))
        was_there = self._position == (history.owner(shown), shown, shown)
        state = None if was_there else self.state_at(shown)
        if history.change(shown, key):
            if state is not None:
                self.engine.restore(state, self.time_of(shown))
                self.engine.simulation.reconsider()
            self._put(shown)  # as the new settings found it: they may have moved what is held
        else:
            self._position = None

    def restart(self) -> None:
        """Starts a run from step 0 with the current settings; finds the cached steps of an equal run again."""
        self.cache.history.restart(step_key(self.engine.world))
        self._position, self.shown = None, 0
        self.cache.version += 1

    def reset(self) -> None:
        """Resets to step 0 like `restart`, and resets the engine too."""
        if self._is_cached:
            self.restart()
            self.settle()
        else:
            self.engine.restart(self.time_of(0))
            self.shown = 0

    def clear(self) -> None:
        self.cache.clear()
        self._start_key = self._position = None
        self._inputs = ()
        self._marks.clear()
        self.shown = 0

    @property
    def is_fresh(self) -> bool:
        """True if all shown steps were simulated with the current settings from step 0."""
        return self.cache.history.is_fresh

    @property
    def step_count(self) -> int:
        """Number of steps, with those that were simulated while the user dragged at a paused time."""
        return self.shown + self.cache.history.pulls(self.shown)

    # --- showing --------------------------------------------------------------------------------------

    def show(self, time: float) -> float:
        """Restores the step at `time` [s], or the last available one; returns the time for all else [s]."""
        if not self.engine.simulation.has_state:
            return time
        wanted = self.step_of(time)
        self._flush_unless_at(wanted)
        self.shown = self._shown_at(wanted)
        history = self.cache.history
        # The steps up to this one were simulated with the current settings, and then evicted.
        self.is_catching_up = (
            self.shown < wanted <= history.branch.reached and history.owner(self.shown + 1) is history.branch
        )
        if self.is_catching_up:
            for step in range(self.shown + 1, min(self.shown + CATCH_UP, wanted) + 1):
                self.advance(step)
            self.is_catching_up = self.shown < wanted
        self._go_to(self.shown, wanted)
        if self._position is None:
            return self.show(time)
        return self.time_of(wanted) if abs(self.time_of(wanted) - time) <= STEP_TIME else time

    def show_between(self, time: float) -> float:
        """Shows a time like `show`, but interpolated between two cached steps; the simulation cannot continue there."""
        step = math.floor((time - self.start_time) / STEP_TIME) + self.preroll
        share = (time - self.time_of(step)) / STEP_TIME if step >= 0 else 0.0
        if not self.engine.simulation.has_state or not _NEAR < share < 1.0 - _NEAR:
            return self.show(time)
        self.cache.flush()
        states = self.state_at(step), self.state_at(step + 1)
        baked = self.engine.simulation.baked_steps
        if None in states and not (step in baked and step + 1 in baked):
            return self.show(time)
        self.engine.show_interpolated(states, step, share, time)
        self._position, self.shown, self.is_catching_up = None, step + 1, False
        return time

    def settle(self) -> None:
        self._go_to(self.shown)

    def can_reach(self, step: int) -> bool:
        return self._has(step) or self._has(step - 1)

    def is_held(self, time: float) -> bool:
        """Returns True if an earlier step is shown at `time` [s], because its own is missing."""
        wanted = self.step_of(time)
        return self._shown_at(wanted) != wanted

    def missing(self, step: int) -> int:
        """Returns the number of steps to simulate before `step` can be shown."""
        return step - self._shown_at(step)

    # --- simulating -----------------------------------------------------------------------------------

    def advance(self, step: int, grab: Grab | None = None) -> bool:
        """Takes a step from the cache, or simulates it, always with `grab`; returns False if neither is possible."""
        if not self._is_cached:
            self._simulate(step, grab)
            return True
        self._flush_unless_at(step - 1)
        if self._has(step) and grab is None:
            self.shown = step
            return True
        if step < 1 or not self._has(step - 1):
            return False
        self._go_to(step - 1)
        if not self._has(step - 1):
            return False
        history = self.cache.history
        if grab is not None and history.fork(step - 1):
            self._put(step - 1)
        was_evicted = step <= history.branch.reached and history.owner(step) is history.branch and grab is None
        self._simulate(step, grab)
        if was_evicted:
            self.cache.add(step, self.engine.simulation.capture())
            self._position = history.owner(step), step, step
        else:
            self._put(step)
        return True

    def _simulate(self, step: int, grab: Grab | None) -> None:
        self.engine.simulation.show(self.engine.world, self.time_of(step - 1))
        self.engine.prefetch_poses(step, self.time_of)
        self.engine.step(self.time_of(step), grab)
        self.shown = step

    def pull(self, grab: Grab) -> None:
        """Simulates one step of a drag while time is paused; it replaces the shown step."""
        self._go_to(self.shown)
        history = self.cache.history
        history.fork(self.shown)
        self.engine.simulation.show(self.engine.world, self.time_of(self.shown))
        self.engine.step(self.time_of(self.shown), grab)
        history.branch.pulls += 1
        self._put(self.shown)

    def altered(self) -> None:
        self.cache.history.fork(self.shown)
        self._put(self.shown)

    def note_stopped(self) -> None:
        stopped_at = self.cache.history.branch.stopped
        for node in self.engine.simulation.stopped:
            if node not in stopped_at:
                stopped_at[node] = self.shown
                self.cache.version += 1

    # --- cached steps ---------------------------------------------------------------------------------

    def mark(self, step: int) -> object:
        """Returns an object that identifies the cached state of a step; None without one."""
        cached = self.cache.history.get(step)
        if cached is not None or step not in self.engine.simulation.baked_steps:
            return cached
        history = self.cache.history
        parts = tuple(history.elsewhere(node).get(step) for node, _ in history.branch.settings)
        return self._marks.setdefault(parts, object())

    def state_at(self, step: int) -> bytes | None:
        """Returns the state of a step; None if it is not cached. Waits for the GPU while it is being read back."""
        state = self.cache.get(step)
        if state is not None or step not in self.engine.simulation.baked_steps:
            return state
        states = {node: self.cache.state(node, step) for node, _ in self.cache.history.branch.settings}
        return msgspec.msgpack.encode((step, step, {node: one for node, one in states.items() if one is not None}))

    def release(self) -> None:
        self.cache.release()

    def _shown_at(self, wanted: int) -> int:
        latest, baked = self.cache.history.latest(wanted), self.engine.simulation.baked_steps
        if baked and baked[0] <= wanted:
            latest = max(latest, min(wanted, baked[-1]))
        position = self._position
        if position is not None and latest < position[1] <= wanted and self._is_at(position[1]):
            return position[1]
        return latest

    def _is_at(self, step: int) -> bool:
        return self._position is not None and self._position[:2] == (self.cache.history.owner(step), step)

    def _flush_unless_at(self, step: int) -> None:
        if not self._is_at(step):
            self.cache.flush()

    def _has(self, step: int) -> bool:
        if not step or self.cache.history.get(step) is not None or self._is_at(step):
            return True
        return step in self.engine.simulation.baked_steps

    def _go_to(self, step: int, baked: int | None = None) -> None:
        """Restores `step`, and shows the baked states of `baked`, by default the same step."""
        baked, branch = step if baked is None else baked, self.cache.history.owner(step)
        if not self._is_at(step):
            self._restore(step)
            self._position = branch, step, step
            if step and self.cache.history.get(step) is None and step not in self.engine.simulation.baked_steps:
                self._position = None  # its bake turned out to be damaged
        if self._position is None or self._position[2] == baked:
            return
        if self.engine.show_baked(baked, self.time_of(baked)):
            self._position = branch, step, baked
        elif self._position[2] != step:
            self._restore(step)
            self._position = branch, step, step

    def _restore(self, step: int) -> None:
        state = self.state_at(step)
        if state is None:
            self.engine.restart(self.time_of(0))
        else:
            self.engine.restore(state, self.time_of(step))

    def _put(self, step: int) -> None:
        self.cache.put(step, self.engine.simulation.capture())
        self._position = self.cache.history.branch, step, step
