from dataclasses import dataclass, replace

from pyglm import glm
from PySide6.QtCore import QPointF, Qt, QTimer

from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Draggable, Grab, Tool, stop_reason
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.scene import NodeId

HOVER_MS = 30  # [ms] between two picks while the mouse moves; picking waits for the GPU

PULL_HINT = "Dragging: release to stop"
PULL_HELD_HINT = "Dragging: simulates until you release · Space: play"

REACH = 28.0  # radius around a dragged particle within which others follow [px]


@dataclass(frozen=True, slots=True)
class _Press:
    """A pressed particle: its world position [m], and its offset from the mouse [m]."""

    particle: ParticleRef
    place: glm.dvec3
    offset: glm.dvec3


class DragTool(Tool):
    """Tool that drags particles of a kind, whose system is `Draggable`, in the plane of the view; a `Panel` lists
    it in its `tools`.

    While playback is paused, dragging runs the simulation until the button is released; the playhead stays. `marks`
    belongs to all kinds.
    """

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context, self._kind = context, kind
        self.marks = context.marks
        self._press: _Press | None = None
        self._position: QPointF | None = None
        self._timer = QTimer(context.viewport, singleShot=True, interval=HOVER_MS)
        self._timer.timeout.connect(self.look)

    def hint(self) -> str:
        """Returns a hint for the status bar; "" if no particle is highlighted."""
        hovered = self.marks.hovered_of(self._kind)
        return "" if hovered is None else f"Particle {hovered.particle} · Drag: pull"

    def highlight(self, particle: ParticleRef | None) -> None:
        self.marks.point_at(self._kind, particle)

    def hover(self, position: QPointF | None) -> str:
        self._position = position
        if position is None:
            self._timer.stop()
            self.highlight(None)
        elif not self._timer.isActive() and self._is_any_shown:
            self._timer.start()
        return self.hint()

    def look(self) -> None:
        if self._position is not None and self._press is None:
            self.highlight(self.particle_at(self._position))
            if text := self.hint():
                self._context.hint(text)

    # --- picking --------------------------------------------------------------------------------------

    def particle_at(self, position: QPointF) -> ParticleRef | None:
        """Returns the particle at a position; None if something else is in front. Waits for the GPU."""
        hit = self._context.picker.surface(position) if self._is_any_shown else None
        if hit is None or self._context.document.scene.node(hit.node).kind != self._kind:
            return None
        system = self._draggable(hit.node)
        if system is None:
            return None
        with self._context.viewport.gl_current():
            number = system.particle_at(hit.element, *self._context.picker.ray(position))
        return None if number is None else ParticleRef(hit.node, number)

    @property
    def _is_any_shown(self) -> bool:
        scene = self._context.document.scene
        return any(node.id in scene.shown for node in scene.of_kind(self._kind))

    def _draggable(self, node_id: NodeId) -> Draggable | None:
        """Returns the system of a node; None if its simulation is not ready."""
        system = self._context.system(node_id)
        is_draggable = system is not None and system.is_ready and isinstance(system, Draggable)
        return system if is_draggable else None

    def _place_of(self, reference: ParticleRef) -> glm.dvec3 | None:
        """Returns the world position of a particle [m]; None if it does not exist. Waits for the GPU."""
        system = self._draggable(reference.node)
        if system is None:
            return None
        with self._context.viewport.gl_current():
            place = system.particle_position(reference.particle)
        return None if place is None else glm.dvec3(*place)

    # --- dragging -------------------------------------------------------------------------------------

    def press(self, position: QPointF, shift: bool) -> bool:
        """Notes the particle under the mouse, which may have moved when a drag begins."""
        self._press = None
        particle = None if shift else self.particle_at(position)
        place = self._place_of(particle) if particle is not None else None
        under = self._context.picker.beside(position, place) if place is not None else None
        if particle is not None and place is not None and under is not None:
            self._press = _Press(particle, place, place - under)
        return self._press is not None

    def begin(self, position: QPointF, shift: bool) -> bool:  # noqa: ARG002
        if self._press is None:
            return False
        context, node, place = self._context, self._press.particle.node, self._press.place
        self.marks.hover(self._press.particle)
        context.stepper.grab = Grab(node, self._press.particle.particle, place.to_tuple(), self._reach(place))
        context.playback.set_in_hand(True)
        if reason := stop_reason(context.system(node)):
            context.hint(f"{context.document.scene.node(node).name} {reason} · Ctrl+R: reset")
        else:
            context.hint(PULL_HINT if context.playback.playhead.playing else PULL_HELD_HINT)
        context.viewport.setCursor(Qt.CursorShape.ClosedHandCursor)
        return True

    def drag(self, position: QPointF) -> None:
        grab = self._context.stepper.grab
        if self._press is None or grab is None:
            return
        under = self._context.picker.beside(position, glm.dvec3(*grab.hand) - self._press.offset)
        if under is not None:
            self._context.stepper.grab = replace(grab, hand=(under + self._press.offset).to_tuple())

    def end(self, *, cancel: bool = False) -> None:  # noqa: ARG002
        self._press = None
        if self._context.stepper.grab is not None:
            self._context.stepper.grab = None
            self._context.playback.set_in_hand(False)
            self.marks.hover(None)

    def _reach(self, place: glm.dvec3) -> float:
        """Returns the length of `REACH` at a world position [m]."""
        camera, (_, height) = self._context.picker.camera, self._context.picker.size
        away = glm.dot(camera.position() - place, camera.rotation()[2])
        depth = camera.distance if camera.orthographic else max(away, 0.0)
        return float(REACH * 2.0 * camera.tangent * depth / height)
