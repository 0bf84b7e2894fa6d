from PySide6.QtCore import QPointF

from sinew.app.kinds.drag_tool import DragTool
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.scene import NodeId


class HairTool(DragTool):
    """Drag tool of strands; a click selects a strand and its node."""

    def __init__(self, context: EditorContext) -> None:
        super().__init__(context, "hair")
        self._hint = ""

    def hint(self) -> str:
        return self._hint

    def highlight(self, particle: ParticleRef | None) -> None:
        super().highlight(particle)
        texts = self.texts_of(particle) if particle is not None else ()
        self._hint = "{} · {} · strain {} · bend {} · Drag: pull · Click: select".format(*texts) if texts else ""

    def texts_of(self, particle: ParticleRef) -> tuple[str, ...]:
        """Returns number, length, strain and bend of a guide; () if it does not exist. Waits for the GPU."""
        strands = self._strands(particle.node)
        if strands is None or particle.particle >= strands.growth.guides.count * strands.settings.knots:
            return ()
        guide = particle.particle // strands.settings.knots
        with self._context.viewport.gl_current():
            length, stretch, bend = strands.shape_of(guide)
        return f"Guide {guide}", f"{length:.3g} m", f"{100.0 * stretch:+.1f} %", f"{bend:.2f} rad"

    def _strands(self, node_id: NodeId) -> Strands | None:
        return getattr(self._context.system(node_id), "strands", None)

    def click(self, position: QPointF, shift: bool) -> bool:
        particle = self.particle_at(position)
        if particle is None or particle.node not in self._context.document.scene.unlocked:
            return False
        if shift:
            self.marks.toggle(particle)
        else:
            self.marks.choose({particle.node: (particle.particle,)})
            self._context.edits.select(particle.node)
        return True

    def deselect(self) -> None:
        self.marks.choose({})
