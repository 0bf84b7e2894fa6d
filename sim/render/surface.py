"""What passes draw of a character: vertex arrays, draw ranges and materials."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.model import AlphaMode, CharacterModel, ImageSource, Material, Mesh, Sampled, Section
from sim.characters.materials import overridden_materials
from sim.characters.settings import DoubleSided, MaterialLook, look_of
from sim.gl.buffer import Buffer
from sim.gl.buffer_upload import upload_buffer
from sim.gl.context import Context
from sim.gl.state import Cull
from sim.gl.task import Task
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import Stream, VertexArray
from sim.render.edges import unique_edges
from sim.render.texture_upload import REPEATED

TEXCOORD = np.dtype([("texcoord", "f4", 2)])
COLOUR = np.dtype([("colour", "f4", 4)])
SCALAR = np.dtype([("scalar", "f4")])
PLAIN_DIFFUSE = (0.52, 0.53, 0.55)
Spans = tuple[tuple[int, int], ...]  # first triangle and number of triangles
Images = Mapping[ImageSource, npt.NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class DrawRange:
    """Consecutive triangles of one material, or -1 for the plain one; how their backs are drawn, and whether flat."""

    material: int
    first_triangle: int
    triangle_count: int
    double_sided: bool
    is_flat: bool = False


def draw_ranges(
    mesh: Mesh, sides: DoubleSided, hidden: Collection[str] = (), apart: Collection[int] = ()
) -> tuple[DrawRange, ...]:
    """Sections with neighbours that are drawn alike merged: many sections often share one material.

    Args:
        mesh: The mesh.
        sides: Which of them show their backs.
        hidden: Names of sections that are left out.
        apart: Materials of those that are not merged, as they are drawn in an order of their own.
    """
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
    """Triangles of draw ranges, whatever they look like; neighbours are one span."""
    joined: list[tuple[int, int]] = []
    for part in ranges:
        if joined and sum(joined[-1]) == part.first_triangle:
            joined[-1] = (joined[-1][0], joined[-1][1] + part.triangle_count)
        else:
            joined.append((part.first_triangle, part.triangle_count))
    return tuple(joined)


def culling(world_from_model: npt.NDArray[np.float64], double_sided: bool) -> Cull:
    """Which faces are left out; a mirroring placement turns the winding of all of them over."""
    if double_sided:
        return "none"
    (a, b, c, _), (d, e, f, _), (g, h, i, _), _ = world_from_model.tolist()
    mirrored = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0.0
    return "front" if mirrored else "back"


def _continues(last: DrawRange, section: Section, double_sided: bool) -> bool:
    adjoining = last.first_triangle + last.triangle_count == section.first_triangle
    alike = (last.material, last.double_sided, last.is_flat) == (section.material, double_sided, section.is_flat)
    return adjoining and alike


@dataclass(frozen=True, slots=True)
class GpuMaterial:
    """A material with its texture, or the shared white texel.

    Attributes:
        diffuse, specular, roughness, texture: What every one has.
        features: Macros of what it has beyond, as `shaders/viewport/mesh.frag` knows them.
        values: Uniforms of these.
        is_blended: Whether what is behind it shows through.
    """

    diffuse: tuple[float, float, float]
    specular: tuple[float, float, float]
    roughness: float
    texture: Texture2D
    features: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)
    is_blended: bool = False


def material_on_gpu(
    material: Material, texture: Texture2D, more: Mapping[Sampled, Texture2D] | None = None
) -> GpuMaterial:
    """What the shader takes of a material.

    Args:
        material: The material.
        texture: Its colours.
        more: Its further textures, by where their images are and how these are read.
    """
    # Blinn-Phong exponent to GGX roughness: n = 2 / a^4 - 2, Walter et al. 2007 with a = roughness^2.
    roughness = float(np.clip((2.0 / (material.shininess + 2.0)) ** 0.25, 0.15, 1.0))
    values: dict[str, Any] = {}
    features = set()
    for feature, name, image in (
        ("EMISSION_MAP", "u_emission_map", material.sampled("emission_image")),
        ("NORMAL_MAP", "u_normal_map", material.sampled("normal_image")),
        ("SURFACE_MAP", "u_surface_map", material.sampled("surface_image")),
        ("OCCLUSION_MAP", "u_occlusion_map", material.sampled("occlusion_image")),
    ):
        if image is not None and more is not None and image in more:
            features.add(feature)
            values[name] = more[image]
    if "NORMAL_MAP" in features:
        values["u_normal_scale"] = material.normal_scale
    if "SURFACE_MAP" in features:
        values["u_surface"] = (material.metal, material.roughness)
    if "OCCLUSION_MAP" in features:
        values["u_occlusion"] = material.occlusion
    if any(material.emission):
        features.add("EMISSION")
        values["u_own_light"] = material.emission
    if material.is_unlit:
        features.add("UNLIT")
    if material.alpha_mode is not AlphaMode.OPAQUE:
        features.add(material.alpha_mode.name)
        values["u_opacity"] = material.opacity
    if material.alpha_mode is AlphaMode.MASK:
        values["u_cutoff"] = material.alpha_cutoff
    is_blended = material.alpha_mode is AlphaMode.BLEND
    return GpuMaterial(material.diffuse, material.specular, roughness, texture, frozenset(features), values, is_blended)


class Materials:
    """Materials and textures of one model; an image used by several is uploaded once.

    Args:
        context: Where they live.
        model: Whose materials they are.
        textures: Its images on the GPU by where they are and how they are read, owned from now on.

    Attributes:
        drawn: The materials, in the order of the file; another tuple where any of them is another.
    """

    def __init__(self, context: Context, model: CharacterModel, textures: Mapping[Sampled, Texture2D]) -> None:
        self._context, self._model, self._own = context, model, textures
        self._white = Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white")
        self._taken: tuple[object, object] | None = None
        self._plain = self._uploaded(Material("", None, None, diffuse=PLAIN_DIFFUSE), MaterialLook(), {})
        self.drawn: tuple[GpuMaterial, ...] = ()
        self.dress((), {})

    @property
    def blended(self) -> frozenset[int]:
        return frozenset(number for number, material in enumerate(self.drawn) if material.is_blended)

    def dress(self, looks: tuple[MaterialLook, ...], others: Mapping[Path, Texture2D]) -> None:
        """Takes what settings say in place of the file; nothing is done for what it took last.

        Args:
            looks: What is other of single materials.
            others: Textures that these may name, by path; surfaces of those that are not there have none.
        """
        if self._taken is not None and self._taken[0] is looks and self._taken[1] is others:
            return
        self._taken = looks, others
        materials = overridden_materials(self._model, looks)
        textures = {**self._own, **{(path, REPEATED): texture for path, texture in others.items()}}
        self.drawn = tuple(self._uploaded(material, look_of(looks, material.name), textures) for material in materials)

    def get(self, index: int, textured: bool) -> GpuMaterial:
        """The material of a draw range; without textures every one is the plain material."""
        return self.drawn[index] if textured and 0 <= index < len(self.drawn) else self._plain

    def release(self) -> None:
        for texture in (self._white, *self._own.values()):
            texture.release()

    def _uploaded(self, material: Material, look: MaterialLook, textures: Mapping[Sampled, Texture2D]) -> GpuMaterial:
        used = material.sampled("texture")
        texture = textures.get(used) if used is not None else None
        is_known = texture is not None or material.texture is None or look.diffuse is not None
        diffuse = material.diffuse if is_known else PLAIN_DIFFUSE
        return material_on_gpu(replace(material, diffuse=diffuse), texture or self._white, textures)


class MeshBuffers:
    """Static buffers of one mesh, shared by every surface that shows it; it owns what it is given."""

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
        self._edges: tuple[Spans, Buffer] | None = None

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
        """Index pairs of every edge of the shown triangles; made anew when others are shown."""
        if self._edges is None or self._edges[0] != shown:
            if self._edges is not None:
                self._edges[1].release()
            parts = [self._mesh.triangles[first : first + count] for first, count in shown]
            triangles = np.concatenate([self._mesh.triangles[:0], *parts])
            self._edges = (shown, Buffer(self.context, unique_edges(triangles).ravel(), label="edges"))
        return self._edges[1]

    def set_scalars(self, values: npt.NDArray[np.float32]) -> None:
        """One number per vertex for the colour ramp, shape (V,)."""
        self.scalars.write(np.ascontiguousarray(values, np.float32).view(SCALAR))

    def release(self) -> None:
        for buffer in (self.texcoords, self.triangles, self.scalars, self.colours):
            if buffer is not None:
                buffer.release()
        if self._edges is not None:
            self._edges[1].release()
            self._edges = None


class SurfaceArrays:
    """Vertex arrays that join skinned vertices with the static buffers of their mesh.

    Args:
        static: Static buffers of the mesh.
        skinned: Records with fields position and normal.
        other: A second skinned buffer, to show the distance to it.
    """

    def __init__(self, static: MeshBuffers, skinned: Buffer, other: Buffer) -> None:
        self._static, self._skinned = static, skinned
        renamed = {name: f"a_other_{name}" for name in other.dtype.names or ()}
        streams = [Stream(skinned), Stream(static.texcoords), Stream(static.scalars), Stream(other, rename=renamed)]
        if static.colours is not None:
            streams.append(Stream(static.colours))
        self.triangles = VertexArray(static.context, streams, indices=static.triangles, label="surface")
        self._edges: VertexArray | None = None

    def edges(self, shown: Spans) -> VertexArray:
        """Lines along every edge of the shown triangles; made when first asked for."""
        indices = self._static.edges(shown)
        if self._edges is None or self._edges.indices is not indices:
            if self._edges is not None:
                self._edges.release()
            self._edges = VertexArray(self._static.context, [Stream(self._skinned)], indices=indices, label="edges")
        return self._edges

    def release(self) -> None:
        self.triangles.release()
        if self._edges is not None:
            self._edges.release()
