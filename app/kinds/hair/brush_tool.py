import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, Qt

from sinew.app.editor.editor_context import EditorContext
from sinew.app.kinds.hair.brush_widgets import RADIUS_LEAST, RADIUS_MOST, BrushBar, BrushRing
from sinew.sim.kinds.contract import Tool
from sinew.sim.kinds.hair.brush import BrushedGroom, BrushStroke, Occlusion, RootFrames, mirrored
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.hair.shaping import edits_of
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.scene.scene import Node, NodeId, ParamRef

STEP = 1.15  # factor of the radius per key press or wheel notch

LONGEST = 4.0
"""Maximum length of brushed strands over the length in the settings."""


class Brush(enum.Enum):
    """Brushes, each with its action and its action with Shift."""

    COMB = ("Comb", "Smooth")
    CUT = ("Cut", "Lengthen")


_ACTS: dict[tuple[Brush, bool], Callable[[BrushedGroom, BrushStroke], None]] = {
    (Brush.COMB, False): BrushedGroom.comb,
    (Brush.COMB, True): BrushedGroom.smooth,
    (Brush.CUT, False): BrushedGroom.cut,
    (Brush.CUT, True): BrushedGroom.lengthen,
}

_BUTTONS = {
    Brush.COMB.name: ("mdi6.brush-variant", "Comb", "Comb the selected hair with the mouse; Shift smooths."),
    Brush.CUT.name: ("mdi6.content-cut", "Cut", "Cut the selected hair with the mouse; Shift lengthens."),
}


@dataclass(slots=True)
class _Stroke:
    node: NodeId
    system: HairSystem
    strands: Strands
    brushed: BrushedGroom
    verb: str
    act: Callable[[BrushedGroom, BrushStroke], None]
    place: QPointF


