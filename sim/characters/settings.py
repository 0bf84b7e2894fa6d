import enum
import functools
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.deformers.settings import AnyDeformer
from sinew.sim.characters.modifiers.settings import MODIFIERS_MAX, AnyModifier, FootPlanting
from sinew.sim.characters.weights import SkinWeights
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.scene import Node
from sinew.sim.scene.strips import STRIPS_MAX, Strip
from sinew.sim.scene.vectors import Colour

MATERIAL_PART = "material:"
"""Beginning of the address of a value of a material; the name in the file follows."""

LOOKS_MAX = 4096
Name = Annotated[str, msgspec.Meta(max_length=4096)]


def _texture(doc: str, label: str) -> msgspec.Meta:
    return param(
        f"{doc}; stored relative to the project.", group="Textures", label=label, role=Role.PATH,
        suffixes=IMAGE_FORMATS.suffixes, effect=Effect.VIEW,
    )  # fmt: skip


def _colour(doc: str, label: str) -> msgspec.Meta:
    return param(doc, group="Colours", label=label, role=Role.COLOUR, effect=Effect.VIEW)


class MaterialLook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Overrides of one material: None keeps the value of the file, an empty path removes a texture."""

    material: Name = ""
    diffuse: Annotated[
        Colour | None, _colour("Colour of the surface, which the colour texture is multiplied by.", "Base colour")
    ] = None
    specular: Annotated[Colour | None, _colour("Colour of highlights, seen from the front.", "Highlights")] = None
    emission: Annotated[Colour | None, _colour("Emission of the surface.", "Emission")] = None
    shininess: (
        Annotated[
            float,
            param("How narrow highlights are: the exponent of Phong.", lo=0.0, hi=1e4, soft=(1.0, 1e4), scale=Scale.LOG,
                  group="Colours", effect=Effect.VIEW),
        ]
        | None
    ) = None  # fmt: skip
    opacity: (
        Annotated[
            float,
            param("Opacity of the surface, if the file allows transparency.", lo=0.0, hi=1.0,
                  step=0.01, group="Colours", effect=Effect.VIEW),
        ]
        | None
    ) = None  # fmt: skip
    texture: Annotated[str | None, _texture("Colours", "Colour")] = None
    emission_image: Annotated[str | None, _texture("Emission", "Emission")] = None
    normal_image: Annotated[
        str | None, _texture("Normals in tangent space: right, up the image, outwards", "Normals")
    ] = None
    surface_image: Annotated[str | None, _texture("Roughness in green and metal in blue", "Roughness, metal")] = None
    occlusion_image: Annotated[str | None, _texture("Ambient occlusion, in red", "Occlusion")] = None


Looks = Annotated[tuple[MaterialLook, ...], msgspec.Meta(max_length=LOOKS_MAX)]

TEXTURES = ("texture", "emission_image", "normal_image", "surface_image", "occlusion_image")
"""Fields of textures, the colour first."""


def look_of(looks: tuple[MaterialLook, ...], material: str) -> MaterialLook:
    return next((look for look in looks if look.material == material), MaterialLook(material=material))


def with_look(looks: tuple[MaterialLook, ...], changed: MaterialLook) -> tuple[MaterialLook, ...]:
    place = next((index for index, look in enumerate(looks) if look.material == changed.material), len(looks))
    cached = (changed,) if changed != MaterialLook(material=changed.material) else ()
    return (*looks[:place], *cached, *looks[place + 1 :])


BONE_PART = "bone:"
"""Beginning of the address of a value of a bone; the name of the bone follows."""

Part = Annotated[float, msgspec.Meta(ge=-1e3, le=1e3)]
Way = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Angle = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


_file = functools.partial(param, group="File")
_look = functools.partial(param, group="Look", effect=Effect.VIEW)
_animation = functools.partial(param, group="Animation", effect=Effect.POSE)
_offset = functools.partial(param, group="Pose offset", effect=Effect.POSE)
_penetration = functools.partial(param, group="Penetration", effect=Effect.VIEW, sparse=True)


class BonePose(msgspec.Struct, frozen=True, kw_only=True):
    """Offset on top of the clip, in the frame of the bone in the clip."""

    bone: str = ""
    position: Annotated[tuple[Way, Way, Way], _offset(
        "Translation of the bone along its own axes, in units of the file, added to the clip.", lo=-1e6, hi=1e6,
        step=0.01, bounded=False,
    )] = (0.0, 0.0, 0.0)  # fmt: skip
    rotation: Annotated[tuple[Angle, Angle, Angle], _offset(
        "Rotation of the bone about its own x, y and z axes in turn, added to the clip.", unit="°", lo=-1e6, hi=1e6,
        step=1.0, bounded=False,
    )] = (0.0, 0.0, 0.0)  # fmt: skip
    scale: Annotated[tuple[Part, Part, Part], _offset(
        "Scale of the bone along its own axes, on top of the clip.", lo=-1e3, hi=1e3, step=0.01, bounded=False,
    )] = (1.0, 1.0, 1.0)  # fmt: skip


Bones = tuple[BonePose, ...]


def bone_pose(bones: Bones, bone: str) -> BonePose:
    return next((posed for posed in bones if posed.bone == bone), BonePose(bone=bone))


def with_bone_pose(bones: Bones, posed: BonePose) -> Bones:
    rest = [other for other in bones if other.bone != posed.bone]
    if posed != BonePose(bone=posed.bone):
        place = next((index for index, other in enumerate(bones) if other.bone == posed.bone), len(rest))
        rest.insert(place, posed)
    return tuple(rest)


class UpAxis(enum.Enum):
    AUTO = "auto"
    Y = "y"
    Z = "z"


class FlipV(enum.Enum):
    """Choice of the image row at v = 0: the top if on; AUTO uses the rule of the importer."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class DoubleSided(enum.Enum):
    """Choice of drawn back faces; AUTO means open sheets only."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class SkinningMethod(enum.Enum):
    LBS = "lbs"
    DQS = "dqs"
    DQS_SCALE = "dqs-scale"


BoneJoint = tuple[Annotated[str, msgspec.Meta(max_length=100)], Name]
"""A bone of the human body, as VRM 1.0 names it, and its joint; "" for none."""

HUMANOID_MAX = 256
Humanoid = Annotated[tuple[BoneJoint, ...], msgspec.Meta(max_length=HUMANOID_MAX)]
"""Changes of the bones that the file names or that are found by name."""


class MotionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file whose clips a character plays."""

    path: Annotated[str, _file(
        "File with a motion; stored relative to the project.", role=Role.PATH, suffixes=MODEL_FORMATS.suffixes,
        effect=Effect.POSE,
    )] = ""  # fmt: skip
    humanoid: Annotated[Humanoid, _file(
        "Changed bones of the file.", role=Role.HIDDEN, effect=Effect.POSE, bounded=False,
    )] = ()  # fmt: skip


