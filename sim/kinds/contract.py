"""What a kind of thing in a scene is made of: all that the rest of the program knows of cloths, lights and the others.

A kind is a folder with a `Kind` in `kind.py`, and a line in `sim/kinds/__init__.py`.  Whatever else it has is written
against the protocols below and named by the `Kind` as text, "package.module:Name", so that it is loaded when it is
first needed: describing a file loads no OpenGL, and commands without a window load no Qt.

Moments are steps of `sim.scene.clock.STEP_TIME` since the start of the simulation; times are scene time [s].
"""

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

from sim.assets.formats import Formats
from sim.assets.model import Bounds, CharacterModel, Material, Mesh
from sim.maths.ramps import Ramp
from sim.scene.params import Settings, validated
from sim.scene.scene import Attachment, Node, NodeId, Scene
from sim.scene.vectors import Vec3
from sim.scene.view_state import ViewState
from sim.scene.world_transforms import PosedCharacters, WorldTransforms

if TYPE_CHECKING:
    from sim.assets.images import MipImage
    from sim.assets.strands import StrandSet
    from sim.kinds.packing import State

Pixels = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]
S = TypeVar("S")


# --- the declaration ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddPlace:
    """Where something new goes.

    Attributes:
        scene: The scene.
        view: Camera and selection.
        box: Around what is selected, in the world [m]; None where nothing is, or nothing that has a size.
        area: Of the skin of the figure, or of what the bone moves of it, that is selected [m²]; None elsewhere.
        scalp: Of the scalp, where a figure or its head is selected [m²]; None elsewhere.
    """

    scene: Scene
    view: ViewState
    box: Bounds | None = None
    area: float | None = None
    scalp: float | None = None

    @property
    def target(self) -> Vec3:
        """The middle of what is selected, else what the camera looks at [m]."""
        if self.box is None:
            return self.view.camera.target
        x, y, z = ((self.box.lo + self.box.hi) / 2.0).tolist()
        return x, y, z

    @property
    def extent(self) -> float:
        """Size of what is selected, else of what is in view at the camera's target [m]."""
        if self.box is not None and self.box.extent > 0.0:
            return self.box.extent
        return 2.0 * self.view.camera.tangent * self.view.camera.distance

    def fitting(self, extent: float) -> float:
        """By how much something that suits an extent [m] is to be larger here; a round number, 1 for about as much."""
        ratio = self.extent / extent
        if 0.4 <= ratio <= 2.5:
            return 1.0
        power = 10.0 ** math.floor(math.log10(ratio))
        return power * min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(ratio / power / step)))

    @property
    def character(self) -> Node | None:
        """The selected figure, if that is what is selected."""
        chosen = self.view.selection.node
        node = self.scene.by_id.get(chosen) if chosen is not None else None
        return node if node is not None and node.settings.is_character else None

    @property
    def attachment(self) -> Attachment:
        """The selected bone, as what something rides on; nothing where no bone is selected."""
        character, bone = self.character, self.view.selection.bone
        return Attachment() if character is None or bone is None else Attachment(node=character.id, bone=bone)


@dataclass(frozen=True, slots=True)
class AddEntry:
    """An entry of the Add menu.

    Attributes:
        id: Name of its action, "cloth" for `add.cloth`.
        label: Text of the menu; an ampersand marks the access key.
        tip: What it adds, a sentence.
        make: The new node; id and name may be empty.
        icon: Icon name, or "".
        group: Title of the submenu that it stands in, or "".
        where: What of the place the title of the submenu tells, such as "on the ground"; none for None.
    """

    id: str
    label: str
    tip: str
    make: Callable[[AddPlace], Node]
    icon: str = ""
    group: str = ""
    where: Callable[[AddPlace], str] | None = None


