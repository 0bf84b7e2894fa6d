"""Optional parts of the declaration of a kind, see `Kind.part`; a kind declares those that it needs."""

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sinew.sim.assets.formats import Formats
from sinew.sim.assets.model import Bounds, CharacterModel
from sinew.sim.scene.params import Settings, validated
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view_state import ViewState


@dataclass(frozen=True, slots=True)
class Part:
    """Base of the parts; `cls()` is the default of each."""


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
class Adds(Part):
    """Entries of the Add menu.

    Attributes:
        companions: Creates nodes that are added with a model, for example a light with the first one; takes the model,
            its node, and the scene before.
        new: Settings of new nodes, if these are not the defaults.
    """

    entries: tuple[AddEntry, ...] = ()
    companions: Callable[[CharacterModel, Node, Scene], Sequence[Node]] = lambda _, __, ___: ()
    new: Settings | None = None


@dataclass(frozen=True, slots=True)
class Presets(Part):
    format: str = ""  # Name of the format in files of user presets
    folder: str = ""  # Of user presets, relative to the settings of the program
    what: str = ""  # Completes "this is not a preset of", such as "a fabric"
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # Built-in presets by name
    fields: tuple[str, ...] = ()  # Settings that a user preset stores
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
class Form(Part):
    """The inspector.

    Attributes:
        idle: Names of settings without effect on a node; the inspector hides their rows.
        choices: Texts for members of enumerations whose values do not read well.
        unkeyable: Why a setting of a node, by part and name, cannot have keys; "" if it can.
        panel: Name of a `Panel`; "" for one with a tool to drag, if the system is `Draggable`.
    """

    idle: Callable[[Node], frozenset[str]] = lambda _: frozenset()
    choices: Mapping[enum.Enum, str] = field(default_factory=dict)
    unkeyable: Callable[[Node, str, str], str] = lambda _, __, ___: ""
    panel: str = ""


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that the settings of a node refer to."""

    field: str  # Name of the setting
    path: str
    # "character", "motion", "mesh", "strands", "image", "panorama", or "texture" for an image with mip levels
    content: str
    is_needed: bool = False  # An empty path counts as a missing file
    without: str = ""  # Consequence if the file cannot be read, to end a message; {names} stands for the nodes


@dataclass(frozen=True, slots=True)
class Files(Part):
    """Files that settings name.

    Attributes:
        imports: File formats that become a node of this kind, and the function that creates it from a path.
    """

    used: Callable[[Settings], tuple[FileUse, ...]] = lambda _: ()
    imports: tuple[Formats[Any], Callable[[Path, AddPlace], Node]] | None = None


@dataclass(frozen=True, slots=True)
class Edits(Part):
    """What follows from edits, and older nodes.

    Attributes:
        completed: Takes a node before and after an edit, and the edited scene; returns the node with settings that
            follow from the edit.
        resized: Factor by which an edit of the settings scales the node; attached nodes follow.
        migrate: Updates the JSON object of a node in place; takes the version of the file, the object, and all objects
            by id.  For a kind of a plug-in it is the `version` of the kind that wrote the node.
        since: First version of project files with nodes of these settings, where `Kind.since` is not enough.
    """

    completed: Callable[[Node, Node, Scene], Node] = lambda _, node, __: node
    resized: Callable[[Settings, Settings], float] = lambda _, __: 1.0
    migrate: Callable[[int, dict[str, Any], Mapping[str, dict[str, Any]]], None] | None = None
    since: Callable[[Settings], int] = lambda _: 0


@dataclass(frozen=True, slots=True)
class Coupling(Part):
    """How systems depend on other objects.

    Attributes:
        collides: Whether nodes with these settings collide.
        pairs: Returns the simulated nodes of this kind that act on one another, by id, each pair once.  Their systems
            are `StepsTogether`, and they have one key of cached steps.
        turns_joints: Whether the systems turn joints of the characters that their nodes are attached to; they are then
            stepped and restored before the characters are skinned, and `StepInputs.colliders` has nothing that is
            attached to turned joints.
    """

    collides: Callable[[Settings], bool] = lambda _: True
    pairs: Callable[[Scene], Sequence[tuple[NodeId, NodeId]]] | None = None
    turns_joints: bool = False


@dataclass(frozen=True, slots=True)
class ColliderSource(Part):
    """Nodes that others collide with.

    Attributes:
        of: Name of a function from nodes and world transforms to the colliders of the nodes.
        unfinished: Name of a function from nodes and the world to jobs on the worker thread, by node, or "": until
            these have ended, the simulation waits.
    """

    of: str = ""
    unfinished: str = ""


@dataclass(frozen=True, slots=True)
class ForceSource(Part):
    """Force fields.

    Attributes:
        of: Name of a function from nodes and world transforms to the force fields of the nodes.
        acts_on: Whether a node of this kind acts on another one.
    """

    of: str = ""
    acts_on: Callable[[Node, Node, Scene], bool] = lambda _, __, ___: False


@dataclass(frozen=True, slots=True)
class CharacterSource(Part):
    """Posed model files."""

    view: str = ""  # Name of a `CharacterView`


@dataclass(frozen=True, slots=True)
class ShaderTexts(Part):
    """Kinds that change shaders."""

    # Returns the file, its shipped text and the text that replaces it
    of: Callable[[Settings], tuple[str, str, str]] = lambda _: ("", "", "")
