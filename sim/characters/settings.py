"""Settings of a character that is read from a file.  Pure; knows no OpenGL."""

import enum
from typing import Annotated, ClassVar

import msgspec

from sim.assets.formats import MODEL_FORMATS
from sim.assets.model import Interpolation
from sim.characters.deformers.settings import AnyDeformer
from sim.characters.look_settings import PART as MATERIAL
from sim.characters.look_settings import Looks, MaterialLook, look_of, with_look
from sim.characters.pose_settings import PART, BonePose, Bones, pose_of, with_pose
from sim.scene.params import Effect, Role, Scale, Settings, param
from sim.scene.strips import STRIPS_MAX, Strip


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


TARGET_WEIGHT_MAX = 100.0
DEFORMERS_MAX = 16

TargetWeight = tuple[str, Annotated[float, msgspec.Meta(ge=-TARGET_WEIGHT_MAX, le=TARGET_WEIGHT_MAX)]]
"""Name of a morph target, and a weight."""


class ModelSettings(Settings, frozen=True, kw_only=True):
    """A character read from a file."""

    kind: ClassVar[str] = "model"
    is_character: ClassVar[bool] = True

    path: Annotated[
        str,
        param("Model file; stored relative to the project.", group="File", role=Role.PATH,
              suffixes=MODEL_FORMATS.suffixes, effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    up_axis: Annotated[UpAxis, param("Axis of the file that points up.", group="File", effect=Effect.POSE)] = (
        UpAxis.AUTO
    )
    flip_v: Annotated[
        FlipV,
        param("Whether v = 0 is the top row of the textures.", group="File", label="Flip V", effect=Effect.POSE),
    ] = FlipV.AUTO
    unit_scale: Annotated[
        float,
        param(
            "Metres per unit of the file.",
            unit="m", lo=1e-6, hi=1e6, soft=(1e-3, 1e3), scale=Scale.LOG, group="File", effect=Effect.POSE,
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
        param("Sections that are not drawn, such as one that is replaced; their names with semicolons between.",
              group="Look", effect=Effect.VIEW),
    ] = ""  # fmt: skip
    materials: Annotated[
        Looks,
        param("What is other of single materials than in the file.", group="Look", role=Role.HIDDEN, effect=Effect.VIEW,
              bounded=False),
    ] = ()  # fmt: skip
    skinning: Annotated[
        SkinningMethod,
        param("How the joint transforms of a vertex are blended.", group="Skinning", effect=Effect.POSE),
    ] = SkinningMethod.LBS
    clip: Annotated[
        str,
        param("Animation that drives the skeleton.", group="Animation", role=Role.CLIP, effect=Effect.POSE),
    ] = ""
    strips: Annotated[
        tuple[Strip, ...],
        param("When which clip is played; none is the animation over and over.", group="Animation", role=Role.HIDDEN,
              effect=Effect.POSE, bounded=False),
        msgspec.Meta(max_length=STRIPS_MAX),
    ] = ()  # fmt: skip
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
    pose: Annotated[
        Bones,
        param("What is done to single bones on top of the clip.", group="Animation", role=Role.HIDDEN,
              effect=Effect.POSE),
    ] = ()  # fmt: skip
    target_weights: Annotated[
        tuple[TargetWeight, ...],
        param("Weights of morph targets, added to those of the clip.", group="Morph targets", role=Role.HIDDEN,
              label="Morph targets", effect=Effect.POSE, bounded=False),
    ] = ()  # fmt: skip
    solo_target: Annotated[
        str,
        param("Morph target that acts alone; all do without a name.", group="Morph targets", role=Role.HIDDEN,
              effect=Effect.POSE),
    ] = ""  # fmt: skip
    deformers: Annotated[
        tuple[AnyDeformer, ...],
        msgspec.Meta(max_length=DEFORMERS_MAX),
        param("What moves the surface before the bones do, one after the other.", group="Deformers", role=Role.LIST,
              effect=Effect.POSE, bounded=False),
    ] = ()  # fmt: skip

    def part(self, name: str) -> msgspec.Struct | None:
        if name.startswith(MATERIAL):
            return look_of(self.materials, name.removeprefix(MATERIAL))
        return pose_of(self.pose, name.removeprefix(PART)) if name.startswith(PART) else super().part(name)

    def with_part(self, name: str, value: msgspec.Struct) -> "ModelSettings":
        if isinstance(value, MaterialLook):
            return msgspec.structs.replace(self, materials=with_look(self.materials, value))
        if not isinstance(value, BonePose):
            return super().with_part(name, value)
        return msgspec.structs.replace(self, pose=with_pose(self.pose, value))


def section_list(names: str) -> tuple[str, ...]:
    return tuple(name for part in names.split(";") if (name := part.strip()))
