"""Tube: a thick line through points on the GPU, drawn as a surface."""

from collections.abc import Callable

import numpy as np

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.render.point_surface import PointSurface, PointSurfaceItem, matt_material
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3

SIDES = 10


class Tube(PointSurface):
    """A tube; `points` returns world positions [m] when it is drawn, in xyz of every `stride`-th texel."""

    def __init__(
        self, context: Context, library: ShaderLibrary, count: int, points: Callable[[], BufferTexture], stride: int = 1
    ) -> None:
        ring, side = np.divmod(np.arange((count - 1) * SIDES, dtype=np.uint32), SIDES)
        first, second = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
        quads = np.stack([first, second, second + SIDES, first, second + SIDES, first + SIDES], axis=1)
        triangles = quads.reshape(-1, 3).astype(np.uint32)
        super().__init__(
            context, library, "viewport/tube.glsl", count * SIDES, triangles, points, defines={"SIDES": SIDES},
            label="tube", u_count=(count, stride),
        )  # fmt: skip

    def item(self, node: Node, colour: Vec3, radius: float) -> PointSurfaceItem:
        """Returns the item of the tube; the colour is sRGB-encoded, the radius in the world [m]."""
        return self.item_of(node, matt_material("tube", colour), u_radius=radius)
