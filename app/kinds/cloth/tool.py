"""What the mouse does to a cloth: shows the particle under it, pulls it, chooses particles, pins them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from pyglm import glm
from PySide6.QtCore import QObject, QPointF, QTimer, Signal

from app.document.document import Document
from app.kinds.cloth.particle_marks import ParticleMarks
from app.kinds.cloth.pin_edits import toggle_pins
from app.timeline.playback import Playback
from app.timeline.simulation_stepper import SimulationStepper
from app.viewport.client import ViewportClient
from app.viewport.picker import Picker
from sim.kinds.cloth.cloth import Cloth
from sim.render.shot import ParticleRef
from sim.scene.picking import project_points
from sim.scene.scene import NodeId
from sim.simulation import Grab
from widgets.overlay import RubberBand
from widgets.viewport import Viewport

HOVER_MS = 30
"""The mouse may move far more often than this; looking what is under it waits for the GPU."""

PULL_HINT = "Pulling: release lets go"
PULL_HELD_HINT = "Pulling: simulates as long as you hold it · Space: play"
CHOOSE_HINT = "Selecting particles · Escape: give up"


@dataclass(frozen=True, slots=True)
class _Touch:
    """A particle that was pressed: where it was then, and from the place under the mouse to it [m]."""

    particle: ParticleRef
    place: glm.dvec3
    offset: glm.dvec3


class ClothTool(QObject):
    """Pulls particles in the plane of the view and chooses them with a rubber band.

    While the simulation is held, pulling runs it as long as the button is down; the playhead stays.

    Signals:
        hint: What the mouse does now.

    Attributes:
        marks: The particle under the mouse, and the chosen ones.
    """

    hint = Signal(str)

    def __init__(
        self,
        document: Document,
        client: ViewportClient,
        viewport: Viewport,
        picker: Picker,
        stepper: SimulationStepper,
        playback: Playback,
    ) -> None:
        super().__init__(viewport)
        self._document, self._client, self._picker = document, client, picker
        self._stepper, self._playback = stepper, playback
        self.marks = ParticleMarks(document, client, viewport)
        self._band = RubberBand(viewport)
        self._band_start: QPointF | None = None
        self._touch: _Touch | None = None
        self._hover_place: QPointF | None = None
        self._hover_timer = QTimer(self, singleShot=True, interval=HOVER_MS)
        self._hover_timer.timeout.connect(self._look)

    # --- hover ----------------------------------------------------------------------------------------

    def hover(self, position: QPointF | None) -> None:
        """The mouse is at a place where nothing else takes it; None where it is elsewhere."""
        self._hover_place = position
        if position is None:
            self._hover_timer.stop()
            if self.marks.hovered is not None:
                self.marks.hover(None)
        elif not self._hover_timer.isActive() and self._document.scene.of_kind("cloth"):
            self._hover_timer.start()

    def hover_hint(self) -> str:
        """What can be done with the particle under the mouse; "" where there is none."""
        reference = self.marks.hovered
        cloth = self._cloth(reference.node) if reference else None
        if reference is None or cloth is None:
            return ""
        pin = "let go" if reference.particle < len(cloth.pinned) and cloth.pinned[reference.particle] else "pin"
        if self.marks.count:
            pin = f"pin or let go {self.marks.count} selected"
        return f"Particle {reference.particle} · Drag: pull · P: {pin} · Shift+Drag: select · Right click: more"

    def look_at(self, position: QPointF) -> None:
        """Marks the particle at a place at once."""
        self.marks.hover(self._picker.particle(position))

    def _look(self) -> None:
        if self._hover_place is not None and self._touch is None:
            self.look_at(self._hover_place)
            text = self.hover_hint()
            if text:
                self.hint.emit(text)

    # --- pulling --------------------------------------------------------------------------------------

    def press(self, position: QPointF) -> None:
        """Notes the particle under the mouse, which may have moved on when a drag begins."""
        particle = self._picker.particle(position)
        place = self._picker.place_of(particle) if particle else None
        under = self._picker.beside(position, place) if place is not None else None
        self._touch = None
        if particle is not None and place is not None and under is not None:
            self._touch = _Touch(particle, place, place - under)

    def pull(self) -> bool:
        """Takes hold of the pressed particle; False where none was pressed."""
        touch = self._touch
        if touch is None:
            return False
        self.marks.hover(touch.particle)
        self._stepper.grab = Grab(touch.particle.node, touch.particle.particle, touch.place.to_tuple())
        self._playback.set_in_hand(True)
        cloth = self._cloth(touch.particle.node)
        if cloth is not None and cloth.halted:
            self.hint.emit(f"This cloth {cloth.halted} · Ctrl+R: reset")
        else:
            self.hint.emit(PULL_HINT if self._playback.playhead.playing else PULL_HELD_HINT)
        return True

    def drag(self, position: QPointF) -> bool:
        """Follows the mouse, pulling or spanning the rubber band; False when neither was begun."""
        if self._band_start is not None:
            self._band.span(self._band_start, position)
            return True
        grab = self._stepper.grab
        if self._touch is None or grab is None:
            return False
        under = self._picker.beside(position, glm.dvec3(*grab.hand) - self._touch.offset)
        if under is not None:
            self._stepper.grab = replace(grab, hand=(under + self._touch.offset).to_tuple())
        return True

    def end(self, *, cancel: bool = False) -> bool:
        """Lets go, or chooses what the rubber band holds unless that is cancelled; False when nothing was begun."""
        if self._band_start is not None:
            if not cancel:
                self.marks.choose(self._inside())
            self._band_start = None
            self._band.hide()
            return True
        self._touch = None
        if self._stepper.grab is None:
            return False
        self._stepper.grab = None
        self._playback.set_in_hand(False)
        self.marks.hover(None)
        return True

    # --- choosing -------------------------------------------------------------------------------------

    def start_band(self, position: QPointF) -> bool:
        """Begins a rubber band; False in a scene without cloths."""
        if not self._document.scene.of_kind("cloth"):
            return False
        self._band_start = position
        self.hint.emit(CHOOSE_HINT)
        return True

    def toggle_choice(self, position: QPointF) -> bool:
        """Chooses one particle more or less; False where there is none."""
        reference = self._picker.particle(position)
        if reference is not None:
            self.marks.toggle(reference)
        return reference is not None

    def _inside(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Particles of all visible cloths within the rubber band, hidden behind something or not."""
        box = self._band.box
        chosen = {}
        for node in self._document.scene.of_kind("cloth"):
            places = self._picker.cloth_positions(node.id) if node.visible else np.zeros((0, 3))
            pixels, _ = project_points(self._picker.camera, self._picker.size, places)
            with np.errstate(invalid="ignore"):
                inside = (pixels >= (box.left(), box.top())) & (pixels <= (box.right(), box.bottom()))
            chosen[node.id] = tuple(np.flatnonzero(inside.all(axis=1)).tolist())
        return chosen

    # --- pins -----------------------------------------------------------------------------------------

    def pinnable(self) -> Mapping[NodeId, tuple[int, ...]]:
        """What a pin key acts on: the chosen particles, else the one under the mouse."""
        hovered = self.marks.hovered
        if self.marks.count or hovered is None:
            return self.marks.chosen
        return {hovered.node: (hovered.particle,)}

    def toggle_pins(self, numbers: Mapping[NodeId, tuple[int, ...]] | None = None) -> None:
        """Holds particles, or lets them go where all are held; those of `pinnable` by default."""
        wanted = self.pinnable() if numbers is None else numbers
        held = {node_id: cloth.pinned for node_id in wanted if (cloth := self._cloth(node_id)) is not None}
        wanted = {node_id: wanted[node_id] for node_id in held}
        if wanted:
            toggle_pins(self._document, wanted, held)
        else:
            self.hint.emit("Point at a particle, or select some with Shift+Drag, to pin them")

    def is_held(self, numbers: Mapping[NodeId, tuple[int, ...]]) -> bool:
        """Whether all of some particles are held."""
        cloths = {node_id: self._cloth(node_id) for node_id in numbers}
        return all(cloth is not None and cloth.pinned[list(numbers[n])].all() for n, cloth in cloths.items())

    def _cloth(self, node_id: NodeId) -> Cloth | None:
        engine = self._client.engine
        return engine.simulation.cloths.get(node_id) if engine else None
