"""Tube: a thick line through points on the GPU, drawn as a surface."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import Material
from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.maths.srgb import light_of
from sinew.sim.render.frame import Frame
from sinew.sim.render.items import WHOLE, DrawChunk, Stage
from sinew.sim.render.mesh_pass import SurfaceItem
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.surface import DrawRange, PlainSurface
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3

SIDES = 10


class Tube(PlainSurface):
    """A tube; `points` returns world positions [m] when it is drawn, in xyz of every `stride`-th texel."""

    def __init__(
        self, context: Context, library: ShaderLibrary, count: int, points: Callable[[], BufferTexture], stride: int = 1
    ) -> None:
        self._points, self._size = points, (count, stride)
        size = padded_count(count * SIDES)
        ring, side = np.divmod(np.arange((count - 1) * SIDES, dtype=np.uint32), SIDES)
        first, second = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
        quads = np.stack([first, second, second + SIDES, first, second + SIDES, first + SIDES], axis=1)
        triangles = quads.reshape(-1, 3).astype(np.uint32)
        vertices = Buffer(context, SKINNED.zeros(size), usage="copy", label="tube")
        constants = {"a_texcoord": (0.0, 0.0), "a_scalar": (0.0,), "a_other_position": (0.0, 0.0, 0.0)}
        super().__init__(context, vertices, triangles, triangles, constants)
        self._ranges = (DrawRange(0, 0, len(triangles), True),)
        self._kernel = Kernel(library, "viewport/tube.glsl", SKINNED, defines={"SIDES": SIDES}, records=size)
        self._frame: Frame | None = None

    def item(self, node: Node, colour: Vec3, radius: float) -> "TubeItem":
        """Returns the item of the tube; the colour is sRGB-encoded, the radius in the world [m]."""
        self.set_material(
            Material("tube", None, None, diffuse=light_of(colour), specular=(0.02, 0.02, 0.02), shininess=8.0)
        )
        return TubeItem(
            node=node, group=f"{node.kind}s", arrays=self, materials=self, ranges=self._ranges,
            world_from_model=np.eye(4), tube=self, radius=radius,
        )  # fmt: skip

    def follow(self, radius: float, frame: Frame) -> None:
        """Updates the vertices from the points, once per frame."""
        if frame is self._frame:
            return
        self._frame, size = frame, self.vertices.count
        self._kernel.run(None, self.vertices, size, u_points=self._points(), u_count=self._size, u_radius=radius)


@dataclass(eq=False, kw_only=True)
class TubeItem(SurfaceItem):
    tube: Tube
    radius: float

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.tube.follow(self.radius, ctx.frame)
        SurfaceItem.draw(self, stage, ctx, part)
