"""Heat: the guides as lines in the colours of how far another solver brought them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.comparison_solver import ComparisonSolver
from sim.kinds.hair.highlights import KNOT
from sim.kinds.hair.settings import HairSettings
from sim.kinds.hair.strands import Strands
from sim.render.detail_pass import LinesItem
from sim.render.items import WHOLE, DrawChunk, Stage
from sim.render.pass_context import PassContext
from sim.scene.scene import Node

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
