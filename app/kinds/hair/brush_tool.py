import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from sinew.app.kinds.brush_tool import BrushTarget, BrushTool, Edit, occlusion
from sinew.app.kinds.brush_widgets import BrushBar
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.hair.brush import BrushedGroom, RootFrames, mirrored
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.hair.shaping import edits_of
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.scene.brush import BrushStroke
from sinew.sim.scene.scene import Node, ParamRef

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


class HairBrushTool(BrushTool[Brush]):
    """Brushes of hair, which is shown in its groom while they are active."""

    def __init__(self, context: EditorContext) -> None:
        bar = BrushBar(_BUTTONS, "Reset the groom: remove all combing and cutting.")
        super().__init__(context, "hair", bar, Brush, "Select hair to comb or cut it")

    def is_brushable(self, system: Any) -> bool:
        return isinstance(system, HairSystem) and system.is_ready

    def cleared(self, node: Node) -> Edit | None:
        assert isinstance(node.settings, HairSettings)
        text = f"Reset the groom of {node.name}"
        return (text, {ParamRef(node.id, "hair", "groom"): ()}) if node.settings.groom else None

    def show(self, system: HairSystem, *, shown: bool) -> None:
        system.show_groom(shown)

    def target(self, node: Node, system: HairSystem, brush: Brush, *, shift: bool) -> BrushTarget | None:
        return _GroomTarget(self._context, node, system, brush, shift) if system.strands is not None else None


class _GroomTarget(BrushTarget):
    def __init__(self, context: EditorContext, node: Node, system: HairSystem, brush: Brush, shift: bool) -> None:
        assert system.strands is not None
        assert system.grown is not None
        self._context, self.node, self._system, self._strands = context, node.id, system, system.strands
        self._verb, self._act = brush.value[int(shift)], _ACTS[brush, shift]
        self._brushed = BrushedGroom(system.strands.growth.guides, LONGEST * system.grown.lengths)

    @property
    def is_current(self) -> bool:
        return self._system.strands is self._strands

    def look(self, dab: BrushStroke, *, mirror: bool) -> None:
        growth, frames = self._strands.growth, RootFrames(*self._strands.seen())
        attached = self._context.document.scene.node(self.node).attachment.node
        sides, cover = [frames], occlusion(self._context) if attached else None
        if mirror:
            distances = dab.distances(dab.pixels(frames.places)[0])
            distances[~dab.faces(frames.places, frames.frames[:, :, 2])] += 1e6
            sides.append(mirrored(growth.guides, growth.surface, frames, int(np.argmin(distances))))
        self._brushed.look(cover, *sides)

    def brush(self, dab: BrushStroke) -> None:
        self._act(self._brushed, dab)
        self._strands.preview(self._brushed.groom)

    def edit(self, node: Node) -> Edit | None:
        assert isinstance(node.settings, HairSettings)
        assert self._system.grown is not None
        edits = edits_of(self._system.grown, self._brushed.groom, self._strands.growth.surface)
        text = f"{self._verb} {node.name}"
        return None if edits == node.settings.groom else (text, {ParamRef(node.id, "hair", "groom"): edits})

    def restore(self) -> None:
        self._strands.preview(self._strands.growth.guides)
