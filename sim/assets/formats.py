"""Registry of file formats: `MODEL_FORMATS.register(ModelFormat(...))` adds one, imported with its first file."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from sinew.sim.assets.raw import LoadWatch, RawModel
    from sinew.sim.assets.strands import StrandSet


@dataclass(frozen=True, kw_only=True)
class Format:
    name: str
    suffixes: tuple[str, ...]  # In lower case, such as ".png"; new files get the first one
    options: type[msgspec.Struct] | None = None  # Settings class
    magic: bytes = b""  # First bytes of files that are read
    # Library that it needs: as imported, as published, and the extra that installs it
    module: str = ""
    package: str = ""
    extra: str = ""

    def has_suffix(self, path: Path) -> bool:
        return path.suffix.lower() in self.suffixes

    def check_library(self) -> None:
        """Raises ElementFault if its library is not installed."""
        if self.module and importlib.util.find_spec(self.module) is None:
            from sinew.sim.assets.faults import ElementFault

            raise ElementFault("", f"needs the package {self.package}: pip install sinew[{self.extra}]")

    def chosen(self, options: msgspec.Struct | None) -> tuple[msgspec.Struct, ...]:
        """Returns the last argument of functions with options, the defaults for None; empty if the format has none.

        Raises TypeError if the options belong to another format.
        """
        if options is not None and (self.options is None or not isinstance(options, self.options)):
            raise TypeError(f"{type(options).__name__} are no options of {self.name}")
        return () if self.options is None else (options or self.options(),)


F = TypeVar("F", bound=Format)


class Formats(Generic[F]):
    """Formats of one use, tried and offered in this order."""

    def __init__(self, *known: F) -> None:
        self._known = list(known)

    def __iter__(self) -> Iterator[F]:
        return iter(self._known)

    def register(self, new: F) -> None:
        """Registers a format; raises ValueError if another one has one of its suffixes."""
        if taken := set(new.suffixes) & set(self.suffixes()):
            raise ValueError(f"{', '.join(sorted(taken))} is taken already")
        self._known.append(new)

    def unregister(self, known: F) -> None:
        self._known.remove(known)

    def suffixes(self) -> tuple[str, ...]:
        return tuple(suffix for known in self._known for suffix in known.suffixes)

    def typed(self, path: Path, chosen: F) -> tuple[Path, F]:
        """Returns file and format for a typed name and a selected format; a known suffix selects its own."""
        if path.suffix.lower() in self.suffixes():
            return path, self.of(path)
        return path.with_name(path.name + chosen.suffixes[0]), chosen

    def of(self, path: Path) -> F:
        """Returns the format of a path; raises ValueError, with a list, if no format has the suffix."""
        for known in self._known:
            if known.has_suffix(path):
                return known
        raise ValueError(f"{str(path)!r} does not end in {' or '.join(self.suffixes())}")


def resolved(function: Callable[..., Any] | str) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    resolved_function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return resolved_function


SNIFFED = 4096
"""Number of bytes at the start of a file that identify its format."""

UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True)
class ModelFormat(Format):
    """Format of models; functions may be named as "package.module:name".

    Attributes:
        key: Value of `RawModel.format`.
        mark: How users recognise it, for messages, or "".
        sniff: For files without magic bytes: gets up to `SNIFFED` bytes, returns whether they begin like this format.
        reader: Returns a `RawModel` for the whole content, the path, a `LoadWatch`, and options if there are any.
        by_suffix: Whether the suffix alone identifies the format.
        motion_suffixes: Suffixes of files that move a character when they are dropped on it.
    """

    key: str
    mark: str = ""
    sniff: Callable[[bytes], bool] | str | None = None
    reader: Callable[..., RawModel] | str
    by_suffix: bool = False
    motion_suffixes: tuple[str, ...] = ()

    def begins(self, start: bytes) -> bool:
        if self.magic:
            return start.startswith(self.magic)
        return self.sniff is not None and bool(resolved(self.sniff)(start))

    def read(self, data: bytes, path: Path, watch: LoadWatch, options: msgspec.Struct | None = None) -> RawModel:
        """Reads a file; raises ElementFault if content or library cannot be used, LoadCancelled if cancelled."""
        self.check_library()
        raw: RawModel = resolved(self.reader)(data, path, watch, *self.chosen(options))
        return raw


@dataclass(frozen=True, kw_only=True)
class ImageFormat(Format):
    pass


@dataclass(frozen=True, kw_only=True)
class StrandFormat(Format):
    """Format of strands with usual `unit` [m] and up axis; `reader` returns a `StrandSet` for the whole content.

    With `by_path` the reader gets the path instead, and its result has the unit and the axis of the file.
    """

    unit: float
    is_z_up: bool
    reader: Callable[..., StrandSet] | str
    by_path: bool = False


EZB_MAGIC = b"\x00\x00\x00\x65\x00\x00\x00\x06EZMESH"


def _begins_as_gltf(start: bytes) -> bool:
    text = start.removeprefix(UTF8_MARK).lstrip()
    return start.startswith(b"glTF") or (
        text.startswith(b"{") and any(key in text for key in (b'"asset"', b'"bufferViews"', b'"accessors"'))
    )


class GltfOptions(msgspec.Struct, frozen=True):
    scene: int | None = None  # Number of the scene; None for the default scene of the file


MODEL_FORMATS = Formats(
    ModelFormat(
        key="ezm", name="EZMesh text", mark="which starts with '<'", suffixes=(".ezm", ".xml"),
        sniff=lambda start: start.removeprefix(UTF8_MARK).lstrip().startswith(b"<"),
        reader="sinew.sim.assets.ezm_reader:read_ezm",
    ),
    ModelFormat(
        key="ezb", name="binary EZMesh", suffixes=(".ezb",),
        magic=EZB_MAGIC, reader="sinew.sim.assets.ezb_reader:read_ezb",
    ),
    ModelFormat(
        key="gltf", name="glTF", suffixes=(".glb", ".gltf", ".vrm", ".vrma"), by_suffix=True,
        options=GltfOptions, motion_suffixes=(".glb", ".gltf", ".vrma"),
        sniff=_begins_as_gltf, reader="sinew.sim.assets.gltf.reader:read_gltf",
    ),
    ModelFormat(
        key="md2", name="Quake II MD2", suffixes=(".md2",),
        magic=b"IDP2", reader="sinew.sim.assets.md2_reader:read_md2",
    ),
    ModelFormat(
        key="pc2", name="PC2 point cache", suffixes=(".pc2",),
        magic=b"POINTCACHE2\0", reader="sinew.sim.assets.obj_reader:read_pc2",
    ),
    ModelFormat(
        key="fbx", name="FBX", suffixes=(".fbx",), by_suffix=True, module="ufbx", package="ufbx", extra="fbx",
        motion_suffixes=(".fbx",),
        sniff=lambda start: start.startswith((b"Kaydara FBX Binary", b"; FBX")),
        reader="sinew.sim.assets.fbx.reader:read_fbx",
    ),
    ModelFormat(
        key="usd", name="USD", suffixes=(".usdz", ".usd", ".usda", ".usdc"), by_suffix=True,
        module="pxr", package="usd-core", extra="usd", motion_suffixes=(".usdz", ".usd", ".usda", ".usdc"),
        sniff="sinew.sim.assets.usd.reader:begins_as_usd", reader="sinew.sim.assets.usd.reader:read_usd",
    ),
    ModelFormat(
        key="abc", name="Alembic", suffixes=(".abc",), by_suffix=True,
        module="alembic3d", package="alembic3d", extra="abc",
        magic=b"Ogawa", reader="sinew.sim.assets.usd.reader:read_alembic",
    ),
    ModelFormat(
        key="bvh", name="BVH motion", suffixes=(".bvh",), motion_suffixes=(".bvh",),
        sniff="sinew.sim.assets.bvh_reader:is_bvh", reader="sinew.sim.assets.bvh_reader:read_bvh",
    ),
    ModelFormat(
        key="mdd", name="MDD point cache", suffixes=(".mdd",), by_suffix=True,
        reader="sinew.sim.assets.obj_reader:read_mdd",
    ),
    # OBJ files may begin with any comment.
    ModelFormat(
        key="obj", name="Wavefront OBJ", suffixes=(".obj",), by_suffix=True,
        sniff="sinew.sim.assets.obj_reader:is_obj", reader="sinew.sim.assets.obj_reader:read_obj",
    ),
)  # fmt: skip

IMAGE_FORMATS = Formats(
    ImageFormat(name="PNG", suffixes=(".png",), magic=b"\x89PNG"),
    ImageFormat(name="JPEG", suffixes=(".jpg", ".jpeg"), magic=b"\xff\xd8\xff"),
    ImageFormat(name="TGA", suffixes=(".tga",)),
    ImageFormat(name="DDS", suffixes=(".dds",), magic=b"DDS "),
    ImageFormat(name="BMP", suffixes=(".bmp",), magic=b"BM"),
    ImageFormat(name="WebP", suffixes=(".webp",), magic=b"RIFF"),
)

PANORAMA_FORMATS = Formats(
    ImageFormat(name="Radiance HDR", suffixes=(".hdr",)), ImageFormat(name="OpenEXR", suffixes=(".exr",))
)

STRAND_FORMATS = Formats(
    StrandFormat(
        name="HAIR strands", suffixes=(".hair",), magic=b"HAIR", unit=0.00254, is_z_up=True,
        reader="sinew.sim.assets.strands:read_hair",
    ),
    StrandFormat(
        name="TressFX strands", suffixes=(".tfx",), unit=0.01, is_z_up=False,
        reader="sinew.sim.assets.strands:read_tfx",
    ),
    StrandFormat(
        name="USD curves", suffixes=(".usdz", ".usd", ".usda", ".usdc"), unit=1.0, is_z_up=False, by_path=True,
        module="pxr", package="usd-core", extra="usd", reader="sinew.sim.assets.usd.strands:read_usd_strands",
    ),
    StrandFormat(
        name="Alembic curves", suffixes=(".abc",), unit=1.0, is_z_up=False, by_path=True,
        module="alembic3d", package="alembic3d", extra="abc",
        reader="sinew.sim.assets.usd.strands:read_alembic_strands",
    ),
)  # fmt: skip


def motion_suffixes() -> tuple[str, ...]:
    """Returns file extensions of the formats whose files move characters."""
    return tuple(suffix for known in MODEL_FORMATS for suffix in known.motion_suffixes)


def model_format_name(key: str) -> str:
    return next((known.name for known in MODEL_FORMATS if known.key == key), key)
