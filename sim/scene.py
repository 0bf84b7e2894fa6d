"""The scene as immutable values: nodes with settings, playback and view settings.

Everything here is what a user may set and what the project file holds.  The document replaces these
values, the engine and the widgets read them.  Identity is the `NodeId`, never an index.
"""

import enum
from typing import Annotated, Any

import msgspec

from sim.cloth_settings import ClothSettings
from sim.collider_settings import ColliderSettings
from sim.params import Effect, Role, Scale, check, param

NodeId = str
Vec3 = tuple[float, float, float]
UnitFloat = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Colour = tuple[UnitFloat, UnitFloat, UnitFloat]

PLAYBACK = "playback"
VIEW = "view"


class UpAxis(enum.Enum):
    """Axis of the file that points up; AUTO uses the rule of the importer."""

    AUTO = "auto"
    Y = "y"
    Z = "z"


class FlipV(enum.Enum):
    """Whether v = 0 is the top row of the image; AUTO uses the rule of the importer."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class DoubleSided(enum.Enum):
    """Whether back faces are drawn; AUTO draws them where a section is an open sheet."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class SkinningMethod(enum.Enum):
    """How the joint transforms of one vertex are blended."""

    LBS = "lbs"
    DQS = "dqs"
    DQS_SCALE = "dqs-scale"


class Interpolation(enum.Enum):
    """How a clip is read between its keys."""

    NEAREST = "nearest"
    LINEAR = "linear"


class LoopMode(enum.Enum):
    """What the playhead does at the end of its range."""

    LOOP = "loop"
    ONCE = "once"
    PING_PONG = "ping-pong"


class DisplayMode(enum.Enum):
    """How surfaces are drawn."""

    SHADED = "shaded"
    SHADED_WIRE = "shaded-wireframe"
    WIREFRAME = "wireframe"
    NORMALS = "normals"
    WEIGHTS = "weights"


class Comparison(enum.Enum):
    """Whether the viewport shows the chosen method, both side by side, or their distance."""

    OFF = "off"
    SPLIT = "split"
    DIFFERENCE = "difference"


class Transform(msgspec.Struct, frozen=True, kw_only=True):
    """Placement of a node in the world: scale, then rotation about x, y, z in turn, then translation."""

    position: Annotated[Vec3, param("Position of the node.", unit="m", effect=Effect.VIEW, step=0.01)] = (
        0.0,
        0.0,
        0.0,
    )
    rotation: Annotated[
        Vec3,
        param("Turn about the x, then y, then z axis of the world.", unit="°", effect=Effect.VIEW, step=1.0),
    ] = (0.0, 0.0, 0.0)
    scale: Annotated[Vec3, param("Scale along the axes of the node.", effect=Effect.VIEW, step=0.01)] = (
        1.0,
        1.0,
        1.0,
    )


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A character read from a file."""

    path: Annotated[
        str,
        param("Model file; stored relative to the project.", group="File", role=Role.PATH, effect=Effect.REBUILD),
    ] = ""
    up_axis: Annotated[UpAxis, param("Axis of the file that points up.", group="File", effect=Effect.VIEW)] = (
        UpAxis.AUTO
    )
    flip_v: Annotated[
        FlipV,
        param("Whether v = 0 is the top row of the textures.", group="File", label="Flip V", effect=Effect.VIEW),
    ] = FlipV.AUTO
    unit_scale: Annotated[
        float,
        param(
            "Metres per unit of the file.",
            unit="m", lo=1e-6, hi=1e6, soft=(1e-3, 1e3), scale=Scale.LOG, group="File", effect=Effect.VIEW,
        ),
    ] = 1.0  # fmt: skip
    double_sided: Annotated[
        DoubleSided,
        param(
            "Draw the back of faces too; automatic does so for sheets, such as capes.", group="Look", effect=Effect.VIEW
        ),
    ] = DoubleSided.AUTO
    hidden_sections: Annotated[
        str,
        param("Sections that are not drawn, such as one that a cloth replaces; their names with semicolons between.",
              group="Look", effect=Effect.VIEW),
    ] = ""  # fmt: skip
    skinning: Annotated[
        SkinningMethod,
        param("How the joint transforms of a vertex are blended.", group="Skinning", effect=Effect.POSE),
    ] = SkinningMethod.LBS
    clip: Annotated[
        str,
        param("Animation that drives the skeleton.", group="Animation", role=Role.CLIP, effect=Effect.POSE),
    ] = ""
    bind_pose: Annotated[
        bool,
        param(
            "Show the pose the skeleton was bound in, ignoring the clip.",
            group="Animation",
            effect=Effect.POSE,
        ),
    ] = False
    interpolation: Annotated[
        Interpolation, param("How the clip is read between its keys.", group="Animation", effect=Effect.POSE)
    ] = Interpolation.LINEAR
    lock_root: Annotated[
        bool,
        param("Keep the character in place by removing the root's travel.", group="Animation",
              label="Lock root motion", effect=Effect.POSE),
    ] = False  # fmt: skip


def section_list(names: str) -> tuple[str, ...]:
    """Names in a text with semicolons between."""
    return tuple(name for part in names.split(";") if (name := part.strip()))


class LightSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A point light whose intensity falls with the square of the distance; it casts the shadow."""

    colour: Annotated[Colour, param("Colour of the light.", role=Role.COLOUR, effect=Effect.VIEW)] = (
        1.0,
        0.96,
        0.9,
    )
    intensity: Annotated[
        float,
        param("Irradiance on a surface that faces the light at its reach.", lo=0.0, hi=1e3, soft=(0.0, 5.0), step=0.1,
              effect=Effect.VIEW),
    ] = 1.6  # fmt: skip
    reach: Annotated[
        float,
        param("Distance at which the light has its nominal intensity.", unit="m", lo=1e-3, hi=1e6,
              soft=(0.1, 100.0), scale=Scale.LOG, effect=Effect.VIEW),
    ] = 4.0  # fmt: skip
    shadow: Annotated[bool, param("Cast a shadow.", effect=Effect.VIEW)] = True


