import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.render.frame import SHADOW_SIZE
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.surface import Spans

CASTING = PipelineState(polygon_offset=(1.5, 2.0), multisample=False)


class ShadowPass(Owner):
    """Pass of the shadow of the first light; `map` is the depth texture, which answers filtered comparisons."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/depth.vert", "viewport/depth.frag")
        size = (SHADOW_SIZE, SHADOW_SIZE)
        self.target = self.owns(Framebuffer(context, size, (), depth_compare=True, label="shadow map"))
        assert self.target.depth is not None
        self.map: Texture2D = self.target.depth

    def begin(self) -> None:
        self.target.clear(None)

    def cast(
        self, ctx: PassContext, triangles: VertexArray, world_from_model: npt.NDArray[np.float64], shown: Spans
    ) -> None:
        ctx.state.apply(ctx.context)
        self._program["u_clip_from_model"] = ctx.clip_from_world @ world_from_model
        for first, count in shown:
            triangles.draw(self._program, first=3 * first, count=3 * count)
