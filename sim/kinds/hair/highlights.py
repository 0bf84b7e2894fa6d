"""Guides drawn as lines: highlighted ones, and all in the colours of their distance to another solver."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.hair.comparison_solver import ComparisonSolver
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.owner import Owner
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.render_view import Overlay
from sinew.sim.scene.scene import Node

HOVERED, CHOSEN = (1.00, 0.90, 0.55), (0.35, 0.80, 1.00)
"""Colours of the guide under the mouse and of the selected ones, sRGB."""

MOST = 16
"""Maximum number of highlighted guides."""

KNOT = record("HairKnot", position=(4, "f4"))


class GuideTrace(Owner):
    """The points of one guide as vertices."""

    def __init__(self, context: Context, library: ShaderLibrary, knots: int) -> None:
        self.knots = knots
        self._buffer = self.owns(Buffer(context, KNOT.zeros(padded_count(knots)), usage="copy", label="guide"))
        self._kernel = Kernel(library, "hair/trace.glsl", KNOT, defines={"KNOTS": knots})
        self.points = self.owns(VertexArray(context, [Stream(self._buffer)], label="guide"))

    def follow(self, strands: Strands, guide: int) -> None:
        uniforms = {"u_state": strands.shown_state, "u_roots": strands.roots, "u_guide": guide}
        self._kernel.run(None, self._buffer, padded_count(self.knots), **uniforms)


@dataclass(eq=False, kw_only=True)
class GuideLine(LinesItem):
    """A guide, updated when it is drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    strip: bool = True
    on_top: bool = True
    trace: GuideTrace
    strands: Strands
    guide: int

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.trace.follow(self.strands, self.guide)
        LinesItem.draw(self, stage, ctx, part)


class GuideHighlights(Owner):
    """Highlights of the guides of one node."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._traces: list[GuideTrace] = []

    def items(self, node: Node, strands: Strands, overlay: Overlay) -> list[Item]:
        """Lines of the selected guides and of the one under the mouse, with a ring around its point."""
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

    def _trace(self, index: int, knots: int) -> GuideTrace:
        if self._traces and self._traces[0].knots != knots:
            self.disown(*self._traces)
            self._traces.clear()
        while len(self._traces) <= index:
            self._traces.append(self.owns(GuideTrace(self._context, self._library, knots)))
        return self._traces[index]


SPAN = 0.25
"""Distance at the upper end of the ramp, as a fraction of the length of the hair."""

_COLOURED = np.dtype([("position", "<f4", (3,)), ("scalar", "<f4")])


def heat_span(settings: HairSettings) -> float:
    """Distance at the upper end of the ramp [m]."""
    return SPAN * settings.length


class DistancePoints(Owner):
    """Segments of all guides, with a distance at each point."""

    def __init__(self, context: Context, library: ShaderLibrary, guides: int, knots: int) -> None:
        self.shape = (guides, knots)
        self._count = padded_count(guides * knots)
        self._buffer = self.owns(Buffer(context, KNOT.zeros(self._count), usage="copy", label="hair distance"))
        first = (np.arange(guides)[:, None] * knots + np.arange(knots - 1)).astype(np.uint32)
        indices = self.owns(Buffer(context, np.stack([first, first + 1], axis=-1).ravel(), label="hair distance"))
        self._kernel = Kernel(
            library, "hair/trace.glsl", KNOT, defines={"KNOTS": knots, "HEAT": True}, records=self._count
        )
        streams = [Stream(self._buffer, dtype=_COLOURED)]
        self.lines = self.owns(VertexArray(context, streams, indices=indices, label="hair distance"))

    def follow(self, strands: Strands, rival: ComparisonSolver) -> None:
        uniforms = {"u_state": strands.shown_state, "u_roots": strands.roots, "u_guide": 0}
        self._kernel.run(None, self._buffer, self._count, u_other=rival.strands.state.texture, **uniforms)

    def read(self) -> npt.NDArray[np.float32]:
        """Positions [m] and distances [m], shape (G, K, 4); waits for the GPU."""
        guides, knots = self.shape
        found: npt.NDArray[np.float32] = self._buffer.read(np.float32)[: guides * knots * 4].reshape(guides, knots, 4)
        return found


@dataclass(eq=False, kw_only=True)
class DistanceLines(LinesItem):
    """All guides, updated when they are drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    knots: DistancePoints
    strands: Strands
    rival: ComparisonSolver

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.knots.follow(self.strands, self.rival)
        LinesItem.draw(self, stage, ctx, part)


class DistanceView(Owner):
    """Draws the distance between two solvers, for one node."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._knots: DistancePoints | None = None

    def item(self, node: Node, strands: Strands, rival: ComparisonSolver) -> DistanceLines:
        shape = (strands.growth.guides.count, strands.settings.knots)
        if self._knots is None or self._knots.shape != shape:
            self.disown(self._knots)
            self._knots = self.owns(DistancePoints(self._context, self._library, *shape))
        return DistanceLines(
            node=node, vertices=self._knots.lines, width=1.5, scalar_scale=1.0 / heat_span(strands.settings),
            knots=self._knots, strands=strands, rival=rival,
        )  # fmt: skip
