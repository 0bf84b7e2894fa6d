import abc
import enum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QPointF, Qt

from sinew.app.kinds.brush_widgets import RADIUS_LEAST, RADIUS_MOST, BrushBar, BrushRing
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Tool
from sinew.sim.scene.brush import BrushStroke, Occlusion
from sinew.sim.scene.scene import Node, NodeId, ParamRef

STEP = 1.15  # factor of the radius per key press or wheel notch

B = TypeVar("B", bound=enum.Enum)

Edit = tuple[str, dict[ParamRef, Any]]
"""Text and values of an undo entry."""


class BrushTarget(abc.ABC):
    """A node between press and release of a brush."""

    node: NodeId

    @property
    @abc.abstractmethod
    def is_current(self) -> bool:
        """False if the brushed object was built again."""

    @abc.abstractmethod
    def look(self, dab: BrushStroke, *, mirror: bool) -> None:
        """Reads the current positions; with a mirror the other side is brushed too."""

    @abc.abstractmethod
    def brush(self, dab: BrushStroke) -> None:
        """Changes what is under the brush, and shows it; the GL context is current."""

    @abc.abstractmethod
    def edit(self, node: Node) -> Edit | None:
        """Returns the undo entry of the stroke; None without a change."""

    @abc.abstractmethod
    def restore(self) -> None:
        """Shows the state before the stroke; the GL context is current."""


class BrushTool(Tool, Generic[B]):
    """A mode of the viewport: while a brush is active, the left button brushes the selected node of a kind.

    Each stroke is one undo entry. `radius` is in [px], `strength` from 0 to 1. The value of a brush is its action, and
    its action with Shift.
    """

    is_over = True

    def __init__(self, context: EditorContext, kind: str, bar: BrushBar, brushes: type[B], wanted: str) -> None:
        self._context, self._document, self._kind, self._wanted = context, context.document, kind, wanted
        self.brush: B | None = None
        self.radius, self.strength, self.mirror = 40.0, 1.0, False
        self._target: BrushTarget | None = None
        self._shown: Any = None
        self._start = QPointF()
        self._place: QPointF | None = None
        self._reported: tuple[object, ...] = ()
        self._ring = BrushRing(context.viewport)
        self._ring.given_up.connect(lambda: self.take(None))
        self._ring.turned.connect(self.widen)
        self.bar = bar
        self.bar.chosen.connect(lambda name: self.take(brushes[name] if name else None))
        self.bar.radius.edited.connect(self.set_radius)
        self.bar.strength.edited.connect(self._set_strength)
        self.bar.mirror.toggled.connect(self._set_mirror)
        self.bar.reset.clicked.connect(self.reset)
        context.document.selection_changed.connect(self._on_selected)

    # --- the kind -------------------------------------------------------------------------------------

    @abc.abstractmethod
    def is_brushable(self, system: Any) -> bool:
        pass

    @abc.abstractmethod
    def cleared(self, node: Node) -> Edit | None:
        """Returns the undo entry that removes the brushed edits; None without any."""

    @abc.abstractmethod
    def show(self, system: Any, *, shown: bool) -> None:
        """Shows a system as it is brushed, or as it is simulated; the GL context is current."""

    @abc.abstractmethod
    def target(self, node: Node, system: Any, brush: B, *, shift: bool) -> BrushTarget | None:
        pass

    def system_of(self, node: Node) -> Any:
        """Returns what is brushed of a node; None if it is not there yet."""
        return self._context.system(node.id)

    # --- the brush ------------------------------------------------------------------------------------

    @property
    def cursor(self) -> Qt.CursorShape | None:
        return Qt.CursorShape.CrossCursor if self.brush else None

    def toggle(self, brush: B) -> None:
        self.take(None if self.brush is brush else brush)

    def take(self, brush: B | None) -> None:
        """Starts a brush, and shows the selected node as it is brushed; None ends the mode."""
        self.end(cancel=True)
        node, system = self._subject()
        if brush is not None and (node is None or system is None):
            self._context.hint(self._wanted)
            brush = None
        self.brush = brush
        self._show(system if brush is not None else None)
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
            self._ring.draw(self._place, self.radius, held=self._target is not None)
            self._context.hint(self._hint())
        self.refresh()

    def reset(self) -> None:
        node = self._context.selected(self._kind)
        if node is not None and (edit := self.cleared(node)) is not None:
            self._document.set_as_one(*edit)

    def _set_strength(self, strength: float) -> None:
        self.strength = strength
        self.refresh()

    def _set_mirror(self, on: bool) -> None:
        self.mirror = on
        self.refresh()

    def refresh(self) -> None:
        node = self._context.selected(self._kind)
        edited = node is not None and self.cleared(node) is not None
        name = self.brush.name if self.brush is not None else ""
        shown = name, self.radius, self.strength, self.mirror, edited
        if shown != self._reported:
            self._reported = shown
            self.bar.show_brush(name, self.radius, self.strength, mirror=self.mirror, edited=edited)

    def _subject(self) -> tuple[Node | None, Any]:
        """Returns the selected node and its system; None unless it is visible, unlocked and ready."""
        node = self._context.selected(self._kind)
        if node is None or node.id not in self._document.scene.shown & self._document.scene.unlocked:
            return None, None
        system = self.system_of(node)
        return node, system if system is not None and self.is_brushable(system) else None

    def _on_selected(self, *_: object) -> None:
        node, system = self._subject()
        if self.brush is not None and (node is None or system is not self._shown):
            self.take(self.brush if node is not None else None)
        self.refresh()

    def _show(self, system: Any) -> None:
        if system is self._shown:
            return
        with self._context.viewport.gl_current():
            for one, shown in ((self._shown, False), (system, True)):
                if one is not None:
                    self.show(one, shown=shown)
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
        if self.brush is None or node is None or system is None:
            return self.brush is not None
        self._target, self._start = self.target(node, system, self.brush, shift=shift), position
        if self._target is not None:
            self._look()
            self._ring.draw(position, self.radius, held=True)
        return True

    def drag(self, position: QPointF) -> None:
        if self._target is None:
            return
        if not self._target.is_current:
            self._target = None
            return
        if self._context.playback.playhead.playing:
            self._look()
        with self._context.viewport.gl_current():
            self._target.brush(self._dab(self._start, position))
        self._start = self._place = position
        self._ring.draw(position, self.radius, held=True)
        self._context.viewport.update()

    def end(self, *, cancel: bool = False) -> None:
        target, self._target = self._target, None
        if target is not None and target.is_current and self._document.scene.has(target.node):
            self._ring.draw(self._place, self.radius)
            edit = None if cancel else target.edit(self._document.scene.node(target.node))
            if edit is not None:
                self._document.set_as_one(*edit)
            else:
                with self._context.viewport.gl_current():
                    target.restore()
            self._context.viewport.update()
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
        assert self._target is not None
        with self._context.viewport.gl_current():
            self._target.look(self._dab(self._start, self._start), mirror=self.mirror)


def occlusion(context: EditorContext, *others: NodeId) -> Occlusion | None:
    """Returns depths of the visible characters and of `others`; None before the first frame. Waits for the GPU."""
    engine, scene = context.client.engine, context.document.scene
    if engine is None:
        return None
    bodies = [node.id for node in scene.nodes if node.settings.is_character and node.id in scene.shown]
    width, height = context.picker.size
    with context.viewport.gl_current():
        _, depths, _ = engine.layers(context.picker.camera, (round(width), round(height)), [*bodies, *others])
    return Occlusion(depths)
