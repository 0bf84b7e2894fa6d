"""The interface between kinds and the rest of the program; the guide explains it in "A kind in an hour".

`Kind` names classes as text, "package.module:Name", and they are imported on first use: reading a project loads no
OpenGL, and commands without a window load no Qt.  Moments are steps of `sinew.sim.scene.clock.STEP_TIME` since the
start of the simulation; times are scene time [s].
"""

import abc
import enum
import functools
import importlib
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.formats import Formats
from sinew.sim.assets.model import Bounds, CharacterModel, Material
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.fields.state import Fields
from sinew.sim.kinds.air import AirTravel, air_travel
from sinew.sim.maths.ramps import Ramp
from sinew.sim.owner import Owner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Settings, validated
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view_state import ViewState
from sinew.sim.scene.world_transforms import PosedCharacters, WorldTransforms

if TYPE_CHECKING:
    from sinew.sim.characters.character import Character
    from sinew.sim.characters.prepared import BoneSegments, PreparedModel
    from sinew.sim.colliders.scene_colliders import Colliders
    from sinew.sim.gl.context import Context
    from sinew.sim.gl.library import ShaderLibrary
    from sinew.sim.kinds.packing import State
    from sinew.sim.render.frame import Environment, PointLight
    from sinew.sim.render.items import Item
    from sinew.sim.render.render_view import DisplayOptions
    from sinew.sim.render.texture_upload import MipImages

Pixels = npt.NDArray[np.uint8]
S = TypeVar("S")

API = 1
"""Version of this interface; it increases when plug-ins written for the previous one no longer work."""


# --- the declaration ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddPlace:
    scene: Scene
    view: ViewState
    box: Bounds | None = None  # Of the selection in the world [m]; None without one, or if it has no size
    area: float | None = None  # Skin of the selected character, or of the part that the selected bone moves [m²]
    scalp: float | None = None  # Scalp, if a character or its head is selected [m²]
    models: Mapping[NodeId, CharacterModel] = field(default_factory=dict)  # Of the characters that are loaded

    @property
    def target(self) -> Vec3:
        """Centre of the selection, otherwise the target of the camera [m]."""
        if self.box is None:
            return self.view.camera.target
        x, y, z = ((self.box.lo + self.box.hi) / 2.0).tolist()
        return x, y, z

    @property
    def extent(self) -> float:
        """Size of the selection, otherwise of the visible area at the target of the camera [m]."""
        if self.box is not None and self.box.extent > 0.0:
            return self.box.extent
        return 2.0 * self.view.camera.tangent * self.view.camera.distance

    def fitting(self, extent: float) -> float:
        """Returns a factor for an extent [m]: 1, 2 or 5 times a power of ten; 1 if the size is about right."""
        ratio = self.extent / extent
        if 0.4 <= ratio <= 2.5:
            return 1.0
        power = 10.0 ** math.floor(math.log10(ratio))
        return power * min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(ratio / power / step)))

    @property
    def character(self) -> Node | None:
        chosen = self.view.selection.node
        node = self.scene.by_id.get(chosen) if chosen is not None else None
        return node if node is not None and node.settings.is_character else None

    @property
    def attachment(self) -> Attachment:
        """Attachment to the selected bone; empty if no bone is selected."""
        character, bone = self.character, self.view.selection.bone
        return Attachment() if character is None or bone is None else Attachment(node=character.id, bone=bone)


@dataclass(frozen=True, slots=True)
class AddEntry:
    id: str  # Name of the action without its prefix: "cloth" for `add.cloth`
    label: str  # An ampersand marks the access key
    tip: str  # A sentence
    make: Callable[[AddPlace], "Node | Added"]  # Creates the node; id and name may be empty
    icon: str = ""
    group: str = ""  # Title of the submenu, or ""
    where: Callable[[AddPlace], str] | None = None  # Suffix for this title, such as "on ground"
    # A sentence if the selection is no place for it, or ""; None if every place is
    reason: Callable[[AddPlace], str] | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """Several nodes of an entry of the Add menu, and what else it sets."""

    nodes: Sequence[Node]  # The first one is selected
    run_up: float = 0.0  # Pre-roll of a scene that has none [s]

    @staticmethod
    def of(made: "Node | Added") -> "Added":
        return made if isinstance(made, Added) else Added((made,))


