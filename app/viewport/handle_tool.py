"""Moves, turns and scales the selected node by handles in the viewport, one undo entry per drag."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, QPointF, Qt, Signal

from app.document.document import Document
from app.document.gesture import Gesture
from app.viewport.client import ViewportClient
from sim.kinds.contract import Tool
from sim.scene.handles import HandleMode, Handles, View, dragged, handles_of
from sim.scene.params import bounded
from sim.scene.scene import Node, ParamRef
from sim.scene.transform import Transform
from widgets.handles_overlay import HandlesOverlay
from widgets.viewport import Viewport

_CHANGED = {HandleMode.MOVE: "position", HandleMode.ROTATE: "rotation", HandleMode.SCALE: "scale"}
_VERBS = {HandleMode.MOVE: "Move", HandleMode.ROTATE: "Rotate", HandleMode.SCALE: "Scale"}


@dataclass(frozen=True, slots=True)
class _Drag:
    node: Node
    handles: Handles
    handle: int
    press: tuple[float, float]
    world_from_parent: np.ndarray
    gesture: Gesture


class HandleTool(QObject, Tool):
    """Shows handles of the selected node in the chosen mode, and drags them.

    Signals:
        mode_changed: The handles do something else now; carries a `HandleMode`, or None.

    Attributes:
        mode: What the handles do; None hides them.
    """

    mode_changed = Signal(object)
    is_over = True
    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, document: Document, client: ViewportClient, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._document, self._client, self._viewport = document, client, viewport
        self._overlay = HandlesOverlay(viewport)
        self._overlay.lower()
        self._drag: _Drag | None = None
        self._hovered: int | None = None
        self.mode: HandleMode | None = None
        viewport.resized.connect(self._place)
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        client.drawn.connect(self.refresh)
        self._place()

    def set_mode(self, mode: HandleMode) -> None:
        """Chooses what the handles do; the mode that is on already hides them."""
        self.mode = None if mode is self.mode else mode
        self.mode_changed.emit(self.mode)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Paints the handles where they are now."""
        handles = self._drag.handles if self._drag and self._drag.handles.mode is HandleMode.ROTATE else self._handles()
        self._overlay.show_handles(handles, self._drag.handle if self._drag else self._hovered)

    def hover(self, position: QPointF | None) -> str:
        """Marks the handle under the mouse."""
        handles = self._handles() if position is not None else None
        self._hovered = handles.hit((position.x(), position.y())) if handles and position is not None else None
        self.refresh()
        return "" if self._hovered is None else "Drag the handle; Escape takes it back"

    def press(self, position: QPointF, _shift: bool) -> bool:
        """Whether there is a handle."""
        return bool(self.hover(position))

    def begin(self, position: QPointF, _shift: bool) -> bool:
        """Takes hold of the handle at a place."""
        node, handles = self._node(), self._handles()
        press = position.x(), position.y()
        handle = handles.hit(press) if handles else None
        if node is None or handles is None or handle is None:
            return False
        gesture = self._document.new_gesture(f"{_VERBS[handles.mode]} {node.name}")
        self._drag = _Drag(node, handles, handle, press, self._parent(node), gesture)
        return True

    def drag(self, position: QPointF) -> None:
        """Follows the mouse."""
        held = self._drag
        if held is None:
            return
        cursor = position.x(), position.y()
        before: Transform = held.node.transform
        after = bounded(dragged(held.handles, held.handle, held.press, cursor, held.world_from_parent, before))
        name = _CHANGED[held.handles.mode]
        if self._document.scene.has(held.node.id):
            self._document.set_value(ParamRef(held.node.id, "transform", name), getattr(after, name), held.gesture)

    def end(self, *, cancel: bool = False) -> None:
        """Lets go, or takes the drag back."""
        if self._drag is None:
            return
        finish = self._document.cancel_gesture if cancel else self._document.end_gesture
        finish(self._drag.gesture)
        self._drag = None
        self.refresh()

    def _node(self) -> Node | None:
        selection, scene = self._document.selection, self._document.scene
        if self.mode is None or selection.node is None or selection.bone is not None or not scene.has(selection.node):
            return None
        node = scene.node(selection.node)
        return node if node.visible else None

    def _handles(self) -> Handles | None:
        node = self._node()
        if node is None or self.mode is None:
            return None
        size = self._viewport.size_f
        view = View(self._document.view_state.camera, (size.width(), size.height()))
        return handles_of(self.mode, view, self._parent(node), node.transform)

    def _parent(self, node: Node) -> np.ndarray:
        """What the node's transform is relative to: the bone it rides on, or the world."""
        return self._client.engine.places.world_from_parent(node) if self._client.engine else np.eye(4)

    def _place(self) -> None:
        self._overlay.setGeometry(0, 0, self._viewport.width(), self._viewport.height())