MOTIONS_MAX = 64

TARGET_WEIGHT_MAX = 100.0
DEFORMERS_MAX = 16
SECTIONS_MAX = 4096

TargetWeight = tuple[str, Annotated[float, msgspec.Meta(ge=-TARGET_WEIGHT_MAX, le=TARGET_WEIGHT_MAX)]]
"""Name and weight of a morph target."""

ExpressionValue = tuple[str, Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]]
"""Name of an expression of the file, and its value."""


class ModelSettings(Settings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "model"
    is_character: ClassVar[bool] = True

    path: Annotated[str, _file(
        "Model file; stored relative to the project.", role=Role.PATH, suffixes=MODEL_FORMATS.suffixes,
        effect=Effect.REBUILD,
    )] = ""  # fmt: skip
    up_axis: Annotated[UpAxis, _file("Axis of the file that points up.", effect=Effect.POSE)] = UpAxis.AUTO
    flip_v: Annotated[FlipV, _file(
        "Whether v = 0 is the top row of the textures.", label="Flip V", effect=Effect.POSE,
    )] = FlipV.AUTO  # fmt: skip
    unit_scale: Annotated[float, _file(
        "Metres per unit of the file.", unit="m", lo=1e-6, hi=1e6, soft=(1e-3, 1e3), scale=Scale.LOG,
        effect=Effect.POSE,
    )] = 1.0  # fmt: skip
    double_sided: Annotated[DoubleSided, _look(
        "Draw the back of faces too; automatic does so for sheets, such as capes.",
    )] = DoubleSided.AUTO  # fmt: skip
    hidden_sections: Annotated[str, _look("Names of sections that are not drawn, separated by semicolons.")] = ""
    materials: Annotated[Looks, _look("Overrides of materials of the file.", role=Role.HIDDEN, bounded=False)] = ()
    skinning: Annotated[SkinningMethod, param(
        "How the joint transforms of a vertex are blended.", group="Skinning", effect=Effect.POSE,
    )] = SkinningMethod.LBS  # fmt: skip
    weights: Annotated[tuple[SkinWeights, ...], msgspec.Meta(max_length=1), param(
        "Changed weights of the bones; the file has others.", group="Skinning", role=Role.HIDDEN, effect=Effect.POSE,
        bounded=False, sparse=True,
    )] = ()  # fmt: skip
    clip: Annotated[str, _animation("Animation that drives the skeleton.", role=Role.CLIP)] = ""
    motions: Annotated[tuple[MotionFile, ...], _animation(
        "Files whose clips the character plays.", role=Role.HIDDEN, bounded=False, sparse=True,
    ), msgspec.Meta(max_length=MOTIONS_MAX)] = ()  # fmt: skip
    humanoid: Annotated[Humanoid, _animation(
        "Changed bones of the human body.", role=Role.HIDDEN, bounded=False, sparse=True,
    )] = ()  # fmt: skip
    strips: Annotated[tuple[Strip, ...], _animation(
        "Clips over time; without strips the animation loops.", role=Role.HIDDEN, bounded=False,
    ), msgspec.Meta(max_length=STRIPS_MAX)] = ()  # fmt: skip
    bind_pose: Annotated[bool, _animation("Show the bind pose instead of the clip.")] = False
    interpolation: Annotated[Interpolation, _animation(
        "Interpolation between the keys of the clip.",
    )] = Interpolation.LINEAR  # fmt: skip
    lock_root: Annotated[bool, _animation(
        "Keep the character in place by removing the root's travel.", label="Lock root motion",
    )] = False  # fmt: skip
    pose: Annotated[Bones, _animation("Offsets of bones on top of the clip.", role=Role.HIDDEN)] = ()
    target_weights: Annotated[tuple[TargetWeight, ...], param(
        "Weights of morph targets, added to the weights of the clip.", group="Morph targets", role=Role.HIDDEN,
        label="Morph targets", effect=Effect.POSE, bounded=False,
    )] = ()  # fmt: skip
    expressions: Annotated[tuple[ExpressionValue, ...], param(
        "Values of the expressions of the file, from 0 to 1; they add to the weights of the clip.",
        group="Expressions", role=Role.WEIGHTS, effect=Effect.POSE, bounded=False, sparse=True,
    )] = ()  # fmt: skip
    solo_target: Annotated[str, param(
        "The only active morph target; all are active without a name.", group="Morph targets", role=Role.HIDDEN,
        effect=Effect.POSE,
    )] = ""  # fmt: skip
    deformers: Annotated[tuple[AnyDeformer, ...], msgspec.Meta(max_length=DEFORMERS_MAX), param(
        "Deformers of the surface, applied in order before the bones.", group="Deformers", role=Role.LIST,
        effect=Effect.POSE, bounded=False,
    )] = ()  # fmt: skip
    modifiers: Annotated[tuple[AnyModifier, ...], msgspec.Meta(max_length=MODIFIERS_MAX), param(
        "Modifiers of bones, applied in order after the clip and the pose offsets.", group="Modifiers", role=Role.LIST,
        effect=Effect.POSE, bounded=False, sparse=True,
    )] = ()  # fmt: skip
    depth_sections: Annotated[tuple[Name, ...], msgspec.Meta(max_length=SECTIONS_MAX), _penetration(
        "Sections in which the depth of cloth and hair is measured; without any, all that are closed and drawn.",
        label="Sections", role=Role.SECTION, bounded=False,
    )] = ()  # fmt: skip
    depth_tolerance: Annotated[float, _penetration(
        "Depth up to which a point of cloth or hair counts as outside.", label="Tolerance", unit="mm", lo=0.0, hi=10.0,
        step=0.1,
    )] = 0.5  # fmt: skip

    avatar: Annotated[tuple[AvatarMeta, ...], msgspec.Meta(max_length=1), _file(
        "Name, authors and permissions of a VRM file.", role=Role.HIDDEN, effect=Effect.VIEW, bounded=False,
        sparse=True,
    )] = ()  # fmt: skip

    @property
    def targets(self) -> tuple[str, ...]:
        if not self.modifiers:
            return ()
        active = (modifier for modifier in self.modifiers if not modifier.muted)
        return tuple(dict.fromkeys(node for modifier in active for node in modifier.names(Role.NODE)))

    @property
    def plants_feet(self) -> bool:
        feet = (modifier for modifier in self.modifiers if isinstance(modifier, FootPlanting))
        return bool(self.modifiers) and not all(modifier.muted for modifier in feet)

    def part(self, name: str) -> msgspec.Struct | None:
        if name.startswith(MATERIAL_PART):
            return look_of(self.materials, name.removeprefix(MATERIAL_PART))
        return bone_pose(self.pose, name.removeprefix(BONE_PART)) if name.startswith(BONE_PART) else super().part(name)

    def with_part(self, name: str, value: msgspec.Struct) -> "ModelSettings":
        if isinstance(value, MaterialLook):
            return msgspec.structs.replace(self, materials=with_look(self.materials, value))
        if not isinstance(value, BonePose):
            return super().with_part(name, value)
        return msgspec.structs.replace(self, pose=with_bone_pose(self.pose, value))


def section_list(names: str) -> tuple[str, ...]:
    return tuple(name for part in names.split(";") if (name := part.strip()))


def model_settings(node: Node) -> ModelSettings:
    assert isinstance(node.settings, ModelSettings)
    return node.settings