NodeSettings = ModelSettings | LightSettings | ClothSettings | ColliderSettings


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
}


class PlaybackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the scene clock runs."""

    loop: Annotated[LoopMode, param("What happens at the end of the range.", effect=Effect.VIEW)] = LoopMode.LOOP
    speed: Annotated[
        float, param("Clip seconds per second; negative plays backwards.", unit="×", lo=-4.0, hi=4.0, step=0.1,
                     effect=Effect.VIEW)
    ] = 1.0  # fmt: skip
    in_point: Annotated[
        float | None, param("Start of the range; none is the start of the clip.", unit="s", effect=Effect.VIEW,
                            bounded=False)
    ] = None  # fmt: skip
    out_point: Annotated[
        float | None, param("End of the range; none is the end of the clip.", unit="s", effect=Effect.VIEW,
                            bounded=False)
    ] = None  # fmt: skip


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the viewport shows."""

    display: Annotated[DisplayMode, param("How surfaces are drawn.", group="Surface", effect=Effect.VIEW)] = (
        DisplayMode.SHADED
    )
    comparison: Annotated[
        Comparison,
        param("Linear blend beside dual quaternions, or their distance.", group="Surface", effect=Effect.POSE),
    ] = Comparison.OFF
    divider: Annotated[
        float, param("Place of the divider of the split view, from left to right.", lo=0.0, hi=1.0, group="Surface",
                     effect=Effect.VIEW)
    ] = 0.5  # fmt: skip
    textures: Annotated[bool, param("Draw the textures of the materials.", group="Surface", effect=Effect.VIEW)] = True
    grid: Annotated[bool, param("Draw the ground grid.", group="Overlays", effect=Effect.VIEW)] = True
    axes: Annotated[bool, param("Draw the world's axes.", group="Overlays", effect=Effect.VIEW)] = True
    bones: Annotated[bool, param("Draw the skeleton through the mesh.", group="Overlays", effect=Effect.VIEW)] = False
    colliders: Annotated[
        bool, param("Draw the colliders as translucent bodies.", group="Overlays", effect=Effect.VIEW)
    ] = True
    contacts: Annotated[bool, param("Mark where cloths touch colliders.", group="Overlays", effect=Effect.VIEW)] = False
    statistics: Annotated[bool, param("Show counts, frame and frame rate.", group="Overlays", effect=Effect.VIEW)] = (
        True
    )
    samples: Annotated[
        int,
        param(
            "Samples per pixel that smooth edges; 0 draws without.",
            lo=0, hi=16, group="Surface", label="Antialiasing", effect=Effect.VIEW,
        ),
    ] = 4  # fmt: skip
    ambient: Annotated[
        float, param("Brightness of the sky and ground light.", lo=0.0, hi=4.0, soft=(0.0, 2.0), step=0.05,
                     group="Light", effect=Effect.VIEW)
    ] = 0.8  # fmt: skip
    background_top: Annotated[
        Colour,
        param("Upper colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW),
    ] = (0.24, 0.26, 0.29)
    background_bottom: Annotated[
        Colour,
        param("Lower colour of the background.", group="Background", role=Role.COLOUR, effect=Effect.VIEW),
    ] = (0.11, 0.12, 0.13)


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
