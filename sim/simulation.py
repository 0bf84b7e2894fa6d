"""One step is `STEP_TIME` of scene time at any frame rate; the characters are posed for the end of the step."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from sinew.sim.colliders.scene_colliders import Colliders, SceneColliders
from sinew.sim.fields.state import Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.staging import StagingCopies
from sinew.sim.guard import Guard
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import (
    Grab,
    Kind,
    Prepares,
    Service,
    ShowsMoments,
    StepInputs,
    Stoppable,
    System,
    World,
    has_state,
    stop_reason,
)
from sinew.sim.kinds.packing import State
from sinew.sim.kinds.scene_fields import SceneFields
from sinew.sim.memo import same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Settings, SettingsError
from sinew.sim.scene.scene import Node, NodeId

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Problem:
    node: NodeId  # "" for a warning, whose text names its node
    text: str


class SharedServices:
    """Creates each service at its first use."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._services: dict[Callable[..., Any], Any] = {}

    def get(self, cls: Callable[..., S]) -> S:
        if cls not in self._services:
            self._services[cls] = cls(self._context, self._library)
        service: S = self._services[cls]
        return service

    def all(self) -> list[Service]:
        return list(self._services.values())


class BakedStates(Protocol):
    def steps(self, node: NodeId) -> range:
        """Empty for a node that must be simulated."""

    def state(self, node: NodeId, step: int) -> bytes | None:
        """The packed `System.snapshot` after a step; None if the step must be simulated."""


class StateCapture:
    """A copy of the state on the GPU for a later read; later steps do not change it."""

    def __init__(self, copies: StagingCopies, counts: tuple[int, int], states: Mapping[NodeId, State]) -> None:
        self._counts, self._states = counts, states
        self._copy = copies.begin([span for state in states.values() for span in state.spans()])

    @property
    def passed(self) -> bool:
        """Whether `read` returns without waiting.  The context must be current."""
        return self._copy.passed

    def read(self) -> bytes:
        """The bytes for `Simulation.restore`; only once, waits for the GPU if necessary."""
        contents = iter(self._copy.read())
        return msgspec.msgpack.encode(
            (*self._counts, {node: state.packed(contents) for node, state in self._states.items()})
        )


