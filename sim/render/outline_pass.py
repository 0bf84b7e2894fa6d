"""The outline of what is selected."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sim.assets.model import Bounds
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import VertexArray
from sim.render.items import Item
from sim.render.overlay_records import SELECTED_COLOUR
from sim.render.pick_pass import PickPass
from sim.scene.picking import project_points

if TYPE_CHECKING:
    from sim.render.pass_context import PassContext

_OVER = PipelineState(blend="alpha", depth_test=False, depth_write=False)


class OutlinePass:
    """Draws objects by their numbers at one sample a pixel, and a line over the picture where these change."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/fullscreen.vert", "viewport/outline.frag")
        self._nothing = VertexArray(context, label="outline")
        self._objects: Framebuffer | None = None

    def draw(self, items: Sequence[Item], ctx: "PassContext", box: Bounds | None) -> None:
        """Draws the outlines of items into the target of a painter, through what is in front of them.

        Args:
            items: What is outlined.
            ctx: As of the picture.
            box: Holds all of them [m]; None where that is not known.
        """
        size, pick = ctx.target.size, ctx.get(PickPass)
        if self._objects is None or self._objects.size != size:
            if self._objects is not None:
                self._objects.release()
            self._objects = Framebuffer(self._context, size, ("r16ui",), label="outlined objects")
        self._objects.clear()
        pick.draw(items, replace(ctx, target=self._objects))
        ctx.target.bind()
        self._program["u_objects"], self._program["u_colour"] = self._objects.colours[0], SELECTED_COLOUR
        _OVER.within(_rectangle(ctx, box)).apply(self._context)
        self._nothing.draw(self._program, "triangles", count=3)

    def release(self) -> None:
        self._nothing.release()
        if self._objects is not None:
            self._objects.release()
        self._objects = None


def _rectangle(ctx: "PassContext", box: Bounds | None) -> tuple[int, int, int, int]:
    """Where the picture of a box is, in the part of the picture that is drawn, without the rim of the picture."""
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
