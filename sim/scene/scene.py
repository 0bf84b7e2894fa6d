"""The scene as immutable values: nodes with settings, playback and view settings.

Everything here is what a user may set and what the project file holds.  The document replaces these
values, the engine and the widgets read them.  Identity is the `NodeId`, never an index.
"""

from typing import Annotated, Any

import msgspec

from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.collider.settings import ColliderSettings
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.light.settings import LightSettings
from sim.kinds.model.settings import ModelSettings
from sim.scene.params import Effect, check, param
from sim.scene.playback import PlaybackSettings
from sim.scene.transform import Transform
from sim.scene.view import ViewSettings

NodeId = str

PLAYBACK = "playback"
VIEW = "view"


NodeSettings = ModelSettings | LightSettings | ClothSettings | ColliderSettings | EmitterSettings


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One object of the scene; exactly one of the optional parts is present and gives its kind.

    A new kind of node is a new optional part: older files still decode, and errors carry the path
    `$.nodes[2].cloth.substeps`.
    """

    id: NodeId
    name: Annotated[str, param("Name in the outliner.", group="Node", effect=Effect.VIEW)] = ""
    visible: Annotated[bool, param("Draw this node.", group="Node", effect=Effect.VIEW)] = True
    transform: Transform = Transform()
    model: ModelSettings | None = None
    light: LightSettings | None = None
    cloth: ClothSettings | None = None
    collider: ColliderSettings | None = None
    emitter: EmitterSettings | None = None

    def __post_init__(self) -> None:
        if sum(getattr(self, kind) is not None for kind in NODE_KINDS) != 1:
            raise ValueError(f"a node holds exactly one of: {', '.join(NODE_KINDS)}")

    @property
    def kind(self) -> str:
        """Name of the part that is present, a key of `NODE_KINDS`."""
        return next(kind for kind in NODE_KINDS if getattr(self, kind) is not None)

    @property
    def settings(self) -> NodeSettings:
        """The part that is present."""
        settings = getattr(self, self.kind)
        assert isinstance(settings, NodeSettings)
        return settings


NODE_KINDS: dict[str, type[NodeSettings]] = {
    "model": ModelSettings,
    "light": LightSettings,
    "cloth": ClothSettings,
    "collider": ColliderSettings,
    "emitter": EmitterSettings,
}


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is undone and redone."""

    nodes: tuple[Node, ...] = ()
    playback: PlaybackSettings = PlaybackSettings()
    view: ViewSettings = ViewSettings()

    def node(self, node_id: NodeId) -> Node:
        """The node with this id; KeyError when there is none."""
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    def has(self, node_id: NodeId) -> bool:
        """Whether a node with this id exists."""
        return any(node.id == node_id for node in self.nodes)

    def of_kind(self, kind: str) -> tuple[Node, ...]:
        """All nodes of one kind, in outliner order."""
        return tuple(node for node in self.nodes if getattr(node, kind) is not None)


class ParamRef(msgspec.Struct, frozen=True):
    """Address of one value of the scene.

    Attributes:
        owner: A node's id, or `PLAYBACK`, or `VIEW`.
        part: "node", "transform" or a key of `NODE_KINDS` for nodes; equal to the owner otherwise.
        name: Field name.
    """

    owner: str
    part: str
    name: str


def part_of(scene: Scene, owner: str, part: str) -> msgspec.Struct:
    """The settings value that holds a parameter; KeyError when the owner or the part is missing."""
    if owner in (PLAYBACK, VIEW):
        value = getattr(scene, owner)
    else:
        node = scene.node(owner)
        value = node if part == "node" else getattr(node, part, None)
    if value is None:
        raise KeyError(f"{owner} has no {part}")
    assert isinstance(value, msgspec.Struct)
    return value


def value_at(scene: Scene, ref: ParamRef) -> Any:
    """Current value of a parameter."""
    return getattr(part_of(scene, ref.owner, ref.part), ref.name)


def with_value(scene: Scene, ref: ParamRef, value: Any) -> Scene:
    """Scene with one value replaced.

    Raises:
        ParamError: If the value is refused by its declaration.
        KeyError: If there is no such parameter.
    """
    part = part_of(scene, ref.owner, ref.part)
    changed = msgspec.structs.replace(part, **{ref.name: check(type(part), ref.name, value)})
    if ref.owner in (PLAYBACK, VIEW):
        return msgspec.structs.replace(scene, **{ref.owner: changed})
    node = scene.node(ref.owner)
    replaced = changed if ref.part == "node" else msgspec.structs.replace(node, **{ref.part: changed})
    assert isinstance(replaced, Node)
    return msgspec.structs.replace(scene, nodes=tuple(replaced if n.id == node.id else n for n in scene.nodes))
