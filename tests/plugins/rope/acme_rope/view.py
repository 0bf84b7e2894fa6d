from typing import Any

from acme_rope.system import RopeSystem
from sinew.app.kinds.drag_tool import DragTool
from sinew.sim.assets.model import Bounds
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import Panel, View, World
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.render.tube import TubeItem
from sinew.sim.scene.scene import Node


class RopeView(View):
    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._item: TubeItem | None = None

    def apply(self, node: Node, subject: RopeSystem, world: World) -> None:
        anchor, length = world.places.world_from_node(node)[:3, 3], node.settings.length
        self._bounds = Bounds(anchor - length, anchor + length)
        if self._item is None or self._item.node is not node or self._item.tube is not subject.tube:
            self._item = subject.tube.item(node, node.settings.colour, node.settings.radius)

    def parts(self, _display: DisplayOptions) -> list[TubeItem]:
        return [self._item]

    def bounds(self) -> Bounds:
        return self._bounds


class RopePanel(Panel):
    def __init__(self, context: Any) -> None:
        self.tools = (DragTool(context, "acme.rope"),)
