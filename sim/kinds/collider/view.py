"""Colliders: translucent bodies over the scene, marked where they are selected."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.collider.place import Placement
from sim.scene.scene import NodeId
from sim.solids.outline import outline
from sim.solids.state import SolidShape

CORNER = np.dtype([("position", "f4", 3), ("normal", "f4", 3)])
_PLAIN = (0.35, 0.62, 0.90, 0.30)
_SELECTED = (1.00, 0.62, 0.20, 0.38)
_PLANE_SHARE = 0.3  # a plane covers half of the picture, and much is seen through it


@dataclass(frozen=True, slots=True)
class Body:
    """A collider as it is drawn and picked.

    Attributes:
        node_id: Its node.
        faces: Its surface.
        world_from_solid: Rigid placement, shape (4, 4).
        colour: sRGB and the alpha of a face seen head on.
    """

    node_id: NodeId
    faces: VertexArray
    world_from_solid: npt.NDArray[np.float64]
    colour: tuple[float, float, float, float]


class ColliderBodies:
    """Keeps one mesh for each collider; a mesh is made anew when shape or size change."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._made: dict[NodeId, tuple[tuple[SolidShape, bytes], list[Buffer], VertexArray]] = {}

    def bodies(self, placed: dict[NodeId, Placement], selected: NodeId | None) -> list[Body]:
        """What to draw for colliders where they are now, planes first, since everything lies in front of them."""
        for node_id in [node_id for node_id in self._made if node_id not in placed]:
            self._drop(node_id)
        ordered = sorted(placed.items(), key=lambda item: item[1].shape is not SolidShape.PLANE)
        return [
            Body(node_id, self._faces(node_id, place), place.world_from_solid, _colour(place, node_id == selected))
            for node_id, place in ordered
        ]

    def release(self) -> None:
        """Deletes all meshes."""
        for node_id in list(self._made):
            self._drop(node_id)

    def _faces(self, node_id: NodeId, place: Placement) -> VertexArray:
        key = (place.shape, place.size.tobytes())
        if node_id in self._made and self._made[node_id][0] != key:
            self._drop(node_id)
        if node_id not in self._made:
            shape = outline(place.shape, place.size)
            corners = np.zeros(len(shape.positions), CORNER)
            corners["position"], corners["normal"] = shape.positions, shape.normals
            vertices = Buffer(self._context, corners, label="collider corners")
            indices = Buffer(self._context, shape.triangles.ravel(), label="collider triangles")
            array = VertexArray(self._context, [Stream(vertices)], indices=indices, label="collider")
            self._made[node_id] = (key, [vertices, indices], array)
        return self._made[node_id][2]

    def _drop(self, node_id: NodeId) -> None:
        _, buffers, array = self._made.pop(node_id)
        array.release()
        for buffer in buffers:
            buffer.release()


class ColliderPass:
    """Draws bodies after everything opaque."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/body.vert", "viewport/body.frag")

    def draw(self, bodies: Iterable[Body]) -> None:
        """Draws into the bound framebuffer."""
        PipelineState(depth_write=False, blend="alpha", cull="back").apply(self._context)
        for body in bodies:
            self._program["u_world_from_model"] = body.world_from_solid
            self._program["u_colour"] = body.colour
            body.faces.draw(self._program)


def _colour(place: Placement, selected: bool) -> tuple[float, float, float, float]:
    red, green, blue, alpha = _SELECTED if selected else _PLAIN
    return red, green, blue, alpha * (_PLANE_SHARE if place.shape is SolidShape.PLANE else 1.0)
