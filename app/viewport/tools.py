"""What the mouse does in the viewport besides moving the camera: select, hover, drag lights; cloths by their tool."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pyglm import glm
from PySide6.QtCore import QObject, QPointF, Qt, Signal

from app.document.document import Document
from app.document.gesture import Gesture
from app.kinds.cloth.tool import ClothTool
from app.kinds.emitter.tool import EmitterTool
from app.timeline.playback import Playback
from app.timeline.simulation_stepper import SimulationStepper
from app.viewport.client import ViewportClient
from app.viewport.handle_tool import HandleTool
from app.viewport.picker import Picker
from sim.assets.model import CharacterModel
from sim.render.shot import JointRef
from sim.scene.picking import pick_joint, project_points
from sim.scene.scene import NodeId, ParamRef
from sim.scene.view import DisplayMode
from sim.scene.view_state import Selection
from widgets.viewport import Viewport

JOINT_RADIUS = 9.0
MARK_RADIUS = 12.0
HINT = "Click: select · Middle drag: orbit · with Shift: pan · Wheel: zoom"


class ViewportTools(QObject):
    """Selection by click, hover of bones, and dragging of lights in the plane of the view.

    Signals:
        hint: What the mouse does where it is, for the status bar; "" outside of the viewport.

    Attributes:
        cloth: What the mouse does to cloths.
    """

    hint = Signal(str)

    def __init__(
        self,
        document: Document,
        client: ViewportClient,
        viewport: Viewport,
        handles: HandleTool,
        emitters: EmitterTool,
        stepper: SimulationStepper,
        playback: Playback,
    ) -> None:
        super().__init__()
        self._document, self._client, self._viewport, self._handles = document, client, viewport, handles
        self._emitters = emitters
        self._picker = Picker(document, client, viewport)
        self.cloth = ClothTool(document, client, viewport, self._picker, stepper, playback)
        self.cloth.hint.connect(self.hint)
        self._light: NodeId | None = None
        self._gesture: Gesture | None = None
        self._offset = glm.dvec3()
        viewport.pressed.connect(self._on_pressed)
        viewport.clicked.connect(self._on_clicked)
        viewport.hovered.connect(self._on_hovered)
        viewport.left.connect(self._on_left)
        viewport.drag_started.connect(self._on_drag_started)
        viewport.dragged.connect(self._on_dragged)
        viewport.drag_finished.connect(self._on_drag_finished)
        viewport.drag_cancelled.connect(self._on_drag_cancelled)

    # --- questions ------------------------------------------------------------------------------------

    def light_at(self, position: QPointF) -> NodeId | None:
        """The light whose disc is under a place of the viewport."""
        nodes = [node for node in self._document.scene.of_kind("light") if node.visible]
        return self._mark_at(position, [(node.id, node.transform.position) for node in nodes])

    def emitter_at(self, position: QPointF) -> NodeId | None:
        """The emitter whose star is under a place of the viewport."""
        marks = self._client.engine.emitter_marks() if self._client.engine else []
        present = [mark for mark in marks if self._document.scene.has(mark.node_id)]
        return self._mark_at(position, [(mark.node_id, mark.world_from_source[:3, 3]) for mark in present])

    def _mark_at(self, position: QPointF, marks: Sequence[tuple[NodeId, npt.ArrayLike]]) -> NodeId | None:
        """The nearest of the marked places of the world that is in reach of the mouse."""
        if not marks:
            return None
        places = np.array([place for _, place in marks], np.float64)
        pixels, _ = project_points(self._picker.camera, self._picker.size, places)
        with np.errstate(invalid="ignore"):
            distances = np.linalg.norm(pixels - [position.x(), position.y()], axis=1)
        distances = np.nan_to_num(distances, nan=np.inf)
        nearest = int(np.argmin(distances))
        return marks[nearest][0] if distances[nearest] <= MARK_RADIUS else None

    def joint_at(self, position: QPointF) -> JointRef | None:
        """The drawn joint or bone under a place of the viewport; None while bones are hidden."""
        engine = self._client.engine
        if engine is None or not self._document.scene.view.bones:
            return None
        for node in self._document.scene.of_kind("model"):
            view = engine.view(node.id)
            if not node.visible or view is None or view.segments is None:
                continue
            places = np.full((len(engine.joint_positions(node.id)), 3), np.nan)
            drawn = view.segments.joints
            places[drawn] = engine.joint_positions(node.id)[drawn]
            parents = view.character.model.skeleton.parents
            cursor = (position.x(), position.y())
            joint = pick_joint(self._picker.camera, self._picker.size, places, parents, cursor, JOINT_RADIUS)
            if joint is not None:
                return JointRef(node.id, joint)
        return None

    def pick(self, position: QPointF) -> Selection:
        """What a click at a place selects: a light, an emitter, a bone, a model, or nothing."""
        marked = self.light_at(position) or self.emitter_at(position)
        if marked is not None:
            return Selection(node=marked)
        joint = self.joint_at(position)
        if joint is not None:
            return self._selection_of(joint)
        return self._surface_at(position)

    # --- mouse ----------------------------------------------------------------------------------------

    def _on_pressed(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        taken = self._handles.hover(position) or self._emitters.hover(position)
        taken = taken or self.light_at(position) or self.emitter_at(position) or self.joint_at(position)
        if not taken and not modifiers & Qt.KeyboardModifier.ShiftModifier:
            self.cloth.press(position)

    def _on_clicked(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        self.cloth.end()
        if modifiers & Qt.KeyboardModifier.ShiftModifier and self.cloth.toggle_choice(position):
            return
        self.cloth.marks.choose({})
        self._document.select(self.pick(position))

    def _on_hovered(self, position: QPointF) -> None:
        if self._hovers_handle(position):
            return
        light = self.light_at(position)
        emitter = None if light else self.emitter_at(position)
        joint = None if light or emitter else self.joint_at(position)
        self._viewport.setCursor(Qt.CursorShape.SizeAllCursor if light else Qt.CursorShape.ArrowCursor)
        self.cloth.hover(None if light or emitter or joint else position)
        if self._client.set_hovered(joint):
            self._viewport.update()
        self.hint.emit(self._hint_for(light, emitter, joint))

    def _hovers_handle(self, position: QPointF) -> bool:
        """Shows what can be done with the handle under the mouse; whether there is one."""
        moves = self._handles.hover(position)
        if not self._emitters.hover(None if moves else position) and not moves:
            return False
        self.cloth.hover(None)
        self._viewport.setCursor(Qt.CursorShape.SizeAllCursor if moves else Qt.CursorShape.PointingHandCursor)
        self.hint.emit("Drag the handle; Escape takes it back" if moves else self._emitters.hint)
        return True

    def _on_left(self) -> None:
        self._emitters.hover(None)
        self.cloth.hover(None)
        if self._client.set_hovered(None):
            self._viewport.update()
        self.hint.emit("")

    def _on_drag_started(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        if self._handles.begin(position) or self._emitters.begin(position):
            return
        self._light = self.light_at(position)
        if self._light is None:
            spans = modifiers & Qt.KeyboardModifier.ShiftModifier and self.cloth.start_band(position)
            if not spans and self.cloth.pull():
                self._viewport.setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        self._document.select(Selection(node=self._light))
        name = self._document.scene.node(self._light).name
        self._gesture = self._document.new_gesture(f"Move {name}")
        grabbed = self._on_view_plane(position)
        self._offset = self._light_place() - grabbed if grabbed is not None else glm.dvec3()
        self.hint.emit(f"{name}: Escape puts it back")

    def _on_dragged(self, position: QPointF) -> None:
        if self._emitters.drag(position):
            self.hint.emit(self._emitters.hint)
            return
        if self._handles.drag(position) or self.cloth.drag(position):
            return
        if self._light is None or self._gesture is None or not self._document.scene.has(self._light):
            return
        place = self._on_view_plane(position)
        if place is not None:
            ref = ParamRef(self._light, "transform", "position")
            self._document.set_value(ref, (place + self._offset).to_tuple(), self._gesture)

    def _on_drag_finished(self, position: QPointF) -> None:
        ended = self._handles.end() or self._emitters.end() or self.cloth.end()
        if not ended and self._gesture is not None:
            self._document.end_gesture(self._gesture)
        self._light = self._gesture = None
        self._on_hovered(position)

    def _on_drag_cancelled(self) -> None:
        tools = (self._handles, self._emitters, self.cloth)
        if not any(tool.end(cancel=True) for tool in tools) and self._gesture is not None:
            self._document.cancel_gesture(self._gesture)
        self._light = self._gesture = None
        self.hint.emit(HINT)

    # --- geometry -------------------------------------------------------------------------------------

    def _on_view_plane(self, position: QPointF) -> glm.dvec3 | None:
        """Point under the cursor at the depth of the dragged light."""
        return self._picker.beside(position, self._light_place())

    def _light_place(self) -> glm.dvec3:
        assert self._light is not None
        return glm.dvec3(*self._document.scene.node(self._light).transform.position)

    def _surface_at(self, position: QPointF) -> Selection:
        engine, hit = self._client.engine, self._picker.surface(position)
        if engine is None or hit is None:
            return Selection()
        weights_shown = self._document.scene.view.display is DisplayMode.WEIGHTS
        joint = strongest_joint(engine.model_of(hit.node), hit.triangle) if weights_shown else None
        return Selection(node=hit.node) if joint is None else self._selection_of(JointRef(hit.node, joint))

    def _selection_of(self, reference: JointRef) -> Selection:
        assert self._client.engine is not None
        model = self._client.engine.model_of(reference.node)
        assert model is not None
        assert model.skeleton is not None
        return Selection(node=reference.node, bone=model.skeleton.names[reference.joint])

    def _hint_for(self, light: NodeId | None, emitter: NodeId | None, joint: JointRef | None) -> str:
        if light is not None:
            return f"{self._document.scene.node(light).name}: drag to move"
        if emitter is not None:
            return f"{self._document.scene.node(emitter).name}: click to select"
        if joint is not None:
            return f"Bone {self._selection_of(joint).bone}: click to select"
        return self.cloth.hover_hint() or HINT


def strongest_joint(model: CharacterModel | None, triangle: int) -> int | None:
    """Joint with the largest weight on a triangle of a model; None where nothing is weighted."""
    if model is None or model.skin is None or triangle >= model.mesh.triangle_count:
        return None
    skin, corners = model.skin, model.mesh.triangles[triangle]
    weights = np.bincount(skin.joints_of(skin.joints[corners]).ravel(), skin.weights[corners].ravel())
    return int(np.argmax(weights))
