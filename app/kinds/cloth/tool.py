"""Tool that highlights and drags particles, selects them with a rubber band, and pins them."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF

from sinew.app.document.document import Document
from sinew.app.kinds.drag_tool import DragTool
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.pins import toggled_pin_list
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.scene import NodeId, ParamRef
from sinew.widgets.overlay import RubberBand

Bool = npt.NDArray[np.bool_]

CHOOSE_HINT = "Selecting particles · Escape: cancel"


class ClothTool(DragTool):
    def __init__(self, context: EditorContext) -> None:
        super().__init__(context, "cloth")
        self._document = context.document
        self._band = RubberBand(context.viewport)
        self._band_start: QPointF | None = None

    def hint(self) -> str:
        reference = self.marks.hovered_of("cloth")
        cloth = self._cloth(reference.node) if reference else None
        if reference is None or cloth is None:
            return ""
        pinned = cloth.weights > 0.0
        pin = "unpin" if reference.particle < len(pinned) and pinned[reference.particle] else "pin"
        if self.marks.count:
            pin = f"pin or unpin {self.marks.count} selected"
        return f"Particle {reference.particle} · Drag: pull · P: {pin} · Shift+Drag: select · Right click: more"

    def look_at(self, position: QPointF) -> None:
        self.highlight(self.particle_at(position))

    def begin(self, position: QPointF, shift: bool) -> bool:
        return (shift and self._start_band(position)) or super().begin(position, shift)

    def drag(self, position: QPointF) -> None:
        if self._band_start is not None:
            self._band.span(self._band_start, position)
        else:
            super().drag(position)

    def end(self, *, cancel: bool = False) -> None:
        if self._band_start is not None:
            if not cancel:
                self.marks.choose(self._inside())
            self._band_start = None
            self._band.hide()
            return
        super().end(cancel=cancel)

    # --- choosing -------------------------------------------------------------------------------------

    def _start_band(self, position: QPointF) -> bool:
        if not self._document.scene.of_kind("cloth"):
            return False
        self._band_start = position
        self._context.hint(CHOOSE_HINT)
        return True

    def click(self, position: QPointF, shift: bool) -> bool:
        reference = self.particle_at(position) if shift else None
        if reference is not None:
            self.marks.toggle(reference)
        return reference is not None

    def deselect(self) -> None:
        self.marks.choose({})

    def _inside(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Returns particles of all visible cloths within the rubber band, also occluded ones."""
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
        """Returns the particles that the pin key acts on: the selected ones, else the one under the mouse."""
        hovered = self.marks.hovered_of("cloth")
        if self.marks.count or hovered is None:
            return self.marks.chosen
        return {hovered.node: (hovered.particle,)}

    def toggle_pins(self, numbers: Mapping[NodeId, tuple[int, ...]] | None = None) -> None:
        """Pins particles, or unpins them if all are pinned; None means the particles from `pinnable`."""
        numbers = self.pinnable() if numbers is None else numbers
        pinned = {node_id: cloth.weights > 0.0 for node_id in numbers if (cloth := self._cloth(node_id)) is not None}
        if pinned:
            toggle_pins(self._document, {node_id: numbers[node_id] for node_id in pinned}, pinned)
        else:
            self._context.hint("Point at a particle, or select some with Shift+Drag, to pin them")

    def are_pinned(self, numbers: Mapping[NodeId, tuple[int, ...]]) -> bool:
        cloths = {node_id: self._cloth(node_id) for node_id in numbers}
        return all(cloth is not None and (cloth.weights[list(numbers[n])] > 0.0).all() for n, cloth in cloths.items())

    def _cloth(self, node_id: NodeId) -> Cloth | None:
        return getattr(self._context.system(node_id), "cloth", None)

    def _positions(self, node_id: NodeId) -> npt.NDArray[np.float64]:
        """Returns world positions of all particles [m], shape (P, 3); reads them back, so not for every mouse move."""
        cloth = self._cloth(node_id)
        if cloth is None:
            return np.zeros((0, 3))
        with self._context.viewport.gl_current():
            return cloth.positions().astype(np.float64)


def toggle_pins(document: Document, numbers: Mapping[NodeId, Sequence[int]], pinned: Mapping[NodeId, Bool]) -> None:
    """Pins particles as one edit, or unpins them if all are; `pinned` flags each cloth's particles, (P,)."""
    unpin = all(pinned[node_id][list(chosen)].all() for node_id, chosen in numbers.items())
    values: dict[ParamRef, object] = {}
    for node_id, chosen in numbers.items():
        held = pinned[node_id]
        changed = [number for number in chosen if bool(held[number]) is unpin]
        settings = document.scene.node(node_id).settings
        assert isinstance(settings, ClothSettings)
        text = toggled_pin_list(settings.pin_list, held, changed)
        values[ParamRef(node_id, "cloth", "pin_list")] = text
    count = sum(map(len, numbers.values()))
    what = f"particle {next(iter(numbers.values()))[0]}" if count == 1 else f"{count} particles"
    document.set_as_one(f"{'Unpin' if unpin else 'Pin'} {what}", values)


def set_pin_preset(document: Document, node_id: NodeId, preset: PinPreset) -> None:
    values = {ParamRef(node_id, "cloth", "pins"): preset, ParamRef(node_id, "cloth", "pin_list"): ""}
    document.set_as_one(f"Pins of {document.scene.node(node_id).name}: {preset.value}", values)
