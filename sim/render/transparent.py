"""What is transparent: it gathers apart, whatever its order, and is laid over the picture at last.

Light that is added needs no order. For alpha blending this is weighted blended order-independent transparency
(M. McGuire, L. Bavoil 2013): particles never leave the GPU, and to sort them there takes a dozen passes over all of
them for each picture, where this takes none, costs the same however many layers there are, and does not pop when two
particles change places. What it gives up, the exact colour where few dense layers of different colours overlap, does
not show in smoke and snow.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.task import Task
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.render.pass_context import PassContext
from sim.render.target import RenderTarget

if TYPE_CHECKING:
    from sim.render.items import Item
    from sim.render.progressive.frame_plan import FramePlan

Size = tuple[int, int]
_LAID_OVER = PipelineState(depth_test=False, depth_write=False)
_GATHERING = {
    # By whether it shines and whether it is soft: what is not is hidden by the depth buffer.
    (shines, is_soft): PipelineState(
        blend="additive" if shines else "weighted", depth_test=not is_soft, depth_write=False, multisample=False
    )
    for shines in (True, False)
    for is_soft in (True, False)
}


class BlendTargets:
    """Sums of half floats, and the depth of the scene as a texture; all single-sampled and of one size.

    Half floats since light adds up beyond white and layers beyond what eight bits resolve; single samples since spots
    have soft edges anyway, and a texture of depth can then be read.

    Args:
        context: Where they live.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._size: Size = (0, 0)
        self._depth: Framebuffer | None = None
        self._light: Framebuffer | None = None
        self._cover: Framebuffer | None = None

    def begin(self, size: Size, scene: Framebuffer) -> Texture2D:
        """Takes a size [px] and the depth of what is drawn already; returns it as a texture."""
        if self._size != size:
            self.release()
            self._size = size
        if self._depth is None:
            self._depth = Framebuffer(self._context, size, (), label="depth behind")
        scene.copy_depth_to(self._depth)
        assert self._depth.depth is not None
        return self._depth.depth

    def light(self) -> Framebuffer:
        """Cleared sum of the light that is added."""
        if self._light is None:
            self._light = Framebuffer(self._context, self._size, ("rgba16f",), depth=None, label="gathered light")
        self._light.clear(depth=None)
        return self._light

    def cover(self) -> Framebuffer:
        """Cleared sums of weighted blending: colour with what is left to see of the background, and weight."""
        if self._cover is None:
            formats = ("rgba16f", "r16f")
            self._cover = Framebuffer(self._context, self._size, formats, depth=None, label="gathered cover")
        self._cover.clear((0.0, 0.0, 0.0, 1.0), depth=None)
        self._cover.clear(attachment=1, depth=None)
        return self._cover

    def release(self) -> None:
        for framebuffer in (self._depth, self._light, self._cover):
            if framebuffer is not None:
                framebuffer.release()
        self._depth = self._light = self._cover = None


class TransparentPass:
    """Draws over the picture, after everything that it may lie before.

    An item draws light and how much of it, or, where it covers, the sums of weighted blending: colour times weight
    with the part of the background that is left, and the weight.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._compositions: dict[tuple[bool, bool], Program] = {}
        self._nothing = VertexArray(context, label="laid over")
        self._gathering = BlendTargets(context)

    def draw(
        self,
        items: "Sequence[Item]",
        picture: RenderTarget,
        ctx: PassContext,
        plan: "FramePlan",
        gathering: BlendTargets | None = None,
    ) -> Task[None]:
        """Lets items gather, a draft at half the size, and lays them over the picture.

        Args:
            items: What is transparent.
            picture: What is drawn over.
            ctx: As of the picture.
            plan: How it is drawn.
            gathering: Where items gather; by default where those of all pictures do.
        """
        light, cover = yield from self.gather(items, picture, ctx, plan, gathering)
        colours = picture.copy()
        picture.current.bind()
        with plan.scope("compose"):
            self._compose(colours, light, cover)

    def gather(
        self,
        items: "Sequence[Item]",
        picture: RenderTarget,
        ctx: PassContext,
        plan: "FramePlan",
        gathering: BlendTargets | None = None,
    ) -> Task[tuple[Framebuffer | None, Framebuffer | None]]:
        """Lets items gather alone, see `draw`; returns the sums of light and of what covers."""
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

    def release(self) -> None:
        self._nothing.release()
        self._gathering.release()

    def _gather(
        self, target: Framebuffer, items: "Sequence[Item]", ctx: PassContext, plan: "FramePlan", depth: Texture2D
    ) -> Task[None]:
        """Draws into a target: first what the depth buffer hides, then what reads the depth as a texture."""
        for is_soft in (False, True):
            chosen = [item for item in items if item.blend.is_soft is is_soft]
            target.test_against(None if is_soft else depth)
            state, behind = _GATHERING[items[0].blend.shines, is_soft], depth if is_soft else None
            gatherer = replace(ctx, target=target, state=state, scene_depth=behind)
            yield from plan.draw(chosen, "transparent", gatherer)

    def _compose(self, scene: Texture2D, light: Framebuffer | None, cover: Framebuffer | None) -> None:
        program = self._composition(light is not None, cover is not None)
        program["u_scene"] = scene
        if light is not None:
            program["u_light"] = light.colours[0]
        if cover is not None:
            program["u_sum"], program["u_weight"] = cover.colours
        _LAID_OVER.apply(self._context)
        self._nothing.draw(program, "triangles", count=3)

    def _composition(self, light: bool, cover: bool) -> Program:
        if (light, cover) not in self._compositions:
            defines = {name: True for name, on in (("LIGHT", light), ("COVER", cover)) if on}
            self._compositions[light, cover] = self._library.program(
                "viewport/fullscreen.vert", "viewport/compose.frag", defines=defines
            )
        return self._compositions[light, cover]
