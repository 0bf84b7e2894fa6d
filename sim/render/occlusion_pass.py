from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import projected_rectangle
from sinew.sim.render.target import SizedFramebuffers

if TYPE_CHECKING:
    from sinew.sim.render.items import Item

FARTHEST = 6e4
"""Distance where there is no surface, see shaders/viewport/occlusion.frag."""

_DEPTH = PipelineState(multisample=False)
_WHOLE = PipelineState(depth_test=False, depth_write=False)


class OcclusionPass(Owner):
    """Pass of ambient occlusion at half the size of the image, from the depth of its surfaces."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        self._occlusion = library.program("viewport/fullscreen.vert", "viewport/occlusion.frag")
        self._mean = library.program("viewport/fullscreen.vert", "viewport/occlusion_mean.frag")
        self._targets = self.owns(SizedFramebuffers(context))

    def draw(
        self, items: "Sequence[Item]", ctx: PassContext, targets: SizedFramebuffers | None = None
    ) -> Texture2D | None:
        """Returns the part of the light from around that arrives, by place in the image; None without surfaces.

        Binds the target again.
        """
        items = [item for item in items if "shadow" in item.stages and item.instances is None]
        if not items:
            return None
        targets, frame = targets or self._targets, ctx.frame
        left, low, across, up = projected_rectangle(ctx, frame.subject.box)
        rectangle = left // 2 - 1, low // 2 - 1, across // 2 + 4, up // 2 + 4
        targets.resize((-(-frame.width // 2), -(-frame.height // 2)))
        surfaces = targets.get("depth of surfaces", colours=())
        surfaces.clear(None)
        casting = replace(ctx, target=surfaces, clip_from_world=frame.clip_from_world, state=_DEPTH.within(rectangle))
        for item in items:
            casting.draw(item, "shadow")
        radius = frame.view.occlusion_radius * frame.subject.radius
        rough = targets.get("rough occlusion", colours=("rg16f",), depth=None)
        rough.clear((1.0, FARTHEST, 0.0, 0.0), depth=None)
        self._occlusion["u_depth"], self._occlusion["u_radius"] = surfaces.depth, radius
        self._occlusion["u_terms"] = (*frame.depth_terms, float(frame.camera.orthographic))
        self._occlusion["u_half"] = frame.half_extents
        _WHOLE.within(rectangle).apply(ctx.context)
        self._library.no_vertices.draw(self._occlusion, count=3)
        mean = targets.get("occlusion", colours=("r8",), depth=None)
        mean.clear((1.0, 1.0, 1.0, 1.0), depth=None)
        self._mean["u_open"], self._mean["u_radius"] = rough.colours[0], radius
        self._mean["u_strength"] = frame.view.occlusion_strength
        _WHOLE.within(rectangle).apply(ctx.context)
        self._library.no_vertices.draw(self._mean, count=3)
        ctx.target.bind()
        return mean.colours[0]