@dataclass(frozen=True, slots=True)
class Presets:
    format: str  # Name of the format in files of user presets
    folder: str  # Of user presets, relative to the settings of the program
    what: str  # Completes "this is not a preset of", such as "a fabric"
    values: Mapping[str, Mapping[str, Any]]  # Built-in presets by name
    fields: tuple[str, ...]  # Settings that a user preset stores
    # Settings that a node keeps when a preset is applied
    cached: Callable[[Settings], frozenset[str]] = lambda _: frozenset()
    # Settings that grow with the surroundings of a node, with their upper limits; another preset keeps the factor
    fitted: Mapping[str, float] = field(default_factory=dict)

    def name_of(self, settings: Settings, more: Mapping[str, Mapping[str, Any]]) -> str:
        """Returns the first preset, built in or of `more`, whose values the settings have; "" without one."""
        cached = self.cached(settings).union(self.fitted)
        for name, values in {**self.values, **more}.items():
            if all(key in cached or getattr(settings, key) == value for key, value in values.items()):
                return name
        return ""

    def changes(self, settings: Settings, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the values of a preset, except settings that the node keeps before or after the change."""
        cached = self.cached(settings) | self.cached(validated(settings, **values))
        taken = {key: value for key, value in values.items() if key not in cached}
        former = self.values.get(self.name_of(settings, {}), {})
        for key, most in self.fitted.items():
            if key in taken and former.get(key) and (ratio := getattr(settings, key) / former[key]) > 1.0:
                taken[key] = type(taken[key])(max(min(taken[key] * ratio, most), taken[key]))
        return taken

    def of(self, settings: Settings) -> dict[str, Any]:
        return {key: getattr(settings, key) for key in self.fields}


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that the settings of a node refer to."""

    field: str  # Name of the setting
    path: str
    # "character", "motion", "mesh", "strands", "image", "panorama", or "texture" for an image with mip levels
    content: str
    is_needed: bool = False  # An empty path counts as a missing file
    without: str = ""  # Consequence if the file cannot be read, to end a message; {names} stands for the nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Declaration of a type of node.

    Attributes:
        name: Key in project files.
        icon: Such as "mdi6.sphere".
        hue: Colour of its passes in plots, "#rrggbb", or "".
        settings: Settings class; its `kind` is the name.
        idle: Names of settings without effect on a node; the inspector hides their rows.
        choices: Texts for members of enumerations whose values do not read well.
        companions: Creates nodes that are added with a model, for example a light with the first one; takes the model,
            its node, and the scene before.
        imports: File formats that become a node of this kind, and the function that creates it from a path.
        completed: Takes a node before and after an edit, and the edited scene; returns the node with settings that
            follow from the edit.
        resized: Factor by which an edit of the settings scales the node; attached nodes follow.
        migrate: Updates the JSON object of a node in place; takes the version of the file, the object, and all objects
            by id.  For a kind of a plug-in it is the `version` of the kind that wrote the node.
        version: Version of the solver; increase it if the same settings, or a default, give other results.
        since: First version of project files with nodes of these settings.
        has_place: Whether transforms and attachments of nodes mean something.
        collides: Whether nodes with these settings collide.
        acts_on: Whether a node of this kind, a force field, acts on another one.
        pairs: Returns the simulated nodes of this kind that act on one another, by id, each pair once.  Their systems
            are `StepsTogether`, and they have one key of cached steps.
        unkeyable: Why a setting of a node, by part and name, cannot have keys; "" if it can.
        turns_joints: Whether the systems turn joints of the characters that their nodes are attached to; they are then
            stepped and restored before the characters are skinned, and `StepInputs.colliders` has nothing that is
            attached to turned joints.
        shader_text: Returns the file, its shipped text and the text that replaces it, for kinds that change shaders.
        system: A `System`, or "".
        view: A `View`, or "".
        colliders: Function from nodes and world transforms to the colliders of the nodes, or "".
        unfinished: Function from nodes of colliders and the world to jobs on the worker thread, by node, or "": until
            these have ended, the simulation waits.
        fields: Function from nodes and world transforms to the force fields of the nodes, or "".
        character: A `CharacterView`, for kinds of posed model files, or "".
        panel: A `Panel`, or "".
        api: Of plug-ins: the `API` that they are written for.
        shaders: Folder of the shaders of a plug-in, or "".  Its files are named "KIND/file.glsl", KIND being the name.
        package: Name and version of the plug-in, such as "acme-rope 1.0"; set when it is loaded.
    """

    name: str
    label: str
    icon: str
    settings: type[Settings]
    hue: str = ""
    adds: tuple[AddEntry, ...] = ()
    presets: Presets | None = None
    idle: Callable[[Node], frozenset[str]] = lambda _: frozenset()
    choices: Mapping[enum.Enum, str] = field(default_factory=dict)
    companions: Callable[[CharacterModel, Node, Scene], Sequence[Node]] = lambda _, __, ___: ()
    files: Callable[[Settings], tuple[FileUse, ...]] = lambda _: ()
    imports: tuple[Formats[Any], Callable[[Path, AddPlace], Node]] | None = None
    completed: Callable[[Node, Node, Scene], Node] = lambda _, node, __: node
    resized: Callable[[Settings, Settings], float] = lambda _, __: 1.0
    migrate: Callable[[int, dict[str, Any], Mapping[str, dict[str, Any]]], None] | None = None
    version: int = 1
    since: Callable[[Settings], int] = lambda _: 2
    has_place: bool = True
    collides: Callable[[Settings], bool] = lambda _: True
    acts_on: Callable[[Node, Node, Scene], bool] = lambda _, __, ___: False
    pairs: Callable[[Scene], Sequence[tuple[NodeId, NodeId]]] | None = None
    unkeyable: Callable[[Node, str, str], str] = lambda _, __, ___: ""
    turns_joints: bool = False
    shader_text: Callable[[Settings], tuple[str, str, str]] | None = None
    system: str = ""
    view: str = ""
    colliders: str = ""
    unfinished: str = ""
    fields: str = ""
    character: str = ""
    panel: str = ""
    api: int = 0
    shaders: Path | str = ""
    package: str = ""

    @property
    def can_be_muted(self) -> bool:
        return bool(self.system or self.colliders or self.fields or self.shader_text)

    def load(self, part: str) -> Any:
        """Imports the class or function of a field such as "system"; returns None for an empty field."""
        return loaded(getattr(self, part))


@functools.cache
def loaded(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute) if module else None
    except SystemExit as error:
        raise ImportError(f"{module} exits when it is imported") from error


# --- simulation -----------------------------------------------------------------------------------------------------


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
    scene: Scene
    characters: PosedCharacters
    places: WorldTransforms
    services: Services
    assets: SceneAssets  # Contents of the files that settings name
    start_time: float = 0.0  # Scene time at which the simulation starts [s]
    # Of systems that still prepare newer settings, see `Prepares`
    active_settings: Mapping[NodeId, Settings | None] = field(default_factory=dict)
    source: Scene | None = None  # The scene before its keys were evaluated, if it has any

    @property
    def unevaluated(self) -> Scene:
        return self.source or self.scene


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
    # Of each node that acts on others: all that are linked with it by `Kind.pairs`, itself included, by id
    partners: Mapping[NodeId, tuple[NodeId, ...]] = field(default_factory=dict)

    def grabbed(self, node: Node) -> tuple[int, Vec3]:
        """Returns the dragged particle of a node, -1 for none, and its target [m]."""
        if self.grab is None or self.grab.node != node.id:
            return -1, (0.0, 0.0, 0.0)
        return self.grab.particle, self.grab.hand

    def air_travel(self, node: Node) -> AirTravel | None:
        """From the start of the simulation to the start of the step; None if wind and turbulence have no keys."""
        return air_travel(node, self.world.start_time, self.time - STEP_TIME)


@dataclass(frozen=True, slots=True)
class Array:
    """A named array of a system, for files and caches.

    Attributes:
        read: Returns the values, shape (N, ...); waits for the GPU.  Values of dead particles are NaN.
        meaning: "points" [m], "velocities" [m/s], "widths" [m], "ids" (numbers since the start, -1 for the dead) or
            "colours" (linear RGBA, not premultiplied); or, constant, "triangles" (indices), "counts" (points of each
            strand) or "texcoords" (v = 0 at the bottom; one per strand).
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
        return self.is_still or self.meaning in ("triangles", "counts", "texcoords")


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
    """Ability of systems that act on one another, see `Kind.pairs`."""

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

    @property
    def stopped(self) -> str:
        """Reason why the system has stopped, or ""."""
        return ""

    @property
    def warning(self) -> str:
        """Reason why the settings are insufficient, for instance too few substeps; or ""."""
        return ""

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


# --- drawing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a frame; particles are the living ones at the last count."""

    vertices: int = 0
    triangles: int = 0
    bones: int = 0
    particles: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.vertices + other.vertices,
            self.triangles + other.triangles,
            self.bones + other.bones,
            self.particles + other.particles,
        )


