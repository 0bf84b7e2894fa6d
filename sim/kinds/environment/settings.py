import enum
from typing import Annotated, ClassVar

from sinew.sim.assets.formats import PANORAMA_FORMATS
from sinew.sim.scene.params import Effect, Role, Settings, param


class EnvironmentSource(enum.Enum):
    STUDIO = "studio"
    FILE = "file"


class EnvironmentSettings(Settings, frozen=True, kw_only=True):
    """Light from all around; surfaces of the standard look reflect it."""

    kind: ClassVar[str] = "environment"

    source: Annotated[EnvironmentSource, param(
        "Where the light comes from: soft boxes in a grey room, or a panorama.", effect=Effect.VIEW,
    )] = EnvironmentSource.STUDIO  # fmt: skip
    path: Annotated[str, param(
        "Panorama of all directions, twice as wide as high; stored relative to the project.", label="File",
        role=Role.PATH, suffixes=PANORAMA_FORMATS.suffixes, effect=Effect.VIEW,
    )] = ""  # fmt: skip
    rotation: Annotated[float, param(
        "Rotation about the vertical axis.", unit="°", lo=-3600.0, hi=3600.0, soft=(-180.0, 180.0), step=1.0,
        effect=Effect.VIEW,
    )] = 0.0  # fmt: skip
    strength: Annotated[float, param(
        "Factor of its light.", lo=0.0, hi=1e3, soft=(0.0, 4.0), step=0.05, effect=Effect.VIEW,
    )] = 1.0  # fmt: skip
    background: Annotated[bool, param("Show it as the background.", effect=Effect.VIEW)] = False
