"""Shadow map of the light."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.render.frame import SHADOW_SIZE
from sim.render.surface import Spans

if TYPE_CHECKING:
    from sim.render.pass_context import PassContext

CASTING = PipelineState(polygon_offset=(1.5, 2.0), multisample=False)


class ShadowPass:
    """Draws surfaces as the light sees them.

    Attributes:
        target: What they are drawn into; others may add to it.
        map: Its depth, which answers comparisons with filtering.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/depth.vert", "viewport/depth.frag")
        self.target = Framebuffer(context, (SHADOW_SIZE, SHADOW_SIZE), (), depth_compare=True, label="shadow map")
        assert self.target.depth is not None
        self.map: Texture2D = self.target.depth

    def begin(self) -> None:
        """Clears the map and binds its framebuffer."""
        self.target.clear(None)

    def cast(
        self, ctx: "PassContext", triangles: VertexArray, world_from_model: npt.NDArray[np.float64], shown: Spans
    ) -> None:
        """Draws the shown triangles of a surface as the light sees them."""
        ctx.state.apply(ctx.context)
        self._program["u_clip_from_model"] = ctx.clip_from_world @ world_from_model
        for first, count in shown:
            triangles.draw(self._program, first=3 * first, count=3 * count)

    def release(self) -> None:
        self.target.release()
