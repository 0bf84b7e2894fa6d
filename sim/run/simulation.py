"""Simulation of a scene; a step is `STEP_TIME` at any frame rate, characters are posed for its end."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from sinew.sim.colliders.scene_colliders import SceneColliders
from sinew.sim.colliders.skin import SkinPlacement
from sinew.sim.fields.state import Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.staging import StagingCopies
from sinew.sim.guard import Guard
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.background import BackgroundJob
from sinew.sim.kinds.contract import (
    ColliderSource,
    Coupling,
    ForceSource,
    Grab,
    Kind,
    Prepares,
    Service,
    ShowsMoments,
    StepInputs,
    StepsTogether,
    Stoppable,
    System,
    World,
    has_state,
    loaded,
    stop_reason,
)  # fmt: skip
from sinew.sim.kinds.field_targets import fields_on
from sinew.sim.kinds.packing import State
from sinew.sim.kinds.partners import partners
from sinew.sim.kinds.scene_fields import SceneFields
from sinew.sim.kinds.still_skins import StillSkins
from sinew.sim.memo import same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.keyed import jumped, variants
from sinew.sim.scene.params import Settings, SettingsError
from sinew.sim.scene.scene import Node, NodeId

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Problem:
    node: NodeId  # "" for a warning, whose text names its node
    text: str


class SharedServices:
    """Services of a simulation, each created at its first use."""

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
        """Returns the baked steps; empty for a node that must be simulated."""

    def state(self, node: NodeId, step: int) -> bytes | None:
        """Returns the packed `System.snapshot` after a step; None if the step must be simulated."""


class SceneCharacters(Protocol):
    """The characters of the scene, posed for the end of a step."""

    def place(self, world: World) -> World:
        """Updates what is attached to joints after some were turned; returns the world."""

    def skin(self, world: World) -> World:
        """Skins the characters; returns the world."""


class StateCapture:
    """A copy of the state on the GPU for a later read; later steps do not change it."""

    def __init__(self, copies: StagingCopies, counts: tuple[int, int], states: Mapping[NodeId, State]) -> None:
        self._counts, self._states = counts, states
        self._copy = copies.begin([span for state in states.values() for span in state.spans()])

    @property
    def passed(self) -> bool:
        """True if `read` returns without waiting; the context must be current."""
        return self._copy.passed

    def read(self) -> bytes:
        """Returns the bytes for `Simulation.restore`; only once, waits for the GPU if necessary."""
        contents = iter(self._copy.read())
        return msgspec.msgpack.encode(
            (*self._counts, {node: state.packed(contents) for node, state in self._states.items()})
        )


class Simulation:
    """Colliders and systems of one scene; an error of one node is reported and disables that node alone.

    Systems without a state follow the scene clock: they show the step of the last shown time, and advance by one with
    every step.

    Systems that turn joints of characters come first; then the characters are skinned, and the others follow.

    Attributes:
        systems: Also those that are not ready; a node whose system could not be created has none.
        step_count: Steps since the last reset.
        baked: States of nodes that are not simulated.
        cached: States that need not be simulated again; `baked` takes precedence.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard, characters: SceneCharacters) -> None:
        self._context, self._library, self._guard, self._characters = context, library, guard, characters
        self.services = SharedServices(context, library)
        self.colliders = SceneColliders(context, library)
        self._joint_colliders, self._still_skins = SceneColliders(context, library), StillSkins()
        self._joint_fields = SceneFields(context, library)
        self.systems: dict[NodeId, System] = {}
        self._copies, self.step_count = StagingCopies(context), 0
        self.baked: BakedStates | None = None
        self.cached: BakedStates | None = None
        self._problems: list[Problem] = []
        self._reported: set[str] = set()
        self._applied: tuple[object, ...] = ()
        self._stepped: list[tuple[Node, Kind, System]] = []
        self._turning: list[tuple[Node, Kind, System]] = []
        self._following: list[tuple[Node, Kind, System]] = []
        self._preparing: list[tuple[NodeId, Prepares]] = []
        self._unfinished: dict[NodeId, BackgroundJob[Any]] = {}
        """Jobs that colliders wait for."""
        self._sources: list[tuple[str, ColliderSource | ForceSource]] = []
        self._partners: Mapping[NodeId, tuple[NodeId, ...]] = {}
        self._has_partners = False  # Whether `_partners` are of the applied scene
        self._stale: set[NodeId] = set()
        self._not_restored: set[NodeId] = set()
        self._simulated: frozenset[NodeId] = frozenset()
        self._fields: dict[NodeId, Fields] = {}
        self._had_fields = False
        self._time: float | None = None
        self._moment = 0

    @property
    def is_active(self) -> bool:
        return not self.is_waiting and any(system.is_ready for _, _, system in self._stepped)

    @property
    def has_state(self) -> bool:
        return any(has_state(system) for _, _, system in self._stepped if system.is_ready)

    @property
    def is_due(self) -> bool:
        """True if a system finished preparing, and `apply` must be called although the scene did not change."""
        if self._unfinished and any(job.is_done for job in self._unfinished.values()):
            return True
        return any(system.is_due for _, system in self._preparing)

    @property
    def is_waiting(self) -> bool:
        """True while colliders are made on the worker thread, without which no step should be simulated."""
        return bool(self._unfinished)

    @property
    def is_preparing(self) -> bool:
        return self.is_waiting or any(system.is_preparing for _, system in self._preparing)

    @property
    def stopped(self) -> dict[NodeId, str]:
        systems = self.systems.items()
        return {node_id: reason for node_id, one in systems if one.is_ready and (reason := stop_reason(one))}

    @property
    def progress(self) -> dict[NodeId, float]:
        """Progress of each node that prepares something, 0 to 1."""
        shares = {node_id: system.progress for node_id, system in self._preparing}
        shares |= {node_id: job.share for node_id, job in self._unfinished.items()}
        return {node_id: share for node_id, share in shares.items() if share is not None}

    def prepare(self, ends: float) -> bool:
        """Runs GPU work of preparing systems until monotonic time `ends` [s]; returns True if there was any."""
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
        active = {node_id: one.active_settings for node_id, one in self._preparing if one.is_preparing}
        return active | dict.fromkeys(self._unfinished)

    def take_problems(self) -> list[Problem]:
        """Returns the new problems, each of them once."""
        problems, self._problems = self._problems, []
        for system in self.systems.values():
            if system.problems:
                problems += [Problem("", line) for line in system.problems]
                system.problems.clear()
        problems += [Problem(*reported) for reported in self._guard.problems]
        self._guard.problems.clear()
        return problems

    # --- the scene ------------------------------------------------------------------------------------

    def apply(self, world: World, *, is_due: bool) -> None:
        """Applies the scene; does nothing if only transforms changed since the last call, little if keys did."""
        scene, allowed = world.scene, world.applied.allowed
        inputs = allowed, world.characters, world.applied.assets
        if same_objects(inputs, self._applied) and not is_due:
            if allowed.is_keyed:
                self._apply_keys(world)
            return
        self._applied = inputs
        for node_id in [node_id for node_id in self.systems if not scene.has(node_id)]:
            self.systems.pop(node_id).release()
        self._stale |= scene.simulated - self._simulated
        self._simulated = scene.simulated
        self._stepped, self._turning, self._following = [], [], []
        for node in scene.nodes:
            kind = KINDS[node.settings.kind]
            if kind.system:
                self._apply(node, kind, world)
        # A character may be attached to a turned joint of another one, which comes first.
        self._turning.sort(key=lambda one: len(scene.carriers(one[0].id)))
        self._has_partners = False
        self._preparing = [(node_id, one) for node_id, one in self.systems.items() if isinstance(one, Prepares)]
        self._unfinished, self._sources = {}, []
        for kind in KINDS.values():
            if (force := kind.declared.get(ForceSource)) is not None:
                self._sources.append((kind.name, force))
            if (source := kind.declared.get(ColliderSource)) is not None:
                self._sources.append((kind.name, source))
                if source.unfinished and (nodes := scene.simulated_of_kind(kind.name)):
                    self._unfinished |= loaded(source.unfinished)(nodes, world)

    def _apply_keys(self, world: World) -> None:
        """Systems take nodes whose values changed with time."""
        for place, (node, kind, system) in enumerate(self._stepped):
            now = world.scene.node(node.id)
            if now is not node:
                self._stepped[place] = now, kind, system
                self._stale.add(node.id)
                with self._guard.of(now):
                    system.apply(now, world)

    def _apply(self, node: Node, kind: Kind, world: World) -> None:
        try:
            system = self.systems.get(node.id)
            if system is None:
                system = self.systems[node.id] = loaded(kind.system)(self._context, self._library)
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
        if node.curves and system.is_ready:
            system.warm_up(variants(node))
        self._stepped.append((node, kind, system))
        (self._turning if kind.part(Coupling).turns_joints else self._following).append((node, kind, system))
        self._stale.add(node.id)

    def retry(self) -> None:
        """Makes the next `apply` apply every node, for instance after shaders were reloaded."""
        self._applied = ()

    # --- time -----------------------------------------------------------------------------------------

    def step(self, world: World, time: float, grab: Grab | None = None) -> None:
        """Advances to scene time `time` [s]; the characters are posed for that time."""
        self._time, self._moment = time, self._moment + 1
        allowed = world.applied.allowed
        moved = jumped(allowed, time - STEP_TIME, time) if allowed.is_keyed else frozenset[NodeId]()
        if moved:
            self.colliders.teleport(moved)
            self._joint_colliders.teleport(moved)
            self._joint_fields.teleport(moved)
            if self._had_fields:
                self.services.get(SceneFields).teleport(moved)
        if not self._has_partners:
            self._partners, self._has_partners = partners(allowed), True
        scope, faulty = self._context.timers.scope, self._guard.faulty
        saved = self.baked is not None or self.cached is not None
        self._advance_joint_surroundings(world)
        for nodes, now in self._in_order(world, self._advance_surroundings):
            follows = nodes is self._following
            colliders = self.colliders.now if follows else self._joint_colliders.now
            inputs = StepInputs(now, colliders, self._moment, time, grab, self._fields, self._partners)
            for node, kind, system in nodes:
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
                            system.show(self._moment, now)
                            self._stale.discard(node.id)
                        elif not (
                            saved
                            and (node.id not in self._partners or self._is_saved(node))
                            and self._restore_saved(node, system, self._moment, now, self.baked, self.cached)
                        ):
                            if node.id in moved:
                                system.jump(now)
                            system.step(inputs)
                except Exception as error:
                    self._guard.note(node.id, error)
        for node, kind, system in self._stepped if self._partners else ():
            if node.id in self._partners and isinstance(system, StepsTogether) and self._has_state(node, system):
                with self._guard.of(node), scope(kind.name, node.name or node.id):
                    system.finish_step()
        for service in self.services.all():
            service.finish_step()
        self.step_count += 1

    def _in_order(
        self, world: World, begin: Callable[[World], object] = lambda _: None
    ) -> Iterator[tuple[list[tuple[Node, Kind, System]], World]]:
        """Yields all systems, in parts with the world that they see.

        After those that turn joints the characters are skinned, and `begin` gets the world of the others.
        """
        for one in self._turning:
            yield [one], world
            world = self._characters.place(world)
        world = self._characters.skin(world)
        begin(world)
        yield self._following, world

    def reset(self) -> None:
        """Resets all systems, and retries nodes that failed."""
        self.step_count = self._moment = 0
        self.colliders.reset()
        self._joint_colliders.reset()
        self._guard.renew()
        for node, _, system in self._stepped:
            with self._guard.of(node):
                system.reset()
        self._teleport_services()

    def teleport(self, world: World, time: float) -> None:
        """Jumps to `time` [s], which gives colliders and emitters no velocity."""
        self.colliders.teleport()
        self._joint_colliders.teleport()
        for node, _, system, now in _each(self._in_order(world)):
            with self._guard.of(node):
                system.teleport(now)
        self._teleport_services()
        self.show(world, time)

    def state(self) -> bytes:
        """Returns all input of the next step except characters, functions of time; waits for the GPU."""
        return msgspec.msgpack.encode((self.step_count, self._moment, self.states()))

    def capture(self) -> StateCapture:
        """Copies the state on the GPU; does not wait."""
        return StateCapture(self._copies, (self.step_count, self._moment), self._snapshots())

    def states(self) -> dict[NodeId, bytes]:
        """Returns the states of all nodes; waits for the GPU."""
        return {node: snapshot.packed() for node, snapshot in self._snapshots().items()}

    def _snapshots(self) -> dict[NodeId, State]:
        snapshots = {}
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if system.is_ready and has_state(system):
                    snapshots[node.id] = system.snapshot()
        return snapshots

    def restore(self, state: bytes, world: World, time: float) -> frozenset[NodeId]:
        """Restores a state; the steps after it give the same bits.

        Args:
            state: Result of `state` for the same scene.
            world: With the characters posed for the end of that step.
            time: Scene time at the end of that step [s].

        Returns:
            Nodes that could not be restored, for instance because their state has another size.  They are reported, and
            disabled until something changes or another state is restored.
        """
        steps, moment, states = msgspec.msgpack.decode(state)
        self.step_count, self._moment, self._time = steps, moment, time
        self._advance_joint_surroundings(world)
        failed: set[NodeId] = set()
        for node, _, system, now in _each(self._in_order(world, self._settle)):
            try:
                if self._has_state(node, system) and self._restore_saved(node, system, moment, now, self.baked):
                    continue
                if node.id in states and system.is_ready and has_state(system):
                    system.restore(states[node.id], now)
                    if node.id in self._not_restored:
                        self._not_restored.discard(node.id)
                        self._guard.faulty.discard(node.id)
                elif self._has_state(node, system):
                    self._restore_saved(node, system, moment, now, self.cached)
            except Exception as error:
                failed.add(node.id)
                self._guard.note(node.id, error)
        self._not_restored |= failed
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
        self._advance_joint_surroundings(world)
        for node, _, system, now in _each(self._in_order(world, self._settle)):
            with self._guard.of(node):
                if not self._has_state(node, system):
                    continue
                first, second = (
                    _saved_state(self.baked, node.id, step + i)
                    or cached[i].get(node.id)
                    or _saved_state(self.cached, node.id, step + i)
                    for i in (0, 1)
                )
                if first is not None and second is not None:
                    system.restore(system.interpolate(first, second, share), now)
        self.show(world, time)
        self._stale |= self.systems.keys()

    def _settle(self, world: World) -> None:
        self._advance_surroundings(world)
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
        """Shows the baked states of a step; the characters must be posed for its end."""
        for node, _, system, now in _each(self._in_order(world)):
            with self._guard.of(node):
                if self._has_state(node, system):
                    self._restore_saved(node, system, step, now, self.baked, self.cached)

    def _is_saved(self, node: Node) -> bool:
        """Returns False if a node that acts on this one must be simulated in this step: then both are."""
        return all(
            any(_saved_state(source, other, self._moment) is not None for source in (self.baked, self.cached))
            for other in self._partners[node.id]
        )

    def _restore_saved(self, node: Node, system: System, step: int, world: World, *sources: BakedStates | None) -> bool:
        """Restores a saved state; returns False if no source has the state of the step."""
        for source in sources:
            state = _saved_state(source, node.id, step)
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
        self._stepped, self._turning, self._following, self._preparing = [], [], [], []
        for service in self.services.all():
            service.release()
        self.colliders.release()
        self._joint_colliders.release()
        self._joint_fields.release()
        self._copies.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def show(self, world: World, time: float) -> None:
        """Shows `time` [s] in systems without a state at the next `refresh`; the next step follows it.

        The time of the last step shows that step, even if the clock has looped.
        """
        if time != self._time:
            self._time = time
            self._moment = max(round((time - world.applied.start_time) / STEP_TIME), 0)
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

    def _advance_joint_surroundings(self, world: World) -> None:
        """Sets what acts on the systems that turn joints: all but what they move."""
        self._fields = {}
        if any(kind.part(Coupling).collides(one.settings) or fields_on(world, one) for one, kind, _ in self._turning):
            colliders, fields = (
                {k: one for k, one in placed.items() if not _is_turned(world.scene.node(k), world)}
                for placed in self._all_placed(world, [])
            )
            if any(isinstance(one, SkinPlacement) for one in colliders.values()):
                self._characters.skin(world)
                colliders = self._still_skins.of(colliders, world)
            self._joint_colliders.advance(colliders)
            turning = [node for node, _, _ in self._turning]
            self._fields = self._joint_fields.advance(world, fields, self._step_start, turning)
        else:
            self._joint_colliders.teleport()
            self._joint_fields.teleport()

    def _all_placed(self, world: World, warnings: list[str]) -> tuple[dict[NodeId, Any], dict[NodeId, Any]]:
        """Returns placements of colliders and of force fields; adds lines about missing parents to `warnings`."""
        colliders: dict[NodeId, Any] = {}
        fields: dict[NodeId, Any] = {}
        for name, source in self._sources:
            nodes = world.scene.simulated_of_kind(name)
            if self._unfinished:
                nodes = tuple(node for node in nodes if node.id not in self._unfinished)
            if nodes:
                placed = colliders if isinstance(source, ColliderSource) else fields
                with self._context.timers.scope(f"{name}s"):
                    placed |= self._placed(loaded(source.of), nodes, world)
                warnings += world.places.all_missing(nodes)
        return colliders, fields

    def _advance_surroundings(self, world: World) -> None:
        """Moves colliders and force fields to the end of the step."""
        warnings: list[str] = []
        colliders, fields = self._all_placed(world, warnings)
        self.colliders.advance(colliders)
        if fields or self._had_fields:
            following = [node for node, _, _ in self._following]
            self._fields = self.services.get(SceneFields).advance(world, fields, self._step_start, following)
        self._had_fields = bool(fields)
        self._problems += [Problem("", line) for line in warnings if line not in self._reported]
        self._reported = set(warnings)  # a warning that was fixed and comes back is reported again

    @property
    def _step_start(self) -> float:
        """Start of the last step, since the start of the simulation [s]."""
        return max(self._moment - 1, 0) * STEP_TIME

    def _placed(
        self, place: Callable[..., dict[NodeId, Any]], nodes: Sequence[Node], world: World
    ) -> dict[NodeId, Any]:
        """Returns placements; leaves out nodes that fail."""
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
        for service in (self._joint_fields, *self.services.all()):
            service.teleport()
        self._stale |= self.systems.keys()


def _each(
    parts: Iterable[tuple[list[tuple[Node, Kind, System]], World]],
) -> Iterator[tuple[Node, Kind, System, World]]:
    return ((*one, world) for nodes, world in parts for one in nodes)


def _is_turned(node: Node, world: World) -> bool:
    """Returns True if a node is attached, directly or through others, to a joint that a system turns."""
    for link in (node, *world.scene.carriers(node.id)):
        character = world.characters.get(link.attachment.node)
        skeleton = character.model.skeleton if character is not None else None
        joint = skeleton.find(link.attachment.bone) if skeleton is not None else None
        if character is not None and joint is not None and character.is_turned(joint):
            return True
    return False


def _saved_state(source: BakedStates | None, node: NodeId, step: int) -> bytes | None:
    return source.state(node, step) if source is not None else None
