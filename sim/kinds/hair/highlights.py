"""Guides that the editor marks: a line over everything, and a ring around a knot."""

from dataclasses import dataclass

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.strands import Strands
from sim.render.detail_pass import LinesItem, PointsItem
from sim.render.items import WHOLE, DrawChunk, Item, Stage
from sim.render.pass_context import PassContext
from sim.render.render_view import Overlay
from sim.scene.scene import Node

HOVERED, CHOSEN = (1.00, 0.90, 0.55), (0.35, 0.80, 1.00)
"""Colours of the guide under the mouse and of the chosen ones, sRGB."""

MOST = 16
"""Chosen guides that are drawn at most."""

KNOT = record("HairKnot", position=(4, "f4"))


class GuideTrace:
    """The knots of one guide, for drawing.

    Attributes:
        points: Its knots as vertices.
    """

    def __init__(self, context: Context, library: ShaderLibrary, knots: int) -> None:
        self.knots = knots
        self._buffer = Buffer(context, KNOT.zeros(padded_count(knots)), usage="copy", label="marked guide")
        self._nothing = VertexArray(context, label="marked guide")
        self._kernel = Kernel(library, "hair/trace.glsl", KNOT, defines={"KNOTS": knots})
        self.points = VertexArray(context, [Stream(self._buffer)], label="marked guide")

    def follow(self, strands: Strands, guide: int) -> None:
        uniforms = {"u_state": strands.shown_state, "u_roots": strands.roots, "u_guide": guide}
        self._kernel.run(self._nothing, self._buffer, padded_count(self.knots), **uniforms)

    def release(self) -> None:
        for owned in (self.points, self._nothing, self._buffer):
            owned.release()


@dataclass(eq=False, kw_only=True)
class GuideLine(LinesItem):
    """A guide, taken from the strands when it is drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    strip: bool = True
    on_top: bool = True
    trace: GuideTrace
    strands: Strands
    guide: int

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.trace.follow(self.strands, self.guide)
        LinesItem.draw(self, stage, ctx, part)


class GuideHighlights:
    """Marks of the guides of one node."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._traces: list[GuideTrace] = []

    def items(self, node: Node, strands: Strands, overlay: Overlay) -> list[Item]:
        """The chosen guides, then the one under the mouse with a ring around its knot."""
        knots, hovered = strands.settings.knots, overlay.hovered_particle
        guides = [particle // knots for particle in overlay.particles.get(node.id, ())][:MOST]
        if not guides and (hovered is None or hovered.node != node.id):
            return []
        marked = [(guide, CHOSEN, -1) for guide in dict.fromkeys(guides)]
        if hovered is not None and hovered.node == node.id:
            marked.append((*divmod(hovered.particle, knots)[:1], HOVERED, hovered.particle % knots))
        found: list[Item] = []
        for index, (guide, colour, knot) in enumerate(marked):
            if guide < strands.growth.guides.count:
                trace = self._trace(index, knots)
                found.append(
                    GuideLine(
                        node=node, vertices=trace.points, colour=colour, width=2.0, count=knots, trace=trace,
                        strands=strands, guide=guide,
                    )
                )  # fmt: skip
                if knot >= 0:
                    found.append(
                        PointsItem(
                            node=node, stages=("detail",), vertices=trace.points, colour=colour, size=15.0,
                            is_ring=True, on_top=True, first=knot, count=1,
                        )
                    )  # fmt: skip
        return found

    def release(self) -> None:
        for trace in self._traces:
            trace.release()
        self._traces.clear()

    def _trace(self, index: int, knots: int) -> GuideTrace:
        if self._traces and self._traces[0].knots != knots:
            self.release()
        while len(self._traces) <= index:
            self._traces.append(GuideTrace(self._context, self._library, knots))
        return self._traces[index]
