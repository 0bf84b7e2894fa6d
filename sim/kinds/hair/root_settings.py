"""Settings of where hair grows: its surface or its file, how many strands, and what varies over the surface.  Pure."""

import enum
from pathlib import Path
from typing import Annotated

import msgspec

from sim.assets.formats import IMAGE_FORMATS, STRAND_FORMATS
from sim.characters.settings import UpAxis
from sim.scene.params import Effect, Role, Scale, Settings, param

KNOTS_MIN, KNOTS_MAX = 3, 16
GUIDES_MAX, CHILDREN_MAX = 100_000, 1_000_000

Radius = Annotated[float, msgspec.Meta(ge=1e-4, le=1e3)]
Radii = tuple[Radius, Radius, Radius]


class HairSource(enum.Enum):
    """What strands grow on: faces or vertices of a model, the upper half of an ellipsoid; or they are read."""

    FACES = "faces"
    VERTICES = "vertices"
    ELLIPSOID = "ellipsoid"
    FILE = "file"


class Region(enum.Enum):
    """Part of a model that hair grows on: all of it, or where hair grows on a head."""

    EVERYWHERE = "everywhere"
    SCALP = "scalp"


ON_SKIN = (HairSource.FACES, HairSource.VERTICES)
"""Sources that are the skin of a model."""


class ImageChannel(enum.Enum):
    """Part of an image that is taken for a number."""

    BRIGHTNESS = "brightness"
    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    ALPHA = "alpha"


MAPPED = ("density", "length", "curl", "clump", "noise")
"""Quantities with a bone, an image and a channel of it."""


def _bone(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", role=Role.BONE, effect=Effect.REBUILD)


def _image(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", role=Role.PATH, suffixes=IMAGE_FORMATS.suffixes, effect=Effect.REBUILD)


def _channel(doc: str) -> msgspec.Meta:
    return param(doc, group="Maps", effect=Effect.REBUILD)


class RootSettings(Settings, frozen=True, kw_only=True):
    """Where strands grow."""

    source: Annotated[
        HairSource,
        param("What strands grow on: faces or vertices of the model that they ride on, an ellipsoid; or a file.",
              group="Roots", label="Grows on", effect=Effect.REBUILD),
    ] = HairSource.FACES  # fmt: skip
    radii: Annotated[
        Radii,
        param("Half axes of the ellipsoid, whose upper half is grown on.", unit="m", lo=1e-4, hi=1e3, step=0.01,
              group="Roots", effect=Effect.REBUILD, bounded=False),
    ] = (0.5, 0.5, 0.5)  # fmt: skip
    file: Annotated[
        str,
        param("File of strands; stored relative to the project.", group="Roots", role=Role.PATH,
              suffixes=STRAND_FORMATS.suffixes, effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    file_scale: Annotated[
        float,
        param("Size of the strands; 1 is the usual unit of their format: 0.1 inch, or for TressFX a centimetre.",
              lo=1e-6, hi=1e6, soft=(0.01, 100.0), scale=Scale.LOG, group="Roots", label="Scale",
              effect=Effect.REBUILD),
    ] = 1.0  # fmt: skip
    file_up: Annotated[
        UpAxis,
        param("Axis of the file that points up; auto is what its format usually has.", group="Roots", label="Up axis",
              effect=Effect.REBUILD),
    ] = UpAxis.AUTO  # fmt: skip
    file_every: Annotated[
        int,
        param("Every so manieth strand is simulated, the others are drawn between them.", lo=1, hi=1_000_000,
              soft=(1, 100), scale=Scale.LOG, group="Roots", label="Every n-th strand", effect=Effect.REBUILD),
    ] = 1  # fmt: skip
    file_look: Annotated[
        bool,
        param("Whether strands have the colours and the thickness that the file has.", group="Roots",
              label="Look of the file", effect=Effect.REBUILD),
    ] = True  # fmt: skip
    density_section: Annotated[
        str,
        param("Section of the model that hair grows on; empty for all.", group="Roots", effect=Effect.REBUILD),
    ] = ""  # fmt: skip
    region: Annotated[
        Region,
        param("Part of the model that hair grows on: all, or the scalp; all where no bone is named as the head.",
              group="Roots", effect=Effect.REBUILD),
    ] = Region.EVERYWHERE  # fmt: skip
    guides: Annotated[
        int,
        param("Strands that are simulated.", lo=1, hi=GUIDES_MAX, soft=(100, 5_000), scale=Scale.LOG, group="Roots",
              effect=Effect.REBUILD),
    ] = 600  # fmt: skip
    children: Annotated[
        int,
        param("Strands that are drawn between the guides; 0 draws the guides themselves.", lo=0, hi=CHILDREN_MAX,
              soft=(0, 100_000), group="Roots", effect=Effect.REBUILD),
    ] = 20_000  # fmt: skip
    knots: Annotated[
        int,
        param("Knots of every strand, that of the root included.", lo=KNOTS_MIN, hi=KNOTS_MAX, soft=(6, 16),
              group="Roots", effect=Effect.REBUILD),
    ] = 12  # fmt: skip
    seed: Annotated[
        int,
        param("Which of the random numbers are used; the same number gives the same hair.", lo=0, hi=2**31 - 1,
              soft=(0, 100), group="Roots", effect=Effect.REBUILD),
    ] = 1  # fmt: skip

    density_bone: Annotated[str, _bone("Bone whose weights say where hair grows; empty for everywhere.")] = ""
    density_texture: Annotated[str, _image("Image that says where hair grows; stored relative to the project.")] = ""
    density_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    length_bone: Annotated[str, _bone("Bone whose weights are factors of the length; empty for none.")] = ""
    length_texture: Annotated[str, _image("Image of factors of the length; stored relative to the project.")] = ""
    length_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    curl_bone: Annotated[str, _bone("Bone whose weights are factors of the curls; empty for none.")] = ""
    curl_texture: Annotated[str, _image("Image of factors of the curls; stored relative to the project.")] = ""
    curl_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    clump_bone: Annotated[str, _bone("Bone whose weights are factors of the clumps; empty for none.")] = ""
    clump_texture: Annotated[str, _image("Image of factors of the clumps; stored relative to the project.")] = ""
    clump_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    noise_bone: Annotated[str, _bone("Bone whose weights are factors of the noise; empty for none.")] = ""
    noise_texture: Annotated[str, _image("Image of factors of the noise; stored relative to the project.")] = ""
    noise_channel: Annotated[ImageChannel, _channel("Part of that image which counts.")] = ImageChannel.BRIGHTNESS
    colour_bone: Annotated[str, _bone("Bone whose weights dye the strands; empty for none.")] = ""
    colour_texture: Annotated[
        str, _image("Image whose colours are factors of those of the strands; stored relative to the project.")
    ] = ""


def images_of(settings: RootSettings) -> dict[str, Path]:
    if settings.source not in ON_SKIN:
        return {}
    named = {what: getattr(settings, f"{what}_texture") for what in (*MAPPED, "colour")}
    return {what: Path(path) for what, path in named.items() if path}
