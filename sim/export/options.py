"""What can be chosen of formats; declared like every other setting."""

import enum
from typing import Annotated

import msgspec

from sim.scene.params import param


class Characters(enum.Enum):
    """How characters are written; "skeleton" is a former name of "auto"."""

    AUTO = "auto"
    SKIN = "skin"
    POINTS = "points"

    @classmethod
    def _missing_(cls, value: object) -> "Characters | None":
        return cls.AUTO if value == "skeleton" else None


_CHARACTERS = (
    "Characters as skins on joints (skin, a linear approximation where the format blends otherwise), as points for"
    " every frame, or (auto) as skins where these give what is drawn and else as points."
)


class GlbOptions(msgspec.Struct, frozen=True):
    """What can be chosen of a glTF file of a scene."""

    characters: Annotated[Characters, param(_CHARACTERS)] = Characters.AUTO
    normals: Annotated[
        bool, param("Normals of every frame, so that the light follows; without, files are half as large.")
    ] = True


class UsdOptions(msgspec.Struct, frozen=True):
    """What can be chosen of a USD file."""

    characters: Annotated[Characters, param(_CHARACTERS)] = Characters.AUTO
    normals: Annotated[
        bool, param("Write smooth normals of every frame, for programs that make none; doubles the file.")
    ] = False


class VideoCodec(enum.Enum):
    """How the pictures of an MP4 are compressed."""

    H264 = "h264"
    AV1 = "av1"


class VideoOptions(msgspec.Struct, frozen=True):
    """What can be chosen of an MP4."""

    codec: Annotated[VideoCodec, param("H.264 plays everywhere; AV1 takes less room and time.")] = VideoCodec.H264
