"""Drags the handles of the selected emitter itself: speed, cone and size of the source, one undo entry a drag."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, Qt

from app.document.history import Gesture
from app.editor.editor_context import EditorContext
from sim.kinds.contract import Tool
from sim.kinds.emitter.handles import EmitterHandles, KnobGrab, KnobKind, dragged_setting
from sim.scene.handles import HandleView
from sim.scene.scene import NodeId, ParamRef
from widgets.kinds.emitter.widgets import EmitterOverlay

_NAMES = {
    KnobKind.SPEED: "speed",
    KnobKind.CONE: "cone angle",
    KnobKind.RADIUS: "radius of the source",
    KnobKind.SIZE: "size of the source",
}
_FLAT = 1e-12
"""Determinant of a placement below which there is no way back from the screen to the source."""


@dataclass(frozen=True, slots=True)
class _KnobDrag:
    node: NodeId
    handles: EmitterHandles
    hold: KnobGrab
    press: tuple[float, float]
    gesture: Gesture


class EmitterTool(Tool):
    """Shows the handles of the selected emitter, and drags them."""

    is_over = True
    cursor = Qt.CursorShape.PointingHandCursor

    def __init__(self, context: EditorContext) -> None:
        self._context, self._document, self._viewport = context, context.document, context.viewport
        document, client, viewport = context.document, context.client, context.viewport
        self._overlay = EmitterOverlay(viewport)
        self._drag: _KnobDrag | None = None
        self._hovered: KnobGrab | None = None
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        document.view_state_changed.connect(self.refresh)
        client.drawn.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        """Paints the handles where they are now."""
        held = self._drag.hold if self._drag else self._hovered
        self._overlay.show_handles(self._handles(), held.knob if held else None)

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
        node, handles = self._context.selected("emitter"), self._handles()
        press = position.x(), position.y()
        hold = handles.hit(press) if handles else None
        if node is None or handles is None or hold is None:
            return False
        name = _NAMES[handles.knobs[hold.knob].kind]
        gesture = self._document.new_gesture(f"Change the {name} of {node.name}")
        self._drag = _KnobDrag(node.id, handles, hold, press, gesture)
        self.refresh()
        return True

    def drag(self, position: QPointF) -> None:
        held = self._drag
        if held is not None and self._document.scene.has(held.node):
            values = dragged_setting(held.handles, held.hold, held.press, (position.x(), position.y()))
            refs = {ParamRef(held.node, "emitter", name): value for name, value in values.items()}
            self._document.set_values(refs, held.gesture)
            now = self._handles()
            text = _text(now, held.hold)
            self._context.hint(f"{text[:1].upper()}{text[1:]} · Escape takes it back" if text else "")

    def end(self, *, cancel: bool = False) -> None:
        if self._drag is None:
            return
        finish = self._document.cancel_gesture if cancel else self._document.end_gesture
        finish(self._drag.gesture)
        self._drag = None
        self.refresh()

    def _handles(self) -> EmitterHandles | None:
        node, engine = self._context.selected("emitter"), self._context.client.engine
        if node is None or node.id not in self._context.document.scene.shown or engine is None:
            return None
        placed = engine.views.places.world_from_node(node)
        if abs(np.linalg.det(placed[:3, :3])) < _FLAT:
            return None
        size = self._viewport.size_f
        view = HandleView(self._document.view_state.camera, (size.width(), size.height()))
        return EmitterHandles(view, placed, node.settings)


def _text(handles: EmitterHandles | None, hold: KnobGrab) -> str:
    """What a grip changes, and its value."""
    if handles is None or hold.knob >= len(handles.knobs):
        return ""
    knob, settings = handles.knobs[hold.knob], handles.settings
    value = {
        KnobKind.SPEED: f"{settings.speed:.3g} m/s",
        KnobKind.CONE: f"{settings.cone_angle:.3g}°",
        KnobKind.RADIUS: f"{settings.source_radius:.3g} m",
        KnobKind.SIZE: f"{settings.source_size[knob.axis]:.3g} m",
    }[knob.kind]
    return f"{_NAMES[knob.kind]} {value}"
