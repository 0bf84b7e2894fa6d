import math
from collections.abc import Mapping

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render.frame import Frame


def cell_size(radius: float) -> float:
    """Returns the edge of the small grid cells [m]: a power of ten, about a tenth of the subject."""
    return float(10.0 ** math.floor(math.log10(max(radius, 1e-6) * 0.35)))


_BACKGROUND = PipelineState(depth_test=False, depth_write=False)
_GROUND = PipelineState(depth_write=False, blend="alpha", depth_func="less_equal", depth_clamp=True)
"""State of the ground; depth clamp draws it beyond the far plane at the depth of the background."""

HORIZON = 100.0
"""Distance to the end of the grid, as a multiple of the distance at which its small cells have faded out."""


class BackgroundPass(Owner):
    """Pass of the background, which must be the first one."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._program = library.program("viewport/fullscreen.vert", "viewport/background.frag")

    def draw(self, *, is_linear: bool = False) -> None:
        program = self._program
        if is_linear:
            files = "viewport/fullscreen.vert", "viewport/background.frag"
            program = self._library.program(*files, defines={"LINEAR": True})
        _BACKGROUND.apply(self._context)
        self._library.no_vertices.draw(program, count=3)


class GroundPass(Owner):
    """Pass of the ground, which must follow the surfaces.

    The shadow costs more than everything else, so the ground has two parts: a rectangle around the shadow, and a ring
    around it that does not read the shadow map.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._ring, self._shadowed = self._programs({})
        self._no_vertices = library.no_vertices

    def _programs(self, defines: Mapping[str, object]) -> tuple[Program, Program]:
        files = "viewport/ground.vert", "viewport/ground.frag"
        program = self._library.program
        return program(*files, defines=defines), program(*files, defines={"SHADOWED": True, **defines})

    def draw(self, frame: Frame, shadow_map: Texture2D, scissor: tuple[int, int, int, int] | None) -> None:
        _GROUND.within(scissor).apply(self._context)
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
        ring, shadowed = self._programs({"LINEAR": True}) if "LINEAR" in frame.macros else (self._ring, self._shadowed)
        if frame.view.grid or frame.view.axes:
            self._draw_part(ring, uniforms, 10)
        if inner[1][0] > inner[0][0] and inner[1][1] > inner[0][1]:
            shadowed["u_shadow_map"] = shadow_map
            self._draw_part(shadowed, uniforms, 4)

    def _draw_part(self, program: Program, uniforms: Mapping[str, object], corners: int) -> None:
        for name, value in uniforms.items():
            program[name] = value
        self._no_vertices.draw(program, "triangle_strip", count=corners)
