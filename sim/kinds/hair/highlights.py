"""Guides that the editor marks: a line over everything, and a ring around a knot."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.comparison_solver import ComparisonSolver
from sim.kinds.hair.settings import HairSettings
from sim.kinds.hair.strands import Strands
from sim.render.items import WHOLE, DrawChunk, Item, LinesItem, PointsItem, Stage
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


SPAN = 0.25
"""Distance at the upper end of the ramp, as part of the length of the hair."""

_COLOURED = np.dtype([("position", "<f4", (3,)), ("scalar", "<f4")])


def heat_span(settings: HairSettings) -> float:
    """Distance at the upper end of the ramp [m]."""
    return SPAN * settings.length


class DistancePoints:
    """Knots of all guides with a distance each, as they are drawn.

    Attributes:
        lines: Their segments.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guides: int, knots: int) -> None:
        self.shape = (guides, knots)
        self._count = padded_count(guides * knots)
        self._buffer = Buffer(context, KNOT.zeros(self._count), usage="copy", label="hair heat")
        first = (np.arange(guides)[:, None] * knots + np.arange(knots - 1)).astype(np.uint32)
        self._indices = Buffer(context, np.stack([first, first + 1], axis=-1).ravel(), label="hair heat")
        self._nothing = VertexArray(context, label="hair heat")
        self._kernel = Kernel(
            library, "hair/trace.glsl", KNOT, defines={"KNOTS": knots, "HEAT": True}, records=self._count
        )
        self.lines = VertexArray(
            context, [Stream(self._buffer, dtype=_COLOURED)], indices=self._indices, label="hair heat"
        )

    def follow(self, strands: Strands, rival: ComparisonSolver) -> None:
        uniforms = {"u_state": strands.shown_state, "u_roots": strands.roots, "u_guide": 0}
        self._kernel.run(self._nothing, self._buffer, self._count, u_other=rival.strands.state.texture, **uniforms)

    def read(self) -> npt.NDArray[np.float32]:
        """Places [m] and distances [m], shape (G, K, 4); waits for the GPU."""
        guides, knots = self.shape
        found: npt.NDArray[np.float32] = self._buffer.read(np.float32)[: guides * knots * 4].reshape(guides, knots, 4)
        return found

    def release(self) -> None:
        for owned in (self.lines, self._nothing, self._indices, self._buffer):
            owned.release()


@dataclass(eq=False, kw_only=True)
class DistanceLines(LinesItem):
    """The guides, taken from the strands when they are drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    knots: DistancePoints
    strands: Strands
    rival: ComparisonSolver

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.knots.follow(self.strands, self.rival)
        LinesItem.draw(self, stage, ctx, part)


class DistanceView:
    """What is drawn of the distance between two solvers, for one node."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._knots: DistancePoints | None = None

    def item(self, node: Node, strands: Strands, rival: ComparisonSolver) -> DistanceLines:
        shape = (strands.growth.guides.count, strands.settings.knots)
        if self._knots is None or self._knots.shape != shape:
            self.release()
            self._knots = DistancePoints(self._context, self._library, *shape)
        return DistanceLines(
            node=node, vertices=self._knots.lines, width=1.5, scalar_scale=1.0 / heat_span(strands.settings),
            knots=self._knots, strands=strands, rival=rival,
        )  # fmt: skip

    def release(self) -> None:
        if self._knots is not None:
            self._knots.release()
        self._knots = None
