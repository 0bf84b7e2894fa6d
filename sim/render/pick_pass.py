"""Picking: draws identities of the few pixels around the cursor and reads them back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import VertexArray
from sim.kinds.collider.view import Body
from sim.render.frame import Frame
from sim.render.mesh_pass import Surface
from sim.render.surface import DrawRange, culling
from sim.scene.scene import NodeId

REACH = 5  # pixels on each side of the cursor, as an odd square


@dataclass(frozen=True, slots=True)
class Pick:
    """What was hit: a model node and a triangle of its mesh."""

    node: NodeId
    triangle: int


@dataclass(frozen=True, slots=True)
class Pickable:
    """Faces that can be hit, their placement, shape (4, 4), and their draw ranges."""

    faces: VertexArray
    world_from_model: npt.NDArray[np.float64]
    ranges: tuple[DrawRange, ...]


def pickable_surface(surface: Surface) -> Pickable:
    """What is drawn as a surface."""
    return Pickable(surface.arrays.triangles, surface.world_from_model, surface.ranges)


def pickable_body(body: Body) -> Pickable:
    """A collider."""
    return Pickable(body.faces, body.world_from_solid, (DrawRange(-1, 0, body.faces.count // 3, False),))


class PickPass:
    """Renders a small square around the cursor with a projection that magnifies it; reads skinned vertices."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/depth.vert", "viewport/pick.frag")
        self._target = Framebuffer(context, (2 * REACH + 1,) * 2, ("rg32ui",), label="pick")

    def pick(self, frame: Frame, targets: Sequence[Pickable], x: float, y: float) -> tuple[int, int] | None:
        """Index of the object nearest to the cursor and its triangle; None when nothing is within reach.

        Args:
            frame: The picture.
            targets: What is visible.
            x, y: Cursor from the top left [px].
        """
        clip_from_world = _magnifier(frame.width, frame.height, x, y) * frame.clip_from_world
        self._target.clear((0, 0, 0, 0))
        for index, target in enumerate(targets):
            self._program["u_clip_from_model"] = clip_from_world @ target.world_from_model
            self._program["u_object"] = index
            self._draw(target)
        pixels = self._target.read_pixels().astype(np.int64)
        return _nearest(pixels)

    def _draw(self, target: Pickable) -> None:
        for part in target.ranges:
            cull = culling(target.world_from_model, part.double_sided)
            PipelineState(multisample=False, cull=cull).apply(self._context)
            self._program["u_first_triangle"] = part.first_triangle
            target.faces.draw(self._program, first=part.first_triangle * 3, count=part.triangle_count * 3)

    def release(self) -> None:
        """Deletes the target."""
        self._target.release()


def _magnifier(width: int, height: int, x: float, y: float) -> glm.dmat4:
    """Clip transform that spreads the square around (x, y) over the whole target."""
    edge = 2 * REACH + 1
    centre = glm.dvec3(2.0 * (x + 0.5) / width - 1.0, 1.0 - 2.0 * (y + 0.5) / height, 0.0)
    return glm.scale(glm.dvec3(width / edge, height / edge, 1.0)) * glm.translate(-centre)


def _nearest(pixels: npt.NDArray[np.int64]) -> tuple[int, int] | None:
    rows, columns = np.nonzero(pixels[:, :, 0])
    if not len(rows):
        return None
    best = int(np.argmin((rows - REACH) ** 2 + (columns - REACH) ** 2))
    identity = pixels[rows[best], columns[best]]
    return int(identity[0]) - 1, int(identity[1])
