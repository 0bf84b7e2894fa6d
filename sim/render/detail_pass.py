"""Threads and particles of cloths: lines by strain, points, and marks of held, chosen and hovered particles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import Mode, VertexArray
from sim.maths.ramps import Ramp, ramp_colours

DetailMode = Literal["lines", "points", "pins", "chosen", "hovered", "contacts"]
_DEFINES = {
    "lines": "SCALAR", "points": "POINTS", "pins": "PINS", "chosen": "CHOSEN", "hovered": "HOVERED",
    "contacts": "CONTACTS",
}  # fmt: skip
_MARKS = ("pins", "chosen", "hovered", "contacts")


@dataclass(frozen=True, slots=True)
class Detail:
    """Lines or points in the world.

    Attributes:
        vertices: Positions, for lines with a scalar each.
        mode: What they are.
        scalar_scale: Ramp coordinate per unit of the scalar.
        first: First vertex that is drawn.
        count: How many are drawn, all that follow for None.
        uniforms: What else the shader needs.
    """

    vertices: VertexArray
    mode: DetailMode
    scalar_scale: float = 0.0
    first: int = 0
    count: int | None = None
    uniforms: Mapping[str, object] = field(default_factory=dict)


class DetailPass:
    """Draws after the surfaces."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._programs = {
            mode: library.program("viewport/detail.vert", "viewport/detail.frag", defines={define: True})
            for mode, define in _DEFINES.items()
        }
        colours = ramp_colours(Ramp.VIRIDIS)[None, :, :]
        self._ramp = Texture2D.from_array(context, np.ascontiguousarray(colours), "rgb8", label="ramp")

    def draw(self, detail: Detail, scissor: tuple[int, int, int, int] | None) -> None:
        """Draws into the bound framebuffer."""
        on_top = detail.mode in _MARKS
        PipelineState(depth_test=not on_top, depth_write=not on_top, scissor=scissor).apply(self._context)
        program = self._programs[detail.mode]
        program.set_if_active("u_ramp", self._ramp)
        program.set_if_active("u_ramp_scale", detail.scalar_scale)
        for name, value in detail.uniforms.items():
            program[name] = value
        shape: Mode = "lines" if detail.mode == "lines" else "points"
        detail.vertices.draw(program, shape, first=detail.first, count=detail.count)

    def release(self) -> None:
        """Deletes the ramp."""
        self._ramp.release()
