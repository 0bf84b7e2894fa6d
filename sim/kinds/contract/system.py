"""The simulation of a kind.

Moments are steps of `sinew.sim.scene.clock.STEP_TIME` since the start of the simulation; times are scene time [s].
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy.typing as npt

from sinew.sim.assets.model import Material
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.fields.state import Fields
from sinew.sim.kinds.air import AirTravel, air_travel
from sinew.sim.owner import Owner
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.world_transforms import PosedCharacters, WorldTransforms

if TYPE_CHECKING:
    from sinew.sim.colliders.scene_colliders import Colliders
    from sinew.sim.gl.buffer import Buffer
    from sinew.sim.gl.context import Context
    from sinew.sim.gl.library import ShaderLibrary
    from sinew.sim.kinds.packing import State

S = TypeVar("S")


class Service(Owner):
    """Data that several systems share, such as spare buffers and tables; created by `cls(context, library)`."""

    def finish_step(self) -> None:
        """Reacts to the end of a step of all systems, or to a restored state."""

    def teleport(self) -> None:
        """Reacts to a jump of time."""


class Services(Protocol):
    def get(self, cls: Callable[..., S]) -> S:
        """Returns the only instance of a service class; the first call creates it by `cls(context, library)`."""


@dataclass(frozen=True, slots=True)
class World:
    applied: Applied
    scene: Scene  # `stepped` of `applied` for systems, `shown` for views
    characters: PosedCharacters
    places: WorldTransforms
    services: Services
    # Of systems that still prepare newer settings, see `Prepares`
    active_settings: Mapping[NodeId, Settings | None] = field(default_factory=dict)

    @property
    def assets(self) -> SceneAssets:
        return self.applied.assets


@dataclass(frozen=True, slots=True)
class Grab:
    node: NodeId
    particle: int  # As `Draggable.particle_at` returned it
    hand: Vec3  # Target position [m]
    reach: float = 0.0  # Other particles within this distance may come along [m]


@dataclass(frozen=True, slots=True)
class StepInputs:
    world: World  # At the end of the step
    colliders: "Colliders"  # Their motion over the step
    moment: int  # Steps since the start, including this one; loops of the clock do not reset it
    time: float  # Scene time at the end [s]
    grab: Grab | None = None
    # Force fields over the step by the node that they act on; `FieldSampler` evaluates them at its particles
    fields: Mapping[NodeId, Fields] = field(default_factory=dict)
    # Of each node that acts on others: all that are linked with it by `Coupling.pairs`, itself included, by id
    partners: Mapping[NodeId, tuple[NodeId, ...]] = field(default_factory=dict)

    def grabbed(self, node: Node) -> tuple[int, Vec3]:
        """Returns the dragged particle of a node, -1 for none, and its target [m]."""
        if self.grab is None or self.grab.node != node.id:
            return -1, (0.0, 0.0, 0.0)
        return self.grab.particle, self.grab.hand

    def air_travel(self, node: Node) -> AirTravel | None:
        """From the start of the simulation to the start of the step; None if wind and turbulence have no keys."""
        return air_travel(node, self.world.applied.start_time, self.time - STEP_TIME)


@dataclass(frozen=True, slots=True)
class Array:
    """A named array of a system, for files and caches.

    Attributes:
        read: Returns the values, shape (N, ...); waits for the GPU.  Values of dead particles are NaN.
        meaning: "points" [m], "velocities" [m/s], "widths" [m], "ids" (numbers since the start, -1 for the dead) or
            "colours" (linear RGBA, not premultiplied) or "normals"; or, constant, "triangles" (indices), "counts"
            (points of each strand), "texcoords" (v = 0 at the bottom; one per strand), "closest" (three guides of each
            strand) or "shares" (their weights).
        is_still: Whether the values are constant although others with this meaning change.
        element: Returns one value, without reading the others; None if `read` is as fast.
    """

    read: Callable[[], npt.NDArray[Any]]
    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    meaning: str
    is_still: bool = False
    element: Callable[[int], npt.NDArray[Any]] | None = None

    @property
    def is_constant(self) -> bool:
        return self.is_still or self.meaning in ("triangles", "counts", "texcoords", "closest", "shares")


@dataclass(frozen=True, slots=True)
class LiveNode:
    """What a web page that repeats the steps of a system shows of it.

    Attributes:
        buffer: Holds the positions; it may be another one after each step.
        count: Number of positions.
        texels: Of four floats in a record, of which the first three are the position.
        sliders: Settings that a page lets the user change unless others are chosen; "gravity.y" is a part of a vector.
        is_draggable: Whether record i is particle i of `Grab`.
        fault: Returns why other settings would be unstable, or ""; `Stoppable.warning` counts besides.
    """

    buffer: "Buffer"
    count: int
    texels: int = 2
    sliders: tuple[str, ...] = ()
    is_draggable: bool = False
    fault: Callable[[Any], str] = lambda _: ""


class System(Owner, abc.ABC):
    """The simulation of one node on the GPU; the context is current in every call.

    The optional base classes below add abilities.  Objects registered by `self.owns(...)` are released with the system.

    Order of calls: `apply` after each change of the scene, then for each step either `step` or `mute`, and `poll`
    before each frame.  Before the system is ready it gets only `apply`, `reset`, `teleport` and `release`; `arrays`,
    `stopped` and `warning` are then empty.  An exception disables the node until something changes, and is reported.

    Attributes:
        node: Of the last `System.apply`.
        world: Of the last `System.apply`.
        problems: Lines to report to the user; the reader clears the list.
    """

    node: Node
    world: World

    def __init__(self, context: "Context", library: "ShaderLibrary") -> None:
        self.context, self.library = context, library
        self.problems: list[str] = []
        self._last_report: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.node.name or self.node.id

    def report(self, *lines: str) -> None:
        """Adds lines to `problems`, except empty lines and the lines of the previous call."""
        if lines != self._last_report:
            self.problems += [line for line in lines if line and line not in self._last_report]
            self._last_report = lines

    @property
    def is_ready(self) -> bool:
        """False while the system has nothing to simulate, for instance because a file or a character is missing."""
        return True

    def apply(self, node: Node, world: World) -> None:
        """Applies a changed node or scene; `changed_effects` says whether settings need a reset or a rebuild.

        Raises:
            SettingsError: If the settings are unusable; the system keeps the previous ones.
        """
        self.node, self.world = node, world

    def step(self, inputs: StepInputs) -> None:
        """Advances by `sinew.sim.scene.clock.STEP_TIME`; deterministic: the same inputs must give the same bits."""

    def mute(self) -> None:
        """Replaces `step` while the node is muted."""

    def reset(self) -> None:
        """Resets the system to the first frame."""

    def teleport(self, world: World) -> None:
        """Handles a jump of time, and of characters with it, which must not become a velocity."""

    def warm_up(self, settings: Sequence[Settings]) -> None:
        """Keys will change the settings to these: the next step compiles their programs."""

    def jump(self, world: World) -> None:
        """A step key moved the node, or its parent, before the next step."""
        self.teleport(world)

    def poll(self, now: float) -> None:
        """Prepares drawing and polls results of the GPU without waiting; `now` is monotonic time [s]."""

    def arrays(self) -> Mapping[str, Array]:
        """Returns arrays for files; particles have "positions" and "velocities"."""
        return {}

    def page(self) -> LiveNode | None:
        """Returns what a page shows of the last step; None if it cannot repeat the steps."""
        return None

    @abc.abstractmethod
    def snapshot(self) -> "State":
        """Returns the complete input of the next step; does not wait for the GPU."""

    @abc.abstractmethod
    def restore(self, state: bytes, world: World) -> None:
        """Restores a packed snapshot: the following steps give the same bits as they did after it.

        Args:
            state: `snapshot().packed()`, made under the same settings.
            world: The scene at the end of that step.

        Raises:
            SettingsError: If the state does not fit the settings.
        """

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        """Returns a packed state between two steps, only to be shown; `share` is 0 at the first, 1 at the second."""
        return other if share >= 0.5 else one


class StepsTogether(abc.ABC):
    """Ability of systems that act on one another, see `Coupling.pairs`."""

    @abc.abstractmethod
    def finish_step(self) -> None:
        """Follows the `step` of all systems of a step."""


class Draggable(abc.ABC):
    """Ability of systems whose particles `sinew.app.kinds.drag_tool.DragTool` can drag; see `StepInputs.grabbed`."""

    @abc.abstractmethod
    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:
        """Returns the particle of a picked element nearest to a world ray [m], or None; waits for the GPU.

        Args:
            element: Number of the triangle, line or strand.
        """

    @abc.abstractmethod
    def particle_position(self, particle: int) -> Vec3 | None:
        """Returns a world position [m], or None if the particle does not exist; waits for the GPU."""


class ShowsMoments(abc.ABC):
    """Ability of systems that compute any moment without the steps before it.

    While `has_state` is False, `show` replaces `step`, `snapshot` and `restore`.
    """

    @property
    def has_state(self) -> bool:
        return False

    @abc.abstractmethod
    def show(self, moment: int, world: World) -> None:
        """Computes the state after `moment` steps."""


class Stoppable:
    """A system that stops when it becomes unstable, and keeps its last valid state."""

    node: Node

    @property
    def stopped(self) -> str:
        """Reason why the system has stopped, or ""."""
        return ""

    @property
    def needed_substeps(self) -> int:
        """Number of substeps without which the system becomes unstable, for kinds with the setting `substeps`."""
        return 0

    @property
    def warning(self) -> str:
        """Reason why the settings are insufficient, or ""; by default too few substeps."""
        needed, given = self.needed_substeps, getattr(self.node.settings, "substeps", 0)
        return f"needs {needed:,} substeps to be stable, not {given:,}" if given < needed else ""

    def check(self) -> None:
        """Stops the system if it is unstable; waits for the GPU."""

    def resume(self) -> None:
        """Continues a stopped system from its last valid state."""

    def recheck(self) -> None:
        """Continues, after a state of other settings was restored, if the current settings may be stable."""


class Exports:
    def looks(self) -> Mapping[str, Array]:
        """Returns colours and widths of the points of `arrays`."""
        return {}

    def drawn(self) -> Mapping[str, Array]:
        """Returns the rendered strands with colours and widths, if they differ from `arrays`; else nothing."""
        return {}

    @property
    def material(self) -> Material | None:
        return None


class Measures(abc.ABC):
    """Ability of systems that measure themselves, for sweeps, reports and the inspector.

    Attributes:
        units: By name of the quantity, "" for a pure number; the inspector has a row for each.
    """

    units: ClassVar[Mapping[str, str]] = {}

    @abc.abstractmethod
    def measures(self) -> Mapping[str, float]:
        """Returns quantities of the current state, such as the largest strain; waits for the GPU."""


class Prepares(abc.ABC):
    """Ability of systems that prepare new settings on a worker thread, and simulate with the active ones until then."""

    @property
    @abc.abstractmethod
    def is_preparing(self) -> bool:
        """True if the active settings are older than the node, also after `cancel_preparing`."""

    @property
    @abc.abstractmethod
    def is_due(self) -> bool:
        """True if the result is ready, so that `apply` must be called although the scene did not change."""

    @property
    @abc.abstractmethod
    def progress(self) -> float | None:
        """Progress of preparing, 0 to 1; None while nothing is being prepared."""

    @property
    @abc.abstractmethod
    def active_settings(self) -> Settings | None:
        """Settings that the system simulates with; None before the first ones are ready."""

    @abc.abstractmethod
    def prepare(self) -> bool:
        """Uploads a small part of the result to the GPU; returns True if there was one."""

    @abc.abstractmethod
    def cancel_preparing(self) -> None:
        """Cancels preparing; the active settings stay until the settings change again."""


def has_state(system: System) -> bool:
    return not isinstance(system, ShowsMoments) or system.has_state


def stop_reason(system: System | None) -> str:
    return system.stopped if isinstance(system, Stoppable) else ""


def warning_of(system: System | None) -> str:
    return system.warning if isinstance(system, Stoppable) else ""
