from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.kinds.contract import Array, View
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.items import Item
from sinew.sim.render.mesh_pass import Scalar, SurfaceItem
from sinew.sim.render.surface import DrawRange, PlainSurface
from sinew.sim.scene.scene import Node

VERTEX = np.dtype([("position", "f4", 4), ("normal", "f4", 4), ("scalar", "f4")])
OUTSIDE = 1e9
"""Position of invalid points [m], outside every image."""

POINT_SIZE = 5.0
"""Width of a point [px]."""


class ColouredArrays(PlainSurface):
    """Surface of the arrays of a system ("points", optionally "triangles" or "counts"), with a number per point."""

    def __init__(self, context: Context, node: Node, arrays: Mapping[str, Array]) -> None:
        by_meaning = {array.meaning: array for array in arrays.values()}
        count = by_meaning["points"].shape[0]
        vertices = Buffer(context, np.zeros(count, VERTEX), usage="stream", label="coloured points")
        faces = by_meaning["triangles"].read().astype(np.uint32) if "triangles" in by_meaning else None
        lines = _lines(by_meaning["counts"].read().astype(np.int64)) if "counts" in by_meaning else None
        constants = {"a_texcoord": (0.0, 0.0), "a_other_position": (0.0, 0.0, 0.0)}
        super().__init__(context, vertices, lines if faces is None else faces, faces, constants)
        self._node, self._has_lines = node, lines is not None
        self._item: tuple[float, Item] | None = None

    def write(self, places: npt.NDArray[np.floating], values: npt.NDArray[np.floating]) -> None:
        """Writes positions [m], shape (N, 3), and a number for each, shape (N,); NaN for invalid points."""
        records = np.zeros(len(places), VERTEX)
        records["position"][:, :3] = np.where(np.isfinite(places), places, OUTSIDE)
        records["position"][:, 3] = 1.0
        records["scalar"] = np.nan_to_num(values)
        if self._faces is not None:
            records["normal"][:, :3] = _normals(records["position"][:, :3], self._faces)
        self.vertices.orphan(records)

    def item(self, scale: float) -> Item:
        """Returns the item with a ramp from 0 to `scale`; the same object for the same scale."""
        if self._item is None or self._item[0] != scale:
            self._item = scale, self._make_item(1.0 / scale)
        return self._item[1]

    def _make_item(self, scale: float) -> Item:
        if self._faces is not None:
            return SurfaceItem(
                node=self._node, arrays=self, materials=self, world_from_model=np.eye(4), scalar=Scalar.WEIGHT,
                ranges=(DrawRange(0, 0, len(self._faces), True),), scalar_scale=scale,
            )  # fmt: skip
        if self._has_lines:
            return LinesItem(node=self._node, vertices=self.triangles, scalar_scale=scale)
        return PointsItem(node=self._node, vertices=self.triangles, scalar_scale=scale, size=POINT_SIZE)


class ColouredView(View):
    def __init__(self, own: View, item: Item) -> None:
        self._own, self._item = own, item
        self.is_helper = own.is_helper
        # Everything but the look is the original view.
        self.marks, self.light, self.bounds, self.reach, self.counts = (  # type: ignore[method-assign]
            own.marks, own.light, own.bounds, own.reach, own.counts,
        )  # fmt: skip

    def parts(self, _display: object) -> tuple[Item, ...]:
        return (self._item,)


def _lines(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    begins = np.ones(int(counts.sum()), np.bool_)  # whether a line to the next point begins here
    begins[np.cumsum(counts) - 1] = False
    first = np.flatnonzero(begins)
    return np.stack([first, first + 1], axis=1).astype(np.uint32)


def _normals(places: npt.NDArray[np.float32], faces: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    corners = places[faces].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [np.bincount(faces.ravel(), np.repeat(across[:, axis], 3), len(places)) for axis in range(3)]
    largest = max(float(np.abs(sums).max(initial=0.0)), 1e-30)
    return (np.stack(sums, axis=1) / largest).astype(np.float32)