@dataclass(frozen=True, slots=True)
class Presets:
    """Named values to begin with.

    Attributes:
        format: Mark of the files of one's own.
        folder: Where those lie, below the folder of the program's settings.
        what: What they are of, in words.
        values: Those that come with the program, by name.
        fields: Values that one's own holds.
        cached: Names of values that a node keeps under its settings, whatever the preset says.
        fitted: Those that may be larger for where a node is, which they stay with another preset, up to some value.
    """

    format: str
    folder: str
    what: str
    values: Mapping[str, Mapping[str, Any]]
    fields: tuple[str, ...]
    cached: Callable[[Settings], frozenset[str]] = lambda _: frozenset()
    fitted: Mapping[str, float] = field(default_factory=dict)

    def name_of(self, settings: Settings, more: Mapping[str, Mapping[str, Any]]) -> str:
        """Name of the first preset, one's own included, whose values the settings have; "" for none."""
        cached = self.cached(settings).union(self.fitted)
        for name, values in {**self.values, **more}.items():
            if all(key in cached or getattr(settings, key) == value for key, value in values.items()):
                return name
        return ""

    def changes(self, settings: Settings, values: Mapping[str, Any]) -> dict[str, Any]:
        """What some settings take of the values of a preset: all but what they keep, before or after it."""
        cached = self.cached(settings) | self.cached(validated(settings, **values))
        taken = {key: value for key, value in values.items() if key not in cached}
        former = self.values.get(self.name_of(settings, {}), {})
        for key, most in self.fitted.items():
            if key in taken and former.get(key) and (ratio := getattr(settings, key) / former[key]) > 1.0:
                taken[key] = type(taken[key])(max(min(taken[key] * ratio, most), taken[key]))
        return taken

    def of(self, settings: Settings) -> dict[str, Any]:
        """Values of some settings, to be kept as a preset of one's own."""
        return {key: getattr(settings, key) for key in self.fields}


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that the settings of a node name.

    Attributes:
        field: Name of the setting.
        path: The file.
        content: What it is read as: "character", "mesh", "strands", "image", or "texture", an image with its smaller
            levels.
        is_needed: Whether nothing can be made without it; an empty path names no file then.
        without: What else follows where it cannot be read, the end of a line with {names} for the nodes.
    """

    field: str
    path: str
    content: str
    is_needed: bool = False
    without: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of thing in a scene.

    Attributes:
        name: Key in the project file.
        label: What users call it.
        icon: Icon name, such as "mdi6.sphere".
        hue: Colour of its passes in plots, "#rrggbb", or "".
        settings: What can be set; its `kind` is the name.
        adds: Entries of the Add menu.
        presets: Named values to begin with, if any.
        idle: Settings of a node that have no effect now; their rows are hidden and keep their values.
        choices: Texts of members of enumerations whose values do not read well.
        companion: What comes with a model that is opened into a scene without a node of this kind, if anything.
        files: Files that the settings name.
        imports: Formats of files that become a node of this kind when they are imported, and what makes it of the path
            of one; None where none does.
        completed: A node before and after an edit of its settings, and the scene after it, to the node with what that
            scene has only one answer to; part of the same edit.
        resized: Settings before and after an edit, to how much larger that makes a node; what follows it goes along.
        migrate: Changes the JSON object of a node of an older version in place; takes the version, the object, and
            those of all nodes by id.
        version: Of the solver; another one whenever the same settings, or a default, give other steps.
        collides: Whether what is simulated with some settings meets solids.
        system: A `System`, where something of it is simulated.
        view: A `View`, where something of it is drawn.
        colliders: Function that gives what particles of other nodes collide with, see `Solids`.
        character: A `CharacterView`, for what is read from model files and posed.
        panel: A `Panel`, where the inspector and the viewport have more than rows.
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
    companion: Callable[[CharacterModel], Node] | None = None
    files: Callable[[Settings], tuple[FileUse, ...]] = lambda _: ()
    imports: tuple[Formats[Any], Callable[[Path, AddPlace], Node]] | None = None
    completed: Callable[[Node, Node, Scene], Node] = lambda _, node, __: node
    resized: Callable[[Settings, Settings], float] = lambda _, __: 1.0
    migrate: Callable[[int, dict[str, Any], Mapping[str, dict[str, Any]]], None] | None = None
    version: int = 1
    collides: Callable[[Settings], bool] = lambda _: True
    system: str = ""
    view: str = ""
    colliders: str = ""
    character: str = ""
    panel: str = ""

    @property
    def can_be_muted(self) -> bool:
        """Whether its nodes take part in a simulation by themselves."""
        return bool(self.system or self.colliders)

    def load(self, part: str) -> Any:
        """What one of the names above stands for; None for an empty one."""
        return loaded(getattr(self, part))


@functools.cache
def loaded(name: str) -> Any:
    """The object of a dotted name "package.module:Name"; None for ""."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute) if module else None


