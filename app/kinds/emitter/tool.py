"""Drags the handles of the selected emitter itself: speed, cone and size of the source, one undo entry a drag."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, Qt

from app.document.gesture import Gesture
from app.editor.desk import Desk
from sim.kinds.contract import Tool
from sim.kinds.emitter.handles import EmitterHandles, GripKind, Hold, gripped
from sim.scene.handles import View
from sim.scene.scene import NodeId, ParamRef
from widgets.kinds.emitter.overlay import EmitterOverlay

_NAMES = {
    GripKind.SPEED: "speed",
    GripKind.CONE: "cone angle",
    GripKind.RADIUS: "radius of the source",
    GripKind.SIZE: "size of the source",
}
_FLAT = 1e-12
"""Determinant of a placement below which there is no way back from the screen to the source."""


@dataclass(frozen=True, slots=True)
class _Drag:
    node: NodeId
    handles: EmitterHandles
    hold: Hold
    press: tuple[float, float]
    gesture: Gesture


class EmitterTool(Tool):
    """Shows the handles of the selected emitter, and drags them."""

    is_over = True
    cursor = Qt.CursorShape.PointingHandCursor

    def __init__(self, desk: Desk) -> None:
        self._desk, self._document, self._viewport = desk, desk.document, desk.viewport
        document, client, viewport = desk.document, desk.client, desk.viewport
        self._overlay = EmitterOverlay(viewport)
        self._drag: _Drag | None = None
        self._hovered: Hold | None = None
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        document.view_state_changed.connect(self.refresh)
        client.drawn.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        """Paints the handles where they are now."""
        held = self._drag.hold if self._drag else self._hovered
        self._overlay.show_handles(self._handles(), held.grip if held else None)

    def hover(self, position: QPointF | None) -> str:
        handles = self._handles() if position is not None else None
        hold = handles.hit((position.x(), position.y())) if handles and position is not None else None
        if hold != self._hovered:
            self._hovered = hold
            self.refresh()
        return f"Drag: {_text(handles, hold)} · Escape takes it back" if handles and hold else ""

    def press(self, position: QPointF, _shift: bool) -> bool:
        return bool(self.hover(position))

    def begin(self, position: QPointF, _shift: bool) -> bool:
        node, handles = self._desk.selected("emitter"), self._handles()
        press = position.x(), position.y()
        hold = handles.hit(press) if handles else None
        if node is None or handles is None or hold is None:
            return False
        name = _NAMES[handles.grips[hold.grip].kind]
        gesture = self._document.new_gesture(f"Change the {name} of {node.name}")
        self._drag = _Drag(node.id, handles, hold, press, gesture)
        self.refresh()
        return True

    def drag(self, position: QPointF) -> None:
        held = self._drag
        if held is not None and self._document.scene.has(held.node):
            values = gripped(held.handles, held.hold, held.press, (position.x(), position.y()))
            refs = {ParamRef(held.node, "emitter", name): value for name, value in values.items()}
            self._document.set_values(refs, held.gesture)
            now = self._handles()
            text = _text(now, held.hold)
            self._desk.hint(f"{text[:1].upper()}{text[1:]} · Escape takes it back" if text else "")

    def end(self, *, cancel: bool = False) -> None:
        if self._drag is None:
            return
        finish = self._document.cancel_gesture if cancel else self._document.end_gesture
        finish(self._drag.gesture)
        self._drag = None
        self.refresh()

    def _handles(self) -> EmitterHandles | None:
        node, engine = self._desk.selected("emitter"), self._desk.client.engine
        if node is None or node.id not in self._desk.document.scene.shown or engine is None:
            return None
        placed = engine.places.world_from_node(node)
        if abs(np.linalg.det(placed[:3, :3])) < _FLAT:
            return None
        size = self._viewport.size_f
        view = View(self._document.view_state.camera, (size.width(), size.height()))
        return EmitterHandles(view, placed, node.settings)


def _text(handles: EmitterHandles | None, hold: Hold) -> str:
    """What a grip changes, and its value."""
    if handles is None or hold.grip >= len(handles.grips):
        return ""
    grip, settings = handles.grips[hold.grip], handles.settings
    value = {
        GripKind.SPEED: f"{settings.speed:.3g} m/s",
        GripKind.CONE: f"{settings.cone_angle:.3g}°",
        GripKind.RADIUS: f"{settings.source_radius:.3g} m",
        GripKind.SIZE: f"{settings.source_size[grip.axis]:.3g} m",
    }[grip.kind]
    return f"{_NAMES[grip.kind]} {value}"
