"""DragTool: highlights and drags particles of any kind whose system is `Draggable`."""

from PySide6.QtCore import QPointF, QTimer

from sinew.app.editor.editor_context import EditorContext
from sinew.app.editor.particle_drag import ParticleDrag, ParticlePicker
from sinew.sim.kinds.contract import Tool
from sinew.sim.render.render_view import ParticleRef

HOVER_MS = 30
"""Interval of picking while the mouse moves [ms]; picking waits for the GPU."""


class DragTool(Tool):
    """Drags particles of a kind; a `Panel` lists it in its `tools`.

    Attributes:
        marks: The particle under the mouse, and the selected particles, of all kinds.
    """

    def __init__(self, context: EditorContext, kind: str) -> None:
        self._context, self._kind = context, kind
        self.marks = context.marks
        self._picker = ParticlePicker(context, kind)
        self._pull = ParticleDrag(context, self._picker)
        self._position: QPointF | None = None
        self._timer = QTimer(context.viewport, singleShot=True, interval=HOVER_MS)
        self._timer.timeout.connect(self.look)

    def hint(self) -> str:
        """Text for the status bar about the highlighted particle; "" for none."""
        hovered = self.marks.hovered_of(self._kind)
        return "" if hovered is None else f"Particle {hovered.particle} · Drag: pull"

    def highlight(self, particle: ParticleRef | None) -> None:
        self.marks.point_at(self._kind, particle)

    def hover(self, position: QPointF | None) -> str:
        self._position = position
        if position is None:
            self._timer.stop()
            self.highlight(None)
        elif not self._timer.isActive() and self._picker.is_any_shown:
            self._timer.start()
        return self.hint()

    def look(self) -> None:
        """Highlights the particle under the mouse at once."""
        if self._position is not None and not self._pull.is_pressed:
            self.highlight(self._picker.particle(self._position))
            if text := self.hint():
                self._context.hint(text)

    def press(self, position: QPointF, shift: bool) -> bool:
        return not shift and self._pull.press(position)

    def begin(self, position: QPointF, shift: bool) -> bool:  # noqa: ARG002
        return self._pull.begin()

    def drag(self, position: QPointF) -> None:
        self._pull.drag(position)

    def end(self, *, cancel: bool = False) -> None:  # noqa: ARG002
        self._pull.end()
