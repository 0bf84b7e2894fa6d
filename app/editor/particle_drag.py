"""Picking and dragging particles of simulated nodes of any kind."""

from dataclasses import dataclass, replace

from pyglm import glm
from PySide6.QtCore import QPointF, Qt

from sinew.app.editor.editor_context import EditorContext
from sinew.sim.kinds.contract import Draggable, Grab, System, stop_reason
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.scene import NodeId

PULL_HINT = "Dragging: release to stop"
PULL_HELD_HINT = "Dragging: simulates until you release · Space: play"

REACH = 28.0
"""Radius around a dragged particle within which others follow [px]."""


class ParticlePicker:
    """Picks particles of one kind.  Waits for the GPU, for a few pixels and particles."""

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context, self._kind = context, kind

    def system(self, node_id: NodeId) -> System | None:
        """The simulation of a node, or None if it is not ready."""
        system: System | None = self._context.system(node_id)
        return system if system is not None and system.is_ready else None

    @property
    def is_any_shown(self) -> bool:
        scene = self._context.document.scene
        return any(node.id in scene.shown for node in scene.of_kind(self._kind))

    def particle(self, position: QPointF) -> ParticleRef | None:
        """The particle under a position; None if something else is in front."""
        hit = self._context.picker.surface(position) if self.is_any_shown else None
        if hit is None or self._context.document.scene.node(hit.node).kind != self._kind:
            return None
        system = self.system(hit.node)
        if not isinstance(system, Draggable):
            return None
        with self._context.viewport.gl_current():
            number = system.particle_at(hit.element, *self._context.picker.ray(position))
        return None if number is None else ParticleRef(hit.node, number)

    def place_of(self, reference: ParticleRef) -> glm.dvec3 | None:
        """World position of a particle [m]; None if there is no such particle."""
        system = self.system(reference.node)
        if not isinstance(system, Draggable):
            return None
        with self._context.viewport.gl_current():
            place = system.particle_position(reference.particle)
        return None if place is None else glm.dvec3(*place)


@dataclass(frozen=True, slots=True)
class _Press:
    """A pressed particle, its world position [m], and its offset from the mouse [m]."""

    particle: ParticleRef
    place: glm.dvec3
    offset: glm.dvec3


class ParticleDrag:
    """Drags a particle in the plane of the view.

    While playback is paused, dragging runs the simulation until the button is released; the playhead stays.
    """

    def __init__(self, context: EditorContext, picker: ParticlePicker) -> None:
        self._context, self._picker = context, picker
        self._stepper, self._playback = context.stepper, context.playback
        self._touch: _Press | None = None

    @property
    def is_pressed(self) -> bool:
        return self._touch is not None

    def press(self, position: QPointF) -> bool:
        """Notes the particle under the mouse, which may have moved when a drag begins."""
        particle = self._picker.particle(position)
        place = self._picker.place_of(particle) if particle else None
        under = self._context.picker.beside(position, place) if place is not None else None
        self._touch = None
        if particle is not None and place is not None and under is not None:
            self._touch = _Press(particle, place, place - under)
        return self._touch is not None

    def begin(self) -> bool:
        """Starts to drag the pressed particle."""
        touch = self._touch
        if touch is None:
            return False
        node, place = touch.particle.node, touch.place
        self._context.marks.hover(touch.particle)
        self._stepper.grab = Grab(node, touch.particle.particle, place.to_tuple(), self._reach(place))
        self._playback.set_in_hand(True)
        system = self._picker.system(node)
        if reason := stop_reason(system):
            name = self._context.document.scene.node(node).name
            self._context.hint(f"{name} {reason} · Ctrl+R: reset")
        else:
            self._context.hint(PULL_HINT if self._playback.playhead.playing else PULL_HELD_HINT)
        self._context.viewport.setCursor(Qt.CursorShape.ClosedHandCursor)
        return True

    def drag(self, position: QPointF) -> None:
        grab = self._stepper.grab
        if self._touch is None or grab is None:
            return
        under = self._context.picker.beside(position, glm.dvec3(*grab.hand) - self._touch.offset)
        if under is not None:
            self._stepper.grab = replace(grab, hand=(under + self._touch.offset).to_tuple())

    def end(self) -> None:
        self._touch = None
        if self._stepper.grab is not None:
            self._stepper.grab = None
            self._playback.set_in_hand(False)
            self._context.marks.hover(None)

    def _reach(self, place: glm.dvec3) -> float:
        """Length of `REACH` at a world position [m]."""
        camera, (_, height) = self._context.picker.camera, self._context.picker.size
        away = glm.dot(camera.position() - place, camera.rotation()[2])
        depth = camera.distance if camera.orthographic else max(away, 0.0)
        return float(REACH * 2.0 * camera.tangent * depth / height)
