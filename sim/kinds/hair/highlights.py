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
"""Colours of the guide under the mouse and of selected ones, sRGB."""

MOST = 16

SPAN = 0.25
"""Distance at the upper end of the ramp, as a fraction of the length of the hair."""

KNOT = record("HairKnot", position=(4, "f4"))
_COLOURED = np.dtype([("position", "<f4", (3,)), ("scalar", "<f4")])


def distance_span(settings: HairSettings) -> float:
    """Returns the distance at the upper end of the ramp [m]."""
    return SPAN * settings.length


class GuidePoints(Owner):
    def __init__(
        self, context: Context, library: ShaderLibrary, guides: int, knots: int, *, is_compared: bool = False
    ) -> None:
        self.shape = (guides, knots)
        self._count = padded_count(guides * knots)
        self._buffer = self.owns(Buffer(context, KNOT.zeros(self._count), usage="copy", label="guides"))
        defines = {"KNOTS": knots, "DISTANCE": is_compared}
        self._kernel = Kernel(library, "hair/trace.glsl", KNOT, defines=defines, records=self._count)
        first = (np.arange(guides)[:, None] * knots + np.arange(knots - 1)).astype(np.uint32)
        indices = self.owns(Buffer(context, np.stack([first, first + 1], axis=-1).ravel(), label="guides"))
        streams = [Stream(self._buffer, dtype=_COLOURED if is_compared else KNOT.dtype)]
        self.points = self.owns(VertexArray(context, streams, label="guides"))
        self.lines = self.owns(VertexArray(context, streams, indices=indices, label="guides"))

    def update(self, strands: Strands, first: int, compared: ComparisonSolver | None = None) -> None:
        uniforms: dict[str, object] = {"u_state": strands.shown_state, "u_roots": strands.roots, "u_guide": first}
        if compared is not None:
            uniforms["u_other"] = compared.strands.state.texture
        self._kernel.run(None, self._buffer, self._count, **uniforms)

    def read(self) -> npt.NDArray[np.float32]:
        """Returns positions [m] and distances [m], shape (G, K, 4); waits for the GPU."""
        guides, knots = self.shape
        values: npt.NDArray[np.float32] = self._buffer.read(np.float32)[: guides * knots * 4]
        return values.reshape(guides, knots, 4)


@dataclass(eq=False, kw_only=True)
class GuideLines(LinesItem):
    """Lines of guides from number `guide` on, updated when they are drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    points: GuidePoints
    strands: Strands
    guide: int = 0
    compared: ComparisonSolver | None = None

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.points.update(self.strands, self.guide, self.compared)
        LinesItem.draw(self, stage, ctx, part)


class GuideHighlights(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._highlighted: list[GuidePoints] = []
        self._compared: GuidePoints | None = None

    def items(self, node: Node, strands: Strands, overlay: Overlay) -> list[Item]:
        knots, hovered = strands.settings.knots, overlay.hovered_particle
        guides = [particle // knots for particle in overlay.particles.get(node.id, ())][:MOST]
        highlights = [(guide, CHOSEN, -1) for guide in dict.fromkeys(guides)]
        if hovered is not None and hovered.node == node.id:
            highlights.append((hovered.particle // knots, HOVERED, hovered.particle % knots))
        items: list[Item] = []
        for index, (guide, colour, knot) in enumerate(highlights):
            if guide >= strands.growth.guides.count:
                continue
            guide_points = self._points_of(index, knots)
            vertices = guide_points.points
            line = GuideLines(
                node=node, vertices=vertices, strip=True, colour=colour, width=2.0, on_top=True, count=knots,
                points=guide_points, strands=strands, guide=guide,
            )  # fmt: skip
            items.append(line)
            if knot >= 0:
                ring = PointsItem(
                    node=node, stages=("detail",), vertices=vertices, colour=colour, size=15.0, is_ring=True,
                    on_top=True, first=knot, count=1,
                )  # fmt: skip
                items.append(ring)
        return items

    def distances(self, node: Node, strands: Strands, compared: ComparisonSolver) -> GuideLines:
        shape = (strands.growth.guides.count, strands.settings.knots)
        if self._compared is None or self._compared.shape != shape:
            self.disown(self._compared)
            self._compared = self.owns(GuidePoints(self._context, self._library, *shape, is_compared=True))
        return GuideLines(
            node=node, vertices=self._compared.lines, width=1.5, scalar_scale=1.0 / distance_span(strands.settings),
            points=self._compared, strands=strands, compared=compared,
        )  # fmt: skip

    def _points_of(self, index: int, knots: int) -> GuidePoints:
        if self._highlighted and self._highlighted[0].shape[1] != knots:
            self.disown(*self._highlighted)
            self._highlighted.clear()
        while len(self._highlighted) <= index:
            self._highlighted.append(self.owns(GuidePoints(self._context, self._library, 1, knots)))
        return self._highlighted[index]
