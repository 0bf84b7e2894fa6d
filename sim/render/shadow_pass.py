"""Shadow map of the light."""

from collections.abc import Iterable

from pyglm import glm

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.render.frame import SHADOW_SIZE
from sim.render.mesh_pass import Surface
from sim.render.surface import spans

_STATE = PipelineState(polygon_offset=(1.5, 2.0), multisample=False)


class ShadowPass:
    """Draws surfaces as the light sees them.

    Attributes:
        target: What they are drawn into; others may add to it.
        map: Its depth, which answers comparisons with filtering.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/depth.vert", "viewport/depth.frag")
        self.target = Framebuffer(context, (SHADOW_SIZE, SHADOW_SIZE), (), depth_compare=True, label="shadow map")
        assert self.target.depth is not None
        self.map: Texture2D = self.target.depth

    def draw(self, clip_from_world: glm.dmat4, casters: Iterable[Surface]) -> None:
        """Renders what is shown of surfaces; binds the map's framebuffer."""
        self.target.clear(None)
        _STATE.apply(self._context)
        for caster in casters:
            self._program["u_clip_from_model"] = clip_from_world @ caster.world_from_model
            for first, count in spans(caster.ranges):
                caster.arrays.triangles.draw(self._program, first=3 * first, count=3 * count)

    def release(self) -> None:
        """Deletes the map."""
        self.target.release()