class Simulation:
    """Colliders and systems of one scene; an error of one node is reported and disables that node alone.

    Systems without a state follow the scene clock: they show the step of the last shown time, and advance by one with
    every step.

    Attributes:
        systems: Also those that are not ready; a node whose system could not be created has none.
        step_count: Steps since the last reset.
        start_time: Scene time at which the simulation starts [s]; the owner of the clock sets it.
        baked: States of nodes that are not simulated.
        cached: States that need not be simulated again; `baked` takes precedence.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self._context, self._library, self._guard = context, library, guard
        self.services = SharedServices(context, library)
        self.colliders = SceneColliders(context)
        self.systems: dict[NodeId, System] = {}
        self._copies = StagingCopies(context)
        self.step_count = 0
        self.start_time = 0.0
        self.baked: BakedStates | None = None
        self.cached: BakedStates | None = None
        self._problems: list[Problem] = []
        self._reported: set[str] = set()
        self._applied: tuple[object, ...] = ()
        self._stepped: list[tuple[Node, Kind, System]] = []
        self._preparing: list[tuple[NodeId, Prepares]] = []
        self._stale: set[NodeId] = set()
        self._not_restored: set[NodeId] = set()
        self._simulated: frozenset[NodeId] = frozenset()
        self._fields: Mapping[NodeId, Fields] = {}
        self._had_fields = False
        self._time: float | None = None
        self._moment = 0

    @property
    def is_active(self) -> bool:
        return any(system.is_ready for _, _, system in self._stepped)

    @property
    def has_state(self) -> bool:
        return any(has_state(system) for _, _, system in self._stepped if system.is_ready)

    @property
    def is_due(self) -> bool:
        """Whether a system finished preparing, and `apply` must be called although the scene did not change."""
        return any(system.is_due for _, system in self._preparing)

    @property
    def is_preparing(self) -> bool:
        return any(system.is_preparing for _, system in self._preparing)

    @property
    def stopped(self) -> dict[NodeId, str]:
        systems = self.systems.items()
        return {node_id: reason for node_id, one in systems if one.is_ready and (reason := stop_reason(one))}

    @property
    def progress(self) -> dict[NodeId, float]:
        """0 to 1 for each system that prepares something."""
        shares = {node_id: system.progress for node_id, system in self._preparing}
        return {node_id: share for node_id, share in shares.items() if share is not None}

    def prepare(self, ends: float) -> bool:
        """Runs GPU work of preparing systems until monotonic time `ends` [s]; returns whether there was any."""
        did = False
        for node_id, system in self._preparing:
            try:
                while node_id not in self._guard.faulty and system.prepare():
                    did = True
                    if time.monotonic() >= ends:
                        return True
            except Exception as error:
                self._guard.note(node_id, error)
        return did

    def cancel_preparing(self) -> None:
        for _, system in self._preparing:
            system.cancel_preparing()

    @property
    def active_settings(self) -> Mapping[NodeId, Settings | None]:
        return {node_id: one.active_settings for node_id, one in self._preparing if one.is_preparing}

    def take_problems(self) -> list[Problem]:
        """Returns each problem once."""
        problems, self._problems = self._problems, []
        for system in self.systems.values():
            if system.problems:
                problems += [Problem("", line) for line in system.problems]
                system.problems.clear()
        problems += [Problem(*reported) for reported in self._guard.problems]
        self._guard.problems.clear()
        return problems

    # --- the scene ------------------------------------------------------------------------------------

    def apply(self, world: World) -> None:
        """Does nothing if only world transforms changed since the last call."""
        scene, inputs = world.scene, (world.scene, world.characters, world.assets)
        if same_objects(inputs, self._applied) and not self.is_due:
            return
        self._applied = inputs
        for node_id in [node_id for node_id in self.systems if not scene.has(node_id)]:
            self.systems.pop(node_id).release()
        self._stale |= scene.simulated - self._simulated
        self._simulated = scene.simulated
        self._stepped = []
        for node in scene.nodes:
            kind = KINDS[node.settings.kind]
            if kind.system:
                self._apply(node, kind, world)
        self._preparing = [(node_id, one) for node_id, one in self.systems.items() if isinstance(one, Prepares)]

    def _apply(self, node: Node, kind: Kind, world: World) -> None:
        try:
            system = self.systems.get(node.id)
            if system is None:
                system = self.systems[node.id] = kind.load("system")(self._context, self._library)
        except Exception as error:
            self._guard.note(node.id, error)
            return
        try:
            system.apply(node, world)
        except SettingsError as error:
            self._problems.append(Problem(node.id, str(error)))
        except Exception as error:
            self._guard.note(node.id, error)
            if not system.is_ready:  # half made; the next try creates it anew
                self.systems.pop(node.id).release()
                return
        self._stepped.append((node, kind, system))
        self._stale.add(node.id)

    def retry(self) -> None:
        """Makes the next `apply` apply every node, for instance after shaders were reloaded."""
        self._applied = ()

    # --- time -----------------------------------------------------------------------------------------

    def step(self, world: World, time: float, grab: Grab | None = None) -> None:
        """Advances to scene time `time` [s]; the characters are posed for that time."""
        self._time, self._moment = time, self._moment + 1
        scope, faulty = self._context.timers.scope, self._guard.faulty
        saved = self.baked is not None or self.cached is not None
        inputs = StepInputs(
            world, self._advance_surroundings(world, self._moment), self._moment, time, grab, self._fields
        )
        for node, kind, system in self._stepped:
            if node.id in faulty:
                continue
            try:
                if not system.is_ready:
                    continue
                if node.id not in self._simulated:
                    system.mute()
                    continue
                with scope(kind.name, node.name or node.id):
                    if isinstance(system, ShowsMoments) and not system.has_state:
                        system.show(self._moment, world)
                        self._stale.discard(node.id)
                    elif not (
                        saved and self._restore_saved(node, system, self._moment, world, self.baked, self.cached)
                    ):
                        system.step(inputs)
            except Exception as error:
                self._guard.note(node.id, error)
        for service in self.services.all():
            service.finish_step()
        self.step_count += 1

    def reset(self) -> None:
        """Also retries nodes that failed."""
        self.step_count = self._moment = 0
        self.colliders.reset()
        self._guard.renew()
        for node, _, system in self._stepped:
            with self._guard.of(node):
                system.reset()
        self._teleport_services()

    def teleport(self, world: World, time: float) -> None:
        """The jump gives colliders and emitters no velocity; `time` is in seconds."""
        self.colliders.teleport()
        for node, _, system in self._stepped:
            with self._guard.of(node):
                system.teleport(world)
        self._teleport_services()
        self.show(time)

    def state(self) -> bytes:
        """All input of the next step except characters, which are functions of time; waits for the GPU."""
        return msgspec.msgpack.encode((self.step_count, self._moment, self.states()))

    def capture(self) -> StateCapture:
        """Copies the state on the GPU; does not wait."""
        return StateCapture(self._copies, (self.step_count, self._moment), self._snapshots())

    def states(self) -> dict[NodeId, bytes]:
        """Waits for the GPU."""
        return {node: snapshot.packed() for node, snapshot in self._snapshots().items()}

    def _snapshots(self) -> dict[NodeId, State]:
        snapshots = {}
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if system.is_ready and has_state(system):
                    snapshots[node.id] = system.snapshot()
        return snapshots

    def restore(self, state: bytes, world: World, time: float) -> frozenset[NodeId]:
        """The steps after it give the same bits.

        Args:
            state: Result of `state` for the same scene.
            world: With the characters posed for the end of that step.
            time: Scene time at the end of that step [s].

        Returns:
            Nodes that could not be restored, for instance because their state has another size.  They are reported, and
            disabled until something changes or another state is restored.
        """
        steps, moment, states = msgspec.msgpack.decode(state)
        self._settle(world, moment)
        failed: set[NodeId] = set()
        for node, _, system in self._stepped:
            try:
                if self._has_state(node, system) and self._restore_saved(node, system, moment, world, self.baked):
                    continue
                if node.id in states and system.is_ready and has_state(system):
                    system.restore(states[node.id], world)
                    if node.id in self._not_restored:
                        self._not_restored.discard(node.id)
                        self._guard.faulty.discard(node.id)
                elif self._has_state(node, system):
                    self._restore_saved(node, system, moment, world, self.cached)
            except Exception as error:
                failed.add(node.id)
                self._guard.note(node.id, error)
        self._not_restored |= failed
        self.step_count, self._moment, self._time = steps, moment, time
        self._stale |= self.systems.keys()
        return frozenset(failed)

    def reconsider(self) -> None:
        """Resumes systems that are stopped in the restored state if the current settings allow it."""
        for node, _, system in self._stepped:
            if isinstance(system, Stoppable):
                with self._guard.of(node):
                    system.recheck()

    def show_interpolated(
        self, states: tuple[bytes | None, bytes | None], step: int, share: float, world: World, time: float
    ) -> None:
        """Shows a time between two steps, see `System.interpolate`; the simulation cannot continue from it.

        Args:
            states: Results of `state` after both steps; None if not cached.  `baked` takes precedence.
            step: The first step.
            share: From the first step to the next, 0 to 1.
            world: With the characters posed for `time` [s].
        """
        cached = [{} if state is None else msgspec.msgpack.decode(state)[2] for state in states]
        self._settle(world, step)
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if not self._has_state(node, system):
                    continue
                first, second = (
                    _saved_state(self.baked, node, step + i)
                    or cached[i].get(node.id)
                    or _saved_state(self.cached, node, step + i)
                    for i in (0, 1)
                )
                if first is not None and second is not None:
                    system.restore(system.interpolate(first, second, share), world)
        self.show(time)
        self._stale |= self.systems.keys()

    def _settle(self, world: World, moment: int) -> None:
        self._advance_surroundings(world, moment)
        for service in self.services.all():
            service.finish_step()

    # --- baked and cached states ----------------------------------------------------------------------

    @property
    def baked_steps(self) -> range:
        """Steps without simulation, because the states of all nodes are baked or cached elsewhere."""
        steps = [self._saved_steps(node) for node, _, system in self._stepped if self._has_state(node, system)]
        first, end = max((one.start for one in steps), default=0), min((one.stop for one in steps), default=0)
        return range(first, max(first, end))

    def is_baked(self, step: int) -> bool:
        return any(
            step in self._saved_steps(node) for node, _, system in self._stepped if self._has_state(node, system)
        )

    def _saved_steps(self, node: Node) -> range:
        baked = self.baked.steps(node.id) if self.baked is not None else range(0)
        cached = self.cached.steps(node.id) if self.cached is not None else range(0)
        if baked and cached and baked.start <= cached.stop and cached.start <= baked.stop:
            return range(min(baked.start, cached.start), max(baked.stop, cached.stop))
        return baked or cached

    def show_baked(self, step: int, world: World) -> None:
        """The characters must be posed for the end of the step."""
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if self._has_state(node, system):
                    self._restore_saved(node, system, step, world, self.baked, self.cached)

    def _restore_saved(self, node: Node, system: System, step: int, world: World, *sources: BakedStates | None) -> bool:
        """Returns False if no source has the state of the step."""
        for source in sources:
            state = _saved_state(source, node, step)
            if state is None:
                continue
            self._stale.add(node.id)
            try:
                system.restore(state, world)
            except SettingsError as error:
                raise SettingsError(f"its step {step} was cached with other settings: {error}") from error
            except Exception as error:  # damaged bytes may raise anything
                raise SettingsError(f"its step {step} cannot be read: {type(error).__name__}: {error}") from error
            return True
        return False

    def _has_state(self, node: Node, system: System) -> bool:
        is_stepped = node.id in self._simulated and node.id not in self._guard.faulty
        return system.is_ready and has_state(system) and is_stepped

    def release(self) -> None:
        for system in self.systems.values():
            system.release()
        self.systems.clear()
        self._stepped, self._preparing = [], []
        for service in self.services.all():
            service.release()
        self.colliders.release()
        self._copies.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def show(self, time: float) -> None:
        """Systems without a state show `time` [s] at the next `refresh`, and the next step follows it.

        The time of the last step shows that step, even if the clock has looped.
        """
        if time != self._time:
            self._time = time
            self._moment = max(round((time - self.start_time) / STEP_TIME), 0)
            self._stale |= self.systems.keys()

    def refresh(self, world: World, now: float) -> None:
        """Updates drawing and detects instabilities without waiting for the GPU; `now` is monotonic time [s]."""
        scope, faulty = self._context.timers.scope, self._guard.faulty
        for node, kind, system in self._stepped:
            if node.id in faulty:
                continue
            with self._guard.of(node):
                if not system.is_ready:
                    continue
                is_stale = node.id in self._stale and node.id in self._simulated
                if is_stale and isinstance(system, ShowsMoments) and not system.has_state:
                    with scope(kind.name, node.name or node.id):
                        system.show(self._moment, world)
                running = not stop_reason(system)
                system.poll(now)
                self._report_stop(node.id, system, running)
        self._stale.clear()

    def check(self) -> None:
        """Stops unstable systems; waits for the GPU."""
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if system.is_ready and isinstance(system, Stoppable):
                    running = not system.stopped
                    system.check()
                    self._report_stop(node.id, system, running)

    def _report_stop(self, node_id: NodeId, system: System, was_running: bool) -> None:
        if was_running and (reason := stop_reason(system)):
            self._problems.append(Problem(node_id, reason))

    def _advance_surroundings(self, world: World, moment: int) -> Colliders:
        """Moves colliders and force fields to the end of step `moment`."""
        warnings: list[str] = []
        colliders = self._placements("colliders", world, warnings)
        fields = self._placements("fields", world, warnings)
        self._problems += [Problem("", line) for line in warnings if line not in self._reported]
        self._reported = set(warnings)  # a warning that was fixed and comes back is reported again
        if fields or self._had_fields:
            nodes = [node for node, _, _ in self._stepped]
            time = max(moment - 1, 0) * STEP_TIME
            self._fields = self.services.get(SceneFields).advance(world, fields, time, nodes)
        self._had_fields = bool(fields)
        return self.colliders.advance(colliders)

    def _placements(self, part: str, world: World, warnings: list[str]) -> dict[NodeId, Any]:
        placed: dict[NodeId, Any] = {}
        for kind in KINDS.values():
            if getattr(kind, part) and (nodes := world.scene.simulated_of_kind(kind.name)):
                with self._context.timers.scope(f"{kind.name}s"):
                    placed |= self._placed(kind.load(part), nodes, world)
                warnings += world.places.all_missing(nodes)
        return placed

    def _placed(
        self, place: Callable[..., dict[NodeId, Any]], nodes: Sequence[Node], world: World
    ) -> dict[NodeId, Any]:
        """Omits nodes that fail."""
        places = world.places
        try:
            placements = place(nodes, places)
        except Exception:  # try them one by one to find the node that fails
            placements = {}
            for node in nodes:
                nothing: dict[NodeId, Any] = {}
                placements |= self._guard.call(node, functools.partial(place, (node,), places), nothing)
        return placements

    def _teleport_services(self) -> None:
        for service in self.services.all():
            service.teleport()
        self._stale |= self.systems.keys()


def _saved_state(source: BakedStates | None, node: Node, step: int) -> bytes | None:
    return source.state(node.id, step) if source is not None else None
