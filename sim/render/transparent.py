"""Order-independent transparency: transparent items are accumulated separately, then composed over the image.

Added light needs no order.  Alpha blending is weighted blended order-independent transparency (M. McGuire, L.
Bavoil 2013): sorting particles on the GPU takes a dozen passes over all of them per frame, this takes none, costs
the same for any number of layers, and does not pop when two particles change places.  Its colour is inexact if few
dense layers of different colours overlap, which smoke and snow do not show.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.task import Task
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.target import RenderTarget, SizedFramebuffers

if TYPE_CHECKING:
    from sinew.sim.render.items import Item
    from sinew.sim.render.progressive.frame_plan import FramePlan

_COMPOSE = PipelineState(depth_test=False, depth_write=False)
_GATHERING = {
    # Key: (shines, is_soft); items that are not soft use the depth test.
    (shines, is_soft): PipelineState(
        blend="additive" if shines else "weighted", depth_test=not is_soft, depth_write=False, multisample=False
    )
    for shines in (True, False)
    for is_soft in (True, False)
}


class BlendTargets(SizedFramebuffers):
    """Accumulation buffers and the depth of the scene as a texture; all single-sampled.

    Half floats, since light adds up beyond white and layers exceed the resolution of eight bits; single samples, since
    spots have soft edges anyway and the depth must be readable as a texture.
    """

    def begin(self, size: tuple[int, int], scene: Framebuffer) -> Texture2D:
        """Begins to accumulate at `size` in pixels; returns the depth of the scene."""
        self.resize(size)
        behind = self.get("depth behind", colours=())
        scene.copy_depth_to(behind)
        assert behind.depth is not None
        return behind.depth

    def light(self) -> Framebuffer:
        light = self.get("gathered light", colours=("rgba16f",), depth=None)
        light.clear(depth=None)
        return light

    def cover(self) -> Framebuffer:
        """Returns cleared sums of weighted blending: colour with the transmittance of the background, and weight."""
        cover = self.get("gathered cover", colours=("rgba16f", "r16f"), depth=None)
        cover.clear((0.0, 0.0, 0.0, 1.0), depth=None)
        cover.clear(attachment=1, depth=None)
        return cover


class TransparentPass(Owner):
    """Pass of transparent items over the image, after everything opaque.

    The fragment shader of an item writes light and its alpha, or, for covering items, the sums of weighted blending:
    colour times weight with the transmittance, and the weight.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._compositions: dict[tuple[bool, bool, tuple[str, ...]], Program] = {}
        self._gathering = self.owns(BlendTargets(context))

    def draw(
        self,
        items: "Sequence[Item]",
        picture: RenderTarget,
        ctx: PassContext,
        plan: "FramePlan",
        gathering: BlendTargets | None = None,
    ) -> Task[None]:
        """Draws items over the image; a draft accumulates at half the size."""
        light, cover = yield from self.gather(items, picture, ctx, plan, gathering)
        colours = picture.copy()
        picture.current.bind()
        with plan.scope("compose"):
            self._compose(colours, light, cover, ctx.frame.macros)

    def gather(
        self,
        items: "Sequence[Item]",
        picture: RenderTarget,
        ctx: PassContext,
        plan: "FramePlan",
        gathering: BlendTargets | None = None,
    ) -> Task[tuple[Framebuffer | None, Framebuffer | None]]:
        """Accumulates items only, see `draw`; returns the sums of light and of covering items."""
        gathering = gathering or self._gathering
        scene, frame = picture.current, ctx.frame
        is_small = plan.is_draft and not scene.samples
        size = (-(-frame.width // 2), -(-frame.height // 2)) if is_small else scene.size
        depth = gathering.begin(size, scene)
        shining, covering = ([item for item in items if item.blend.shines is kind] for kind in (True, False))
        light = gathering.light() if shining else None
        cover = gathering.cover() if covering else None
        for target, gathered in ((light, shining), (cover, covering)):
            if target is not None:
                yield from self._gather(target, gathered, ctx, plan, depth)
        return light, cover

    def _gather(
        self, target: Framebuffer, items: "Sequence[Item]", ctx: PassContext, plan: "FramePlan", depth: Texture2D
    ) -> Task[None]:
        """Draws items with depth test first, then items that read the depth."""
        for is_soft in (False, True):
            chosen = [item for item in items if item.blend.is_soft is is_soft]
            target.test_against(None if is_soft else depth)
            state, behind = _GATHERING[items[0].blend.shines, is_soft], depth if is_soft else None
            gatherer = replace(ctx, target=target, state=state, scene_depth=behind)
            yield from plan.draw(chosen, "transparent", gatherer)

    def _compose(
        self, scene: Texture2D, light: Framebuffer | None, cover: Framebuffer | None, macros: tuple[str, ...]
    ) -> None:
        key = light is not None, cover is not None, macros
        if key not in self._compositions:
            defines = {name: True for name, on in zip(("LIGHT", "COVER"), key[:2], strict=True) if on}
            defines |= dict.fromkeys(macros, True)
            self._compositions[key] = self._library.program(
                "viewport/fullscreen.vert", "viewport/compose.frag", defines=defines
            )
        program = self._compositions[key]
        program["u_scene"] = scene
        if light is not None:
            program["u_light"] = light.colours[0]
        if cover is not None:
            program["u_sum"], program["u_weight"] = cover.colours
        _COMPOSE.apply(self._context)
        self._library.no_vertices.draw(program, "triangles", count=3)