NOTHING = Counts()


@dataclass(frozen=True, slots=True)
class Mark:
    """A clickable symbol, drawn over the scene."""

    node_id: NodeId
    position: Vec3  # World [m]
    colour: tuple[float, float, float, float]  # sRGB and alpha
    radius: float  # On the screen [px]
    selected_colour: tuple[float, float, float, float]
    is_star: bool = False  # A star with four points instead of a disc


class View(Owner):
    """Drawing of one node; created by `cls(context, library)`, and the context is current in every call."""

    is_helper: bool = False  # Only helps to edit: framing, shadows and clipping planes ignore it

    def apply(self, node: Node, subject: "System | Character | None", world: World) -> None:
        """Applies a changed node and its system or character; also called in every frame while the node is attached."""

    def parts(self, display: "DisplayOptions") -> "Sequence[Item]":  # noqa: ARG002
        """Returns the items of this frame, the same objects until something changes."""
        return ()

    def light(self) -> "PointLight | None":
        return None

    def environment(self) -> "Environment | None":
        return None

    def bounds(self) -> Bounds | None:
        """Returns the world box around all surfaces [m], the same object until it changes."""
        return None

    def reach(self) -> Bounds | None:
        """Returns the world box around particles and other parts outside of `bounds`, as far as known [m]."""
        return None

    def counts(self) -> Counts:
        return NOTHING

    def marks(self) -> tuple[Mark, ...]:
        return ()


