"""glTF materials become diffuse and specular factors, a Phong exponent and images."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import DIELECTRIC, TextureInfo, part_of
from sinew.sim.assets.gltf.document import GltfMaterial as Stored
from sinew.sim.assets.gltf.file import GltfFile, data_of_uri, is_data_uri
from sinew.sim.assets.gltf.toon import OLD_SHADER, mtoon_of_old, toon_of
from sinew.sim.assets.gltf.vrm_document import MaterialProperties
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, ImageSource, Material, Sampler
from sinew.sim.assets.raw import RawMaterial

ALPHA_MIN = 0.03
"""Smallest squared roughness: smoother surfaces would reflect only the light source."""

_EMISSION_MAX = 1e3
_WRAPS = 10497, 33071, 33648
_KNOWN = _WRAPS, _WRAPS, (9729, 9728), (9987, 9986, 9985, 9984, 9729, 9728)
_KTX2 = b"\xabKTX 20\xbb"

Colour = tuple[float, float, float]


def base_texture(material: Stored) -> TextureInfo | None:
    glossy = material.extensions.specular_glossiness
    return glossy.diffuse_texture if glossy is not None else material.pbr.base_color_texture


def leading_texture(material: Stored) -> TextureInfo | None:
    """Returns the texture whose coordinates the mesh gets: the colour, or the first other texture."""
    others = material.emissive_texture, material.normal_texture, material.pbr.metallic_roughness_texture
    found = (use for use in (base_texture(material), *others, material.occlusion_texture) if use is not None)
    return next(found, None)


class MaterialReader:
    """Reader of the materials of a file.

    Args:
        old: What VRM 0.x states about them, in the same order.
    """

    def __init__(self, file: GltfFile, old: Sequence[MaterialProperties], warnings: list[str]) -> None:
        self._old = old
        self._file, self._document, self._warnings = file, file.document, warnings
        self._images: dict[int, tuple[str, ImageSource | None]] = {}
        self._lost: set[str] = set()

    def read(self) -> list[RawMaterial]:
        found: list[RawMaterial] = []
        taken: set[str] = set()
        for index, stored in enumerate(self._document.materials):
            name = stored.name.strip() or f"material {index}"
            name = f"{name} ({index})" if name in taken else name
            taken.add(name)
            found.append(RawMaterial(name, "", self._material(index, name, stored)))
        return found

    def _material(self, index: int, name: str, stored: Stored) -> Material:
        diffuse, specular, roughness, opacity = _factors(stored)
        base, dielectric, metal = _reflectance(stored)
        info, image, texture = base_texture(stored), None, None
        if info is not None:
            texture, image = self._texture(info.index, f"materials[{index}]")
        lost = [("texture", texture)] if texture is not None and image is None and texture in self._lost else []
        more: dict[str, Any] = {}
        samplers = [] if info is None or image is None else [("texture", self._sampler(info.index))]
        for field, use in (
            ("emission_image", stored.emissive_texture),
            ("normal_image", stored.normal_texture),
            ("surface_image", stored.pbr.metallic_roughness_texture),
            ("occlusion_image", stored.occlusion_texture),
        ):
            file, found = self._further(use, leading_texture(stored), f"materials[{index}]") if use else (None, None)
            if found is not None:
                more[field] = found
                samplers += [(field, self._sampler(use.index))] if use else []
            elif file is not None and file in self._lost:
                lost.append((field, file))
        more |= self._toon(index, name, stored, info, samplers)
        strength, hdr = stored.extensions.emissive_strength, stored.extensions.hdr_emission
        bright = max(strength.emissive_strength, 0.0) if strength is not None else 1.0
        bright = max(hdr.emissive_multiplier, 0.0) if strength is None and hdr is not None else bright
        red, green, blue = (min(bright * _within(part), _EMISSION_MAX) for part in stored.emissive_factor)
        if "surface_image" in more:
            metal = _within(stored.pbr.metallic_factor)
        return Material(
            name=name,
            texture=texture,
            texture_path=image if isinstance(image, Path) else None,
            embedded=image if isinstance(image, EmbeddedImage) else None,
            diffuse=diffuse,
            specular=specular,
            shininess=min(2.0 / max(roughness**2, ALPHA_MIN) ** 2 - 2.0, 1e4),
            alpha_mode=AlphaMode[stored.alpha_mode],
            opacity=opacity,
            alpha_cutoff=_within(stored.alpha_cutoff),
            is_unlit=stored.extensions.unlit is not None,
            emission=(red, green, blue),
            normal_scale=_finite(stored.normal_texture.scale) if stored.normal_texture is not None else 1.0,
            occlusion=_within(stored.occlusion_texture.strength) if stored.occlusion_texture is not None else 1.0,
            samplers=tuple((field, sampler) for field, sampler in samplers if sampler != Sampler()),
            lost=tuple(lost),
            metal=metal,
            base=base,
            roughness=roughness,
            dielectric=dielectric,
            **more,
        )

    def _toon(
        self, index: int, name: str, stored: Stored, base: TextureInfo | None, samplers: list[tuple[str, Sampler]]
    ) -> dict[str, Any]:
        """Returns the fields of a material for MToon; none without it."""
        mtoon = stored.extensions.mtoon
        if mtoon is None and index < len(self._old) and self._old[index].shader == OLD_SHADER:
            mtoon = mtoon_of_old(self._old[index], base)
        if mtoon is None:
            return {}
        fields: dict[str, Any] = {"toon": toon_of(mtoon, self._warnings)}
        place = f"materials[{index}]"
        for field, use in (
            ("shade_image", mtoon.shade_multiply_texture),
            ("rim_image", mtoon.rim_multiply_texture),
            ("matcap_image", mtoon.matcap_texture),
        ):
            if use is None:
                continue
            # The normal gives the coordinates of the matcap.
            leading = leading_texture(stored) if field != "matcap_image" else None
            file, found = self._further(use, leading, place)
            if found is not None:
                fields[field] = found
                samplers.append((field, self._sampler(use.index)))
            elif file is not None and file in self._lost:
                self._warnings.append(f"The texture {file} of material {name} was not found.")
        return fields

    def _further(self, use: TextureInfo, base: TextureInfo | None, place: str) -> tuple[str | None, ImageSource | None]:
        """Returns a further texture, which must share the texture coordinates of the leading one."""
        if base is not None and _coordinates(use) != _coordinates(base):
            self._warnings.append(
                f"{place} has textures with coordinates of their own; only the colour texture is drawn."
            )
            return None, None
        return self._texture(use.index, place)

    def _texture(self, index: int, place: str) -> tuple[str | None, ImageSource | None]:
        """Returns path and content of a texture; (None, None) if it cannot be shown."""
        texture = part_of(self._document.textures, index, place, "textures")
        own = texture.extensions
        source = own.webp.source if own.webp is not None and own.webp.source is not None else texture.source
        if source is None:
            if own.basisu is not None:
                self._warnings.append("Images in KTX2 are not read; their surfaces are untextured.")
            return None, None
        if source not in self._images:
            self._images[source] = self._image(source, f"textures[{index}].source")
        return self._images[source]

    def _sampler(self, texture: int) -> Sampler:
        """Returns the sampler of a texture; invalid values become the defaults."""
        index = self._document.textures[texture].sampler
        if index is None:
            return Sampler()
        stored = part_of(self._document.samplers, index, f"textures[{texture}].sampler", "samplers")
        values = (stored.wrap_s, stored.wrap_t, stored.mag_filter, stored.min_filter)
        return Sampler(*(value if value in known else known[0] for value, known in zip(values, _KNOWN, strict=True)))

    def _image(self, index: int, place: str) -> tuple[str, ImageSource | None]:
        image = part_of(self._document.images, index, place, "images")
        own, uri = f"images[{index}]", image.uri
        if uri is not None and not is_data_uri(uri):
            return self._image_file(uri, own)
        name = image.name.strip() or f"image {index}"
        if uri is not None:
            data = data_of_uri(uri, f"{own}.uri")
        elif image.buffer_view is not None:
            data = bytes(self._file.view(image.buffer_view, f"{own}.bufferView"))
        else:
            raise ElementFault(own, "has neither a uri nor a bufferView")
        if data.startswith(_KTX2):
            self._warnings.append("Images in KTX2 are not read; their surfaces are untextured.")
            return name, None
        return name, EmbeddedImage(name, data)

    def _image_file(self, uri: str, place: str) -> tuple[str, ImageSource | None]:
        """Returns name and content of an image file; a missing or inaccessible image never fails a load."""
        name = uri.replace("\\", "/").rpartition("/")[2][:100]
        try:
            path = self._file.resolved(uri, f"{place}.uri")
        except ElementFault as fault:
            self._warnings.append(f"{fault}; its surfaces are untextured.")
            return name, None
        if os.path.isfile(path):
            return path.name, path
        self._lost.add(path.name)
        return path.name, None


def _factors(stored: Stored) -> tuple[Colour, Colour, float, float]:
    """Returns diffuse and specular factors, roughness and opacity.

    Source: Walter et al. 2007 for the exponent of a roughness; the glTF 2.0 specification, appendix B.
    """
    glossy = stored.extensions.specular_glossiness
    if glossy is not None:
        *base, opacity = map(_within, glossy.diffuse_factor)
        red, green, blue = map(_within, glossy.specular_factor)
        return _colour(base), (red, green, blue), 1.0 - _within(glossy.glossiness_factor), opacity
    *base, opacity = map(_within, stored.pbr.base_color_factor)
    if stored.extensions.unlit is not None:
        return _colour(base), (0.0, 0.0, 0.0), 1.0, opacity
    metal = _plain_metal(stored)
    diffuse = _colour([part * (1.0 - metal) for part in base])
    own = stored.extensions.specular
    plain = [DIELECTRIC] * 3
    if own is not None:
        factor = DIELECTRIC * _within(own.specular_factor)
        plain = [_within(factor * part) for part in own.specular_color_factor]
    specular = _colour([low + (part - low) * metal for low, part in zip(plain, base, strict=True)])
    return diffuse, specular, _within(stored.pbr.roughness_factor), opacity


def _plain_metal(stored: Stored) -> float:
    """Returns the metallic factor; 0 with a metallic image, which may be lost: most surfaces are not metallic."""
    return 0.0 if stored.pbr.metallic_roughness_texture is not None else _within(stored.pbr.metallic_factor)


def _reflectance(stored: Stored) -> tuple[Colour, Colour, float]:
    """Returns base colour, reflectance where not metallic, and metallic factor.

    Source: the specifications of KHR_materials_pbrSpecularGlossiness, KHR_materials_ior and KHR_materials_specular.
    """
    extensions = stored.extensions
    glossy, ior, own = extensions.specular_glossiness, extensions.ior, extensions.specular
    if glossy is not None:
        specular = _colour([_within(part) for part in glossy.specular_factor])
        return _colour([_within(part) * (1.0 - max(specular)) for part in glossy.diffuse_factor[:3]]), specular, 0.0
    plain = DIELECTRIC
    if ior is not None and math.isfinite(ior.ior) and (ior.ior == 0.0 or ior.ior >= 1.0):
        plain = ((ior.ior - 1.0) / (ior.ior + 1.0)) ** 2
    factor = plain if own is None else plain * _within(own.specular_factor)
    tint = (1.0, 1.0, 1.0) if own is None else own.specular_color_factor
    base = _colour([_within(part) for part in stored.pbr.base_color_factor[:3]])
    return base, _colour([_within(factor * part) for part in tint]), _plain_metal(stored)


def _colour(parts: list[float]) -> Colour:
    red, green, blue = parts
    return red, green, blue


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0


def _finite(value: float) -> float:
    return min(max(value, -100.0), 100.0) if math.isfinite(value) else 1.0


def _coordinates(info: TextureInfo) -> tuple[Any, ...]:
    moved = info.extensions.transform
    return textured_coordinate_set(info), (moved.offset, moved.rotation, moved.scale) if moved is not None else None


def textured_coordinate_set(info: TextureInfo | None) -> int:
    if info is None:
        return 0
    moved = info.extensions.transform
    return moved.tex_coord if moved is not None and moved.tex_coord is not None else info.tex_coord
