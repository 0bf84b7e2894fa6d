import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.vertex_array import Mode, VertexArray
from sinew.sim.render.pass_context import PassContext, Passes
from sinew.sim.render.render_view import RenderView
from sinew.sim.render.shadow_pass import ShadowPass
from sinew.sim.render.surface import DrawRange, culling
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.scene import NodeId

if TYPE_CHECKING:
    from sinew.sim.render.items import Item

REACH = 5  # pixels on each side of the cursor, as an odd square
SELECTED_COLOUR = (1.0, 0.60, 0.15, 1.0)
"""Colour of selected objects in overlays; sRGB and alpha."""
_OUTLINE = PipelineState(blend="alpha", depth_test=False, depth_write=False)
_THIN = PipelineState(multisample=False, program_point_size=False)


@dataclass(frozen=True, slots=True)
class Pick:
    node: NodeId
    element: int


class PickPass(Owner):
    """Pass that draws identities of pixels around the cursor and reads them back; `current` is the drawn item."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/depth.vert", "viewport/pick.frag")
        self._target = self.owns(Framebuffer(context, (2 * REACH + 1,) * 2, ("rg32ui",), label="pick"))
        self.current = 0

    def pick(self, passes: Passes, render_view: RenderView, size: tuple[int, int], x: float, y: float) -> Pick | None:
        """Returns the object nearest to the cursor (x, y) from the top left [px], or None; waits for the GPU."""
        frame, display = render_view.frame(*size), render_view.look_at(size[0], x)
        items = [item for item in render_view.items_of(display) if "pick" in item.stages]
        clip_from_world = _magnifier(*size, x, y) * frame.clip_from_world
        ctx = PassContext(passes, frame, display, self._target, clip_from_world, passes.get(ShadowPass).map)
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
        """Identifies the object in every pixel of an image; waits for the GPU.

        Returns:
            Numbers of nodes from 1 on, 0 for none, and depths along the view [m], infinite for none, both (H, W) with
            row 0 at the top; and the nodes.
        """
        frame, display = render_view.frame(*size), render_view.display()
        visible = [item for item in render_view.items_of(display) if "pick" in item.stages]
        items = [item for item in visible if not item.is_thin and "transparent" not in item.stages]
        nodes = tuple(dict.fromkeys(item.node.id for item in items))
        target = Framebuffer(passes.context, size, ("rg32ui",), label="layers")
        try:
            target.clear((0, 0, 0, 0))
            ctx = PassContext(passes, frame, display, target, frame.clip_from_world, passes.get(ShadowPass).map)
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
        """Draws items by their numbers, which count from 1."""
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
        self._program["u_clip_from_model"] = ctx.clip_from_world @ world_from_model
        for part in ranges:
            cull = culling(world_from_model, part.double_sided)
            PipelineState(multisample=False, cull=cull).apply(ctx.context)
            self._program["u_first"] = part.first_triangle
            triangles.draw(self._program, first=part.first_triangle * 3, count=part.triangle_count * 3)

    def thin(self, ctx: PassContext, vertices: VertexArray, mode: Mode, first: int, count: int | None) -> None:
        _THIN.apply(ctx.context)
        self._program["u_clip_from_model"] = ctx.clip_from_world
        self._program["u_first"] = first // 2 if mode == "lines" else first
        vertices.draw(self._program, mode, first=first, count=count)


def _magnifier(width: int, height: int, x: float, y: float) -> glm.dmat4:
    """Returns the clip transform that maps the square around (x, y) to the whole target."""
    edge = 2 * REACH + 1
    centre = glm.dvec3(2.0 * (x + 0.5) / width - 1.0, 1.0 - 2.0 * (y + 0.5) / height, 0.0)
    return glm.scale(glm.dvec3(width / edge, height / edge, 1.0)) * glm.translate(-centre)


def _nearest(pixels: npt.NDArray[np.int64], is_thin: Sequence[bool]) -> tuple[int, int] | None:
    """Returns the object nearest to the centre, and its element; thin objects have priority."""
    numbers = pixels[:, :, 0]
    rows, columns = np.nonzero(np.array([False, *is_thin])[numbers])
    if not len(rows):
        rows, columns = np.nonzero(numbers)
    if not len(rows):
        return None
    best = int(np.argmin((rows - REACH) ** 2 + (columns - REACH) ** 2))
    identity = pixels[rows[best], columns[best]]
    return int(identity[0]) - 1, int(identity[1])


class OutlinePass(Owner):
    """Pass that draws numbers of objects without multisampling, and a line over the image where they change."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/fullscreen.vert", "viewport/outline.frag")
        self._no_vertices = library.no_vertices
        self._objects: Framebuffer | None = None

    def draw(self, items: "Sequence[Item]", ctx: PassContext, box: Bounds | None) -> None:
        """Draws an outline, visible through everything; `box` holds all items [m], None if unknown."""
        size, pick = ctx.target.size, ctx.get(PickPass)
        if self._objects is None or self._objects.size != size:
            self.disown(self._objects)
            self._objects = self.owns(Framebuffer(self._context, size, ("r16ui",), label="outlined objects"))
        self._objects.clear()
        pick.draw(items, replace(ctx, target=self._objects))
        ctx.target.bind()
        self._program["u_objects"], self._program["u_colour"] = self._objects.colours[0], SELECTED_COLOUR
        _OUTLINE.within(projected_rectangle(ctx, box)).apply(self._context)
        self._no_vertices.draw(self._program, "triangles", count=3)


def projected_rectangle(ctx: PassContext, box: Bounds | None) -> tuple[int, int, int, int]:
    """Returns bounds of the projected box in the drawn region, without the border of the image."""
    width, height = ctx.target.size
    left, low, across, up = ctx.scissor or (0, 0, width, height)
    lowest, highest = (
        np.array([max(left, 1), max(low, 1)]),
        np.array([min(left + across, width - 1), min(low + up, height - 1)]),
    )
    corners = list(itertools.product(*zip(box.lo, box.hi, strict=True))) if box is not None else [(np.nan,) * 3]
    pixels, _ = project_points(ctx.frame.camera, (width, height), corners)
    if np.isfinite(pixels).all():
        pixels[:, 1] = height - pixels[:, 1]
        lowest, highest = np.maximum(lowest, pixels.min(axis=0) - 2.0), np.minimum(highest, pixels.max(axis=0) + 3.0)
    size = np.maximum(highest - lowest, 0)
    return int(lowest[0]), int(lowest[1]), int(size[0]), int(size[1])
