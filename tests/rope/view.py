"""RopeView: a rope as a line of its colour."""

from sim.assets.model import Bounds
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.contract import View
from sim.render.detail_pass import LinesItem


class RopeView(View):
    """The line through the knots."""

    def __init__(self, context, _library) -> None:
        self._context, self._arrays = context, {}

    def apply(self, node, subject, world) -> None:
        self._node, self._rope, self._anchor = node, subject, world.places.world_from_node(node)[:3, 3]

    def parts(self, _look):
        buffer, colour, count = self._rope.knots.newest, self._node.settings.colour, self._node.settings.knots
        if buffer not in self._arrays:
            self._arrays[buffer] = VertexArray(self._context, [Stream(buffer)], label="rope")
        return [LinesItem(node=self._node, vertices=self._arrays[buffer], strip=True, colour=colour, count=count)]

    def bounds(self) -> Bounds:
        return Bounds(self._anchor - self._node.settings.length, self._anchor + self._node.settings.length)

    def release(self) -> None:
        for array in self._arrays.values():
            array.release()
