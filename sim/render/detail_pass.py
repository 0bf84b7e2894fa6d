"""Lines and points over the surfaces, in one colour or in those of a ramp."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.maths.ramps import Ramp, ramp_colours

if TYPE_CHECKING:
    from sim.render.items import LinesItem, PointsItem
    from sim.render.pass_context import PassContext

THIN = 1.0
"""Widest line that every driver draws by itself [px]."""

_ON_TOP = PipelineState(depth_test=False, depth_write=False)
_IN_PLACE = PipelineState()


class DetailPass:
    """Draws after the surfaces."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        colours = ramp_colours(Ramp.VIRIDIS)[None, :, :]
        self._ramp = Texture2D.from_array(context, np.ascontiguousarray(colours), "rgb8", label="ramp")

    def lines(self, lines: "LinesItem", mode: Literal["lines", "line_strip"], ctx: "PassContext") -> None:
        """Draws lines into the bound framebuffer; wide ones as quads."""
        wide = lines.width > THIN
        program = self._program("viewport/detail.vert", lines.colour is None, {"WIDE": True} if wide else {})
        program.set_if_active("u_width", lines.width)
        self._colour(program, lines)
        (_ON_TOP if lines.on_top else _IN_PLACE).within(ctx.scissor).apply(ctx.context)
        lines.vertices.draw(program, mode, first=lines.first, count=lines.count)

    def points(self, points: "PointsItem", ctx: "PassContext") -> None:
        """Draws points into the bound framebuffer."""
        defines = {"POINTS": True, **points.defines, **({"RING": True} if points.is_ring else {})}
        program = self._program(points.shader, points.colour is None, defines)
        program["u_size"] = points.size or 0.0
        for name, value in points.uniforms.items():
            program[name] = value
        self._colour(program, points)
        (_ON_TOP if points.on_top else _IN_PLACE).within(ctx.scissor).apply(ctx.context)
        points.vertices.draw(program, "points", first=points.first, count=points.count)

    def release(self) -> None:
        self._ramp.release()

    def _program(self, shader: str, is_scalar: bool, defines: Mapping[str, Any]) -> Program:
        geometry = "viewport/wide.geom" if "WIDE" in defines else None
        scalar = {"SCALAR": True} if is_scalar else {}
        return self._library.program(shader, "viewport/detail.frag", geometry, defines={**scalar, **defines})

    def _colour(self, program: Program, item: "LinesItem | PointsItem") -> None:
        if item.colour is None:
            program["u_ramp"], program["u_ramp_scale"] = self._ramp, item.scalar_scale
        else:
            program["u_colour"] = item.colour
