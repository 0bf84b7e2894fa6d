"""Picking: draws identities of the few pixels around the cursor and reads them back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import Mode, VertexArray
from sim.render.pass_context import PassContext, Passes
from sim.render.render_view import RenderView
from sim.render.shadow_pass import ShadowPass
from sim.render.surface import DrawRange, culling
from sim.scene.scene import NodeId

if TYPE_CHECKING:
    from sim.render.items import Item

REACH = 5  # pixels on each side of the cursor, as an odd square
_THIN = PipelineState(multisample=False, program_point_size=False)


@dataclass(frozen=True, slots=True)
class Pick:
    """What was hit: a node, and the number of the triangle, line or point of what is drawn of it."""

    node: NodeId
    element: int


class PickPass:
    """Renders a small square around the cursor with a projection that magnifies it; reads skinned vertices.

    Attributes:
        current: Number of the item that is drawn, for those with shaders of their own.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/depth.vert", "viewport/pick.frag")
        self._target = Framebuffer(context, (2 * REACH + 1,) * 2, ("rg32ui",), label="pick")
        self.current = 0

    def pick(self, passes: Passes, render_view: RenderView, size: tuple[int, int], x: float, y: float) -> Pick | None:
        """What is nearest to the cursor; None when nothing is within reach.  Waits for the GPU.

        Args:
            passes: Those of the picture, this one among them.
            render_view: What the picture shows.
            size: Its width and height [px].
            x, y: Cursor from the top left [px].
        """
        frame, look = render_view.frame(*size), render_view.look_at(size[0], x)
        items = [item for item in render_view.items_of(look) if "pick" in item.stages]
        clip_from_world = _magnifier(*size, x, y) * frame.clip_from_world
        ctx = PassContext(passes, frame, look, self._target, clip_from_world, passes.get(ShadowPass).map)
        for is_aside in (False, True):
            some = [item for item in items if item.is_aside is is_aside]
            if not some:
                continue
            self._target.clear((0, 0, 0, 0))
            self.draw(some, ctx)
            hit = _nearest(self._target.read_pixels().astype(np.int64), [item.is_thin for item in some])
            if hit is not None:
                return Pick(some[hit[0]].node.id, hit[1])
        return None

    def whole(
        self, passes: Passes, render_view: RenderView, size: tuple[int, int]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32], tuple[NodeId, ...]]:
        """What covers every pixel of a picture; waits for the GPU.

        Returns:
            Numbers of nodes from 1 on, 0 for none, and depths along the view [m], infinite for none, both (H, W) with
            row 0 at the top; and the nodes.
        """
        frame, look = render_view.frame(*size), render_view.display()
        seen = [item for item in render_view.items_of(look) if "pick" in item.stages]
        items = [item for item in seen if not item.is_thin and "transparent" not in item.stages]
        nodes = tuple(dict.fromkeys(item.node.id for item in items))
        target = Framebuffer(passes.context, size, ("rg32ui",), label="layers")
        try:
            target.clear((0, 0, 0, 0))
            ctx = PassContext(passes, frame, look, target, frame.clip_from_world, passes.get(ShadowPass).map)
            self.draw(items, ctx)
            hits, window = target.read_pixels(flip=True)[..., 0], target.read_depth()[::-1].astype(np.float64)
        finally:
            target.release()
        number_of = np.array([0, *(nodes.index(item.node.id) + 1 for item in items)], np.uint32)
        numbers = number_of[hits]
        scale, shift = frame.depth_terms
        clip = 2.0 * window - 1.0
        depth = (shift - clip) / -scale if frame.camera.orthographic else shift / (clip + scale)
        return numbers, np.where(numbers > 0, depth, np.inf).astype(np.float32), nodes

    def draw(self, items: "Sequence[Item]", ctx: PassContext) -> None:
        """Draws the numbers of items from 1 on into the target of a painter."""
        for index, item in enumerate(items):
            self._program["u_object"] = self.current = index
            ctx.draw(item, "pick")

    def faces(
        self,
        ctx: PassContext,
        triangles: VertexArray,
        world_from_model: npt.NDArray[np.float64],
        ranges: Sequence[DrawRange],
    ) -> None:
        """Draws the numbers of triangles, of both sides or of the front as they are shown."""
        self._program["u_clip_from_model"] = ctx.clip_from_world @ world_from_model
        for part in ranges:
            cull = culling(world_from_model, part.double_sided)
            PipelineState(multisample=False, cull=cull).apply(ctx.context)
            self._program["u_first"] = part.first_triangle
            triangles.draw(self._program, first=part.first_triangle * 3, count=part.triangle_count * 3)

    def thin(self, ctx: PassContext, vertices: VertexArray, mode: Mode, first: int, count: int | None) -> None:
        """Draws the numbers of lines or points in the world, a pixel wide."""
        _THIN.apply(ctx.context)
        self._program["u_clip_from_model"] = ctx.clip_from_world
        self._program["u_first"] = first // 2 if mode == "lines" else first
        vertices.draw(self._program, mode, first=first, count=count)

    def release(self) -> None:
        self._target.release()


def _magnifier(width: int, height: int, x: float, y: float) -> glm.dmat4:
    """Clip transform that spreads the square around (x, y) over the whole target."""
    edge = 2 * REACH + 1
    centre = glm.dvec3(2.0 * (x + 0.5) / width - 1.0, 1.0 - 2.0 * (y + 0.5) / height, 0.0)
    return glm.scale(glm.dvec3(width / edge, height / edge, 1.0)) * glm.translate(-centre)


def _nearest(pixels: npt.NDArray[np.int64], is_thin: Sequence[bool]) -> tuple[int, int] | None:
    """Index of the object nearest to the middle, and its element; what is thin comes before what it lies over."""
    numbers = pixels[:, :, 0]
    rows, columns = np.nonzero(np.array([False, *is_thin])[numbers])
    if not len(rows):
        rows, columns = np.nonzero(numbers)
    if not len(rows):
        return None
    best = int(np.argmin((rows - REACH) ** 2 + (columns - REACH) ** 2))
    identity = pixels[rows[best], columns[best]]
    return int(identity[0]) - 1, int(identity[1])