class CharacterView(View):
    character: "Character"  # Set by `upload`
    segments: "BoneSegments | None" = None  # None without a skeleton

    @abc.abstractmethod
    def upload(self, prepared: "PreparedModel", images: "MipImages") -> Generator[None, None, None]:
        """Uploads a model in small steps; if the generator is dropped, `Context.collect` deletes what it made.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """


# --- the editor -----------------------------------------------------------------------------------------------------
# `Any` is a type of Qt here, which sim does not import: menus, widgets, and positions in the viewport (QPointF, [px]).


@dataclass(frozen=True, slots=True)
class Command:
    id: str  # Such as "simulate.pin"
    text: str  # An ampersand marks the access key
    tip: str  # A sentence
    run: Callable[[], object]
    keys: tuple[str, ...] = ()  # Shortcuts in portable notation; menus show the first one
    reason: Callable[[], str] = lambda: ""  # A sentence if the command does not apply now, or ""


@dataclass(frozen=True, slots=True)
class Submenu:
    """A menu that `fill` fills each time it opens."""

    title: str
    fill: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Dock:
    """A panel of the window.  Kinds with the same `id`, which saved layouts contain, share the panel."""

    id: str
    title: str
    widget: Any


@dataclass(frozen=True, slots=True)
class ColourKey:
    ramp: Ramp
    title: str
    lo: float
    hi: float
    unit: str = ""


