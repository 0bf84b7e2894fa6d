"""What can be chosen of formats; declared like every other setting."""

import enum
from typing import Annotated

import msgspec

from sim.scene.params import param


class Characters(enum.Enum):
    """How characters are written."""

    SKELETON = "skeleton"
    POINTS = "points"


class GlbOptions(msgspec.Struct, frozen=True):
    """What can be chosen of a glTF file of a scene."""

    characters: Annotated[
        Characters,
        param("Characters that are blended linearly as skeletons with a skin, or as a morph target for every frame."),
    ] = Characters.SKELETON


class UsdOptions(msgspec.Struct, frozen=True):
    """What can be chosen of a USD file."""

    characters: Annotated[
        Characters,
        param("Characters as skeletons with a skin and shapes, or as a mesh with points for every frame."),
    ] = Characters.SKELETON
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
