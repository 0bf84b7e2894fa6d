"""Everything that is simulated in a scene: what particles collide with, and the systems of its nodes.

One step is `STEP_TIME` of scene time, whatever the frame rate.  Poses of the figures are given; they are those at the
end of the step.  It knows neither playhead nor drawing, and no kind.
"""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import msgspec

from sim.colliders.scene_colliders import Colliders, SceneColliders
from sim.colliders.state import ColliderPlacement
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.staging import StagingCopies
from sim.guard import Guard
from sim.kinds import KINDS
from sim.kinds.contract import (
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
from sim.kinds.packing import State
from sim.scene.clock import STEP_TIME
from sim.scene.params import Settings, SettingsError
from sim.scene.scene import Node, NodeId

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a node that the user should know; one line.

    Attributes:
        node: The node that cannot go on, or "" for what only deserves a warning.
        text: The line; a warning names its node.
    """

    node: NodeId
    text: str


class SharedServices:
    """The services of one simulation, each made when it is asked for first."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._made: dict[Callable[..., Any], Any] = {}

    def get(self, cls: Callable[..., S]) -> S:
        if cls not in self._made:
            self._made[cls] = cls(self._context, self._library)
        found: S = self._made[cls]
        return found

    def all(self) -> list[Service]:
        return list(self._made.values())


class BakedStates(Protocol):
    """States of nodes that are shown and not simulated."""

    def steps(self, node: NodeId) -> range:
        """The steps that there are states of; none where the node is to be simulated."""

    def state(self, node: NodeId, step: int) -> bytes | None:
        """What `System.state` gave after a step; None where the node is to be simulated."""


class NoBakedStates:
    """Every node is simulated."""

    def steps(self, _node: NodeId) -> range:
        return range(0)

    def state(self, _node: NodeId, _step: int) -> bytes | None:
        return None


class StateCapture:
    """The state as it stood when this was made; what is simulated afterwards does not change it.

    Args:
        copies: Makes the copies.
        counts: Steps since the last reset, and moment.
        states: Of every node that has one.
    """

    def __init__(self, copies: StagingCopies, counts: tuple[int, int], states: Mapping[NodeId, State]) -> None:
        self._counts, self._states = counts, states
        self._copy = copies.begin([span for state in states.values() for span in state.spans()])

    @property
    def passed(self) -> bool:
        """Whether it is there, so that reading does not wait.  The context must be current."""
        return self._copy.passed

    def read(self) -> bytes:
        """The bytes that `Simulation.restore` takes, once; waits for the GPU where they are not there."""
        contents = iter(self._copy.read())
        return msgspec.msgpack.encode(
            (*self._counts, {node: state.packed(contents) for node, state in self._states.items()})
        )


class Simulation:
    """Solids and systems of one scene.

    What has no state follows the scene clock: it shows the step that belongs to a time that was shown, and one more
    with every step.

    Args:
        context: Where they live.
        library: Where programs come from.
        guard: What goes wrong with a node is its alone.

    Attributes:
        systems: By node; also those that are not ready.
        solids: What there is to collide with.
        step_count: Steps since the last reset.
        start_time: Moment of the scene clock that the simulation starts at [s]; whoever owns the clock sets it.
        given: Gives the states of nodes that are not simulated.
        kept: The same for what need not be simulated again; what is given comes before it.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self._context, self._library, self._guard = context, library, guard
        self.services = SharedServices(context, library)
        self.colliders = SceneColliders(context)
        self.systems: dict[NodeId, System] = {}
        self._copies = StagingCopies(context)
        self.step_count = 0
        self.start_time = 0.0
        self.given: BakedStates = NoBakedStates()
        self.cached: BakedStates = NoBakedStates()
        self._problems: list[Problem] = []
        self._reported: set[str] = set()
        self._world: World | None = None
        self._stepped: list[tuple[Node, Kind, System]] = []
        self._stale: set[NodeId] = set()
        self._simulated: frozenset[NodeId] = frozenset()
        self._time: float | None = None
        self._moment = 0

    @property
    def is_active(self) -> bool:
        return any(system.is_ready for _, _, system in self._stepped)

    @property
    def has_state(self) -> bool:
        """Whether something depends on the steps before, not on the time alone."""
        return any(has_state(system) for _, _, system in self._stepped if system.is_ready)

    @property
    def is_due(self) -> bool:
        """Whether a system is to be applied again although nothing changed."""
        return any(system.is_due for _, system in self._preparing())

    @property
    def is_preparing(self) -> bool:
        """Whether a system goes by settings of before."""
        return any(system.is_preparing for _, system in self._preparing())

    @property
    def progress(self) -> dict[NodeId, float]:
        """How far systems are that prepare something, 0 to 1."""
        found = {node_id: system.progress for node_id, system in self._preparing()}
        return {node_id: share for node_id, share in found.items() if share is not None}

    def prepare(self, ends: float) -> bool:
        """Does what is left to do of that on the GPU until monotonic time `ends` [s]; returns whether there was any."""
        did = False
        for node_id, system in self._preparing():
            try:
                while not self._guard.is_out(node_id) and system.prepare():
                    did = True
                    if time.monotonic() >= ends:
                        return True
            except Exception as error:
                self._guard.note(node_id, error)
        return did

    def cancel_preparing(self) -> None:
        """Ends what systems prepare; they go by what they have."""
        for _, system in self._preparing():
            system.cancel_preparing()

    def _preparing(self) -> list[tuple[NodeId, Prepares]]:
        return [(node_id, system) for node_id, system in self.systems.items() if isinstance(system, Prepares)]

    @property
    def in_force(self) -> Mapping[NodeId, Settings | None]:
        """Settings of before that systems go by, see `World`."""
        return {node_id: one.in_force for node_id, one in self._preparing() if one.is_preparing}

    def take_problems(self) -> list[Problem]:
        """What went wrong since the last call."""
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
        """Takes the scene as it is now; every change costs what its declaration names.

        Nothing is done for the very world of the last call, nor for one that differs in its places alone.
        """
        if self._world is not None and _same(world, self._world) and not self.is_due:
            self._world = world
            return
        world = self._world = self._given(world)
        scene = world.scene
        for node_id in [node_id for node_id in self.systems if not scene.has(node_id)]:
            self.systems.pop(node_id).release()
        self._stale |= scene.simulated - self._simulated
        self._simulated = scene.simulated
        self._stepped = []
        for node in scene.nodes:
            kind = KINDS[node.kind]
            if kind.system:
                self._apply(node, kind, world)

    def _apply(self, node: Node, kind: Kind, world: World) -> None:
        system = self.systems.get(node.id)
        if system is None:
            system = self.systems[node.id] = kind.load("system")(self._context, self._library)
        try:
            system.apply(node, world)
        except SettingsError as error:
            self._problems.append(Problem(node.id, str(error)))
        except Exception as error:
            self._guard.note(node.id, error)
        self._stepped.append((node, kind, system))
        self._stale.add(node.id)

    # --- time -----------------------------------------------------------------------------------------

    def step(self, world: World, time: float, grab: Grab | None = None) -> None:
        """Advances everything by one step, which ends at `time` [s] with the figures as they stand now."""
        self._time, self._moment = time, self._moment + 1
        world = self._given(world)
        scope = self._context.timers.scope
        colliders = self._advance_colliders(world)
        inputs = StepInputs(world, colliders, self._moment, time, grab)
        for node, kind, system in self._stepped:
            if self._guard.is_out(node.id) or not system.is_ready:
                continue
            if node.id not in self._simulated:
                system.mute()
                continue
            with scope(kind.name, node.name or node.id), self._guard.of(node):
                if self._give(node, system, self._moment, world):
                    continue
                if isinstance(system, ShowsMoments) and not system.has_state:
                    system.show(self._moment, world)
                    self._stale.discard(node.id)
                else:
                    system.step(inputs)
        for service in self.services.all():
            service.finish_step()
        self.step_count += 1

    def reset(self) -> None:
        self.step_count = self._moment = 0
        self.colliders.reset()
        self._guard.renew()
        for node, _, system in self._stepped:
            with self._guard.of(node):
                system.reset()
        self._jump_services()

    def teleport(self, world: World, time: float) -> None:
        """Time jumped: solids and sources take their new places without a speed, what is worn starts anew there."""
        self.colliders.teleport()
        world = self._given(world)
        for node, _, system in self._stepped:
            with self._guard.of(node):
                system.teleport(world)
        self._jump_services()
        self.show(time)

    def state(self) -> bytes:
        """Everything that the next step depends on; waits for the GPU."""
        return msgspec.msgpack.encode((self.step_count, self._moment, self.states()))

    def capture(self) -> StateCapture:
        """What `state` gives, as it stands now, to be had a few pictures later; waits for nothing."""
        return StateCapture(self._copies, (self.step_count, self._moment), self._snapshots())

    def states(self) -> dict[NodeId, bytes]:
        """What `System.state` gives of every node that has one; waits for the GPU."""
        return {node: snapshot.packed() for node, snapshot in self._snapshots().items()}

    def _snapshots(self) -> dict[NodeId, State]:
        stepped = self._stepped
        return {node.id: system.snapshot() for node, _, system in stepped if system.is_ready and has_state(system)}

    def restore(self, state: bytes, world: World, time: float) -> None:
        """Goes back to what `state` gave: the steps after it give the same bits.

        Args:
            state: What `state` gave of the same scene.
            world: The figures as they stood at the end of that step.
            time: Scene time at its end [s].

        Raises:
            SettingsError: If it is of another scene.
        """
        steps, moment, states = msgspec.msgpack.decode(state)
        world = self._stood(world)
        for node, _, system in self._stepped:
            with self._guard.of(node):
                if self._take(self.given, node, system, moment, world):
                    continue
            if node.id in states and system.is_ready and has_state(system):  # under the settings of now
                system.restore(states[node.id], world)
                continue
            with self._guard.of(node):
                self._take(self.cached, node, system, moment, world)
        self.step_count, self._moment, self._time = steps, moment, time
        self._stale |= self.systems.keys()

    def reconsider(self) -> None:
        """Lets systems look whether what halted them in the restored state is still so with the settings of now."""
        for node, _, system in self._stepped:
            if isinstance(system, Stoppable):
                with self._guard.of(node):
                    system.recheck()

    def look_between(
        self, states: tuple[bytes | None, bytes | None], step: int, share: float, world: World, time: float
    ) -> None:
        """Shows what is between two steps, each node as `System.interpolate` has it; nothing can be gone on from.

        Args:
            states: What `state` gave after the two, as far as it is kept; what is given counts before that.
            step: The first.
            share: Of the way to the next, 0 to 1.
            world: The figures as they stand there.
            time: Scene time there [s].
        """
        cached = [{} if state is None else msgspec.msgpack.decode(state)[2] for state in states]
        world = self._stood(world)
        for node, _, system in self._stepped:
            if not self._has_state(node, system):
                continue
            with self._guard.of(node):
                one, other = (
                    self.given.state(node.id, step + i)
                    or cached[i].get(node.id)
                    or self.cached.state(node.id, step + i)
                    for i in (0, 1)
                )
                if one is not None and other is not None:
                    system.restore(system.interpolate(one, other, share), world)
        self.show(time)
        self._stale |= self.systems.keys()

    def _stood(self, world: World) -> World:
        """The world that systems see once what they meet and share stands as it does."""
        world = self._given(world)
        self._advance_colliders(world)
        for service in self.services.all():
            service.finish_step()
        return world

    # --- what is given --------------------------------------------------------------------------------

    @property
    def given_steps(self) -> range:
        """The steps of which nothing needs to be simulated, as the states of all that has one are given."""
        found = [self._given_of(node) for node, _, system in self._stepped if self._has_state(node, system)]
        first, end = max((one.start for one in found), default=0), min((one.stop for one in found), default=0)
        return range(first, max(first, end))

    def is_given(self, step: int) -> bool:
        return any(step in self._given_of(node) for node, _, system in self._stepped if self._has_state(node, system))

    def _given_of(self, node: Node) -> range:
        one, other = self.given.steps(node.id), self.cached.steps(node.id)
        if one and other and one.start <= other.stop and other.start <= one.stop:
            return range(min(one.start, other.start), max(one.stop, other.stop))
        return one or other

    def show_baked(self, step: int, world: World) -> None:
        """Shows what is given as it is after a step, with the figures as they stood then."""
        world = self._given(world)
        for node, _, system in self._stepped:
            with self._guard.of(node):
                self._give(node, system, step, world)

    def _give(self, node: Node, system: System, step: int, world: World) -> bool:
        """Brings a node to what is given or kept of a step; returns whether there is something."""
        return self._take(self.given, node, system, step, world) or self._take(self.cached, node, system, step, world)

    def _take(self, source: BakedStates, node: Node, system: System, step: int, world: World) -> bool:
        state = source.state(node.id, step) if self._has_state(node, system) else None
        if state is None:
            return False
        self._stale.add(node.id)
        try:
            system.restore(state, world)
        except SettingsError as error:
            raise SettingsError(f"its step {step} is kept with other settings: {error}") from error
        except Exception as error:  # of bytes that nothing is known of
            raise SettingsError(f"its step {step} cannot be read: {type(error).__name__}: {error}") from error
        return True

    def _has_state(self, node: Node, system: System) -> bool:
        """Whether a node takes part, and depends on the steps before."""
        is_out = self._guard.is_out(node.id)
        return system.is_ready and has_state(system) and node.id in self._simulated and not is_out

    def release(self) -> None:
        for system in self.systems.values():
            system.release()
        self.systems.clear()
        self._stepped = []
        for service in self.services.all():
            service.release()
        self.colliders.release()
        self._copies.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def show(self, time: float) -> None:
        """The scene clock stands at `time` [s]: what has no state shows it at the next `refresh`.

        The time of the last step shows that step, whatever loops the clock has run.
        """
        if time != self._time:
            self._time = time
            self._moment = max(round((time - self.start_time) / STEP_TIME), 0)
            self._stale |= self.systems.keys()

    def refresh(self, world: World, now: float) -> None:
        """Makes what is drawn, and looks for what blew up; waits for nothing.

        Args:
            world: The scene as it stands now.
            now: Monotonic time [s].
        """
        world = self._given(world)
        scope = self._context.timers.scope
        for node, kind, system in self._stepped:
            if self._guard.is_out(node.id) or not system.is_ready:
                continue
            with self._guard.of(node):
                is_stale = node.id in self._stale and node.id in self._simulated
                if is_stale and isinstance(system, ShowsMoments) and not system.has_state:
                    with scope(kind.name, node.name or node.id):
                        system.show(self._moment, world)
                running = not stop_reason(system)
                system.poll(now)
                self._report_stop(node.id, system, running)
        self._stale.clear()

    def check(self) -> None:
        """Halts what blew up; waits for the GPU, so for commands without a window."""
        for node, _, system in self._stepped:
            if system.is_ready and isinstance(system, Stoppable):
                running = not system.stopped
                with self._guard.of(node):
                    system.check()
                self._report_stop(node.id, system, running)

    def _report_stop(self, node_id: NodeId, system: System, was_running: bool) -> None:
        if was_running and (reason := stop_reason(system)):
            self._problems.append(Problem(node_id, reason))

    def _given(self, world: World) -> World:
        if world.services is self.services and world.start_time == self.start_time:
            return world
        return replace(world, services=self.services, start_time=self.start_time)

    def _advance_colliders(self, world: World) -> Colliders:
        placed: dict[NodeId, ColliderPlacement] = {}
        warnings: list[str] = []
        for kind in KINDS.values():
            if kind.colliders and (nodes := world.scene.simulated_of_kind(kind.name)):
                with self._context.timers.scope(f"{kind.name}s"):
                    placed |= self._placed(kind, nodes, world)
                warnings += world.places.all_missing(nodes)
        self._problems += [Problem("", line) for line in warnings if line not in self._reported]
        self._reported = set(warnings)  # one that was mended and comes again is told again
        return self.colliders.advance(placed)

    def _placed(self, kind: Kind, nodes: Sequence[Node], world: World) -> dict[NodeId, ColliderPlacement]:
        """Where solids are now; those that cannot be placed are left out."""
        place, places = kind.load("colliders"), world.places
        try:
            found: dict[NodeId, ColliderPlacement] = place(nodes, places)
        except Exception:  # of one of them: alone each is told by the guard
            found = {}
            for node in nodes:
                found |= self._guard.call(node, functools.partial(place, (node,), places), {})
        return found

    def _jump_services(self) -> None:
        for service in self.services.all():
            service.teleport()
        self._stale |= self.systems.keys()


def _same(one: World, other: World) -> bool:
    """Whether two worlds hold the same scene, figures and files."""
    names = ("scene", "characters", "meshes", "images", "strands")
    return all(getattr(one, name) is getattr(other, name) for name in names)
