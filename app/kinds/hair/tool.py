"""Mouse tool of hair: highlights, drags and selects strands."""

from PySide6.QtCore import QPointF, QTimer

from app.editor.editor_context import EditorContext
from app.editor.particle_drag import ParticleDrag, ParticlePicker
from sim.kinds.contract import Tool
from sim.kinds.hair.strands import Strands
from sim.render.render_view import ParticleRef
from sim.scene.scene import NodeId

HOVER_MS = 30
"""Interval of picking while the mouse moves [ms]; picking waits for the GPU."""


class HairTool(Tool):
    """Drags strands; a click selects a strand and its node."""

    def __init__(self, context: EditorContext) -> None:
        self._context, self._marks = context, context.marks
        self._picker = ParticlePicker(context, "hair")
        self._pull = ParticleDrag(context, self._picker)
        self._place: QPointF | None = None
        self._hint = ""
        self._timer = QTimer(context.viewport, singleShot=True, interval=HOVER_MS)
        self._timer.timeout.connect(self.look)

    # --- hover ----------------------------------------------------------------------------------------

    def hover(self, position: QPointF | None) -> str:
        self._place = position
        if position is None:
            self._timer.stop()
            self._point_at(None)
        elif not self._timer.isActive() and self._picker.is_any_shown:
            self._timer.start()
        return self._hint

    def look(self) -> None:
        """Highlights the guide under the mouse at once."""
        if self._place is not None and not self._pull.is_pressed:
            self._point_at(self._picker.particle(self._place))
            if self._hint:
                self._context.hint(self._hint)

    def _point_at(self, particle: ParticleRef | None) -> None:
        self._marks.point_at("hair", particle)
        texts = self.texts_of(particle) if particle is not None else ()
        self._hint = "{} · {} · strain {} · bend {} · Drag: pull · Click: select".format(*texts) if texts else ""

    def texts_of(self, particle: ParticleRef) -> tuple[str, ...]:
        """Texts of number, length, strain and bend of a guide; () if there is none.  Waits for the GPU."""
        strands = self._strands(particle.node)
        if strands is None or particle.particle >= strands.growth.guides.count * strands.settings.knots:
            return ()
        guide = particle.particle // strands.settings.knots
        with self._context.viewport.gl_current():
            length, stretch, bend = strands.shape_of(guide)
        return f"Guide {guide}", f"{length:.3g} m", f"{100.0 * stretch:+.1f} %", f"{bend:.2f} rad"

    def _strands(self, node_id: NodeId) -> Strands | None:
        return getattr(self._context.system(node_id), "strands", None)

    # --- pulling and choosing -------------------------------------------------------------------------

    def press(self, position: QPointF, shift: bool) -> bool:
        return not shift and self._pull.press(position)

    def begin(self, position: QPointF, shift: bool) -> bool:  # noqa: ARG002
        return self._pull.begin()

    def drag(self, position: QPointF) -> None:
        self._pull.drag(position)

    def end(self, *, cancel: bool = False) -> None:  # noqa: ARG002
        self._pull.end()

    def click(self, position: QPointF, shift: bool) -> bool:
        particle = self._picker.particle(position)
        if particle is None or particle.node not in self._context.document.scene.unlocked:
            return False
        if shift:
            self._marks.toggle(particle)
        else:
            self._marks.choose({particle.node: (particle.particle,)})
            self._context.edits.select(particle.node)
        return True

    def deselect(self) -> None:
        self._marks.choose({})
