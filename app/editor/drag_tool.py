"""DragTool: highlights and drags particles of any kind whose system is `Draggable`."""

from PySide6.QtCore import QPointF, QTimer

from app.editor.editor_context import EditorContext
from app.editor.particle_drag import ParticleDrag, ParticlePicker
from sim.kinds.contract import Tool

HOVER_MS = 30
"""Interval of looking for the particle under the mouse, which waits for the GPU."""


class DragTool(Tool):
    """Drags particles of a kind; a `Panel` lists it in its `tools`."""

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context, self._kind = context, kind
        self._picker = ParticlePicker(context, kind)
        self._drag = ParticleDrag(context, self._picker)
        self._position: QPointF | None = None
        self._timer = QTimer(context.viewport, singleShot=True, interval=HOVER_MS)
        self._timer.timeout.connect(self._look)

    def hover(self, place: QPointF | None) -> str:
        self._position = place
        if place is None:
            self._timer.stop()
            self._context.marks.point_at(self._kind, None)
        elif not self._timer.isActive() and self._picker.is_any_shown:
            self._timer.start()
        hovered = self._context.marks.hovered_of(self._kind)
        return "" if hovered is None else f"Particle {hovered.particle} · Drag: pull"

    def _look(self) -> None:
        if self._position is not None and not self._drag.is_pressed:
            self._context.marks.point_at(self._kind, self._picker.particle(self._position))

    def press(self, place: QPointF, shift: bool) -> bool:
        return not shift and self._drag.press(place)

    def begin(self, place: QPointF, shift: bool) -> bool:  # noqa: ARG002
        return self._drag.begin()

    def drag(self, place: QPointF) -> None:
        self._drag.drag(place)

    def end(self, *, cancel: bool = False) -> None:  # noqa: ARG002
        self._drag.end()
