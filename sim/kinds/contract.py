"""What a kind of thing in a scene is made of: all that the rest of the program knows of cloths, lights and the others.

A kind is a folder with a `Kind` in `kind.py`, and a line in `sim/kinds/__init__.py`.  Whatever else it has is written
against the protocols below and named by the `Kind` as text, "package.module:Name", so that it is loaded when it is
first needed: describing a file loads no OpenGL, and commands without a window load no Qt.

Moments are steps of `sim.scene.clock.STEP_TIME` since the start of the simulation; times are scene time [s].
"""

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh
from sim.scene.params import Settings
from sim.scene.places import Figures, Places
from sim.scene.scene import Attachment, Node, NodeId, Scene
from sim.scene.vectors import Vec3
from sim.scene.view_state import ViewState

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
    """

    scene: Scene
    view: ViewState

    @property
    def target(self) -> Vec3:
        """What the camera looks at [m]."""
        return self.view.camera.target

    @property
    def figure(self) -> Node | None:
        """The selected figure, if that is what is selected."""
        chosen = self.view.selection.node
        node = self.scene.by_id.get(chosen) if chosen is not None else None
        return node if node is not None and node.settings.is_figure else None

    @property
    def attachment(self) -> Attachment:
        """The selected bone, as what something rides on; nothing where no bone is selected."""
        figure, bone = self.figure, self.view.selection.bone
        return Attachment() if figure is None or bone is None else Attachment(node=figure.id, bone=bone)


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
        kept: Names of values that a node keeps under its settings, whatever the preset says.
    """

    format: str
    folder: str
    what: str
    values: Mapping[str, Mapping[str, Any]]
    fields: tuple[str, ...]
    kept: Callable[[Settings], frozenset[str]] = lambda _: frozenset()

    def name_of(self, settings: Settings, more: Mapping[str, Mapping[str, Any]]) -> str:
        """Name of the first preset, one's own included, whose values the settings have; "" for none."""
        kept = self.kept(settings)
        for name, values in {**self.values, **more}.items():
            if all(key in kept or getattr(settings, key) == value for key, value in values.items()):
                return name
        return ""

    def of(self, settings: Settings) -> dict[str, Any]:
        """Values of some settings, to be kept as a preset of one's own."""
        return {key: getattr(settings, key) for key in self.fields}


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that the settings of a node name.

    Attributes:
        field: Name of the setting.
        path: The file.
        content: What it is read as: "model", "mesh" or "image".
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
        icon: Icon name.
        hue: Colour of its passes in plots, "#rrggbb", or "".
        settings: What can be set; its `kind` is the name.
        adds: Entries of the Add menu.
        presets: Named values to begin with, if any.
        idle: Settings of a node that have no effect now; their rows are hidden and keep their values.
        files: Files that the settings name.
        completed: A node that was edited, with what the scene has only one answer to; part of the same edit.
        migrate: Changes the JSON object of a node of an older version in place; takes the version, the object, and
            those of all nodes by id.
        system: A `System`, where something of it is simulated.
        view: A `View`, where something of it is drawn.
        solids: Function that gives what particles of other nodes collide with, see `Solids`.
        figure: A `FigureRoom`, for what is read from model files and posed.
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
    files: Callable[[Settings], tuple[FileUse, ...]] = lambda _: ()
    completed: Callable[[Node, Scene], Node] = lambda node, _: node
    migrate: Callable[[int, dict[str, Any], Mapping[str, dict[str, Any]]], None] | None = None
    system: str = ""
    view: str = ""
    solids: str = ""
    figure: str = ""
    panel: str = ""

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

    def jump(self) -> None:
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
        figures: Models as they are posed, by node; only those that are there.
        places: Where nodes stand now.
        meshes: Files read as meshes, by path; only those that are there.
        images: Files read as images, by path.
        services: What systems share.
        start_time: Moment of the scene clock that the simulation starts at [s].
    """

    scene: Scene
    figures: Figures
    places: Places
    meshes: Mapping[str, Mesh]
    images: Mapping[Path, Pixels]
    services: Services
    start_time: float = 0.0


@dataclass(frozen=True, slots=True)
class Grab:
    """A particle that the user drags: of which node, its number, and where the hand is [m]."""

    node: NodeId
    particle: int
    hand: Vec3


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What acts on a system during one step, beside its settings.

    Attributes:
        world: The scene at the end of the step.
        solids: What there is to collide with, over the step; a `sim.solids.scene_solids.Solids`.
        moment: Steps since the start at the end of this one, whatever loops the clock has run.
        time: Scene time at the end [s].
        grab: What the user drags, or None.
    """

    world: World
    solids: Any
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
        meaning: What they are: "points" [m], "velocities" [m/s], "triangles" (constant indices), or "counts".
    """

    read: Callable[[], npt.NDArray[Any]]
    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    meaning: str

    @property
    def is_constant(self) -> bool:
        """Whether no step changes the values."""
        return self.meaning in ("triangles", "counts")


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
    def has_state(self) -> bool:
        """Whether it depends on the steps before, not on the moment alone."""
        return True

    @property
    def halted(self) -> str:
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

    def jump(self, world: World) -> None:
        """Time jumped to where the figures stand now: what was carried along has no speed from it."""

    def show(self, moment: int, world: World) -> None:
        """Shows a moment; only called where there is no state."""

    def poll(self, now: float) -> None:
        """Makes what is drawn, and looks for what went wrong; waits for nothing.  `now` is monotonic [s]."""

    def check(self) -> None:
        """Halts if something went wrong; waits for the GPU."""

    def resume(self) -> None:
        """Lets it go on from its last sound state, if it was halted."""

    def arrays(self) -> Mapping[str, Array]:
        """What there is to write into files, by name; "positions" and "velocities" where there are particles."""
        return {}

    def state(self) -> bytes:
        """Everything that the next step depends on, exactly; waits for the GPU."""
        return b""

    def restore(self, state: bytes, world: World) -> None:
        """Goes back to what `state` gave under the same settings: the steps after it give the same bits.

        Args:
            state: What `state` gave.
            world: The figures as they stood at the end of that step.

        Raises:
            SettingsError: If it is of other settings.
        """

    def release(self) -> None:
        """Deletes everything; may be called twice."""


def packed_state(head: Mapping[str, Any], *arrays: npt.NDArray[Any]) -> bytes:
    """A few numbers and texts, then arrays, as bytes; see `unpacked_state`."""
    return msgspec.msgpack.encode((dict(head), [(_described(a.dtype), a.shape, a.tobytes()) for a in arrays]))


def unpacked_state(state: bytes) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """What `packed_state` was given."""
    head, packed = msgspec.msgpack.decode(state)
    return head, [np.frombuffer(data, _dtype(described)).reshape(shape) for described, shape, data in packed]


def _described(dtype: np.dtype[Any]) -> Any:
    return dtype.descr if dtype.names else dtype.str


def _dtype(described: Any) -> np.dtype[Any]:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(name, form, *map(tuple, shape)) for name, form, *shape in described])
