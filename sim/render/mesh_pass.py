import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import Cull, PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.render.environment_pass import EnvironmentPass
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import PickPass
from sinew.sim.render.quality import DRAFT
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.render.shadow_pass import ShadowPass
from sinew.sim.render.surface import DrawRange, GpuMaterial, Spans, culling, farthest_first, spans
from sinew.sim.scene.view import DisplayMode

_FACES: dict[Cull, PipelineState] = {
    "none": PipelineState(cull="none"),
    "back": PipelineState(cull="back"),
    "front": PipelineState(cull="front"),
}
_BLENDED = {cull: replace(state, blend="alpha", depth_write=False) for cull, state in _FACES.items()}
_EDGES = PipelineState(depth_write=False, blend="alpha", depth_func="less_equal")


_TRANSLUCENT = frozenset({"MASK", "BLEND"})
_UNOCCLUDED = frozenset({"TOON", "UNLIT"})

_FEATURES_OF = {
    "u_emission_map": frozenset({"EMISSION_MAP"}),
    "u_normal_map": frozenset({"NORMAL_MAP"}),
    "u_normal_scale": frozenset({"NORMAL_MAP"}),
    "u_surface_map": frozenset({"SURFACE_MAP"}),
    "u_surface": frozenset({"SURFACE_MAP", "METAL", "STANDARD"}),
    "u_occlusion_map": frozenset({"OCCLUSION_MAP"}),
    "u_occlusion": frozenset({"OCCLUSION_MAP"}),
    "u_shade_map": frozenset({"SHADE_MAP"}),
    "u_rim_map": frozenset({"RIM_MAP"}),
    "u_matcap_map": frozenset({"MATCAP"}),
    "u_matcap": frozenset({"MATCAP"}),
    "u_shade": frozenset({"TOON"}),
    "u_toon": frozenset({"TOON"}),
    "u_rim": frozenset({"TOON"}),
    "u_rim_shape": frozenset({"TOON"}),
    "u_own_light": frozenset({"EMISSION"}),
    "u_opacity": _TRANSLUCENT,
    "u_cutoff": frozenset({"MASK"}),
}
"""Macros that declare a uniform, by its name."""


_DATA_MAPS = {"u_normal_map": "NORMAL_MAP", "u_surface_map": "SURFACE_MAP", "u_occlusion_map": "OCCLUSION_MAP"}
"""Uniforms of images that hold no colours, by the macro that declares them."""

_EMITTED = ("u_own_light", "u_rim", "u_matcap")
"""Uniforms of light that does not come from the lights of the scene."""


class Scalar(enum.Enum):
    """Number or colour per vertex that a surface shows; the value is the macro of the shader variant."""

    NONE = ""
    WEIGHT = "SCALAR_WEIGHT"
    DIFFERENCE = "SCALAR_DIFFERENCE"
    COLOUR = "SCALAR_COLOUR"


class Arrays(Protocol):
    @property
    def triangles(self) -> VertexArray:
        """Faces with position, normal, texcoord and the scalars."""

    def edges(self, shown: Spans) -> VertexArray:
        pass


class MaterialSource(Protocol):
    def get(self, index: int, textured: bool) -> GpuMaterial: ...


@dataclass(eq=False, kw_only=True)
class SurfaceItem(Item):
    stages: tuple[Stage, ...] = ("shadow", "opaque", "pick")
    arrays: Arrays
    materials: MaterialSource
    ranges: tuple[DrawRange, ...]
    world_from_model: npt.NDArray[np.float64]
    texture_origin_bottom: bool = True  # v = 0 is the bottom row
    scalar: Scalar = Scalar.NONE
    scalar_scale: float = 1.0  # Ramp coordinate per unit of the scalar
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)  # Emitted light, linear RGB
    is_coloured: bool = False  # Vertex colours multiply the colours of the materials
    has_root_shade: bool = False  # In the standard look the scalar is the part of the light that hair lets through
    middles: npt.NDArray[np.float64] | None = None  # Approximate centres of the ranges [m], shape (R, 3)

    @property
    def middle(self) -> npt.NDArray[np.float64] | None:
        return None if self.middles is None or not len(self.middles) else self.middles.mean(axis=0)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "opaque":
            ctx.get(MeshPass).draw(self, ctx)
        elif stage == "glass":
            ctx.get(MeshPass).draw_faces(self, ctx, blended=True)
        elif stage == "shadow":
            solid = [part for part in self.ranges if not self.materials.get(part.material, True).is_blended]
            ctx.get(ShadowPass).cast(ctx, self.arrays.triangles, self.world_from_model, spans(solid))
        else:
            ctx.get(PickPass).faces(ctx, self.arrays.triangles, self.world_from_model, self.ranges)

    def pieces(self, display: DisplayOptions) -> Iterator[tuple[Item, DisplayOptions]]:
        mode = display.settings.display
        lined = mode in (DisplayMode.WIREFRAME, DisplayMode.SHADED_WIRE)
        if mode is not DisplayMode.WIREFRAME:
            shown = display.displaying(DisplayMode.SHADED) if lined else display
            made = {}
            for p in self.ranges:
                material = self.materials.get(p.material, display.settings.textures)
                made[material.texture, material.features, p.is_flat] = p
            for part in made.values():
                yield replace(self, ranges=(part,)), shown
        if lined:
            yield self, display


