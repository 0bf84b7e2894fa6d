"""Film: the steps of a scene as they are simulated, kept, shown again, and gone on from.

Steps count from the start of the simulation: step 0 is that moment, before anything moved.  What is kept of a step is
its exact state, so that going on from it gives the same bits as the first time.
"""

import math
from collections.abc import Hashable
from typing import Any

import msgspec

from sim.cache.history import CacheHistory
from sim.cache.keys import start_key, step_key
from sim.cache.readback_queue import CachedState, ReadbackQueue
from sim.cache.step_store import StepStore
from sim.engine import Engine
from sim.kinds.contract import Grab
from sim.scene.clock import STEP_TIME, step_at, step_end
from sim.scene.scene import NodeId

_NEAR = 1e-3
"""Share of a step from which a moment is that of the step itself."""

AHEAD = 2
"""Steps that are simulated at once where a kept one is missing between two, so that a picture does not wait long."""


class SimulationCache:
    """Keeps what an engine simulates.

    Args:
        engine: What is filmed.
        store: Where steps are kept.

    Attributes:
        shown: The step that is shown, or will be with the next picture.
        version: Another number whenever what is kept changed.
        is_catching_up: Whether the step that is wanted was let go of and is being simulated again, picture by picture.
    """

    def __init__(self, engine: Engine, store: StepStore | None = None) -> None:
        self._engine = engine
        self._queue = ReadbackQueue(
            store or StepStore(), lambda: self._history.evict(), lambda cached: self._lose(cached)
        )
        self._history: CacheHistory[CachedState] = CacheHistory((), self._queue.drop)
        self._read: tuple[CachedState | None, dict[NodeId, bytes]] = (None, {})
        self._runs: dict[NodeId, tuple[dict[int, CachedState], range]] = {}
        self._marks: dict[tuple[CachedState | None, ...], object] = {}
        self._scene: tuple[object, ...] = ()
        self._start_key: Hashable = None
        self._start, self._run_up = 0.0, 0
        self._stands: tuple[Any, int, int] | None = None
        """The line and the step where the engine stands, and the step at which it shows what is given."""
        self.shown = self.version = 0
        self.is_catching_up = False

    # --- moments --------------------------------------------------------------------------------------

    def step_of(self, time: float) -> int:
        """The step nearest to a moment of the scene [s]."""
        return max(step_at(self._start, time) + self._run_up, 0)

    def time_of(self, step: int) -> float:
        """When a step ends [s]."""
        return step_end(self._start, step - self._run_up)

    # --- the scene ------------------------------------------------------------------------------------

    def take(self, time: float) -> None:
        """The engine has another scene, while this moment of it is shown [s]; other steps follow where they take it.

        What was simulated before that moment stays.  Settings that were there before find their steps again.
        """
        world = self._engine.world
        files = (world.meshes, world.images, world.strands)
        contents = [content for found in files for content in found.values()]
        marks = (world.scene, *world.in_force.values(), *world.characters.values(), *contents)
        if len(marks) == len(self._scene) and all(map(_is, marks, self._scene)):
            return
        self._scene, key, start = marks, step_key(world), start_key(world)
        playback = world.scene.playback
        self._start, self._run_up = playback.start_time, round(playback.run_up / STEP_TIME)
        if key == self._history.line.settings:
            self._start_key = start
            return
        self.version += 1
        self._marks.clear()
        self.flush()
        if start != self._start_key:
            self._start_key = start
            self.restart()
            return
        shown = self._shown_at(self.step_of(time))
        was_there = self._stands == (self._history.owner(shown), shown, shown)
        state = None if was_there else self.state_at(shown)
        if self._history.change(shown, key):
            if state is not None:
                self._engine.restore(state, self.time_of(shown))
                self._engine.simulation.reconsider()
            self._keep(shown)  # as the new settings found it: they may have moved what is held
        else:
            self._stands = None

    @property
    def step_count(self) -> int:
        """Steps to the one that is shown, those of the user's hand included."""
        return self.shown + self._history.pulls(self.shown)

    def settle(self) -> None:
        self._pose_at(self.shown)

    def restart(self) -> None:
        """A run from the start with the settings of now; what is kept of one is there again."""
        self._history.restart(step_key(self._engine.world))
        self._stands, self.shown = None, 0
        self.version += 1

    @property
    def is_fresh(self) -> bool:
        """Whether all that is shown was simulated with the settings of now, from the start on."""
        return self._history.is_fresh

    # --- showing --------------------------------------------------------------------------------------

    def show(self, time: float) -> float:
        """Brings the engine to a moment of the scene [s]: the step that is kept of it, else the last one before.

        What is given needs not be kept, and is shown at that moment in any case.

        Returns:
            The moment to show the rest of the scene at [s].
        """
        if not self._engine.simulation.has_state:
            return time
        wanted = self.step_of(time)
        self._ready(wanted)
        self.shown = self._shown_at(wanted)
        self.is_catching_up = self._can_catch_up(wanted)
        if self.is_catching_up:
            for step in range(self.shown + 1, min(self.shown + AHEAD, wanted) + 1):
                self.advance(step)
            self.is_catching_up = self.shown < wanted
        self._pose_at(self.shown, wanted)
        if self._stands is None:
            return self.show(time)
        return self.time_of(wanted) if abs(self.time_of(wanted) - time) <= STEP_TIME else time

    def show_between(self, time: float) -> float:
        """The same as `show`, but between two steps, where both are there, those blended.

        For looking only: whatever goes on stands at a step first.
        """
        step = math.floor((time - self._start) / STEP_TIME) + self._run_up
        share = (time - self.time_of(step)) / STEP_TIME if step >= 0 else 0.0
        if not self._engine.simulation.has_state or not _NEAR < share < 1.0 - _NEAR:
            return self.show(time)
        self.flush()
        states = self.state_at(step), self.state_at(step + 1)
        given = self._engine.simulation.baked_steps
        if None in states and not (step in given and step + 1 in given):
            return self.show(time)
        self._engine.show_interpolated(states, step, share, time)
        self._stands, self.shown, self.is_catching_up = None, step + 1, False
        return time

    def _can_catch_up(self, wanted: int) -> bool:
        """Whether what is missing until a step was simulated before, with the settings of now, and let go of."""
        return (
            self.shown < wanted <= self._history.reached and self._history.owner(self.shown + 1) is self._history.line
        )

    def can_reach(self, step: int) -> bool:
        return self._is_there(step) or self._is_there(step - 1)

    def is_held(self, time: float) -> bool:
        """Whether what is shown at a moment of the scene [s] is an earlier step, since its own is missing."""
        wanted = self.step_of(time)
        return self._shown_at(wanted) != wanted

    def missing(self, step: int) -> int:
        """How many steps there are to simulate until a step is there."""
        return step - self._shown_at(step)

    # --- simulating -----------------------------------------------------------------------------------

    def advance(self, step: int, grab: Grab | None = None) -> bool:
        """Goes to a step: to what is kept of it, else simulates it, from the one before.

        Args:
            step: The step.
            grab: What the user drags; then it is simulated in any case.

        Returns:
            Whether it is there.
        """
        self._ready(step - 1)
        if self._is_there(step) and grab is None:
            self.shown = step
            return True
        if step < 1 or not self._is_there(step - 1):
            return False
        self._pose_at(step - 1)
        if not self._is_there(step - 1):
            return False
        if grab is not None and self._history.fork(step - 1):
            self._keep(step - 1)
        again = step <= self._history.reached and self._history.owner(step) is self._history.line and grab is None
        self._engine.simulation.show(self.time_of(step - 1))
        self._engine.prefetch_poses(step, self.time_of)
        self._engine.step(self.time_of(step), grab)
        self.shown = step
        if again:
            self._add(step)
        else:
            self._keep(step)
        return True

    def pull(self, grab: Grab) -> None:
        """One step while time stands: the step that is shown becomes another one, which is the user's."""
        self._pose_at(self.shown)
        self._history.fork(self.shown)
        self._engine.simulation.show(self.time_of(self.shown))
        self._engine.step(self.time_of(self.shown), grab)
        self._history.line.pulls += 1
        self._keep(self.shown)

    def altered(self) -> None:
        """Someone changed the state of what is simulated: what is kept from the shown step on follows from that."""
        self._history.fork(self.shown)
        self._keep(self.shown)

    # --- what is kept ---------------------------------------------------------------------------------

    @property
    def cached(self) -> list[int]:
        return self._history.cached

    @property
    def reached(self) -> int:
        """The last step that was simulated of the present course."""
        return self._history.reached

    def spans(self, node: NodeId) -> list[tuple[int, int, bool, bool]]:
        """Runs of steps that are kept of a node: first and last one, whether some between are missing, whether settings
        of it were others.
        """
        found: list[tuple[int, int, bool, bool]] = []
        history, course = self._history, self._history.line.courses.get(node)
        elsewhere = self.steps(node)
        for step in sorted({*self.cached, *elsewhere}):
            is_old = step not in elsewhere and history.owner(step).courses.get(node) != course
            if found and found[-1][3] == is_old:
                first, last, thin, _ = found[-1]
                found[-1] = (first, step, thin or step > last + 1, is_old)
            else:
                begin = max(step - 1, 0) if step else 0
                found.append((begin if not found else found[-1][1], step, False, is_old))
        return found

    # --- what other courses have of single nodes ------------------------------------------------------

    def steps(self, node: NodeId) -> range:
        """Steps of a node that need not be simulated, as it was with the same key all the way in another course."""
        elsewhere = self._history.elsewhere(node)
        known, run = self._runs.get(node, (None, range(0)))
        if known is not elsewhere:
            is_baked = self._engine.world.scene.node(node).baked
            first = end = 0 if is_baked else min(elsewhere, default=0)
            while end in elsewhere and not is_baked:
                end += 1
            run = range(first, end)
            self._runs[node] = elsewhere, run
        return run

    def state(self, node: NodeId, step: int) -> bytes | None:
        cached = self._history.elsewhere(node).get(step) if step in self.steps(node) else None
        if cached is None:
            return None
        if self._read[0] is not cached:
            state = self._queue.get(cached)
            self._read = cached, msgspec.msgpack.decode(state)[2] if state is not None else {}
        return self._read[1].get(node)

    def stopped_at(self, node: NodeId) -> int | None:
        """The step at which a node halted in the present course."""
        return self._history.line.stopped.get(node)

    def note_stop_reports(self) -> None:
        """Remembers which nodes stand still at the step that is shown."""
        for node in self._engine.simulation.stopped:
            if node not in self._history.line.stopped:
                self._history.line.stopped[node] = self.shown
                self.version += 1

    def mark(self, step: int) -> object:
        """What stands for what is there of a step, another object once that is another; None where nothing is."""
        cached = self._history.get(step)
        if cached is not None or step not in self._engine.simulation.baked_steps:
            return cached
        parts = tuple(self._history.elsewhere(node).get(step) for node, _ in self._history.line.settings)
        return self._marks.setdefault(parts, object())

    def state_at(self, step: int) -> bytes | None:
        """What is there of a step; None where nothing is.  Waits for the GPU where it is not there yet."""
        cached = self._history.get(step)
        state = self._queue.get(cached) if cached is not None else None
        if state is not None or step not in self._engine.simulation.baked_steps:
            return state
        found = {node: self.state(node, step) for node, _ in self._history.line.settings}
        return msgspec.msgpack.encode((step, step, {node: one for node, one in found.items() if one is not None}))

    @property
    def is_full(self) -> bool:
        return self._queue.is_full

    def limit(self, budget: int) -> None:
        """Gives what is kept so many bytes; the context need not be current."""
        self._queue.limit(budget)
        self.version += 1

    def collect(self) -> None:
        """Keeps what has come from the GPU since the last step; waits for nothing."""
        self._queue.collect()

    def flush(self) -> None:
        """Keeps all that is on its way from the GPU; waits for it."""
        self._queue.flush()

    def clear(self) -> None:
        """Lets go of everything."""
        self._history.clear(())
        self._start_key = self._stands = None
        self._scene, self._read = (), (None, {})
        self._runs.clear()
        self._marks.clear()
        self._queue.is_full = False
        self.shown = 0
        self.version += 1

    def release(self) -> None:
        self._queue.release()

    def _shown_at(self, wanted: int) -> int:
        latest, given = self._history.latest(wanted), self._engine.simulation.baked_steps
        if given and given[0] <= wanted:
            latest = max(latest, min(wanted, given[-1]))
        stands = self._stands
        if stands is not None and latest < stands[1] <= wanted and self._stands_at(stands[1]):
            return stands[1]
        return latest

    def _stands_at(self, step: int) -> bool:
        return self._stands is not None and self._stands[:2] == (self._history.owner(step), step)

    def _ready(self, step: int) -> None:
        """Has all kept that is on its way, as that may let go of steps, unless the engine stands at this one."""
        if not self._stands_at(step):
            self.flush()

    def _is_there(self, step: int) -> bool:
        if not step or self._history.get(step) is not None or self._stands_at(step):
            return True
        return step in self._engine.simulation.baked_steps

    def _pose_at(self, step: int, given: int | None = None) -> None:
        """Brings the engine to a step that is there, and what is given to the same or another one."""
        given, place = step if given is None else given, self._history.owner(step)
        if not self._stands_at(step):
            self._restore(step)
            self._stands = place, step, step
            if step and self._history.get(step) is None and step not in self._engine.simulation.baked_steps:
                self._stands = None  # what was given of it is damaged
        if self._stands is None or self._stands[2] == given:
            return
        if self._engine.show_baked(given, self.time_of(given)):
            self._stands = place, step, given
        elif self._stands[2] != step:
            self._restore(step)
            self._stands = place, step, step

    def _restore(self, step: int) -> None:
        state = self.state_at(step)
        if state is None:
            self._engine.restart(self.time_of(0))
        else:
            self._engine.restore(state, self.time_of(step))

    def _keep(self, step: int) -> None:
        self._history.put(step, self._queue.put(self._engine.simulation.capture()))
        self._queue.collect()
        self._history.line.reached = step
        self._stands = self._history.line, step, step
        self.version += 1

    def _add(self, step: int) -> None:
        self._history.add(step, self._queue.put(self._engine.simulation.capture()))
        self._queue.collect()
        self._stands = self._history.owner(step), step, step
        self.version += 1

    def _lose(self, cached: CachedState) -> None:
        self._history.lose(cached)
        self.version += 1


def _is(one: object, other: object) -> bool:
    return one is other
