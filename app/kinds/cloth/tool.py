"""What the mouse does to a cloth: shows the particle under it, pulls it, chooses particles, pins them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from pyglm import glm
from PySide6.QtCore import QPointF, Qt, QTimer

from app.editor.desk import Desk
from app.kinds.cloth.particle_marks import ParticleMarks
from app.kinds.cloth.particle_picker import ParticlePicker
from app.kinds.cloth.pin_edits import toggle_pins
from sim.kinds.contract import Grab, Tool
from sim.render.shot import ParticleRef
from sim.scene.picking import project_points
from sim.scene.scene import NodeId
from widgets.overlay import RubberBand

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


class ClothTool(Tool):
    """Pulls particles in the plane of the view and chooses them with a rubber band.

    While the simulation is held, pulling runs it as long as the button is down; the playhead stays.

    Attributes:
        marks: The particle under the mouse, and the chosen ones.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk, self._document = desk, desk.document
        self._stepper, self._playback = desk.stepper, desk.playback
        self._picker = ParticlePicker(desk)
        self.marks = ParticleMarks(desk.document, desk.client, desk.viewport)
        self._band = RubberBand(desk.viewport)
        self._band_start: QPointF | None = None
        self._touch: _Touch | None = None
        self._hover_place: QPointF | None = None
        self._hover_timer = QTimer(desk.viewport, singleShot=True, interval=HOVER_MS)
        self._hover_timer.timeout.connect(self._look)

    # --- hover ----------------------------------------------------------------------------------------

    def hover(self, position: QPointF | None) -> str:
        """Looks soon what is under the mouse, and says what it saw last."""
        self._hover_place = position
        if position is None:
            self._hover_timer.stop()
            if self.marks.hovered is not None:
                self.marks.hover(None)
        elif not self._hover_timer.isActive() and self._document.scene.of_kind("cloth"):
            self._hover_timer.start()
        return self.hover_hint()

    def hover_hint(self) -> str:
        """What can be done with the particle under the mouse; "" where there is none."""
        reference = self.marks.hovered
        cloth = self._picker.cloth(reference.node) if reference else None
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
                self._desk.hint(text)

    # --- pulling --------------------------------------------------------------------------------------

    def press(self, position: QPointF, shift: bool) -> bool:
        """Notes the particle under the mouse, which may have moved on when a drag begins."""
        if shift:
            return False
        particle = self._picker.particle(position)
        place = self._picker.place_of(particle) if particle else None
        under = self._desk.picker.beside(position, place) if place is not None else None
        self._touch = None
        if particle is not None and place is not None and under is not None:
            self._touch = _Touch(particle, place, place - under)
        return self._touch is not None

    def begin(self, position: QPointF, shift: bool) -> bool:
        """Spans a rubber band, or takes hold of the pressed particle."""
        return (shift and self._start_band(position)) or self._pull()

    def _pull(self) -> bool:
        touch = self._touch
        if touch is None:
            return False
        self.marks.hover(touch.particle)
        self._stepper.grab = Grab(touch.particle.node, touch.particle.particle, touch.place.to_tuple())
        self._playback.set_in_hand(True)
        cloth = self._picker.cloth(touch.particle.node)
        if cloth is not None and cloth.halted:
            self._desk.hint(f"This cloth {cloth.halted} · Ctrl+R: reset")
        else:
            self._desk.hint(PULL_HINT if self._playback.playhead.playing else PULL_HELD_HINT)
        self._desk.viewport.setCursor(Qt.CursorShape.ClosedHandCursor)
        return True

    def drag(self, position: QPointF) -> None:
        """Follows the mouse, pulling or spanning the rubber band."""
        if self._band_start is not None:
            self._band.span(self._band_start, position)
            return
        grab = self._stepper.grab
        if self._touch is None or grab is None:
            return
        under = self._desk.picker.beside(position, glm.dvec3(*grab.hand) - self._touch.offset)
        if under is not None:
            self._stepper.grab = replace(grab, hand=(under + self._touch.offset).to_tuple())

    def end(self, *, cancel: bool = False) -> None:
        """Lets go, or chooses what the rubber band holds unless that is cancelled."""
        if self._band_start is not None:
            if not cancel:
                self.marks.choose(self._inside())
            self._band_start = None
            self._band.hide()
            return
        self._touch = None
        if self._stepper.grab is not None:
            self._stepper.grab = None
            self._playback.set_in_hand(False)
            self.marks.hover(None)

    # --- choosing -------------------------------------------------------------------------------------

    def _start_band(self, position: QPointF) -> bool:
        """Begins a rubber band; False in a scene without cloths."""
        if not self._document.scene.of_kind("cloth"):
            return False
        self._band_start = position
        self._desk.hint(CHOOSE_HINT)
        return True

    def click(self, position: QPointF, shift: bool) -> bool:
        """Chooses one particle more or less."""
        reference = self._picker.particle(position) if shift else None
        if reference is not None:
            self.marks.toggle(reference)
        return reference is not None

    def deselect(self) -> None:
        """Chooses no particle."""
        self.marks.choose({})

    def _inside(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Particles of all visible cloths within the rubber band, hidden behind something or not."""
        box = self._band.box
        chosen = {}
        for node in self._document.scene.of_kind("cloth"):
            places = self._picker.positions(node.id) if node.id in self._document.scene.shown else np.zeros((0, 3))
            pixels, _ = project_points(self._desk.picker.camera, self._desk.picker.size, places)
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
        held = {node_id: cloth.pinned for node_id in wanted if (cloth := self._picker.cloth(node_id)) is not None}
        wanted = {node_id: wanted[node_id] for node_id in held}
        if wanted:
            toggle_pins(self._document, wanted, held)
        else:
            self._desk.hint("Point at a particle, or select some with Shift+Drag, to pin them")

    def is_held(self, numbers: Mapping[NodeId, tuple[int, ...]]) -> bool:
        """Whether all of some particles are held."""
        cloths = {node_id: self._picker.cloth(node_id) for node_id in numbers}
        return all(cloth is not None and cloth.pinned[list(numbers[n])].all() for n, cloth in cloths.items())
