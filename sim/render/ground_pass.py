"""Ground plane: grid, axes and the shadow of the scene."""

import numpy as np

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.render.frame import Frame


def cell_size(radius: float) -> float:
    """Edge of the small grid cells [m]: a power of ten, about a tenth of what is shown."""
    return float(10.0 ** np.floor(np.log10(max(radius, 1e-6) * 0.35)))


class GroundPass:
    """Draws after the surfaces, blended over the background."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/ground.vert", "viewport/ground.frag")
        self._nothing = VertexArray(context, label="ground")

    def draw(self, frame: Frame, shadow_map: Texture2D, scissor: tuple[int, int, int, int] | None) -> None:
        """Draws into the bound framebuffer."""
        fade = max(frame.subject.radius * 9.0, frame.camera.distance * 1.6)
        state = PipelineState(depth_write=False, blend="alpha", scissor=scissor)
        state.apply(self._context)
        program = self._program
        program["u_half_size"] = fade
        program["u_fade"] = fade
        program["u_cell"] = cell_size(max(frame.subject.radius, frame.camera.distance * 0.25))
        program["u_show_grid"] = frame.view.grid
        program["u_show_axes"] = frame.view.axes
        program["u_shadow_map"] = shadow_map
        self._nothing.draw(program, "triangle_strip", count=4)

    def release(self) -> None:
        """Deletes the vertex array."""
        self._nothing.release()
