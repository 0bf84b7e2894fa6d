import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from sinew.sim.assets.formats import IMAGE_FORMATS, ImageFormat
from sinew.sim.assets.images import ImageError, load_image
from sinew.sim.assets.model import IMAGES, EmbeddedImage, ImageSource, Material
from sinew.sim.maths.arrays import Float32, UInt8, UInt32


@dataclass(frozen=True, slots=True)
class Layers:
    colour: UInt8  # sRGB, (H, W, 3), or (H, W, 4) with straight alpha; row 0 at the top, as in all layers
    depth: Float32  # Distance along the view direction [m], (H, W); infinite where empty
    normals: Float32  # World-space unit vectors, (H, W, 3); zero where empty
    numbers: UInt32  # Object numbers from 1, in the order of `names`, (H, W); 0 where empty
    names: tuple[str, ...]
    light: Float32 | None = None  # Linear RGBA, premultiplied, (H, W, 4); replaces the colour where a file can hold it


def write_png(pixels: UInt8, file: BinaryIO) -> None:
    """Writes RGB, shape (H, W, 3), or straight RGBA, (H, W, 4), row 0 at the top; fast rather than small."""
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=1)


COMMON = tuple(known for known in IMAGE_FORMATS if known.name in ("PNG", "JPEG"))
"""Formats that every program reads; other images are converted to the first one."""

Placed = Callable[[str, bytes, ImageFormat], ImageSource]


def stored_image(source: ImageSource) -> tuple[bytes, ImageFormat]:
    """Returns PNG and JPEG files as they are, all others as PNG; raises ImageError if an image cannot be read."""
    try:
        data = source.data if isinstance(source, EmbeddedImage) else source.read_bytes()
    except OSError as error:
        raise ImageError(source, error.strerror or str(error)) from error
    for known in COMMON:
        if data.startswith(known.magic):
            return data, known
    stream = io.BytesIO()
    Image.fromarray(load_image(source)).save(stream, COMMON[0].name)
    return stream.getvalue(), COMMON[0]


class ImageStore:
    """Images of materials: `placed` gets name, bytes and format, and returns the new source; `lost` lists failures."""

    def __init__(self, placed: Placed) -> None:
        self._placed = placed
        self._known: dict[ImageSource, ImageSource | None] = {}
        self.lost: list[str] = []

    def material(self, material: Material) -> Material:
        changes: dict[str, Any] = {}
        for name in IMAGES:
            source = material.image_of(name)
            if source is None:
                continue
            image = self._place(source)
            if name != "texture":
                changes[name] = image
            elif isinstance(image, EmbeddedImage):
                changes |= {"texture_path": None, "embedded": image}
            else:
                changes |= {"texture_path": image, "embedded": None}
        return replace(material, **changes) if changes else material

    def _place(self, source: ImageSource) -> ImageSource | None:
        if source not in self._known:
            name = source.name if isinstance(source, EmbeddedImage) else source.stem
            try:
                self._known[source] = self._placed(name, *stored_image(source))
            except ImageError as error:
                self._known[source] = None
                self.lost.append(f"left out: image {error}")
        return self._known[source]


def webp_of(pixels: UInt8, *, quality: int = 90, lossless: bool = False) -> bytes:
    """Returns an image file of RGB or RGBA pixels, (H, W, 3 or 4); row 0 at the top."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=quality, lossless=lossless, exact=True)
    return file.getvalue()
