"""Particles of simulated nodes under the mouse, and pulling one of them, whatever its kind."""

from dataclasses import dataclass, replace

from pyglm import glm
from PySide6.QtCore import QPointF, Qt

from app.editor.editor_context import EditorContext
from sim.kinds.contract import Draggable, Grab, System, stop_reason
from sim.render.render_view import ParticleRef
from sim.scene.scene import NodeId

PULL_HINT = "Pulling: release lets go"
PULL_HELD_HINT = "Pulling: simulates as long as you hold it · Space: play"

REACH = 28.0
"""How far around a pulled particle others may come along [px]."""


class ParticlePicker:
    """Asks systems of one kind in the viewport's context.

    What it reads back waits for the GPU: a few pixels and a few particles, whatever their number.
    """

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context, self._kind = context, kind

    def system(self, node_id: NodeId) -> System | None:
        """The simulation of a node; None where there is none that has begun."""
        system: System | None = self._context.system(node_id)
        return system if system is not None and system.is_ready else None

    @property
    def is_any_shown(self) -> bool:
        scene = self._context.document.scene
        return any(node.id in scene.shown for node in scene.of_kind(self._kind))

    def particle(self, position: QPointF) -> ParticleRef | None:
        """The particle that is nearest to a place; None where something else is in front, or nothing of the kind."""
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
        """Where a particle is in the world [m]; None for one that is not there."""
        system = self.system(reference.node)
        if not isinstance(system, Draggable):
            return None
        with self._context.viewport.gl_current():
            place = system.particle_position(reference.particle)
        return None if place is None else glm.dvec3(*place)


@dataclass(frozen=True, slots=True)
class _Press:
    """A particle that was pressed: where it was then, and from the place under the mouse to it [m]."""

    particle: ParticleRef
    place: glm.dvec3
    offset: glm.dvec3


class ParticleDrag:
    """Pulls a particle in the plane of the view.

    While the simulation is held, pulling runs it as long as the button is down; the playhead stays.

    Args:
        context: The editor.
        picker: Says what is under the mouse.
    """

    def __init__(self, context: EditorContext, picker: ParticlePicker) -> None:
        self._context, self._picker = context, picker
        self._stepper, self._playback = context.stepper, context.playback
        self._touch: _Press | None = None

    @property
    def is_pressed(self) -> bool:
        return self._touch is not None

    def press(self, position: QPointF) -> bool:
        """Notes the particle under the mouse, which may have moved on when a drag begins."""
        particle = self._picker.particle(position)
        place = self._picker.place_of(particle) if particle else None
        under = self._context.picker.beside(position, place) if place is not None else None
        self._touch = None
        if particle is not None and place is not None and under is not None:
            self._touch = _Press(particle, place, place - under)
        return self._touch is not None

    def begin(self) -> bool:
        """Takes hold of the pressed particle."""
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
        """Length of `REACH` at a place [m]."""
        camera, (_, height) = self._context.picker.camera, self._context.picker.size
        away = glm.dot(camera.position() - place, camera.rotation()[2])
        depth = camera.distance if camera.orthographic else max(away, 0.0)
        return float(REACH * 2.0 * camera.tangent * depth / height)
