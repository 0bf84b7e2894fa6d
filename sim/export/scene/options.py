"""What can be chosen of formats of scenes; declared like every other setting."""

import enum
from typing import Annotated

import msgspec

from sim.scene.params import param


class Characters(enum.Enum):
    """How characters are written."""

    SKELETON = "skeleton"
    POINTS = "points"


class UsdOptions(msgspec.Struct, frozen=True):
    """What can be chosen of a USD file."""

    characters: Annotated[
        Characters,
        param("Characters as skeletons with a skin and shapes, or as a mesh with points for every frame."),
    ] = Characters.SKELETON
    normals: Annotated[
        bool, param("Write smooth normals of every frame, for programs that make none; doubles the file.")
    ] = False