class Tool:
    """A tool for the left mouse button in the viewport; the first that returns True from `press` or `begin` wins.

    Attributes:
        is_over: Precedes marks and bones, for handles that are drawn on top of everything.
        cursor: While the mouse is over something of this tool.
    """

    is_over = False
    cursor: Any = None

    def hover(self, place: Any | None) -> str:  # noqa: ARG002
        """Handles a move of the mouse, None if it left; returns a hint for the status bar, or ""."""
        return ""

    def press(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Handles a press; returns True if something of this tool is there."""
        return False

    def begin(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Begins a drag with the pressed button; returns True if this tool handles it."""
        return False

    def drag(self, place: Any) -> None:
        """Handles a move of the mouse during a drag of this tool."""

    def end(self, *, cancel: bool = False) -> None:
        """Ends the press or drag; `cancel` undoes it."""

    def click(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """Handles a press without a drag; returns True to keep the viewport from selecting."""
        return False

    def deselect(self) -> None:
        """Reacts to a cleared selection."""


class Panel:
    """Editor widgets of a kind besides its rows of settings; one per window.

    `cls(context)` creates it with the `sinew.app.session.editor_context.EditorContext` of the window.

    Attributes:
        head: Widget at the top of the inspector while a node of the kind is selected.
        buttons: Widgets next to the mute button.
        overlay: Widget in the lower right corner of the viewport; it shows and hides itself, and emits `resized`.
        mouse: Rows for the list of keys: mouse button, and its effect.
        commands: Entries of the Simulation menu.
        adds: Entries of the Add menu below the entries of the kind; None is a separator.
        rows: Create the widgets below rows of settings, by name of the setting.
    """

    head: Any = None
    buttons: Sequence[Any] = ()
    overlay: Any = None
    docks: Sequence[Dock] = ()
    tools: Sequence[Tool] = ()
    mouse: Sequence[tuple[str, str]] = ()
    commands: Sequence[Command] = ()
    adds: Sequence[Command | Submenu | None] = ()
    rows: Mapping[str, Callable[[], Any]] = {}

    def follow(self, node: Node | None, system: System | None) -> None:
        """Follows the selected node, after every change and frame; `node` is None if it is of another kind."""

    def note(self, node: Node, system: System | None) -> str:  # noqa: ARG002
        """Returns a sentence about missing inputs of the node, for the top of the inspector; or ""."""
        return ""

    def remedy(self, node: Node, system: System | None) -> Command | None:  # noqa: ARG002
        """Returns a command that fixes `System.warning`."""
        return None

    def suggestion(self, node: Node) -> tuple[str, Command] | None:  # noqa: ARG002
        """Returns a sentence and a command to offer for a selected node of any kind."""
        return None

    def facts(self, node: Node) -> Sequence[Any]:  # noqa: ARG002
        """Returns sections of the inspector below the settings."""
        return ()

    def add_entry(self, node: Node, cls: type[Any]) -> bool:  # noqa: ARG002
        """Adds an entry that suits the node to a list of settings; False leaves it to the caller."""
        return False

    def forget(self) -> None:
        """Drops the widgets of `rows` and `facts`, which the inspector has deleted."""

    def fill_menu(self, menu: Any, node: Node, place: Any) -> None:
        """Adds entries to the context menu of a node that was clicked in the viewport."""

    def fill_section_menu(self, menu: Any, section: str) -> None:
        """Adds entries to the menu of a section of the active model."""

    def sides(self) -> tuple[str, str] | None:
        """Returns titles of the halves of a split view; None if nodes of the kind look the same in both."""
        return None

    def legend(self) -> ColourKey | None:
        """Returns the key of the colours of visible nodes."""
        return None
