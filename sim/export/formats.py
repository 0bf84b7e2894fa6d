"""Registries of the file formats that are written, one for each content, and their options.

`SURFACE_WRITERS.register(Writer(...))` adds a format, likewise for the others; the menu lists the formats known when
the program starts.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.formats import Format, Formats, resolved
from sim.export.atomic_file import atomic_file
from sim.scene.params import param

if TYPE_CHECKING:
    from sim.assets.raw import RawModel
    from sim.export.npz import FrameArrays
    from sim.export.surface import ExportSurface


class Characters(enum.Enum):
    """How characters are written; "skeleton" is a former name of "auto"."""

    AUTO = "auto"
    SKIN = "skin"
    POINTS = "points"

    @classmethod
    def _missing_(cls, value: object) -> Characters | None:
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


C = TypeVar("C")
Arrays = Mapping[str, "npt.NDArray[Any] | FrameArrays"]


@dataclass(frozen=True, kw_only=True)
class Writer(Format, Generic[C]):
    """A format that content of one type is written in.

    Attributes:
        write: Takes the content, a binary file, and options where there are any; or "package.module:name" of it.
    """

    write: Callable[..., None] | str

    def save(self, content: C, path: Path, options: msgspec.Struct | None = None) -> None:
        """Writes a file, which appears complete or not at all.

        Raises:
            OSError: If that fails.
        """
        with atomic_file(path) as file:
            resolved(self.write)(content, file, *self.chosen(options))


@dataclass(frozen=True, kw_only=True)
class SceneFormat(Format):
    """A format of what moves: nodes of a scene over frames.

    Attributes:
        write: Function "package.module:name" that takes a `Recording`, the files, and options where there are any;
            gives lines about what the file lacks, or None.
        read: The same for a function that takes the files and gives, node by node, the living points of
            every frame.
        holds: What it can hold, values of `Form`.
        as_skin: Function "package.module:name", a `sim.export.scene.characters.AsSkin`, where it has skins; its options
            have `characters` then.
        keeps: What it tells of that beside places: "materials", "colours", "widths", "velocities", "ids".
        has_image_folder: Whether the images of materials lie in a folder beside it; else they are within.
        is_single: Whether a file holds one object.
        beside: Suffixes of the files that belong to it.
    """

    write: str
    read: str
    holds: frozenset[str]
    keeps: frozenset[str] = frozenset()
    as_skin: str = ""
    has_image_folder: bool = False
    is_single: bool = False
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VideoFormat(Format):
    """A format of pictures that follow one another.

    Attributes:
        opener: Class "package.module:name" of a `sim.export.video_file.Video`, made by `cls(path, size, rate, alpha)`
            options where there are any.
        reader: Function "package.module:name" that takes the file and gives pictures, (h, w, 3 or 4), each with the
            moment at which it goes [s].
        has_alpha: Whether pictures may have an opacity.
    """

    opener: str
    reader: str
    has_alpha: bool = False


@dataclass(frozen=True, kw_only=True)
class LayerFormat(Format):
    """A format of one picture with layers.

    Attributes:
        write: Function "package.module:name" that takes the layers, see `sim.export.image`, and the file.
        read: The same for a function that gives how far the file differs from the layers at most.
        check: The same for a function that takes the file alone, and fails where it cannot be read to its end.
    """

    write: str
    read: str
    check: str


MODEL_WRITERS: Formats[Writer[RawModel]] = Formats(
    Writer(name="EZMesh", suffixes=(".ezm",), write="sim.export.ezm:write_ezm_file"),
    Writer(name="glTF", suffixes=(".glb",), write="sim.export.gltf:write_glb"),
    Writer(name="glTF text", suffixes=(".gltf",), write="sim.export.gltf:write_gltf"),
)
"""Of a model file's content."""

SURFACE_WRITERS: Formats[Writer[ExportSurface]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sim.export.surface:write_arrays"),
    Writer(name="Wavefront OBJ", suffixes=(".obj",), write="sim.export.surface:write_obj"),
    Writer(name="PLY", suffixes=(".ply",), write="sim.export.surface:write_ply"),
)
"""Of a posed mesh."""

ARRAY_WRITERS: Formats[Writer[Arrays]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sim.export.npz:write_npz")
)
"""Of named arrays, which may be recorded frame by frame."""

PICTURE_WRITERS: Formats[Writer[npt.NDArray[np.uint8]]] = Formats(
    Writer(name="PNG", suffixes=(".png",), write="sim.export.image:write_png")
)
"""Of RGB pixels, shape (H, W, 3), or with an opacity that they are not multiplied by, (H, W, 4); row 0 at the top."""

