"""Surfaces through points on the GPU, which a kernel makes once a frame; tubes are in `sinew.sim.render.tube`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sinew.sim.assets.model import Material
from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.maths.arrays import Float32, UInt32
from sinew.sim.maths.srgb import light_of
from sinew.sim.render.frame import Frame
from sinew.sim.render.items import WHOLE, DrawChunk, Stage
from sinew.sim.render.mesh_pass import SurfaceItem
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.surface import DrawRange, PlainSurface
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3


def matt_material(name: str, colour: Vec3) -> Material:
    """Returns a matt material; the colour is sRGB-encoded."""
    return Material(name, None, None, diffuse=light_of(colour), specular=(0.02, 0.02, 0.02), shininess=8.0)


class PointSurface(PlainSurface):
    """Base of surfaces through points.

    Args:
        file: Kernel that makes `count` records of `SKINNED` from the sampler `u_points`.
        faces: Indices of the vertices, shape (T, 3).
        points: Returns the world positions [m], in xyz of every so many texels, when the surface is drawn.

    Attributes:
        point_faces: Triangles of the points, (T, 3); None if the vertices are others.
        texcoords: Of the points, shape (N, 2), or None.
    """

    point_faces: UInt32 | None = None
    texcoords: Float32 | None = None

    def __init__(
        self, context: Context, library: ShaderLibrary, file: str, count: int, faces: UInt32,
        points: Callable[[], BufferTexture], *, defines: Mapping[str, object] | None = None, label: str = "surface",
        **uniforms: object,
    ) -> None:  # fmt: skip
        self._points, self._uniforms = points, uniforms
        size = padded_count(count)
        vertices = Buffer(context, SKINNED.zeros(size), usage="copy", label=label)
        constants = {"a_texcoord": (0.0, 0.0), "a_scalar": (0.0,), "a_other_position": (0.0, 0.0, 0.0)}
        super().__init__(context, vertices, faces, faces, constants)
        self._ranges = (DrawRange(0, 0, len(faces), True),)
        self._kernel = Kernel(library, file, SKINNED, defines=defines, records=size)
        self._frame: Frame | None = None

    def item_of(self, node: Node, material: Material, **uniforms: object) -> "PointSurfaceItem":
        """Returns the item of the surface; the kernel gets the uniforms."""
        self.set_material(material)
        return PointSurfaceItem(
            node=node, group=f"{node.kind}s", arrays=self, materials=self, ranges=self._ranges,
            world_from_model=np.eye(4), surface=self, uniforms=uniforms,
        )  # fmt: skip

    def write(self, **uniforms: object) -> None:
        """Writes the vertices of the present points."""
        size = self.vertices.count
        self._kernel.run(None, self.vertices, size, u_points=self._points(), **self._uniforms, **uniforms)

    def normals(self) -> Float32:
        """Returns the normals of the first vertices, one of each point, shape (N, 3); waits for the GPU."""
        self.write()
        count = len(self.texcoords) if self.texcoords is not None else self.vertices.count
        found: Float32 = self.vertices.read(count=count)["normal"][:, :3]
        return found

    def follow(self, frame: Frame, uniforms: Mapping[str, Any]) -> None:
        if frame is not self._frame:
            self._frame = frame
            self.write(**uniforms)


@dataclass(eq=False, kw_only=True)
class PointSurfaceItem(SurfaceItem):
    surface: PointSurface
    uniforms: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.surface.follow(ctx.frame, self.uniforms)
        SurfaceItem.draw(self, stage, ctx, part)


class GridSurface(PointSurface):
    """A sheet of points in rows, `columns` of each; normals point along the cross product of a row and a column.

    Texture coordinates are 0 at the first and 1 at the last column and row.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, columns: int, rows: int, points: Callable[[], BufferTexture],
        stride: int = 1,
    ) -> None:  # fmt: skip
        column, row = np.meshgrid(np.arange(columns - 1), np.arange(rows - 1))
        first = (row * columns + column).ravel()
        corners = [first, first + 1, first + columns + 1, first, first + columns + 1, first + columns]
        faces = self.point_faces = np.stack(corners, axis=1).reshape(-1, 3).astype(np.uint32)
        across, down = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
        self.texcoords = np.stack([across.ravel(), down.ravel()], axis=1).astype(np.float32)
        super().__init__(
            context, library, "viewport/grid.glsl", columns * rows, faces, points, label="grid",
            u_grid=(columns, rows, stride),
        )  # fmt: skip
