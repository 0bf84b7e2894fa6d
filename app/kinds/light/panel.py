from dataclasses import dataclass

from pyglm import glm
from PySide6.QtCore import QPointF, Qt

from sinew.app.document.history import Gesture
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Panel, Tool
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import NodeId, ParamRef
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection
from sinew.sim.scene.world_transforms import vector


@dataclass(frozen=True, slots=True)
class _LightDrag:
    """A dragged light: its position at the start, and its offset from the mouse [m]."""

    node: NodeId
    place: glm.dvec3
    offset: glm.dvec3
    gesture: Gesture


class LightTool(Tool):
    """Tool that moves a light by its icon, in the plane of the view; each drag is one undo entry."""

    is_over = True
    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._drag: _LightDrag | None = None

    def hover(self, position: QPointF | None) -> str:
        light = self._light_at(position) if position is not None else None
        return "" if light is None else f"{self._context.document.scene.node(light).name}: drag to move"

    def press(self, position: QPointF, _shift: bool) -> bool:
        return self._light_at(position) is not None

    def begin(self, position: QPointF, _shift: bool) -> bool:
        light, document = self._light_at(position), self._context.document
        if light is None or self._context.client.engine is None:
            return False
        document.select(Selection(node=light))
        node = document.evaluated.node(light)
        place = glm.dvec3(*vector(self._context.client.engine.views.places.world_from_node(node)[:3, 3]))
        grabbed = self._context.picker.beside(position, place)
        offset = place - grabbed if grabbed is not None else glm.dvec3()
        self._drag = _LightDrag(light, place, offset, document.new_gesture(f"Move {node.name}"))
        self._context.hint(f"{node.name} · Escape: cancel")
        return True

    def drag(self, position: QPointF) -> None:
        held, document, engine = self._drag, self._context.document, self._context.client.engine
        if held is None or engine is None or not document.scene.has(held.node):
            return
        under = self._context.picker.beside(position, held.place)
        if under is not None:
            node = document.scene.node(held.node)
            place = (under + held.offset).to_tuple()
            if node.attachment.node:
                place = vector((inverse_affine(engine.views.places.world_from_parent(node)) @ (*place, 1.0))[:3])
            place = bounded(Transform(position=place)).position
            document.set_value(ParamRef(held.node, "transform", "position"), place, held.gesture)

    def end(self, *, cancel: bool = False) -> None:
        if self._drag is not None:
            self._context.document.end_gesture(self._drag.gesture, cancel=cancel)
            self._drag = None

    def _light_at(self, position: QPointF) -> NodeId | None:
        return self._context.picker.mark(position, {node.id for node in self._context.document.scene.of_kind("light")})


class LightPanel(Panel):
    mouse = (("Move a light", "Left drag on its disc"),)

    def __init__(self, context: EditorContext) -> None:
        self.tools = (LightTool(context),)
