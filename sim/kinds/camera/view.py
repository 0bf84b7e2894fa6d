import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.camera.placed import placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import Mark, View, World
from sinew.sim.maths.arrays import Float64
from sinew.sim.render.detail_pass import LinesItem
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node

LINE_VERTEX = np.dtype([("position", "f4", 3)])
ASPECT = 16.0 / 9.0
_PLAIN, _SELECTED = (0.62, 0.66, 0.72), (1.0, 0.62, 0.2)
_RADIUS = 7.0
# Corners 0 to 3 are near, 4 to 7 far, 8 to 11 of the symbol, 12 is the eye, 13 to 15 the triangle that points up.
_SYMBOL = (8, 9, 9, 10, 10, 11, 11, 8, 12, 8, 12, 9, 12, 10, 12, 11, 13, 14, 14, 15, 15, 13)
_EDGES = (*_SYMBOL, 0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6, 6, 7, 7, 4, 0, 4, 1, 5, 2, 6, 3, 7)


def frustum(camera: Camera, near: float, far: float, size: float) -> Float64:
    """Returns world corners [m] of the frustum, of a symbol of a length [m], and the eye, shape (16, 3)."""
    right, up, back = (np.array(axis) for axis in camera.rotation())
    eye = np.array(camera.position())
    near_half, far_half, half = (
        camera.tangent * (camera.distance if camera.orthographic else depth) for depth in (near, far, size)
    )
    corners = [
        eye + half_height * (x * ASPECT * right + y * up) - depth * back
        for depth, half_height in ((near, near_half), (far, far_half), (size, half))
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    top, side = eye + 1.08 * half * up - size * back, 0.3 * ASPECT * half * right
    return np.array([*corners, eye, top - side, top + side, top + 0.35 * half * up])


class CameraView(View):
    """Draws a symbol, and the frustum of a selected camera; hidden outside of the editor."""

    is_helper = True

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._lines = self.owns(Buffer(context, np.zeros(len(_EDGES), LINE_VERTEX), label="frustum"))
        self._vertices = self.owns(VertexArray(context, [Stream(self._lines)], label="frustum"))
        self._items: dict[bool, LinesItem] = {}
        self._node: Node | None = None
        self._marks: tuple[Mark, ...] = ()

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        settings = node.settings
        assert isinstance(settings, CameraSettings)
        camera = placed_camera(settings, world.places.world_from_node(node))
        corners = frustum(camera, settings.near, max(settings.far, settings.near), settings.size)
        records = np.zeros(len(_EDGES), LINE_VERTEX)
        records["position"] = corners[list(_EDGES)]
        self._lines.write(records)
        self._bounds = Bounds(corners[8:].min(axis=0), corners[8:].max(axis=0))
        x, y, z = corners[12].tolist()
        self._marks = (Mark(node.id, (x, y, z), (*_PLAIN, 0.95), _RADIUS, (*_SELECTED, 1.0)),)
        if node is not self._node:
            self._node, self._items = node, {}

    def parts(self, display: DisplayOptions) -> tuple[LinesItem, ...]:
        if self._node is None or not display.overlay.marks:
            return ()
        is_selected = self._node.id in display.overlay.selected_nodes
        if is_selected not in self._items:
            colour, count = (_SELECTED, None) if is_selected else (_PLAIN, len(_SYMBOL))
            self._items[is_selected] = LinesItem(
                node=self._node, vertices=self._vertices, colour=colour, width=1.5, count=count
            )
        return (self._items[is_selected],)

    def bounds(self) -> Bounds | None:
        return self._bounds if self._node is not None else None

    def marks(self) -> tuple[Mark, ...]:
        return self._marks
