"""What the mouse does to a cloth: shows the particle under it, pulls it, chooses particles, pins them."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QTimer

from app.editor.editor_context import EditorContext
from app.editor.particle_drag import ParticleDrag, ParticlePicker
from app.kinds.cloth.pin_edits import toggle_pins
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.contract import Tool
from sim.scene.picking import project_points
from sim.scene.scene import NodeId
from widgets.overlay import RubberBand

HOVER_MS = 30
"""The mouse may move far more often than this; looking what is under it waits for the GPU."""

CHOOSE_HINT = "Selecting particles · Escape: give up"


class ClothTool(Tool):
    """Pulls particles and chooses them with a rubber band.

    Attributes:
        marks: The particle under the mouse, and the chosen ones.
    """

    def __init__(self, context: EditorContext) -> None:
        self._context, self._document = context, context.document
        self._picker = ParticlePicker(context, "cloth")
        self._pull = ParticleDrag(context, self._picker)
        self.marks = context.marks
        self._band = RubberBand(context.viewport)
        self._band_start: QPointF | None = None
        self._hover_place: QPointF | None = None
        self._hover_timer = QTimer(context.viewport, singleShot=True, interval=HOVER_MS)
        self._hover_timer.timeout.connect(self._look)

    # --- hover ----------------------------------------------------------------------------------------

    def hover(self, position: QPointF | None) -> str:
        self._hover_place = position
        if position is None:
            self._hover_timer.stop()
            self.marks.point_at("cloth", None)
        elif not self._hover_timer.isActive() and self._document.scene.of_kind("cloth"):
            self._hover_timer.start()
        return self.hover_hint()

    def hover_hint(self) -> str:
        """What can be done with the particle under the mouse; "" where there is none."""
        reference = self.marks.hovered_of("cloth")
        cloth = self._cloth(reference.node) if reference else None
        if reference is None or cloth is None:
            return ""
        pin = "let go" if reference.particle < len(cloth.pins.flags) and cloth.pins.flags[reference.particle] else "pin"
        if self.marks.count:
            pin = f"pin or let go {self.marks.count} selected"
        return f"Particle {reference.particle} · Drag: pull · P: {pin} · Shift+Drag: select · Right click: more"

    def look_at(self, position: QPointF) -> None:
        """Marks the particle at a place at once."""
        self.marks.point_at("cloth", self._picker.particle(position))

    def _look(self) -> None:
        if self._hover_place is not None and not self._pull.is_pressed:
            self.look_at(self._hover_place)
            text = self.hover_hint()
            if text:
                self._context.hint(text)

    # --- pulling --------------------------------------------------------------------------------------

    def press(self, position: QPointF, shift: bool) -> bool:
        return not shift and self._pull.press(position)

    def begin(self, position: QPointF, shift: bool) -> bool:
        return (shift and self._start_band(position)) or self._pull.begin()

    def drag(self, position: QPointF) -> None:
        if self._band_start is not None:
            self._band.span(self._band_start, position)
        else:
            self._pull.drag(position)

    def end(self, *, cancel: bool = False) -> None:
        if self._band_start is not None:
            if not cancel:
                self.marks.choose(self._inside())
            self._band_start = None
            self._band.hide()
            return
        self._pull.end()

    # --- choosing -------------------------------------------------------------------------------------

    def _start_band(self, position: QPointF) -> bool:
        """Begins a rubber band; False in a scene without cloths."""
        if not self._document.scene.of_kind("cloth"):
            return False
        self._band_start = position
        self._context.hint(CHOOSE_HINT)
        return True

    def click(self, position: QPointF, shift: bool) -> bool:
        reference = self._picker.particle(position) if shift else None
        if reference is not None:
            self.marks.toggle(reference)
        return reference is not None

    def deselect(self) -> None:
        self.marks.choose({})

    def _inside(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Particles of all visible cloths within the rubber band, hidden behind something or not."""
        box = self._band.box
        chosen = {}
        for node in self._document.scene.of_kind("cloth"):
            places = self._positions(node.id) if node.id in self._document.scene.shown else np.zeros((0, 3))
            pixels, _ = project_points(self._context.picker.camera, self._context.picker.size, places)
            with np.errstate(invalid="ignore"):
                inside = (pixels >= (box.left(), box.top())) & (pixels <= (box.right(), box.bottom()))
            chosen[node.id] = tuple(np.flatnonzero(inside.all(axis=1)).tolist())
        return chosen

    # --- pins -----------------------------------------------------------------------------------------

    def pinnable(self) -> Mapping[NodeId, tuple[int, ...]]:
        """What a pin key acts on: the chosen particles, else the one under the mouse."""
        hovered = self.marks.hovered_of("cloth")
        if self.marks.count or hovered is None:
            return self.marks.chosen
        return {hovered.node: (hovered.particle,)}

    def toggle_pins(self, numbers: Mapping[NodeId, tuple[int, ...]] | None = None) -> None:
        """Holds particles, or lets them go where all are held; those of `pinnable` by default."""
        wanted = self.pinnable() if numbers is None else numbers
        held = {node_id: cloth.pins.flags for node_id in wanted if (cloth := self._cloth(node_id)) is not None}
        wanted = {node_id: wanted[node_id] for node_id in held}
        if wanted:
            toggle_pins(self._document, wanted, held)
        else:
            self._context.hint("Point at a particle, or select some with Shift+Drag, to pin them")

    def is_held(self, numbers: Mapping[NodeId, tuple[int, ...]]) -> bool:
        cloths = {node_id: self._cloth(node_id) for node_id in numbers}
        return all(cloth is not None and cloth.pins.flags[list(numbers[n])].all() for n, cloth in cloths.items())

    def _cloth(self, node_id: NodeId) -> Cloth | None:
        """The particles of a node; None for one that has none."""
        return getattr(self._context.system(node_id), "cloth", None)

    def _positions(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Places of all particles of a cloth [m], shape (P, 3); reads them all, so not for every move of the mouse."""
        cloth = self._cloth(node_id)
        if cloth is None:
            return np.zeros((0, 3))
        with self._context.viewport.gl_current():
            return cloth.positions().astype(np.float64)
