"""Registries of the file formats that are written, one for each content, and errors of exports.

`SURFACE_WRITERS.register(Writer(...))` adds a format; the menu lists the formats known when the program starts.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
import numpy.typing as npt

from sinew.sim.assets.formats import Format, Formats, resolved
from sinew.sim.export.atomic_file import atomic_file
from sinew.sim.maths.arrays import UInt8
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.params import param

if TYPE_CHECKING:
    from sinew.sim.assets.raw import RawModel
    from sinew.sim.export.npz import FrameArrays
    from sinew.sim.export.surface import ExportSurface


class Characters(enum.Enum):
    """Choice of the form of characters; "skeleton" is an old name of "auto"."""

    AUTO = "auto"
    SKIN = "skin"
    POINTS = "points"

    @classmethod
    def _missing_(cls, value: object) -> Characters | None:
        return cls.AUTO if value == "skeleton" else None


_CHARACTERS = (
    "Write characters as skins with joints (skin; an approximation if the format only blends linearly), as points for"
    " every frame (points), or as skins if they look the same, else as points (auto)."
)


class BoneQuality(enum.Enum):
    DRAFT = "draft"
    NORMAL = "normal"
    EXACT = "exact"


class BoneOptions(msgspec.Struct, frozen=True):
    """Choice of fitted bones for surfaces without skin and strands."""

    bones: Annotated[
        int, param("Number of bones that move each cloth or hair; 0 writes points for every frame.", lo=0, hi=256,
                   soft=(0, 64), group="Bones")
    ] = 0  # fmt: skip
    bone_error: Annotated[
        float, param("Root mean square error that determines the number of bones; 0 for the number above.", "mm", 0.0,
                     1e3, soft=(0.0, 20.0), step=0.5, group="Bones")
    ] = 0.0  # fmt: skip
    influences: Annotated[
        int, param("Bones that move a point; many programs read only 4.", lo=1, hi=8, group="Bones")
    ] = 4  # fmt: skip
    bone_parent: Annotated[
        str, param("Bone of the character above the fitted bones; empty for the one above all pins.", group="Bones",
                   empty="Above the pins")
    ] = ""  # fmt: skip
    bone_quality: Annotated[
        BoneQuality, param("Number of rounds of the fit: 15 (draft), 40 (normal) or 300 (exact).", group="Bones")
    ] = BoneQuality.NORMAL  # fmt: skip
    loop_blend: Annotated[
        int, param("Number of last frames that lead the bones back to the first frame; at most half of all.",
                   unit="frames", lo=0, hi=10_000, soft=(0, 60), group="Bones")
    ] = 0  # fmt: skip
    characters: Annotated[Characters, param(_CHARACTERS)] = Characters.AUTO

    @property
    def has_bones(self) -> bool:
        return self.bones > 0 or self.bone_error > 0.0


class GlbOptions(BoneOptions, frozen=True):
    characters: Annotated[Characters, param(_CHARACTERS)] = Characters.AUTO
    normals: Annotated[
        bool, param("Write normals of every frame for correct lighting; files are half as large without.")
    ] = True


class UsdOptions(BoneOptions, frozen=True):
    characters: Annotated[Characters, param(_CHARACTERS)] = Characters.AUTO
    normals: Annotated[
        bool, param("Write normals of every frame, without which seams show; files are half as large without.")
    ] = True


class AlembicPurpose(enum.Enum):
    GENERAL = "general"
    GROOM = "groom"


class GroomFrames(enum.Enum):
    FIRST = "first"
    GUIDES = "guides"
    STRANDS = "strands"


class AlembicOptions(msgspec.Struct, frozen=True):
    purpose: Annotated[
        AlembicPurpose, param("Everything in metres (general), or hair as a groom for Unreal (groom).", label="For")
    ] = AlembicPurpose.GENERAL
    groom_frames: Annotated[
        GroomFrames, param("Of a groom: the first frame, moving guides, or moving guides and strands.")
    ] = GroomFrames.FIRST


class TextureNormals(enum.Enum):
    PACKED = "packed"
    SEPARATE = "separate"
    NONE = "none"


class TexturePreset(enum.Enum):
    OWN = "own"
    OPENVAT = "openvat"


class PngTextureOptions(msgspec.Struct, frozen=True):
    normals: Annotated[
        TextureNormals, param("Normals below the positions in the same image (packed), in a second image, or none.")
    ] = TextureNormals.PACKED
    single_block: Annotated[
        bool, param("All vertices in one row a frame, at most 8,192, as decoders in Godot need it; for OpenVAT.")
    ] = False


class ExrTextureOptions(PngTextureOptions, frozen=True):
    preset: Annotated[
        TexturePreset, param("Metres with a JSON file of our own (own), or as decoders of OpenVAT expect it (openvat).")
    ] = TexturePreset.OWN


class VideoCodec(enum.Enum):
    H264 = "h264"
    AV1 = "av1"


class VideoOptions(msgspec.Struct, frozen=True):
    codec: Annotated[VideoCodec, param("H.264 plays everywhere; AV1 is smaller and faster.")] = VideoCodec.H264


class PageOptions(msgspec.Struct, frozen=True):
    live: Annotated[
        bool,
        param(
            "Run the simulations in the page, so that they can be dragged and changed; else their frames are stored."
        ),
    ] = True
    sliders: Annotated[
        str,
        param(
            "Settings that the page lets the user change, such as gravity.y or Cape.wind.x, separated by commas;"
            " none for none.",
            empty="The usual ones",
        ),
    ] = ""
    rounding: Annotated[
        float, param("Largest rounding of stored positions.", unit="m", lo=1e-6, hi=0.1, soft=(1e-5, 1e-2))
    ] = 1e-4  # fmt: skip


C = TypeVar("C")
Arrays = Mapping[str, "npt.NDArray[Any] | FrameArrays"]


@dataclass(frozen=True, kw_only=True)
class Writer(Format, Generic[C]):
    # Takes the content, a binary file, and options if there are any; or its name "package.module:name".
    write: Callable[..., None] | str

    def save(self, content: C, path: Path, options: msgspec.Struct | None = None) -> None:
        """Writes a file atomically; raises OSError if that fails."""
        with atomic_file(path) as file:
            resolved(self.write)(content, file, *self.chosen(options))


@dataclass(frozen=True, kw_only=True)
class SceneFormat(Format):
    """Format of nodes of a scene over time; functions are named as "package.module:name".

    Attributes:
        write: Takes a `SceneRecording`, the files, and any options; returns lines about skipped content, or None.
        read: Takes the files; returns a `FoundNode` for each node.
        holds: Values of `Topology` that it supports.
        as_skin: An `AsSkin`, if it supports skins; its options have `characters` then.
        keeps: Stored data: "materials", "colours", "widths", "velocities", "ids", "cameras", "lights", "normals".
            Widths and normals are read back.
        has_image_folder: Whether images are files in a folder next to it, else embedded.
        is_single: Whether a file holds one object.
        beside: Suffixes of its companion files.
        files: Takes the chosen path and any options; returns all files, if `beside` does not name them.
        variant: Takes this format, the recording and the options; returns the format that they choose, what it holds
            of the recording, and lines about the rest.
        bound: Takes the recording and any options; returns the largest rounding of a position [m], if there is one.
    """

    write: str
    read: str
    holds: frozenset[str]
    keeps: frozenset[str] = frozenset()
    as_skin: str = ""
    has_image_folder: bool = False
    is_single: bool = False
    beside: tuple[str, ...] = ()
    files: str = ""
    bound: str = ""
    variant: str = ""


@dataclass(frozen=True, kw_only=True)
class PageFormat(Format):
    """A page that draws, and may simulate, a scene in a browser; `sinew.app.jobs.page` writes it."""


@dataclass(frozen=True, kw_only=True)
class VideoFormat(Format):
    """Format of videos; classes and functions are named as "package.module:name".

    Attributes:
        opener: A `sinew.sim.export.video_file.Video`, with path, size, rate, alpha and options if there are any.
        reader: Yields the frames of a file, (h, w, 3 or 4), with end times [s].
    """

    opener: str
    reader: str
    has_alpha: bool = False


@dataclass(frozen=True, kw_only=True)
class LayerFormat(Format):
    """Format of images with layers; functions are named as "package.module:name".

    Attributes:
        write: Takes the layers and the file.
        read: Returns the largest difference of the file from the layers.
        check: Takes the file; fails if it is truncated.
    """

    write: str
    read: str
    check: str


MODEL_WRITERS: Formats[Writer[RawModel]] = Formats(
    Writer(name="EZMesh", suffixes=(".ezm",), write="sinew.sim.export.ezm:write_ezm_file"),
    Writer(name="glTF", suffixes=(".glb",), write="sinew.sim.export.gltf:write_glb"),
    Writer(name="glTF text", suffixes=(".gltf",), write="sinew.sim.export.gltf:write_gltf"),
)

SURFACE_WRITERS: Formats[Writer[ExportSurface]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sinew.sim.export.surface:write_arrays"),
    Writer(name="Wavefront OBJ", suffixes=(".obj",), write="sinew.sim.export.surface:write_obj"),
    Writer(name="PLY", suffixes=(".ply",), write="sinew.sim.export.surface:write_ply"),
)

ARRAY_WRITERS: Formats[Writer[Arrays]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sinew.sim.export.npz:write_npz")
)

IMAGE_WRITERS: Formats[Writer[UInt8]] = Formats(
    Writer(name="PNG", suffixes=(".png",), write="sinew.sim.export.image:write_png")
)
"""Writers of RGB pixels, shape (H, W, 3), or RGBA with straight alpha, (H, W, 4); row 0 at the top."""

_SURFACES = frozenset({"surface"})
_ALL = frozenset({"surface", "strands", "points"})

_TEXTURES = "sinew.sim.export.vertex_texture:"
_VERTEX_TEXTURE: dict[str, Any] = {
    "holds": _SURFACES, "is_single": True, "keeps": frozenset({"materials", "colours"}),
    "write": f"{_TEXTURES}write_vertex_texture", "read": f"{_TEXTURES}read_vertex_texture",
    "files": f"{_TEXTURES}texture_files", "bound": f"{_TEXTURES}texture_bound",
}  # fmt: skip

SCENE_FORMATS: Formats[SceneFormat] = Formats(
    SceneFormat(
        name="glTF scene", suffixes=(".glb",), holds=_ALL, options=GlbOptions,
        keeps=frozenset({"materials", "colours", "cameras"}),
        write="sinew.sim.export.scene.glb:write_glb_scene", read="sinew.sim.export.scene.glb:read_glb_scene",
        as_skin="sinew.sim.export.scene.glb:as_skin",
    ),
    SceneFormat(
        name="PC2 point cache", suffixes=(".pc2",), beside=(".obj",), holds=_SURFACES, is_single=True,
        write="sinew.sim.export.scene.points_file:write_pc2", read="sinew.sim.export.scene.points_file:read_pc2",
    ),
    SceneFormat(
        name="MDD point cache", suffixes=(".mdd",), beside=(".obj",), holds=_SURFACES, is_single=True,
        write="sinew.sim.export.scene.points_file:write_mdd", read="sinew.sim.export.scene.points_file:read_mdd",
    ),
    SceneFormat(
        name="USD", suffixes=(".usdc", ".usda"), holds=_ALL, options=UsdOptions, has_image_folder=True,
        keeps=frozenset({"materials", "colours", "widths", "velocities", "ids", "cameras", "lights", "normals"}),
        write="sinew.sim.export.scene.usd:write_usd", read="sinew.sim.export.scene.usd:read_usd",
        as_skin="sinew.sim.export.scene.usd_skeleton:as_skin",
        module="pxr", package="usd-core", extra="usd",
    ),
    SceneFormat(
        name="Alembic", suffixes=(".abc",), holds=_ALL, options=AlembicOptions,
        variant="sinew.sim.export.scene.groom:chosen_groom",
        keeps=frozenset({"colours", "widths", "velocities", "ids", "cameras", "normals"}),
        write="sinew.sim.export.scene.alembic:write_alembic", read="sinew.sim.export.scene.alembic:read_alembic",
        module="alembic3d", package="alembic3d", extra="abc",
    ),
    SceneFormat(
        name="vertex texture", suffixes=(".exr",), options=ExrTextureOptions, **_VERTEX_TEXTURE,
        module="OpenEXR", package="OpenEXR", extra="exr",
    ),
    SceneFormat(
        name="vertex texture, 16 bits", suffixes=(".png",), options=PngTextureOptions, **_VERTEX_TEXTURE
    ),
)  # fmt: skip

ANIMATION_FORMATS: Formats[Format] = Formats(
    *SCENE_FORMATS, PageFormat(name="web page", suffixes=(".html",), options=PageOptions)
)

AVATAR_FORMATS: Formats[Format] = Formats(Format(name="VRM avatar", suffixes=(".vrm",), options=AvatarMeta))

EXPORT_FORMATS: Formats[Format] = Formats(
    *ANIMATION_FORMATS, *AVATAR_FORMATS,
    *(known for known in MODEL_WRITERS if not {*known.suffixes} & {*SCENE_FORMATS.suffixes()}),
)  # fmt: skip

LAYER_FORMATS: Formats[LayerFormat] = Formats(
    LayerFormat(
        name="OpenEXR", suffixes=(".exr",), write="sinew.sim.export.exr:write_layers",
        read="sinew.sim.export.exr:difference", check="sinew.sim.export.exr:require_complete",
        module="OpenEXR", package="OpenEXR", extra="exr",
    ),
)  # fmt: skip

_VIDEO: dict[str, Any] = {
    "opener": "sinew.sim.export.video_codec:CodecVideo", "reader": "sinew.sim.export.video_codec:read_video",
    "module": "av", "package": "av", "extra": "video",
}  # fmt: skip
_PILLOW = "sinew.sim.export.video_file:read_images"

VIDEO_FORMATS: Formats[VideoFormat] = Formats(
    VideoFormat(name="MP4", suffixes=(".mp4",), options=VideoOptions, **_VIDEO),
    VideoFormat(name="WebM", suffixes=(".webm",), **_VIDEO),
    VideoFormat(name="Matroska, lossless", suffixes=(".mkv",), **_VIDEO),
    VideoFormat(name="QuickTime ProRes", suffixes=(".mov",), **_VIDEO),
    VideoFormat(
        name="animated WebP",
        suffixes=(".webp",),
        opener="sinew.sim.export.video_file:WebpVideo",
        reader=_PILLOW,
        has_alpha=True,
    ),
    VideoFormat(
        name="GIF", suffixes=(".gif",), opener="sinew.sim.export.video_file:GifVideo", reader=_PILLOW, has_alpha=True
    ),
)

RENDER_FORMATS: Formats[Format] = Formats(*IMAGE_WRITERS, *LAYER_FORMATS, *VIDEO_FORMATS)

PAGE_FORMATS: Formats[Writer[str]] = Formats(
    Writer(name="web page", suffixes=(".html",), write=lambda text, file: file.write(text.encode()))
)


class ExportError(Exception):
    """Error of an export in one line with file, element and reason."""


def require_package(path: Path, format: Format) -> None:
    """Checks the package of a format before long work; raises ExportError with the way to install it."""
    if not format.module:
        return
    try:
        importlib.import_module(format.module)
    except ImportError as error:
        raise ExportError(f"{path}: {_hint(format)}") from error


def missing_package(format: Format) -> str:
    """Returns how to install the missing package of a format, or ""; does not import it."""
    return "" if not format.module or importlib.util.find_spec(format.module) else _hint(format)


def _hint(format: Format) -> str:
    return f"needs the package {format.package}: pip install sinew[{format.extra}]"


FULL = 1 << 16
"""Free bytes below which a disk counts as full: libraries write in blocks and do not report the reason."""


@contextlib.contextmanager
def failures_of_libraries(path: Path) -> Iterator[None]:
    """Converts errors of a library that writes a file.

    Raises:
        OSError: If the disk is full.
        ExportError: Otherwise, with the last line of the library's message.
    """
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if is_full(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ExportError(f"{path}: {lines[-1] if lines else 'cannot be written'}") from error


def is_full(path: Path) -> bool:
    return shutil.disk_usage(path.parent).free < FULL
