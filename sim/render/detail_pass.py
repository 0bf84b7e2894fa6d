from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import PickPass
from sinew.sim.scene.vectors import Vec3

THIN = 1.0
"""Guaranteed maximum width of lines [px]."""

_ON_TOP = PipelineState(depth_test=False, depth_write=False)
_IN_PLACE = PipelineState()


@dataclass(eq=False, kw_only=True)
class LinesItem(Item):
    stages: tuple[Stage, ...] = ("detail", "pick")
    is_thin: bool = True
    vertices: VertexArray  # `a_position` in the world [m], three or four components; `a_scalar` for a ramp
    strip: bool = False  # Whether each line begins at the end of the previous one
    colour: Vec3 | None = None  # sRGB-encoded; None for the ramp
    scalar_scale: float = 1.0  # Ramp coordinate per unit of the scalar
    width: float = 1.0  # On the screen [px]
    on_top: bool = False  # Visible through everything
    first: int = 0
    count: int | None = None  # Vertices; None for all that follow the first

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        mode: Literal["line_strip", "lines"] = "line_strip" if self.strip else "lines"
        if stage == "pick":
            ctx.get(PickPass).thin(ctx, self.vertices, mode, self.first, self.count)
        else:
            ctx.get(DetailPass).lines(self, mode, ctx)


@dataclass(eq=False, kw_only=True)
class PointsItem(Item):
    """Points as small shaded balls or rings; fields as for `LinesItem`."""

    stages: tuple[Stage, ...] = ("detail", "pick")
    is_thin: bool = True
    vertices: VertexArray
    colour: Vec3 | None = None
    scalar_scale: float = 1.0
    size: float | None = None  # Width on the screen [px]; None for a width that decreases with the distance
    is_ring: bool = False  # With dark rims
    on_top: bool = False
    first: int = 0
    count: int | None = None
    shader: str = "viewport/detail.vert"  # Vertex shader that computes the positions, with `defines` and `uniforms`
    defines: Mapping[str, object] = field(default_factory=dict)
    uniforms: Mapping[str, object] = field(default_factory=dict)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "pick":
            ctx.get(PickPass).thin(ctx, self.vertices, "points", self.first, self.count)
        else:
            ctx.get(DetailPass).points(self, ctx)


class DetailPass(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        colours = ramp_colours(Ramp.VIRIDIS)[None, :, :]
        self._ramp = self.owns(Texture2D.from_array(context, np.ascontiguousarray(colours), "rgb8", label="ramp"))

    def lines(self, lines: LinesItem, mode: Literal["lines", "line_strip"], ctx: PassContext) -> None:
        wide = lines.width > THIN
        program = self._program("viewport/detail.vert", lines.colour is None, {"WIDE": True} if wide else {})
        program.set_if_active("u_width", lines.width)
        self._colour(program, lines)
        (_ON_TOP if lines.on_top else _IN_PLACE).within(ctx.scissor).apply(ctx.context)
        lines.vertices.draw(program, mode, first=lines.first, count=lines.count)

    def points(self, points: PointsItem, ctx: PassContext) -> None:
        defines = {"POINTS": True, **points.defines, **({"RING": True} if points.is_ring else {})}
        program = self._program(points.shader, points.colour is None, defines)
        program["u_size"] = points.size or 0.0
        for name, value in points.uniforms.items():
            program[name] = value
        self._colour(program, points)
        (_ON_TOP if points.on_top else _IN_PLACE).within(ctx.scissor).apply(ctx.context)
        points.vertices.draw(program, "points", first=points.first, count=points.count)

    def _program(self, shader: str, is_scalar: bool, defines: Mapping[str, Any]) -> Program:
        geometry = "viewport/wide.geom" if "WIDE" in defines else None
        scalar = {"SCALAR": True} if is_scalar else {}
        return self._library.program(shader, "viewport/detail.frag", geometry, defines={**scalar, **defines})

    def _colour(self, program: Program, item: LinesItem | PointsItem) -> None:
        if item.colour is None:
            program["u_ramp"], program["u_ramp_scale"] = self._ramp, item.scalar_scale
        else:
            program["u_colour"] = item.colour
