"""Shells: fur as copies of the skin, whose vertices follow strands."""

import math

import numpy as np

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.program import Program
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.hair.drawn import DrawnStrands
from sinew.sim.kinds.hair.records import SHELL, surface_records
from sinew.sim.kinds.hair.settings import SHELLS_MIN, HairSettings
from sinew.sim.kinds.hair.surface_coverage import SurfaceCoverage
from sinew.sim.owner import Owner
from sinew.sim.render.items import DrawChunk

LIFT = 0.004
"""Distance of the undercoat in front of the skin, as a fraction of the length of the hair."""


class Shells(Owner):
    """Copies of the skin.

    Args:
        coverage: The surface to copy.
        knots: Points of the strands at its vertices.

    Attributes:
        strands: One at each vertex.
        triangles: Number of triangles of one copy.
        own: Texels of a surface that belongs to no character, or None.
    """

    def __init__(self, context: Context, library: ShaderLibrary, coverage: SurfaceCoverage, knots: int) -> None:
        self.strands = self.owns(DrawnStrands.of(context, library, coverage.strands, knots))
        self.triangles = len(coverage.triangles)
        self.own: TexelBuffer | None = None
        if coverage.is_own:
            self.own = self.owns(TexelBuffer(context, surface_records(coverage.surface), label="shells"))
        records = np.zeros(len(coverage.rest), SHELL)
        records["rest"], records["density"] = coverage.rest, coverage.density
        # A cell is as wide as strands are apart where most of them grow.
        mean = float((coverage.density**2).sum() / max(float(coverage.density.sum()), 1e-9))
        self._spacing = 0.7 / max(mean, 1e-6) ** 0.5
        grown = coverage.density[coverage.density > 0.0]
        self._usual = float(np.median(grown)) if len(grown) else 1.0
        vertices = self.owns(Buffer(context, records, label="shells"))
        indices = self.owns(Buffer(context, coverage.triangles.ravel(), label="shells"))
        self._array = self.owns(VertexArray(context, [Stream(vertices)], indices=indices, label="shells"))

    def copies(self, settings: HairSettings, pixels: float, stride: int) -> int:
        """Number of copies to draw: fewer for strands that are short on the screen [px], and for drafts."""
        return max(min(settings.shells // stride, math.ceil(pixels)), SHELLS_MIN)

    def draw(self, program: Program, settings: HairSettings, pixels: float, part: DrawChunk) -> None:
        """Draws some copies, the outermost first; `pixels` is the length of the strands on the screen [px]."""
        instances = self.triangles * settings.shells
        wanted = -(-instances // part.stride)
        copies = self.copies(settings, pixels, part.stride)
        wide = 2.0 * max(settings.root_radius, settings.tip_radius)
        program["u_cell"] = max(self._spacing, wide)
        for number in range(copies):
            if not part.first <= number * wanted // copies < part.first + part.count:
                continue
            share = 1.0 - (number + 0.5) / copies
            radius = settings.root_radius + share * (settings.tip_radius - settings.root_radius)
            program["u_height"] = (share, 1.0 / copies, radius)
            reaching = min((1.0 - share) / max(0.5 * settings.length_spread, 1e-3), 1.0)
            beyond = 0.5 * (number + 1) * (radius + settings.tip_radius) / max(radius, 1e-9)
            program["u_strand"] = (reaching, max(beyond, 1.0), settings.colour_spread)
            self._array.draw(program)

    def draw_undercoat(self, program: Program, settings: HairSettings) -> None:
        """Draws one copy on the skin, in the colours of the roots."""
        program["u_cell"] = max(0.25 / self._usual**0.5, 2.0 * settings.root_radius)
        lift = LIFT * settings.length + 2.0 * settings.root_radius
        program["u_undercoat"] = (settings.undercoat, 3.0 / self._usual, lift)
        self._array.draw(program)
