from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import (
    AlphaMode,
    CharacterModel,
    ImageSource,
    Material,
    Mesh,
    Reflectance,
    Sampled,
    Section,
    Skin,
)
from sinew.sim.characters.materials import overridden_materials
from sinew.sim.characters.settings import DoubleSided, MaterialLook, look_of
from sinew.sim.gl.buffer import Buffer, upload_buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import Cull
from sinew.sim.gl.task import Task
from sinew.sim.gl.texture import Texture2D
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.render.texture_upload import REPEATED

TEXCOORD = np.dtype([("texcoord", "f4", 2)])
COLOUR = np.dtype([("colour", "f4", 4)])
SCALAR = np.dtype([("scalar", "f4")])
PLAIN_DIFFUSE = (0.52, 0.53, 0.55)
Spans = tuple[tuple[int, int], ...]  # first triangle and number of triangles
Images = Mapping[ImageSource, npt.NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class DrawRange:
    """Consecutive triangles of one material, -1 for the plain one."""

    material: int
    first_triangle: int
    triangle_count: int
    double_sided: bool
    is_flat: bool = False


def draw_ranges(
    mesh: Mesh, sides: DoubleSided, hidden: Collection[str] = (), apart: Collection[int] = ()
) -> tuple[DrawRange, ...]:
    """Returns visible sections; neighbours with equal appearance are merged unless the material is in `apart`."""
    ranges: list[DrawRange] = []
    for section in mesh.sections:
        if section.name in hidden:
            continue
        double = section.is_open if sides is DoubleSided.AUTO else sides is DoubleSided.ON
        last = ranges[-1] if ranges else None
        if last is not None and _continues(last, section, double) and section.material not in apart:
            ranges[-1] = replace(last, triangle_count=last.triangle_count + section.triangle_count)
        elif section.triangle_count:
            ranges.append(
                DrawRange(section.material, section.first_triangle, section.triangle_count, double, section.is_flat)
            )
    return tuple(ranges)


def spans(ranges: Iterable[DrawRange]) -> Spans:
    joined: list[tuple[int, int]] = []
    for part in ranges:
        if joined and sum(joined[-1]) == part.first_triangle:
            joined[-1] = (joined[-1][0], joined[-1][1] + part.triangle_count)
        else:
            joined.append((part.first_triangle, part.triangle_count))
    return tuple(joined)


def culling(world_from_model: npt.NDArray[np.float64], double_sided: bool) -> Cull:
    """Returns the culled faces; a mirroring placement reverses the winding."""
    if double_sided:
        return "none"
    (a, b, c, _), (d, e, f, _), (g, h, i, _), _ = world_from_model.tolist()
    mirrored = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0.0
    return "front" if mirrored else "back"


def unique_edges(triangles: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Returns every edge of triangles (T, 3) once, as sorted index pairs (E, 2), lower index first."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs.sort(axis=1)
    # One 64-bit key per edge sorts several times faster than rows.
    keys = np.unique((pairs[:, 0].astype(np.uint64) << np.uint64(32)) | pairs[:, 1])
    edges = np.empty((len(keys), 2), dtype=np.uint32)
    edges[:, 0] = keys >> np.uint64(32)
    edges[:, 1] = keys & np.uint64(0xFFFFFFFF)
    return edges


def _continues(last: DrawRange, section: Section, double_sided: bool) -> bool:
    adjoining = last.first_triangle + last.triangle_count == section.first_triangle
    alike = (last.material, last.double_sided, last.is_flat) == (section.material, double_sided, section.is_flat)
    return adjoining and alike


@dataclass(frozen=True, slots=True)
class GpuMaterial:
    """A material with its texture, or the shared white texel."""

    # Of the classic look
    diffuse: tuple[float, float, float]
    specular: tuple[float, float, float]
    roughness: float
    texture: Texture2D
    reflectance: Reflectance  # Of the standard look
    features: frozenset[str] = frozenset()  # Macros of optional features, see `shaders/viewport/mesh.frag`
    values: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)  # Of these features
    is_blended: bool = False
    is_textured: bool = False


def material_on_gpu(
    material: Material, texture: Texture2D, more: Mapping[Sampled, Texture2D] | None = None
) -> GpuMaterial:
    roughness = float(np.clip((2.0 / (material.shininess + 2.0)) ** 0.25, 0.15, 1.0))
    reflectance = material.reflectance
    values: dict[str, Any] = {"u_surface": (reflectance.metal, reflectance.roughness)}
    features = set()
    for feature, name, image in (
        ("EMISSION_MAP", "u_emission_map", material.sampled("emission_image")),
        ("NORMAL_MAP", "u_normal_map", material.sampled("normal_image")),
        ("SURFACE_MAP", "u_surface_map", material.sampled("surface_image")),
        ("OCCLUSION_MAP", "u_occlusion_map", material.sampled("occlusion_image")),
        ("SHADE_MAP", "u_shade_map", material.sampled("shade_image")),
        ("RIM_MAP", "u_rim_map", material.sampled("rim_image")),
        ("MATCAP", "u_matcap_map", material.sampled("matcap_image")),
    ):
        if image is not None and more is not None and image in more:
            features.add(feature)
            values[name] = more[image]
    if "NORMAL_MAP" in features:
        values["u_normal_scale"] = material.normal_scale
    if "OCCLUSION_MAP" in features:
        values["u_occlusion"] = material.occlusion
    if any(material.emission):
        features.add("EMISSION")
        values["u_own_light"] = material.emission
    toon = material.toon
    if toon is not None:
        features = (features | {"TOON"}) - {"SURFACE_MAP", "OCCLUSION_MAP"}
        values["u_shade"], values["u_rim"], values["u_matcap"] = toon.shade, toon.rim, toon.matcap
        values["u_toon"] = toon.shift, toon.toony, toon.equalization
        values["u_rim_shape"] = toon.rim_power, toon.rim_lift, toon.rim_mix
    elif material.is_unlit:
        features.add("UNLIT")
    elif reflectance.metal > 0.0 and "SURFACE_MAP" not in features:
        features.add("METAL")
    if material.alpha_mode is not AlphaMode.OPAQUE:
        features.add(material.alpha_mode.name)
        values["u_opacity"] = material.opacity
    if material.alpha_mode is AlphaMode.MASK:
        values["u_cutoff"] = material.alpha_cutoff
    is_blended = material.alpha_mode is AlphaMode.BLEND
    return GpuMaterial(
        material.diffuse, material.specular, roughness, texture, reflectance, frozenset(features), values, is_blended,
        material.image is not None,
    )  # fmt: skip


class Materials(Owner):
    """Materials and textures of a model; `drawn`, in file order, is a new tuple after every change."""

    def __init__(self, context: Context, model: CharacterModel, textures: Mapping[Sampled, Texture2D]) -> None:
        self._model, self._own = model, textures
        for texture in textures.values():
            self.owns(texture)
        self._white = self.owns(Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white"))
        self._applied: tuple[object, object] | None = None
        self._plain = self._uploaded(Material("", None, None, diffuse=PLAIN_DIFFUSE), MaterialLook(), {})
        self.drawn: tuple[GpuMaterial, ...] = ()
        self.dress((), {})

    @property
    def blended(self) -> frozenset[int]:
        return frozenset(number for number, material in enumerate(self.drawn) if material.is_blended)

    def dress(self, looks: tuple[MaterialLook, ...], others: Mapping[Path, Texture2D]) -> None:
        """Overrides single materials, with textures by path; missing textures are ignored."""
        if self._applied is not None and self._applied[0] is looks and self._applied[1] is others:
            return
        self._applied = looks, others
        materials = overridden_materials(self._model, looks)
        textures = dict(self._own)
        textures.update({(path, REPEATED): texture for path, texture in others.items()})
        self.drawn = tuple(self._uploaded(material, look_of(looks, material.name), textures) for material in materials)

    def get(self, index: int, textured: bool) -> GpuMaterial:
        """Returns a material; the plain one if not `textured`."""
        return self.drawn[index] if textured and 0 <= index < len(self.drawn) else self._plain

    def _uploaded(self, material: Material, look: MaterialLook, textures: Mapping[Sampled, Texture2D]) -> GpuMaterial:
        used = material.sampled("texture")
        texture = textures.get(used) if used is not None else None
        if texture is None and material.texture is not None and look.diffuse is None:
            material = replace(material, diffuse=PLAIN_DIFFUSE, base=None, texture_path=None, embedded=None)
        return material_on_gpu(material, texture or self._white, textures)


class MeshBuffers(Owner):
    """Static buffers of one mesh, shared by all surfaces that show it; it owns its arguments."""

    def __init__(
        self,
        context: Context,
        mesh: Mesh,
        texcoords: Buffer,
        triangles: Buffer,
        scalars: Buffer,
        colours: Buffer | None = None,
    ) -> None:
        self.context, self._mesh, self.colours = context, mesh, colours
        self.texcoords, self.triangles, self.scalars = texcoords, triangles, scalars
        for buffer in (texcoords, triangles, scalars, colours):
            if buffer is not None:
                self.owns(buffer)
        self._edges: tuple[Spans, Buffer] | None = None
        self.shown_colours: Buffer | None = None

    @classmethod
    def upload(cls, context: Context, mesh: Mesh) -> "Task[MeshBuffers]":
        coordinates = mesh.texcoords.view(TEXCOORD).ravel()
        texcoords = yield from upload_buffer(context, coordinates, label="texcoords")
        triangles = yield from upload_buffer(context, mesh.triangles.ravel(), label="triangles")
        zeros = np.zeros(max(mesh.vertex_count, 1), SCALAR)
        scalars = yield from upload_buffer(context, zeros, usage="dynamic", label="scalars")
        colours = None
        if mesh.is_coloured and mesh.colours is not None:
            colours = yield from upload_buffer(context, mesh.colours.view(COLOUR).ravel(), label="vertex colours")
        return cls(context, mesh, texcoords, triangles, scalars, colours)

    def edges(self, shown: Spans) -> Buffer:
        """Returns index pairs of the edges, rebuilt when `shown` changes."""
        if self._edges is None or self._edges[0] != shown:
            if self._edges is not None:
                self.disown(self._edges[1])
            parts = [self._mesh.triangles[first : first + count] for first, count in shown]
            triangles = np.concatenate([self._mesh.triangles[:0], *parts])
            buffer = Buffer(self.context, unique_edges(triangles).ravel(), label="edges")
            self._edges = shown, self.owns(buffer)
        return self._edges[1]

    def set_scalars(self, values: npt.NDArray[np.float32]) -> None:
        """Sets one number per vertex for the colour ramp, shape (V,)."""
        self.scalars.write(np.ascontiguousarray(values, np.float32).view(SCALAR))

    def set_colours(self, colours: npt.NDArray[np.float32]) -> None:
        """Sets the colours that are shown instead of materials, sRGB, shape (V, 3); arrays made later have them."""
        records = np.ones((len(colours), 4), np.float32)
        records[:, :3] = colours
        if self.shown_colours is None:
            made = Buffer(self.context, records.view(COLOUR).ravel(), usage="dynamic", label="shown colours")
            self.shown_colours = self.owns(made)
        else:
            self.shown_colours.write(records)


class SurfaceArrays(Owner):
    """Skinned vertices and the static buffers of their mesh; `other` is compared with `skinned`."""

    def __init__(self, static: MeshBuffers, skinned: Buffer, other: Buffer) -> None:
        self._static, self._skinned = static, skinned
        renamed = {name: f"a_other_{name}" for name in other.dtype.names or ()}
        streams = [Stream(skinned), Stream(static.texcoords), Stream(static.scalars), Stream(other, rename=renamed)]
        if static.colours is not None:
            streams.append(Stream(static.colours))
        if static.shown_colours is not None:
            rename = {name: f"a_shown_{name}" for name in static.shown_colours.dtype.names or ()}
            streams.append(Stream(static.shown_colours, rename=rename))
        self.triangles = self.owns(VertexArray(static.context, streams, indices=static.triangles, label="surface"))
        self._edges: VertexArray | None = None

    def edges(self, shown: Spans) -> VertexArray:
        indices = self._static.edges(shown)
        if self._edges is None or self._edges.indices is not indices:
            self.disown(self._edges)
            streams = [Stream(self._skinned)]
            self._edges = self.owns(VertexArray(self._static.context, streams, indices=indices, label="edges"))
        return self._edges


class PlainSurface(Owner):
    """Surface of vertices that the GPU or the CPU writes, owned from now on; `faces` (T, 3) are for wireframes."""

    def __init__(
        self,
        context: Context,
        vertices: Buffer,
        indices: npt.NDArray[np.uint32] | None,
        faces: npt.NDArray[np.uint32] | None,
        constants: Mapping[str, Sequence[float]],
    ) -> None:
        self._context, self._faces, self._label = context, faces, vertices.label
        self.vertices = self.owns(vertices)
        buffer = self.owns(Buffer(context, indices.ravel(), label=self._label)) if indices is not None else None
        streams = [Stream(vertices)]
        self.triangles = self.owns(
            VertexArray(context, streams, indices=buffer, constants=constants, label=self._label)
        )
        self._edges: VertexArray | None = None
        self._white = self.owns(Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white"))
        self.set_material(Material("plain", None, None))

    def set_material(self, material: Material) -> None:
        self._material = material_on_gpu(material, self._white)

    def get(self, _index: int, _textured: bool) -> GpuMaterial:
        return self._material

    def edges(self, _shown: Spans) -> VertexArray:
        assert self._faces is not None
        if self._edges is None:
            indices = self.owns(Buffer(self._context, unique_edges(self._faces).ravel(), label=self._label))
            streams = [Stream(self.vertices)]
            self._edges = self.owns(VertexArray(self._context, streams, indices=indices, label=self._label))
        return self._edges


@dataclass(frozen=True, slots=True)
class SortAnchors:
    """Centres of the boxes of draw ranges in bind space, shape (R, 3), by which transparent ranges are sorted.

    `entries` is the palette entry with the most weight in each range, shape (R,); None for a mesh without joints.
    """

    middles: npt.NDArray[np.float64]
    entries: npt.NDArray[np.intp] | None

    def posed(
        self, world_from_model: npt.NDArray[np.float64], palette: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Returns world positions [m], shape (R, 3), for a placement (4, 4) and a palette (P, 4, 4)."""
        points = np.append(self.middles, np.ones((len(self.middles), 1)), axis=1)[..., None]
        matrices = world_from_model if self.entries is None else world_from_model @ palette.take(self.entries, 0)
        placed: npt.NDArray[np.float64] = (matrices @ points)[:, :3, 0]
        return placed


def anchors_of(mesh: Mesh, skin: Skin | None, ranges: Sequence[DrawRange]) -> SortAnchors:
    middles, entries = np.zeros((len(ranges), 3)), np.zeros(len(ranges), np.intp)
    for row, part in enumerate(ranges):
        used = np.unique(mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count])
        places = mesh.positions[used].astype(np.float64)
        middles[row] = (places.min(axis=0) + places.max(axis=0)) / 2.0
        if skin is not None:
            entries[row] = np.bincount(skin.joints[used].ravel(), skin.weights[used].ravel()).argmax()
    return SortAnchors(middles, entries if skin is not None else None)


def farthest_first(distances: npt.ArrayLike) -> list[int]:
    """Returns indices in drawing order, back to front; equal distances keep their order."""
    order: list[int] = np.argsort(-np.asarray(distances, np.float64), kind="stable").tolist()
    return order
