"""What the arrays of a system describe – a surface, strands, or points –, in the colours of a ramp."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.assets.model import Material
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.contract import Array, View
from sim.render.edges import unique_edges
from sim.render.items import Item, LinesItem, PointsItem, SurfaceItem
from sim.render.mesh_pass import Scalar
from sim.render.surface import DrawRange, GpuMaterial, Spans, material_on_gpu
from sim.scene.scene import Node

VERTEX = np.dtype([("position", "f4", 4), ("normal", "f4", 4), ("scalar", "f4")])
AWAY = 1e9
"""Where points are that are nowhere [m]: outside of every picture."""

POINT_SIZE = 5.0
"""Width of a point [px]."""


class ColouredArrays:
    """Draws the arrays of a system, with a number for each point.

    Args:
        context: Where it lives.
        node: Whose arrays they are.
        arrays: Those of its system; "points" and, if any, "triangles" or "counts" between them are used.
    """

    def __init__(self, context: Context, node: Node, arrays: Mapping[str, Array]) -> None:
        self._context, self._node = context, node
        by_meaning = {array.meaning: array for array in arrays.values()}
        count = by_meaning["points"].shape[0]
        self._faces = by_meaning["triangles"].read() if "triangles" in by_meaning else None
        self._vertices = Buffer(context, np.zeros(count, VERTEX), usage="stream", label="coloured points")
        indices = self._indices(by_meaning)
        self._indices_on_gpu = Buffer(context, indices, label="coloured indices") if indices is not None else None
        constants = {"a_texcoord": (0.0, 0.0), "a_other_position": (0.0, 0.0, 0.0)}
        streams = [Stream(self._vertices)]
        self.triangles = VertexArray(
            context, streams, indices=self._indices_on_gpu, constants=constants, label="coloured points"
        )
        self._lines: tuple[Buffer, VertexArray] | None = None
        self._white = Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white")
        self._plain = material_on_gpu(Material("plain", None, None), self._white)
        self._item: tuple[float, Item] | None = None

    def write(self, places: npt.NDArray[np.floating], values: npt.NDArray[np.floating]) -> None:
        """Takes where the points are [m], shape (N, 3), and a number for each, shape (N,); NaN for what is nowhere."""
        records = np.zeros(len(places), VERTEX)
        records["position"][:, :3] = np.where(np.isfinite(places), places, AWAY)
        records["position"][:, 3] = 1.0
        records["scalar"] = np.nan_to_num(values)
        if self._faces is not None:
            records["normal"][:, :3] = _normals(records["position"][:, :3], self._faces)
        self._vertices.orphan(records)

    def item(self, scale: float) -> Item:
        """What is drawn, with the ramp from 0 to a value; the same as before for the same value."""
        if self._item is None or self._item[0] != scale:
            self._item = scale, self._made(1.0 / scale)
        return self._item[1]

    def get(self, _index: int, _textured: bool) -> GpuMaterial:
        """What the surface is made of: nothing but the ramp."""
        return self._plain

    def edges(self, _shown: Spans) -> VertexArray:
        """Lines along every edge."""
        assert self._faces is not None
        if self._lines is None:
            buffer = Buffer(self._context, unique_edges(self._faces.astype(np.uint32)).ravel(), label="coloured edges")
            array = VertexArray(self._context, [Stream(self._vertices)], indices=buffer, label="coloured edges")
            self._lines = buffer, array
        return self._lines[1]

    def release(self) -> None:
        for owned in (self.triangles, *(self._lines or ()), self._vertices, self._indices_on_gpu, self._white):
            if owned is not None:
                owned.release()

    def _indices(self, arrays: Mapping[str, Array]) -> npt.NDArray[np.uint32] | None:
        if self._faces is not None:
            return self._faces.astype(np.uint32).ravel()
        if "counts" not in arrays:
            return None
        counts = arrays["counts"].read().astype(np.int64)
        begins = np.ones(int(counts.sum()), np.bool_)  # whether a line to the next one begins at a knot
        begins[np.cumsum(counts) - 1] = False
        first = np.flatnonzero(begins)
        return np.stack([first, first + 1], axis=1).astype(np.uint32).ravel()

    def _made(self, scale: float) -> Item:
        if self._faces is not None:
            return SurfaceItem(
                node=self._node, arrays=self, materials=self, world_from_model=np.eye(4), scalar=Scalar.WEIGHT,
                ranges=(DrawRange(0, 0, len(self._faces), True),), scalar_scale=scale,
            )  # fmt: skip
        if self._indices_on_gpu is not None:
            return LinesItem(node=self._node, vertices=self.triangles, scalar_scale=scale)
        return PointsItem(node=self._node, vertices=self.triangles, scalar_scale=scale, size=POINT_SIZE)


class ColouredView(View):
    """A view that shows its node by coloured arrays.

    Args:
        own: The view of the node, which has the rest.
        item: What is drawn instead of its parts.
    """

    def __init__(self, own: View, item: Item) -> None:
        self._own, self._item = own, item
        self.is_helper = own.is_helper
        self.marks, self.light, self.bounds, self.reach, self.counts = (  # type: ignore[method-assign]
            own.marks, own.light, own.bounds, own.reach, own.counts,
        )  # fmt: skip

    def parts(self, _look: object) -> tuple[Item, ...]:
        return (self._item,)


def _normals(places: npt.NDArray[np.float32], faces: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    """Normals of the points of a surface, by the areas of the faces at each; (N, 3), not of unit length."""
    corners = places[faces].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [np.bincount(faces.ravel(), np.repeat(across[:, axis], 3), len(places)) for axis in range(3)]
    largest = max(float(np.abs(sums).max(initial=0.0)), 1e-30)
    return (np.stack(sums, axis=1) / largest).astype(np.float32)