class MeshPass(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._has_decode = context.capabilities.has_srgb_decode
        self._variants: dict[tuple[bool, int, int, Scalar, frozenset[str]], Program] = {}
        self._wire = library.program("viewport/wire.vert", "viewport/flat.frag")
        colours = ramp_colours(Ramp.VIRIDIS)[None, :, :]
        self._ramp = self.owns(Texture2D.from_array(context, np.ascontiguousarray(colours), "rgb8", label="ramp"))

    def draw(self, surface: SurfaceItem, ctx: PassContext) -> None:
        display = ctx.display.settings.display
        self.draw_faces(surface, ctx, blended=False)
        if display is DisplayMode.WIREFRAME:
            self._draw_edges(surface, (0.80, 0.84, 0.88, 0.55), ctx.scissor)
        elif display is DisplayMode.SHADED_WIRE:
            self._draw_edges(surface, (0.02, 0.03, 0.04, 0.30), ctx.scissor)

    def draw_faces(self, surface: SurfaceItem, ctx: PassContext, *, blended: bool) -> None:
        """Draws either the opaque or the blended parts; none of a wireframe, unless it shows a scalar."""
        display = ctx.display.settings.display
        if display is DisplayMode.WIREFRAME and surface.scalar is Scalar.NONE:
            return
        normals = display is DisplayMode.NORMALS and surface.scalar is Scalar.NONE
        placement, begun = surface.world_from_model, None
        for part in self._ordered(surface, ctx) if blended else surface.ranges:
            material = surface.materials.get(part.material, ctx.display.settings.textures)
            if material.is_blended != blended:
                continue
            plain = normals or surface.scalar is not Scalar.NONE
            features = self._features(surface, material, part.is_flat, ctx.frame.macros, plain=plain)
            if "STANDARD" in features and self._has_decode and not features.isdisjoint(_DATA_MAPS.values()):
                features |= {"RAW_DATA"}
            if ctx.occlusion is not None and not blended and "STANDARD" in features and not features & _UNOCCLUDED:
                features |= {"OCCLUSION"}
            taps = ctx.quality.shadow_taps if "STANDARD" in features else DRAFT.shadow_taps
            program = self._variant(normals, len(ctx.frame.lights), taps, surface.scalar, features)
            if program is not begun:
                self._begin(program, surface, ctx)
                begun = program
            _set_material(program, material, features, ctx.frame.exposure)
            for state in _states(placement, part.double_sided, blended=blended):
                state.within(ctx.scissor).apply(self._context)
                surface.arrays.triangles.draw(program, first=part.first_triangle * 3, count=part.triangle_count * 3)

    @staticmethod
    def _ordered(surface: SurfaceItem, ctx: PassContext) -> Sequence[DrawRange]:
        if surface.middles is None or len(surface.ranges) < 2:
            return surface.ranges
        return [surface.ranges[number] for number in farthest_first(ctx.frame.distances(surface.middles))]

    def _begin(self, program: Program, surface: SurfaceItem, ctx: PassContext) -> None:
        program["u_world_from_model"] = surface.world_from_model
        program["u_world_from_normal"] = _normal_matrix(surface.world_from_model)
        program["u_texture_origin_bottom"] = surface.texture_origin_bottom
        program["u_shadow_map"] = ctx.shadow_map
        program["u_ramp"] = self._ramp
        program["u_ramp_scale"] = surface.scalar_scale
        program["u_emission"] = tuple(ctx.frame.exposure * part for part in surface.emission)
        if ctx.frame.environment is not None:
            textures = ctx.get(EnvironmentPass).uniforms(ctx.frame.environment.panorama, ctx.target)
            for name, texture in textures.items():
                program.set_if_active(name, texture)
        if ctx.occlusion is not None:
            program.set_if_active("u_open", ctx.occlusion)

    @staticmethod
    def _features(
        surface: SurfaceItem, material: GpuMaterial, is_flat: bool, macros: tuple[str, ...], *, plain: bool
    ) -> frozenset[str]:
        """Returns macros of the shader; a plain surface keeps only the macros for shape and coverage."""
        features = material.features & {"MASK"} if plain else material.features.union(macros)
        if "METAL" in features and (macros or not (material.is_textured or surface.is_coloured)):
            features -= {"METAL"}
        if surface.has_root_shade and "STANDARD" in features and not features & _UNOCCLUDED:
            features |= {"ROOT_SHADE"}
        if is_flat:
            features |= {"FLAT"}
        return (
            features | {"VERTEX_COLOUR"} if surface.is_coloured and (features & _TRANSLUCENT or not plain) else features
        )

    def _variant(self, normals: bool, light_count: int, taps: int, scalar: Scalar, features: frozenset[str]) -> Program:
        key = normals, light_count, taps, scalar, features
        if key not in self._variants:
            numbers = {"SHOW_NORMALS": normals, "LIGHT_COUNT": light_count, "SHADOW_TAPS": taps}
            flags = [scalar.value] if scalar.value else []
            defines = {**numbers, **dict.fromkeys([*flags, *sorted(features)], True)}
            self._variants[key] = self._library.program("viewport/mesh.vert", "viewport/mesh.frag", defines=defines)
        return self._variants[key]

    def _draw_edges(
        self, surface: SurfaceItem, colour: tuple[float, ...], scissor: tuple[int, int, int, int] | None
    ) -> None:
        _EDGES.within(scissor).apply(self._context)
        self._wire["u_world_from_model"] = surface.world_from_model
        self._wire["u_depth_bias"] = 4e-5
        self._wire["u_colour"] = colour
        surface.arrays.edges(spans(surface.ranges)).draw(self._wire, "lines")


def _states(placement: npt.NDArray[np.float64], double_sided: bool, *, blended: bool) -> tuple[PipelineState, ...]:
    """Returns one state, or two to draw the back faces of a transparent surface before its front faces."""
    cull = culling(placement, double_sided)
    if not blended:
        return (_FACES[cull],)
    fronts = culling(placement, double_sided=False)
    backs: Cull = "front" if fronts == "back" else "back"
    return (_BLENDED[backs], _BLENDED[fronts]) if cull == "none" else (_BLENDED[cull],)


def _set_material(program: Program, material: GpuMaterial, features: frozenset[str], exposure: float) -> None:
    has_base = bool(features & {"STANDARD", "METAL"})
    program["u_diffuse"] = material.reflectance.base if has_base else material.diffuse
    program["u_specular"] = material.reflectance.dielectric if has_base else material.specular
    program["u_roughness"] = material.roughness
    material.texture.decode(True)
    program["u_texture"] = material.texture
    for name, value in material.values.items():
        if _FEATURES_OF[name] & features:
            if isinstance(value, Texture2D):
                value.decode(name not in _DATA_MAPS or "RAW_DATA" not in features)
            program[name] = tuple(exposure * part for part in value) if name in _EMITTED else value


def _normal_matrix(placement: npt.NDArray[np.float64]) -> tuple[tuple[float, float, float], ...]:
    """Returns the inverse transpose of the linear part up to a factor: cofactors, which also exist for flat scales.

    With a mirroring placement normals point inwards; the shader flips them, because the faces are then seen from
    behind.
    """
    (a, b, c, _), (d, e, f, _), (g, h, i, _), _ = placement.tolist()
    return (
        (e * i - f * h, f * g - d * i, d * h - e * g),
        (h * c - i * b, i * a - g * c, g * b - h * a),
        (b * f - c * e, c * d - a * f, a * e - b * d),
    )