# --- simulation -----------------------------------------------------------------------------------------------------


class Service:
    """What systems share, made when the first asks for it: spare buffers, tables, copies of skins.

    A service inherits from it and writes what it has; the rest is nothing.
    """

    def finish_step(self) -> None:
        """A step of all systems has ended, or one was restored."""

    def teleport(self) -> None:
        """Time jumped."""

    def release(self) -> None:
        """Deletes everything; may be called twice."""


class Services(Protocol):
    """Gives the one service of a class."""

    def get(self, cls: Callable[..., S]) -> S:
        """The service, made by `cls(context, library)` when it is asked for first."""


@dataclass(frozen=True, slots=True)
class World:
    """What a system sees of the scene beside its own node.

    Attributes:
        scene: The scene.
        characters: Models as they are posed, by node; only those that are there.
        places: Where nodes stand now.
        meshes: Files read as meshes, by path; only those that are there.
        images: Files read as images, by path.
        services: What systems share.
        start_time: Moment of the scene clock that the simulation starts at [s].
        textures: Files read as images with their smaller levels, by path.
        strands: Files read as strands, by path; only those that are there.
        in_force: Settings that nodes are simulated by while their systems prepare for other ones; None where there is
            nothing of a node yet.
    """

    scene: Scene
    characters: PosedCharacters
    places: WorldTransforms
    meshes: Mapping[str, Mesh]
    images: Mapping[Path, Pixels]
    services: Services
    start_time: float = 0.0
    textures: "Mapping[Path, MipImage]" = field(default_factory=dict)
    strands: "Mapping[Path, StrandSet]" = field(default_factory=dict)
    in_force: Mapping[NodeId, Settings | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grab:
    """A particle that the user drags: of which node, its number, where the hand is and how far it reaches [m]."""

    node: NodeId
    particle: int
    hand: Vec3
    reach: float = 0.0


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What acts on a system during one step, beside its settings.

    Attributes:
        world: The scene at the end of the step.
        colliders: What there is to collide with, over the step; a `sim.colliders.scene_colliders.Colliders`.
        moment: Steps since the start at the end of this one, whatever loops the clock has run.
        time: Scene time at the end [s].
        grab: What the user drags, or None.
    """

    world: World
    colliders: Any
    moment: int
    time: float
    grab: Grab | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """A named array of a system, for files and caches.

    Attributes:
        read: Gives the values, shape (N, ...); waits for the GPU.  Those of dead particles are NaN.
        shape: Of the values.
        dtype: Of the values.
        meaning: What they are: "points" [m], "velocities" [m/s], "widths" [m], "ids" (numbers since the start, -1 for
            the dead), "colours" (linear RGBA, not premultiplied), or, constant, "triangles" (indices), "counts" of
            knots, "texcoords" (v = 0 at the bottom; of strands those of their roots).
        is_still: Whether no step changes values that others change.
    """

    read: Callable[[], npt.NDArray[Any]]
    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    meaning: str
    is_still: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether no step changes the values."""
        return self.is_still or self.meaning in ("triangles", "counts", "texcoords")


class System:
    """The simulation of one node on the GPU; made by `cls(context, library)`, the context is current in every call.

    A kind inherits from it and writes what it has; the rest is nothing.

    Attributes:
        problems: Lines that the user should know, each told once; the reader clears it.
    """

    problems: list[str]

    @property
    def is_ready(self) -> bool:
        """Whether there is something to simulate; not while a file or a figure is missing."""
        return True

    @property
    def is_preparing(self) -> bool:
        """Whether it prepares for the settings of its node on another thread, and goes by those of before meanwhile."""
        return False

    @property
    def is_due(self) -> bool:
        """Whether it is done with that, and is to be applied again although nothing else changed."""
        return False

    @property
    def progress(self) -> float | None:
        """How far it is with that, 0 to 1; None where nothing goes on."""
        return None

    def prepare(self) -> bool:
        """Does a small part of what is left to do of that on the GPU; returns whether there was one."""
        return False

    def cancel_preparing(self) -> None:
        """Ends that; what there is stays, until something else is to be prepared."""

    @property
    def in_force(self) -> Settings | None:
        """Settings that it goes by while it is preparing; None where there is nothing yet."""
        return None

    @property
    def has_state(self) -> bool:
        """Whether it depends on the steps before, not on the moment alone."""
        return True

    @property
    def stopped(self) -> str:
        """Why it stands still, or "" while it can move."""
        return ""

    @property
    def warning(self) -> str:
        """What the settings do not suffice for, or ""."""
        return ""

    def apply(self, node: Node, world: World) -> None:
        """Takes the node as it is now, at the cost that the declarations of what changed name.

        Raises:
            SettingsError: If nothing can be made of the settings; everything stays as it was.
        """

    def step(self, inputs: StepInputs) -> None:
        """Advances by one step."""

    def rest(self) -> None:
        """Lets a step pass in silence."""

    def reset(self) -> None:
        """Back to the start."""

    def teleport(self, world: World) -> None:
        """Time jumped to where the figures stand now: what was carried along has no speed from it."""

    def show(self, moment: int, world: World) -> None:
        """Shows a moment; only called where there is no state."""

    def poll(self, now: float) -> None:
        """Makes what is drawn, and looks for what went wrong; waits for nothing.  `now` is monotonic [s]."""

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:  # noqa: ARG002
        """Number of the particle nearest to a ray that a picked element shows, or None; waits for the GPU.

        Args:
            element: Of what is drawn, as picked.
            origin, direction: The ray in the world [m].
        """
        return None

    def place_of(self, particle: int) -> Vec3 | None:  # noqa: ARG002
        """Where a particle is in the world [m], None for one that is not there; waits for the GPU."""
        return None

    def check(self) -> None:
        """Halts if something went wrong; waits for the GPU."""

    def resume(self) -> None:
        """Lets it go on from its last sound state, if it was halted."""

    def reconsider(self) -> None:
        """It was put back to a state that was kept with other settings: where these halted it, those of now may not."""

    def arrays(self) -> Mapping[str, Array]:
        """What there is to write into files, by name; "positions" and "velocities" where there are particles."""
        return {}

    def looks(self) -> Mapping[str, Array]:
        """How the points of `arrays` look, for files that show them: "colours" and "widths" by name."""
        return {}

    def drawn(self) -> Mapping[str, Array]:
        """Strands as they are drawn, with all their looks, where these are others than those of `arrays`; else none."""
        return {}

    @property
    def material(self) -> Material | None:
        """What a surface is made of, or what particles show, for files; None where nothing tells."""
        return None

    def measures(self) -> Mapping[str, float]:
        """PosedCharacters about how it is now, for tables and maps, by name; waits for the GPU."""
        return {}

    def snapshot(self) -> "State":
        """Everything that the next step depends on, exactly, where there is a state; waits for nothing."""
        raise NotImplementedError

    def state(self) -> bytes:
        """The same as bytes; waits for the GPU."""
        return self.snapshot().packed()

    def restore(self, state: bytes, world: World) -> None:
        """Goes back to what `state` gave under the same settings: the steps after it give the same bits.

        Args:
            state: What `state` gave.
            world: The figures as they stood at the end of that step.

        Raises:
            SettingsError: If it is of other settings.
        """

    def between(self, one: bytes, other: bytes, share: float) -> bytes:
        """A state to look at, between those after two steps that follow one another; none is gone on from.

        Places are blended; what is not in both is as in the first.  Without more, the nearer of the two.

        Args:
            one: What `state` gave after a step.
            other: The same after the next.
            share: Of the way from one to the other, 0 to 1.
        """
        return other if share >= 0.5 else one

    def release(self) -> None:
        """Deletes everything; may be called twice."""


# --- pictures -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is shown; particles are those that lived at the last count."""

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
    """A mark of a fixed size on the screen, drawn over the scene, that stands for a node and is clicked.

    Attributes:
        node_id: The node.
        position: In the world [m].
        colour: sRGB-encoded, and alpha.
        radius: On the screen [px].
        selected_colour: The same where the node is selected.
        is_star: Whether it is a star of four points and not a disc.
    """

    node_id: NodeId
    position: Vec3
    colour: tuple[float, float, float, float]
    radius: float
    selected_colour: tuple[float, float, float, float]
    is_star: bool = False


class View:
    """What is drawn of one node; made by `cls(context, library)`, the context is current in every call.

    A kind inherits from it and writes what it has; the rest is nothing.

    Attributes:
        is_helper: Whether it helps to edit and is no part of what a picture is about: neither the camera that frames
            all, nor shadows and depths adapt to it.
    """

    is_helper: bool = False

    def apply(self, node: Node, subject: Any, world: World) -> None:
        """Takes the node as it is now; called when any of these is another, and where it rides on something.

        Args:
            node: The node, with settings of the kind.
            subject: Its `System` or its figure; None where there is none.
            world: The scene as it stands now.
        """

    def parts(self, look: Any) -> Sequence[Any]:  # noqa: ARG002
        """The items to draw now, each a `sim.render.items.Item`; `look` is a `DisplayOptions`."""
        return ()

    def light(self) -> Any:
        """What it lights the scene with, a `sim.render.frame.PointLight`; None for nothing."""
        return None

    def bounds(self) -> Bounds | None:
        """Box in the world [m] around what has a surface; best the same object until it changes."""
        return None

    def reach(self) -> Bounds | None:
        """Box in the world [m] around what flies off, as far as is known; best the same until it changes."""
        return None

    def counts(self) -> Counts:
        return NOTHING

    def marks(self) -> tuple[Mark, ...]:
        """Marks over the scene."""
        return ()

    def release(self) -> None:
        """Deletes what drawing added, not the subject; may be called twice."""


class CharacterView(View):
    """What is drawn of a figure, and how that comes to the GPU.

    Attributes:
        character: What is posed, a `sim.characters.character.Character`, once it was uploaded.
    """

    character: Any

    def upload(self, prepared: Any, images: Any) -> Generator[None, None, None]:
        """Hands a model to the GPU in small steps; given up, what it made is deleted by `Context.collect`.

        Args:
            prepared: A `sim.characters.prepared.PreparedModel`.
            images: Its textures by path, with all their levels.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        raise NotImplementedError


# --- the editor -----------------------------------------------------------------------------------------------------
# Menus, widgets and places [px] are those of Qt, which is not known here.


@dataclass(frozen=True, slots=True)
class Command:
    """Something that menus, keys and buttons do.

    Attributes:
        id: Name of its action, "simulate.pin".
        text: Text of the menu; an ampersand marks the access key.
        tip: What it does, a sentence.
        run: Does it.
        keys: Shortcuts in portable notation; the first one is shown.
        lack: Why it does not apply now, a sentence; "" where it does.
    """

    id: str
    text: str
    tip: str
    run: Callable[[], object]
    keys: tuple[str, ...] = ()
    lack: Callable[[], str] = lambda: ""


@dataclass(frozen=True, slots=True)
class Submenu:
    """A menu whose entries `fill` adds to it whenever it opens."""

    title: str
    fill: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Dock:
    """A panel of the window, with a name that saved layouts refer to.

    Kinds that give the same name share it: that of the selected node is seen.
    """

    id: str
    title: str
    widget: Any


@dataclass(frozen=True, slots=True)
class ColourKey:
    """What the colours of a ramp in the viewport stand for: values from `lo` to `hi`."""

    ramp: Ramp
    title: str
    lo: float
    hi: float
    unit: str = ""


class Tool:
    """What the left button does to things in the viewport; tools are asked in order, and the first that says so has it.

    Attributes:
        is_over: Whether it is asked before marks and bones, as for what is drawn over everything; else after them.
        cursor: Cursor while something of it is under the mouse.
    """

    is_over = False
    cursor: Any = None

    def hover(self, place: Any | None) -> str:  # noqa: ARG002
        """The mouse is at a place, or at none of this tool's; returns what can be done there, or ""."""
        return ""

    def press(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """The button went down; returns whether there is something of this tool."""
        return False

    def begin(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """The press at a place becomes a drag; returns whether this tool has it."""
        return False

    def drag(self, place: Any) -> None:
        """The mouse of a drag that this tool has moved."""

    def end(self, *, cancel: bool = False) -> None:
        """The press or drag is over, to be taken back where it is cancelled."""

    def click(self, place: Any, shift: bool) -> bool:  # noqa: ARG002
        """A press ended without a drag; returns whether that was for this tool, so that nothing else is selected."""
        return False

    def deselect(self) -> None:
        """Nothing is chosen any more."""


class Panel:
    """What the editor has for a kind beside rows, presets, files and Add entries; made once a window by `cls(desk)`.

    `desk` is the `app.editor.editor_context.EditorContext` of the window.  Whatever is left out is empty.

    Attributes:
        head: Widget at the head of the inspector while a node of the kind is selected.
        buttons: Widgets beside its buttons that mute.
        overlay: Widget in the lower right corner of the viewport; shows and hides itself, its signal `resized` tells
            that it takes another place.
        docks: Panels of the window.
        tools: What the mouse does in the viewport.
        mouse: The same for the list of keys: what it does, and how.
        commands: Entries of the menu Simulation.
        adds: Entries of the Add menu, below those of the kind; None is a line between them.
        rows: Make the widgets that stand below the rows of settings, by name.
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

    def follow(self, node: Node | None, system: Any) -> None:
        """Shows how a node stands; called after every change and picture.

        Args:
            node: The selected node, None where it is not of this kind.
            system: Its system, once there is one.
        """

    def note(self, node: Node, system: Any) -> str:  # noqa: ARG002
        """What a node lacks, a sentence for the head of the inspector; "" where all is well."""
        return ""

    def remedy(self, node: Node, system: Any) -> Command | None:  # noqa: ARG002
        """What can be done about the warning of a system."""
        return None

    def suggestion(self, node: Node) -> tuple[str, Command] | None:  # noqa: ARG002
        """What would help a selected node of any kind, a sentence, and the command for it; None for nothing."""
        return None

    def facts(self, node: Node) -> Sequence[Any]:  # noqa: ARG002
        """Sections of the inspector below the settings."""
        return ()

    def forget(self) -> None:
        """The rows and facts that were made are gone."""

    def fill_menu(self, menu: Any, node: Node, place: Any) -> None:
        """Adds entries to the menu of a node that was clicked at a place of the viewport."""

    def fill_section_menu(self, menu: Any, section: str) -> None:
        """Adds what can be made of a section of the active model to the menu of its material."""

    def sides(self) -> tuple[str, str] | None:
        """What nodes of the kind show on either side of a split view, in words; None where both show the same."""
        return None

    def legend(self) -> ColourKey | None:
        """What colours of visible nodes stand for."""
        return None