_SURFACES = frozenset({"surface"})
_ALL = frozenset({"surface", "strands", "points"})

SCENE_FORMATS: Formats[SceneFormat] = Formats(
    SceneFormat(
        name="glTF scene", suffixes=(".glb",), holds=_ALL, options=GlbOptions,
        keeps=frozenset({"materials", "colours"}),
        write="sim.export.scene.glb:write_glb_scene", read="sim.export.scene.glb:read_glb_scene",
        as_skin="sim.export.scene.glb:as_skin",
    ),
    SceneFormat(
        name="PC2 point cache", suffixes=(".pc2",), beside=(".obj",), holds=_SURFACES, is_single=True,
        write="sim.export.scene.points_file:write_pc2", read="sim.export.scene.points_file:read_pc2",
    ),
    SceneFormat(
        name="MDD point cache", suffixes=(".mdd",), beside=(".obj",), holds=_SURFACES, is_single=True,
        write="sim.export.scene.points_file:write_mdd", read="sim.export.scene.points_file:read_mdd",
    ),
    SceneFormat(
        name="USD", suffixes=(".usdc", ".usda"), holds=_ALL, options=UsdOptions, has_image_folder=True,
        keeps=frozenset({"materials", "colours", "widths", "velocities", "ids"}),
        write="sim.export.scene.usd:write_usd", read="sim.export.scene.usd:read_usd",
        as_skin="sim.export.scene.usd_skel:as_skin",
        module="pxr", package="usd-core", extra="usd",
    ),
    SceneFormat(
        name="Alembic", suffixes=(".abc",), holds=_ALL, keeps=frozenset({"colours", "widths", "velocities", "ids"}),
        write="sim.export.scene.alembic:write_alembic", read="sim.export.scene.alembic:read_alembic",
        module="alembic3d", package="alembic3d", extra="abc",
    ),
    SceneFormat(
        name="vertex texture", suffixes=(".exr",), beside=(".json", ".obj"), holds=_SURFACES, is_single=True,
        write="sim.export.scene.vertex_texture:write_vertex_texture",
        read="sim.export.scene.vertex_texture:read_vertex_texture",
        module="OpenEXR", package="OpenEXR", extra="exr",
    ),
)  # fmt: skip
"""Of scenes over time."""

EXPORT_FORMATS: Formats[Format] = Formats(
    *SCENE_FORMATS, *(one for one in MODEL_WRITERS if not {*one.suffixes} & {*SCENE_FORMATS.suffixes()})
)
"""Of everything that is exported, by suffix."""

LAYER_FORMATS: Formats[LayerFormat] = Formats(
    LayerFormat(
        name="OpenEXR", suffixes=(".exr",), write="sim.export.exr:write_layers", read="sim.export.exr:difference",
        check="sim.export.exr:require_complete",
        module="OpenEXR", package="OpenEXR", extra="exr",
    ),
)  # fmt: skip
"""Of a picture in linear light with depth, normals and numbers of objects."""

_VIDEO: dict[str, Any] = {
    "opener": "sim.export.video_codec:CodecVideo", "reader": "sim.export.video_codec:read_video",
    "module": "av", "package": "av", "extra": "video",
}  # fmt: skip
_PILLOW = "sim.export.video_file:read_pictures"

FILM_FORMATS: Formats[VideoFormat] = Formats(
    VideoFormat(name="MP4", suffixes=(".mp4",), options=VideoOptions, **_VIDEO),
    VideoFormat(name="WebM", suffixes=(".webm",), **_VIDEO),
    VideoFormat(name="Matroska, lossless", suffixes=(".mkv",), **_VIDEO),
    VideoFormat(name="QuickTime ProRes", suffixes=(".mov",), **_VIDEO),
    VideoFormat(
        name="animated WebP",
        suffixes=(".webp",),
        opener="sim.export.video_file:WebpVideo",
        reader=_PILLOW,
        has_alpha=True,
    ),
    VideoFormat(
        name="GIF", suffixes=(".gif",), opener="sim.export.video_file:GifVideo", reader=_PILLOW, has_alpha=True
    ),
)
"""Of films."""

RENDER_FORMATS: Formats[Format] = Formats(*PICTURE_WRITERS, *LAYER_FORMATS, *FILM_FORMATS)
"""Of everything that is rendered."""

PAGE_FORMATS: Formats[Writer[str]] = Formats(
    Writer(name="web page", suffixes=(".html",), write=lambda text, file: file.write(text.encode()))
)
"""Of pages."""