class BrushTool(Tool):
    """A mode of the viewport: while a brush is active, hair is shown in its groom and the left button brushes.

    Each stroke is one undo entry. `radius` is in [px], `strength` from 0 to 1.
    """

    is_over = True

    def __init__(self, context: EditorContext) -> None:
        self._context, self._document = context, context.document
        self.brush: Brush | None = None
        self.radius, self.strength, self.mirror = 40.0, 1.0, False
        self._stroke: _Stroke | None = None
        self._shown: HairSystem | None = None
        self._place: QPointF | None = None
        self._reported: tuple[object, ...] = ()
        self._ring = BrushRing(context.viewport)
        self._ring.given_up.connect(lambda: self.take(None))
        self._ring.turned.connect(self.widen)
        self.bar = BrushBar(_BUTTONS)
        self.bar.chosen.connect(lambda name: self.take(Brush[name] if name else None))
        self.bar.radius_changed.connect(self.set_radius)
        self.bar.strength_changed.connect(self._set_strength)
        self.bar.mirrored.connect(self._set_mirror)
        self.bar.reset_requested.connect(self.reset)
        context.document.selection_changed.connect(self._on_selected)

    @property
    def cursor(self) -> Qt.CursorShape | None:
        return Qt.CursorShape.CrossCursor if self.brush else None

    # --- the brush ------------------------------------------------------------------------------------

    def toggle(self, brush: Brush) -> None:
        self.take(None if self.brush is brush else brush)

    def take(self, brush: Brush | None) -> None:
        """Starts a brush, and shows the selected hair in its groom; None ends the mode."""
        self.end(cancel=True)
        node, system = self._subject()
        if brush is not None and (node is None or system is None):
            self._context.hint("Select hair to comb or cut it")
            brush = None
        self.brush = brush
        self._show_groom(system if brush is not None else None)
        if brush is None:
            if not self._ring.isHidden():
                self._context.hint("")
            self._ring.hide()
            self._context.viewport.unsetCursor()
        else:
            self._ring.draw(self._place, self.radius)
            self._context.hint(self._hint())
        self.refresh()

    def widen(self, notches: float) -> None:
        if self.brush is not None:
            self.set_radius(self.radius * STEP**notches)

    def set_radius(self, radius: float) -> None:
        self.radius = min(max(radius, RADIUS_LEAST), RADIUS_MOST)
        if self.brush is not None:
            self._ring.draw(self._place, self.radius, held=self._stroke is not None)
            self._context.hint(self._hint())
        self.refresh()

    def _set_strength(self, strength: float) -> None:
        self.strength = strength
        self.refresh()

    def _set_mirror(self, on: bool) -> None:
        self.mirror = on
        self.refresh()

    def reset(self) -> None:
        node = self._context.selected("hair")
        if node is not None and self._is_groomed(node):
            self._document.set_as_one(f"Reset the groom of {node.name}", {ParamRef(node.id, "hair", "groom"): ()})

    def refresh(self) -> None:
        node = self._context.selected("hair")
        edited = node is not None and self._is_groomed(node)
        name = self.brush.name if self.brush is not None else ""
        shown = name, self.radius, self.strength, self.mirror, edited
        if shown != self._reported:
            self._reported = shown
            self.bar.show_brush(name, self.radius, self.strength, mirror=self.mirror, edited=edited)

    @staticmethod
    def _is_groomed(node: Node) -> bool:
        assert isinstance(node.settings, HairSettings)
        return bool(node.settings.groom)

    def _subject(self) -> tuple[Node | None, HairSystem | None]:
        """Returns node and system of the selected hair; None unless it is visible, unlocked and ready."""
        node = self._context.selected("hair")
        if node is None or node.id not in self._document.scene.shown & self._document.scene.unlocked:
            return None, None
        system = self._context.system(node.id)
        return node, system if isinstance(system, HairSystem) and system.is_ready else None

    def _on_selected(self, *_: object) -> None:
        node, system = self._subject()
        if self.brush is not None and (node is None or system is not self._shown):
            self.take(self.brush if node is not None else None)
        self.refresh()

    def _show_groom(self, system: HairSystem | None) -> None:
        if system is self._shown:
            return
        with self._context.viewport.gl_current():
            for hair, on in ((self._shown, False), (system, True)):
                if hair is not None:
                    hair.show_groom(on)
        self._shown = system
        self._context.viewport.update()

    # --- the mouse ------------------------------------------------------------------------------------

    def _hint(self) -> str:
        if self.brush is None:
            return ""
        verb, other = self.brush.value
        size = f"[ and ]: radius {self.radius:.0f} px"
        return f"Drag: {verb.lower()} · Shift+Drag: {other.lower()} · {size} · Escape: done"

    def hover(self, position: QPointF | None) -> str:
        self._place = position
        if self.brush is not None:
            self._ring.draw(position, self.radius)
        return self._hint()

    def press(self, position: QPointF, shift: bool) -> bool:  # noqa: ARG002
        return self.brush is not None

    def begin(self, position: QPointF, shift: bool) -> bool:
        node, system = self._subject()
        if self.brush is None or node is None or system is None or system.strands is None:
            return self.brush is not None
        assert system.grown is not None
        strands = system.strands
        brushed = BrushedGroom(strands.growth.guides, LONGEST * system.grown.lengths)
        verb, act = self.brush.value[int(shift)], _ACTS[self.brush, shift]
        self._stroke = _Stroke(node.id, system, strands, brushed, verb, act, position)
        self._look()
        self._ring.draw(position, self.radius, held=True)
        return True

    def drag(self, position: QPointF) -> None:
        stroke = self._stroke
        if stroke is None:
            return
        if stroke.system.strands is not stroke.strands:  # the strands were generated again
            self._stroke = None
            return
        if self._context.playback.playhead.playing:
            self._look()
        stroke.act(stroke.brushed, self._dab(stroke.place, position))
        stroke.place = self._place = position
        with self._context.viewport.gl_current():
            stroke.strands.preview(stroke.brushed.groom)
        self._ring.draw(position, self.radius, held=True)
        self._context.viewport.update()

    def end(self, *, cancel: bool = False) -> None:
        stroke, self._stroke = self._stroke, None
        if stroke is None or stroke.system.strands is not stroke.strands or not self._document.scene.has(stroke.node):
            return
        strands, grown = stroke.strands, stroke.system.grown
        assert grown is not None
        self._ring.draw(self._place, self.radius)
        edits = edits_of(grown, stroke.brushed.groom, strands.growth.surface)
        node = self._document.scene.node(stroke.node)
        assert isinstance(node.settings, HairSettings)
        if cancel or edits == node.settings.groom:
            with self._context.viewport.gl_current():
                strands.preview(strands.growth.guides)
            self._context.viewport.update()
        else:
            self._document.set_as_one(f"{stroke.verb} {node.name}", {ParamRef(node.id, "hair", "groom"): edits})
        self.refresh()

    def click(self, position: QPointF, shift: bool) -> bool:
        if self.begin(position, shift):
            self.drag(position)
            self.end()
            return True
        return False

    def _dab(self, start: QPointF, end: QPointF) -> BrushStroke:
        camera, size = self._context.picker.camera, self._context.picker.size
        return BrushStroke(camera, size, start.toTuple(), end.toTuple(), self.radius, self.strength)

    def _look(self) -> None:
        """Reads the current frames of the roots, and mirrors them for the other side."""
        stroke = self._stroke
        assert stroke is not None
        strands = stroke.strands
        with self._context.viewport.gl_current():
            frames = RootFrames(*strands.seen())
        sides, cover = [frames], self._cover(stroke.node)
        if self.mirror:
            dab = self._dab(stroke.place, stroke.place)
            distances = dab.distances(dab.pixels(frames.places)[0])
            distances[~dab.faces(frames.places, frames.frames[:, :, 2])] += 1e6
            growth = strands.growth
            sides.append(mirrored(growth.guides, growth.surface, frames, int(np.argmin(distances))))
        stroke.brushed.look(cover, *sides)

    def _cover(self, node_id: NodeId) -> Occlusion | None:
        """Returns depths of the characters, which may occlude the hair; None for hair without a parent."""
        engine, scene = self._context.client.engine, self._document.scene
        if engine is None or not scene.node(node_id).attachment.node:
            return None
        bodies = [node.id for node in scene.nodes if node.settings.is_character and node.id in scene.shown]
        width, height = self._context.picker.size
        with self._context.viewport.gl_current():
            _, depths, _ = engine.layers(self._context.picker.camera, (round(width), round(height)), bodies)
        return Occlusion(depths)
