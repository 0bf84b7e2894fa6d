"""Ground plane: grid, axes and the shadow of the scene."""

import math
from collections.abc import Mapping

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.render.frame import Frame


def cell_size(radius: float) -> float:
    """Edge of the small grid cells [m]: a power of ten, about a tenth of what is shown."""
    return float(10.0 ** math.floor(math.log10(max(radius, 1e-6) * 0.35)))


_STATE = PipelineState(depth_write=False, blend="alpha", depth_func="less_equal", depth_clamp=True)
"""What lies beyond the far plane is drawn at its depth, which is that of the background."""

HORIZON = 100.0
"""Distance to the end of the grid, as a multiple of that at which its small cells have vanished."""


class GroundPass:
    """Draws after the surfaces, blended over the background.

    The shadow costs more than everything else, so the ground is drawn in two parts: a rectangle that holds the
    shadow, and a ring around it that leaves the shadow map alone.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        files = "viewport/ground.vert", "viewport/ground.frag"
        self._ring = library.program(*files)
        self._shadowed = library.program(*files, defines={"SHADOWED": True})
        self._nothing = VertexArray(context, label="ground")

    def draw(self, frame: Frame, shadow_map: Texture2D, scissor: tuple[int, int, int, int] | None) -> None:
        _STATE.within(scissor).apply(self._context)
        fade = max(frame.subject.radius * 9.0, frame.camera.distance * 1.6)
        shadow = frame.ground_shadow()
        x, _, z = frame.subject.centre
        along, across = shadow.within(x, z)
        end = fade * HORIZON
        outer = (along - end, across - end), (along + end, across + end)
        inner = shadow.clipped(*outer)
        uniforms = {
            "u_axis": shadow.axis,
            "u_outer": outer[0] + outer[1],
            "u_inner": inner[0] + inner[1],
            "u_fade": fade,
            "u_cell": cell_size(max(frame.subject.radius, frame.camera.distance * 0.25)),
            "u_show_grid": frame.view.grid,
            "u_show_axes": frame.view.axes,
        }
        if frame.view.grid or frame.view.axes:
            self._draw_part(self._ring, uniforms, 10)
        if inner[1][0] > inner[0][0] and inner[1][1] > inner[0][1]:
            self._shadowed["u_shadow_map"] = shadow_map
            self._draw_part(self._shadowed, uniforms, 4)

    def release(self) -> None:
        self._nothing.release()

    def _draw_part(self, program: Program, uniforms: Mapping[str, object], corners: int) -> None:
        for name, value in uniforms.items():
            program[name] = value
        self._nothing.draw(program, "triangle_strip", count=corners)
