import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt

from sinew.app.document.history import Gesture
from sinew.app.kinds.emitter.widgets import EmitterOverlay, Population, PopulationBar
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Command, Panel, Tool
from sinew.sim.kinds.emitter.handles import EmitterHandles, KnobGrab, KnobKind, dragged_setting
from sinew.sim.kinds.emitter.settings import SURFACE_SOURCES, EmitterSettings
from sinew.sim.scene.handles import HandleView
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.widgets.inspector.head import head_button

_SEED_MAX = 2**31 - 1
_NAMES = {
    KnobKind.SPEED: "speed",
    KnobKind.CONE: "cone angle",
    KnobKind.RADIUS: "radius of the source",
    KnobKind.SIZE: "size of the source",
}
_FLAT = 1e-12  # determinant below which a transform cannot be inverted for dragging


class EmitterPanel(Panel):
    mouse = (("Speed and shape of an emitter", "Left drag on a knob of the selected emitter"),)

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._needed = 0
        self.head = PopulationBar()
        self.seed_button = head_button("seed", "Reseed", "Use another random seed for the same effect.")
        self.seed_button.clicked.connect(self.reseed)
        self.buttons = (self.seed_button,)
        self.tool = EmitterTool(context)
        self.tools = (self.tool,)
        tip = "Give the selected emitter another random seed."
        self.commands = (Command("emitter.reseed", "Re&seed Emitter", tip, self.reseed, ("Alt+R",),
                                 lambda: context.reason("emitter")),)  # fmt: skip

    def follow(self, node: Node | None, system: Any) -> None:
        emitter = system.emitter if node is not None and system is not None else None
        if node is None or emitter is None:
            self.head.show_status(Population())
            return
        simulated = node.id in self._context.document.scene.simulated
        self._needed = system.needed_capacity
        self.head.show_status(
            Population(
                emitter.alive if simulated else 0,
                emitter.spawned_per_second,
                emitter.settings.capacity,
                self._needed,
                system.warning,
            )
        )

    def note(self, node: Node, system: Any) -> str:
        assert isinstance(node.settings, EmitterSettings)
        scene, carrier = self._context.document.scene, node.attachment.node
        on_skin, is_missing = node.settings.source in SURFACE_SOURCES, carrier and not scene.has(carrier)
        if on_skin and not carrier:
            return "Choose the model whose surface emits."
        if is_missing and on_skin:
            return "The model whose surface emits is no longer in the scene: choose another one."
        if is_missing:
            return "Its parent is no longer in the scene: it uses its own transform only."
        if system is None:
            return "Compiling shaders…"
        return "" if system.is_ready else "Loading its model…"

    def remedy(self, node: Node, system: Any) -> Command | None:  # noqa: ARG002
        emitter, needed = system.emitter, system.needed_capacity
        if emitter is None or needed <= emitter.settings.capacity:
            return None
        text = f"Set capacity to {needed:,}"
        return Command("", text, "Allocate enough particles for the full lifetime of each.", self.make_room)

    def make_room(self) -> None:
        """Sets the capacity with which every particle lives its whole life."""
        node = self._context.selected("emitter")
        if node is not None:
            self._context.document.set_value(ParamRef(node.id, node.kind, "capacity"), self._needed)

    def reseed(self, *_: object) -> None:
        node = self._context.selected("emitter")
        if node is not None:
            assert isinstance(node.settings, EmitterSettings)
            self._context.edits.set_all(f"Reseed {node.name}", {node.id: {"seed": other_seed(node.settings.seed)}})


def other_seed(seed: int) -> int:
    return (seed + random.randrange(1, _SEED_MAX)) % _SEED_MAX


@dataclass(frozen=True, slots=True)
class _KnobDrag:
    node: NodeId
    handles: EmitterHandles
    hold: KnobGrab
    press: tuple[float, float]
    gesture: Gesture


class EmitterTool(Tool):
    """Handles of the selected emitter; each drag is one undo entry."""

    is_over = True
    cursor = Qt.CursorShape.PointingHandCursor

    def __init__(self, context: EditorContext) -> None:
        self._context, self._document, self._viewport = context, context.document, context.viewport
        document, client, viewport = context.document, context.client, context.viewport
        self._overlay = EmitterOverlay(viewport)
        self._drag: _KnobDrag | None = None
        self._hovered: KnobGrab | None = None
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        document.view_state_changed.connect(self.refresh)
        client.drawn.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        held = self._drag.hold if self._drag else self._hovered
        self._overlay.show_handles(self._handles(), held.knob if held else None)

    def hover(self, position: QPointF | None) -> str:
        handles = self._handles() if position is not None else None
        hold = handles.hit((position.x(), position.y())) if handles and position is not None else None
        if hold != self._hovered:
            self._hovered = hold
            self.refresh()
        return f"Drag: {_text(handles, hold)} · Escape: cancel" if handles and hold else ""

    def press(self, position: QPointF, _shift: bool) -> bool:
        return bool(self.hover(position))

    def begin(self, position: QPointF, _shift: bool) -> bool:
        node, handles = self._context.selected("emitter"), self._handles()
        press = position.x(), position.y()
        hold = handles.hit(press) if handles else None
        if node is None or handles is None or hold is None:
            return False
        name = _NAMES[handles.knobs[hold.knob].kind]
        gesture = self._document.new_gesture(f"Change the {name} of {node.name}")
        self._drag = _KnobDrag(node.id, handles, hold, press, gesture)
        self.refresh()
        return True

    def drag(self, position: QPointF) -> None:
        held = self._drag
        if held is not None and self._document.scene.has(held.node):
            values = dragged_setting(held.handles, held.hold, held.press, (position.x(), position.y()))
            refs = {ParamRef(held.node, "emitter", name): value for name, value in values.items()}
            self._document.set_values(refs, held.gesture)
            now = self._handles()
            text = _text(now, held.hold)
            self._context.hint(f"{text[:1].upper()}{text[1:]} · Escape: cancel" if text else "")

    def end(self, *, cancel: bool = False) -> None:
        if self._drag is None:
            return
        self._document.end_gesture(self._drag.gesture, cancel=cancel)
        self._drag = None
        self.refresh()

    def _handles(self) -> EmitterHandles | None:
        node, engine = self._context.selected("emitter"), self._context.client.engine
        if node is None or node.id not in self._context.document.scene.shown or engine is None:
            return None
        node = self._document.evaluated.node(node.id)
        assert isinstance(node.settings, EmitterSettings)
        placed = engine.views.places.world_from_node(node)
        if abs(np.linalg.det(placed[:3, :3])) < _FLAT:
            return None
        size = self._viewport.size_f
        view = HandleView(self._document.view_state.camera, (size.width(), size.height()))
        return EmitterHandles(view, placed, node.settings)


def _text(handles: EmitterHandles | None, hold: KnobGrab) -> str:
    """Returns name and value of the setting that a handle changes."""
    if handles is None or hold.knob >= len(handles.knobs):
        return ""
    knob, settings = handles.knobs[hold.knob], handles.settings
    value = {
        KnobKind.SPEED: f"{settings.speed:.3g} m/s",
        KnobKind.CONE: f"{settings.cone_angle:.3g}°",
        KnobKind.RADIUS: f"{settings.source_radius:.3g} m",
        KnobKind.SIZE: f"{settings.source_size[knob.axis]:.3g} m",
    }[knob.kind]
    return f"{_NAMES[knob.kind]} {value}"
