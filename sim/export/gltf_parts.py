"""Parts of a glTF file. Source: glTF 2.0 specification, sections 3.6 and 4.4."""

import base64
import json
import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.gltf.document import (
    BINARY_CHUNK,
    COMPONENT_TYPES,
    DIELECTRIC,
    JSON_CHUNK,
    MAGIC,
    TYPE_LENGTHS,
    VERSION,
)
from sinew.sim.assets.images import ImageError
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, ImageSource, Material, Sampler
from sinew.sim.export.image import stored_image

COMPONENTS = {np.dtype(kind): number for number, kind in COMPONENT_TYPES.items()}
TYPES = {length: name for name, length in TYPE_LENGTHS.items() if name != "MAT2"}

VERTEX_DATA, INDEX_DATA = 34962, 34963
"""Targets of buffer views."""


class GlbChunk:
    """Binary chunk of a GLB, in which arrays follow each other."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._views: list[dict[str, Any]] = []
        self._known: dict[tuple[bytes, str, int | None], int] = {}
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, **more: Any) -> int:
        """Adds a buffer view and returns its index."""
        self._views.append({"buffer": 0, "byteOffset": self._size, "byteLength": len(data), **more})
        self._data.append(data + b"\0" * (-len(data) % 4))
        self._size += len(self._data[-1])
        return len(self._views) - 1

    def add(self, values: npt.NDArray[Any], **more: Any) -> int:
        """Adds rows (n, k) and returns the index of their accessor."""
        self.accessors.append(
            {
                "bufferView": self.view(values.tobytes()),
                "componentType": COMPONENTS[values.dtype],
                "count": len(values),
                "type": TYPES[values.shape[1]],
                **more,
            }
        )
        return len(self.accessors) - 1

    def once(self, values: npt.NDArray[Any], target: int | None = None, *, bounded: bool = False) -> int:
        """Returns the index of the accessor of rows (n, k); equal rows are stored once.

        Args:
            values: Of a component type of glTF; rows of vertices must be multiples of 4 bytes.
            target: `VERTEX_DATA`, `INDEX_DATA` or None.
            bounded: Adds minimum and maximum, as positions and times require.
        """
        values = np.ascontiguousarray(values)
        key = values.tobytes(), f"{values.dtype}{values.shape}{bounded}", target
        if key not in self._known:
            more: dict[str, Any] = {}
            if bounded:
                more = {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
            self._known[key] = self.add(values, **more)
            if target is not None:
                self._views[-1]["target"] = target
        return self._known[key]

    def sparse(self, values: npt.NDArray[Any], target: int | None = None, *, bounded: bool = False) -> int:
        """Adds rows like `once`, as a sparse accessor if that is smaller."""
        rows = np.flatnonzero(values.any(axis=1)).astype(np.uint32)
        if 2 * len(rows) > len(values):
            return self.once(values, target, bounded=bounded)
        part: dict[str, Any] = {"componentType": COMPONENTS[values.dtype], "count": len(values)}
        part["type"] = TYPES[values.shape[1]]
        if bounded:
            part |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        if len(rows):
            places, replaced = self.view(rows.tobytes()), self.view(np.ascontiguousarray(values[rows]).tobytes())
            indices = {"bufferView": places, "componentType": COMPONENTS[rows.dtype]}
            part["sparse"] = {"count": len(rows), "indices": indices, "values": {"bufferView": replaced}}
        self.accessors.append(part)
        return len(self.accessors) - 1

    def file(self, document: dict[str, Any]) -> bytes:
        data = b"".join(self._data)
        text = self._text(document, {"byteLength": len(data)})
        text += b" " * (-len(text) % 4)
        binary = struct.pack("<2I", len(data), BINARY_CHUNK) + data if data else b""
        head = struct.pack("<4s4I", MAGIC, VERSION, 20 + len(text) + len(binary), len(text), JSON_CHUNK)
        return head + text + binary

    def text_file(self, document: dict[str, Any]) -> bytes:
        data = b"".join(self._data)
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        return self._text(document, {"byteLength": len(data), "uri": uri})

    def _text(self, document: dict[str, Any], buffer: dict[str, Any]) -> bytes:
        buffers = [buffer] if self._data else []
        parts = {"buffers": buffers, "bufferViews": self._views, "accessors": self.accessors}
        held = {key: part for key, part in parts.items() if part}  # glTF does not allow empty lists
        return json.dumps(held | document, ensure_ascii=False, allow_nan=False).encode()


_EXACT = 1e-3


class MaterialWriter:
    """Writer of materials, textures and images, equal ones once.

    Attributes:
        parts: "materials", "textures", "images", "samplers" and "extensionsUsed" of the document.
        lost: A line for each unreadable image.
    """

    def __init__(self, chunk: GlbChunk) -> None:
        self._chunk = chunk
        self._known: dict[tuple[Material, bool], int] = {}
        self._images: dict[ImageSource, int | None] = {}
        self._samplers: dict[Sampler, int] = {}
        self._textures: dict[tuple[int, int], int] = {}
        self.parts: dict[str, list[Any]] = {}
        self.lost: list[str] = []

    def add(self, material: Material, *, double_sided: bool) -> int:
        key = material, double_sided
        if key not in self._known:
            self._known[key] = self._put("materials", self._written(material, double_sided=double_sided))
        return self._known[key]

    def _written(self, material: Material, *, double_sided: bool) -> dict[str, Any]:
        base, metal = metal_and_base(material)
        is_exact = is_metal_exact(material, base, metal)
        if not is_exact:
            # A metallic factor cannot express the colour of the reflection.
            base, metal = _colour(material.diffuse), 0.0
        pbr: dict[str, Any] = {
            "baseColorFactor": [*base, min(max(material.opacity, 0.0), 1.0)],
            "metallicFactor": metal,
            "roughnessFactor": material.reflectance.roughness,
        }
        written: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": pbr}
        if material.surface_image is not None:
            # The colour applies to both; the image says which is metallic.
            factors = [*_colour(material.diffuse), pbr["baseColorFactor"][3]]
            pbr |= {
                "baseColorFactor": factors,
                "metallicFactor": material.metal,
                "roughnessFactor": material.reflectance.roughness,
            }
        for part, name, image, more in (
            (pbr, "baseColorTexture", "texture", {}),
            (pbr, "metallicRoughnessTexture", "surface_image", {}),
            (written, "normalTexture", "normal_image", {"scale": material.normal_scale}),
            (written, "occlusionTexture", "occlusion_image", {"strength": material.occlusion}),
            (written, "emissiveTexture", "emission_image", {}),
        ):
            used = material.sampled(image)
            texture = self._texture(*used) if used is not None else None
            if texture is not None:
                part[name] = {"index": texture, **more}
        if not is_exact:
            factor = [part / DIELECTRIC for part in material.specular]
            self._extend(written, "KHR_materials_specular", {"specularColorFactor": factor})
        brightest = max(material.emission)
        if brightest > 0.0:  # a factor up to 1, and a strength above
            written["emissiveFactor"] = [part / max(brightest, 1.0) for part in material.emission]
        if brightest > 1.0:
            self._extend(written, "KHR_materials_emissive_strength", {"emissiveStrength": brightest})
        if material.alpha_mode is not AlphaMode.OPAQUE:
            written["alphaMode"] = material.alpha_mode.name
        if material.alpha_mode is AlphaMode.MASK:
            written["alphaCutoff"] = material.alpha_cutoff
        if double_sided:
            written["doubleSided"] = True
        if material.is_unlit:
            self._extend(written, "KHR_materials_unlit", {})
        return written

    def _extend(self, written: dict[str, Any], name: str, content: dict[str, Any]) -> None:
        written.setdefault("extensions", {})[name] = content
        used = self.parts.setdefault("extensionsUsed", [])
        if name not in used:
            used.append(name)

    def _texture(self, source: ImageSource, sampler: Sampler) -> int | None:
        """Returns the index of a texture; None for an unreadable image."""
        if source not in self._images:
            self._images[source] = self._image(source)
        image = self._images[source]
        if image is None:
            return None
        if sampler not in self._samplers:
            edges = {"wrapS": sampler.wrap_s, "wrapT": sampler.wrap_t}
            plain = {"magFilter": sampler.mag_filter, "minFilter": sampler.min_filter}
            self._samplers[sampler] = self._put("samplers", plain | {k: v for k, v in edges.items() if v != 10497})
        key = image, self._samplers[sampler]
        if key not in self._textures:
            self._textures[key] = self._put("textures", {"source": key[0], "sampler": key[1]})
        return self._textures[key]

    def _image(self, source: ImageSource) -> int | None:
        try:
            data, format = stored_image(source)
        except ImageError as error:
            self.lost.append(f"left out: image {error}")
            return None
        name = str(source) if isinstance(source, EmbeddedImage) else source.stem
        kind = f"image/{format.name.lower()}"
        return self._put("images", {"name": name, "mimeType": kind, "bufferView": self._chunk.view(data)})

    def _put(self, key: str, part: dict[str, Any]) -> int:
        parts = self.parts.setdefault(key, [])
        parts.append(part)
        return len(parts) - 1


def metal_and_base(material: Material) -> tuple[tuple[float, float, float], float]:
    """Returns base colour and metallic factor for the diffuse and specular colours of a material, on average.

    Solves diffuse = base (1 - metal), specular = 0.04 + (base - 0.04) metal for the metallic factor.
    """
    diffuse, specular = material.diffuse, material.specular
    if material.base is not None and not material.is_unlit and material.dielectric == (DIELECTRIC,) * 3:
        return _colour(material.base), material.metal
    d, s = sum(diffuse) / 3.0, sum(specular) / 3.0
    # 0.04 m^2 + (d + s - 0.08) m + 0.04 - s = 0
    b, c = d + s - 2.0 * DIELECTRIC, DIELECTRIC - s
    root = (-b + math.sqrt(max(b * b - 4.0 * DIELECTRIC * c, 0.0))) / (2.0 * DIELECTRIC)
    metal = min(max(root, 0.0), 1.0)
    if metal < 1e-6 or material.is_unlit:
        return _colour(diffuse), 0.0
    if metal > 0.999:
        return _colour(specular), 1.0
    return _colour([part / (1.0 - metal) for part in diffuse]), metal


def is_metal_exact(material: Material, base: tuple[float, float, float], metal: float) -> bool:
    if material.is_unlit or material.surface_image is not None:
        return True
    written = [part * (1.0 - metal) for part in base] + [DIELECTRIC + (part - DIELECTRIC) * metal for part in base]
    colours = (*material.diffuse, *material.specular)
    return max(abs(a - b) for a, b in zip(written, colours, strict=True)) < _EXACT


def _colour(parts: Any) -> tuple[float, float, float]:
    red, green, blue = (min(max(float(part), 0.0), 1.0) for part in parts)
    return red, green, blue
