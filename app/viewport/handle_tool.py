"""Handles that move, rotate and scale the selected nodes, or pose the selected bone; one undo entry per drag."""

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QPointF, Qt, Signal

from sinew.app.document.document import Document
from sinew.app.document.history import Gesture
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.animation.pose import frame_below
from sinew.sim.characters.settings import BONE_PART, BonePose
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Tool
from sinew.sim.scene.handles import HandleMode, Handles, HandleView, dragged, handles_of, moved_along
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.sim.scene.transform import Transform
from sinew.widgets.overlay import HandlesOverlay
from sinew.widgets.viewport import Viewport

Float64 = npt.NDArray[np.float64]

_CHANGED = {HandleMode.MOVE: "position", HandleMode.ROTATE: "rotation", HandleMode.SCALE: "scale"}
_VERBS = {HandleMode.MOVE: "Move", HandleMode.ROTATE: "Rotate", HandleMode.SCALE: "Scale"}


@dataclass(frozen=True, slots=True)
class _HandleTarget:
    """Target of handles: a node, or the pose offset of a bone."""

    owner: NodeId  # Has position, rotation and scale in `part`
    part: str
    transform: Transform
    world_from_parent: Float64  # Shape (4, 4)
    name: str
    # Nodes that are moved along, with the transforms of their parents, (4, 4).
    followers: tuple[tuple[Node, Float64], ...] = ()


@dataclass(frozen=True, slots=True)
class _HandleDrag:
    handled: _HandleTarget
    handles: Handles
    handle: int
    press: tuple[float, float]
    gesture: Gesture


class HandleTool(QObject, Tool):
    """Tool of the handles; `mode_changed` carries a `HandleMode`, or None, which hides the handles."""

    mode_changed = Signal(object)
    is_over = True
    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, document: Document, client: ViewportRenderer, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._document, self._client, self._viewport = document, client, viewport
        self._overlay = HandlesOverlay(viewport)
        self._drag: _HandleDrag | None = None
        self._hovered: int | None = None
        self.mode: HandleMode | None = None
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        client.drawn.connect(self.refresh)

    def show(self, mode: HandleMode) -> None:
        if mode is not self.mode:
            self.set_mode(mode)

    def set_mode(self, mode: HandleMode) -> None:
        """Sets the mode of the handles; the current mode hides them."""
        self.mode = None if mode is self.mode else mode
        self.mode_changed.emit(self.mode)
        self.refresh()

    def refresh(self, *_: object) -> None:
        handles = self._drag.handles if self._drag and self._drag.handles.mode is HandleMode.ROTATE else self._handles()
        self._overlay.show_handles(handles, self._drag.handle if self._drag else self._hovered)

    def hover(self, position: QPointF | None) -> str:
        handles = self._handles() if position is not None else None
        self._hovered = handles.hit((position.x(), position.y())) if handles and position is not None else None
        self.refresh()
        return "" if self._hovered is None else "Drag the handle; Escape cancels"

    def press(self, position: QPointF, _shift: bool) -> bool:
        return bool(self.hover(position))

    def begin(self, position: QPointF, _shift: bool) -> bool:
        handled, handles = self._handled(), self._handles()
        press = position.x(), position.y()
        handle = handles.hit(press) if handles else None
        if handled is None or handles is None or handle is None:
            return False
        self._drag = _HandleDrag(
            handled, handles, handle, press, self._document.new_gesture(self._text(handled, handles))
        )
        return True

    def drag(self, position: QPointF) -> None:
        held = self._drag
        if held is None or not self._document.scene.has(held.handled.owner):
            return
        cursor, handled, mode = (position.x(), position.y()), held.handled, held.handles.mode
        after = dragged(held.handles, held.handle, held.press, cursor, handled.world_from_parent, handled.transform)
        after = bounded(after)
        name = _CHANGED[mode]
        values = {ParamRef(handled.owner, handled.part, name): getattr(after, name)}
        for node, parent in handled.followers:
            if self._document.scene.has(node.id):
                way = handled.transform, after
                moved = bounded(moved_along(mode, handled.world_from_parent, way, parent, node.transform))
                for field in ("position", "rotation", "scale"):
                    values[ParamRef(node.id, "transform", field)] = getattr(moved, field)
        self._document.set_values(values, held.gesture)

    def end(self, *, cancel: bool = False) -> None:
        if self._drag is None:
            return
        self._document.end_gesture(self._drag.gesture, cancel=cancel)
        self._drag = None
        self.refresh()

    def _handled(self) -> _HandleTarget | None:
        selection, scene, engine = self._document.selection, self._document.evaluated, self._client.engine
        node = scene.by_id.get(selection.node or "")
        if self.mode is None or engine is None or node is None or node.id not in scene.shown & scene.unlocked:
            return None
        if not KINDS[node.kind].has_place:
            return None
        if selection.bone is not None:
            return self._bone(node, selection.bone)
        chosen = set(selection.nodes)
        followers = tuple(
            (other, engine.views.places.world_from_parent(other))
            for other in map(scene.node, selection.others)
            # Children move with their parents.
            if other.id in scene.unlocked and chosen.isdisjoint(above.id for above in scene.carriers(other.id))
        )
        return _HandleTarget(
            node.id, "transform", node.transform, engine.views.places.world_from_parent(node), node.name, followers
        )

    def _bone(self, node: Node, bone: str) -> _HandleTarget | None:
        """Returns the target for a bone, relative to the pose of the clip alone."""
        character = self._client.engine.views.characters.get(node.id) if self._client.engine else None
        posed = node.settings.part(f"{BONE_PART}{bone}")
        if character is None or character.model.skeleton is None or not isinstance(posed, BonePose):
            return None
        # A bone that swings keeps its handles at its head.
        pose = msgspec.structs.replace(character.pose, local=character.animated_pose.local)
        below = frame_below(character.model.skeleton, pose, posed)
        if below is None:
            return None
        transform = Transform(position=posed.position, rotation=posed.rotation, scale=posed.scale)
        name = f"{bone} of {node.name}"
        return _HandleTarget(node.id, f"{BONE_PART}{bone}", transform, character.world_from_model @ below, name)

    def _handles(self) -> Handles | None:
        handled = self._handled()
        if handled is None or self.mode is None:
            return None
        size = self._viewport.size_f
        view = HandleView(self._document.view_state.camera, (size.width(), size.height()))
        return handles_of(self.mode, view, handled.world_from_parent, handled.transform)

    def _text(self, handled: _HandleTarget, handles: Handles) -> str:
        count = 1 + len(handled.followers)
        return f"{_VERBS[handles.mode]} {handled.name if count == 1 else f'{count} objects'}"
