import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.program import Program
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.hair.growth import Children, SurfaceCoverage
from sinew.sim.kinds.hair.records import (
    CHILD,
    SHELL,
    ChildBuffers,
    packed_children,
    strand_record,
    strand_texels,
    surface_records,
    upload_children,
)
from sinew.sim.kinds.hair.settings import SHELLS_MIN, HairSettings
from sinew.sim.owner import Owner
from sinew.sim.render.items import DrawChunk

AT_ONCE = 16_384


class DrawnStrands(Owner):
    """Rendered strands in the world, interpolated between the guides on the GPU.

    Args:
        buffers: Roots, guides and space for the points; owned from now on unless borrowed.
        knots: Points per strand.
        plain: Without clumps, curls and noise.

    Attributes:
        version: Changes with every `expand`.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, buffers: ChildBuffers, knots: int, *, plain: bool = False
    ) -> None:
        self._context, self.count, self.knots, self._is_plain = context, buffers.count, knots, plain
        self.buffers = buffers
        self._strands = self.owns(buffers.strands)
        if not buffers.is_borrowed:
            self.owns(buffers.table)
        self._source = self.owns(VertexArray(context, [Stream(buffers.table)], label="hair children"))
        record = strand_record(knots)
        self.texels = self.owns(BufferTexture(context, self._strands, "rgba32f"))
        self._detail: BufferTexture | None = None
        if buffers.details is not None:
            if not buffers.is_borrowed:
                self.owns(buffers.details)
            self._detail = self.owns(BufferTexture(context, buffers.details, "rgba32f"))
        defines = {"KNOTS": knots, "DETAILS": self._detail is not None}
        self._expand = Kernel(library, "hair/expand.glsl", record, inputs=[CHILD], defines=defines, records=self.count)
        self._colours: TexelBuffer | None = None
        self._points: VertexArray | None = None
        self.version = self._made = self._wanted = 0
        self._values: dict[str, object] = {}

    @classmethod
    def of(cls, context: Context, library: ShaderLibrary, children: Children, knots: int) -> "DrawnStrands":
        buffers = finish(upload_children(context, packed_children(children), knots))
        return cls(context, library, buffers, knots, plain=True)

    def expand(
        self, state: BufferTexture, roots: BufferTexture, surface: Mapping[str, object], settings: HairSettings
    ) -> None:
        """Updates the strands from the guides; `surface` are the uniforms of shaders/hair/surface.glsl.

        Computes as many strands as the last frame needed, up to `AT_ONCE`; others follow on demand.
        """
        form = (settings.clump, 1.0, settings.noise)
        values = {"u_state": state, "u_roots": roots, "u_form": (0.0,) * 3 if self._is_plain else form}
        if self._detail is not None:
            values["u_details"] = self._detail
        self._values = values | dict(surface)
        self.version += 1
        wanted, self._made, self._wanted = self._wanted, 0, 0
        self._make(min(wanted, AT_ONCE))

    def need(self, count: int) -> None:
        """Computes at least the first `count` strands; a framebuffer must be bound."""
        self._wanted = max(self._wanted, count)
        self._make(count)

    @property
    def points(self) -> VertexArray:
        if self._points is None:
            knots = Stream(self._strands, dtype=np.dtype([("position", "f4", 4)]))
            self._points = self.owns(VertexArray(self._context, [knots], label="hair knots"))
        return self._points

    @property
    def colours(self) -> TexelBuffer:
        if self._colours is None:
            self._colours = self.owns(
                TexelBuffer(self._context, self._strands.size, usage="copy", label="hair colours")
            )
        return self._colours

    def shade(self, kernel: Kernel, first: int, count: int) -> None:
        """Shades strands; `first` must be a multiple of `transform_feedback.GROUP`, `kernel` has its other uniforms."""
        self.need(first + count)
        kernel.program["u_strands"] = self.texels
        kernel.run(self._source, self.colours.buffer, padded_count(count), first)

    def positions(self) -> npt.NDArray[np.float32]:
        """Returns world positions [m], shape (N, K, 3); waits for the GPU."""
        return self.knot_texels()[..., :3]

    def knot_texels(self) -> npt.NDArray[np.float32]:
        """Returns outputs of shaders/hair/expand.glsl, shape (N, K, 4); waits for the GPU."""
        self._make(self.count)
        return strand_texels(self._strands.read(), self.count)

    def positions_of(self, strand: int) -> npt.NDArray[np.float32]:
        """Returns world positions of a strand [m], shape (K, 3); waits for the GPU."""
        size = self._strands.dtype.itemsize
        return strand_texels(self._strands.read(offset=strand * size, count=1), 1)[0, :, :3]

    def _make(self, count: int) -> None:
        padded = padded_count(count)
        if padded > self._made:
            self._expand.run(self._source, self._strands, padded - self._made, self._made, **self._values)
            self._made = padded


LIFT = 0.004
"""Distance of the undercoat in front of the skin, as a fraction of the length of the hair."""


class Shells(Owner):
    """Fur as copies of the skin.

    Args:
        knots: Points of the strands at the vertices.

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
        return max(min(settings.shells // stride, math.ceil(pixels)), SHELLS_MIN)

    def draw(self, program: Program, settings: HairSettings, pixels: float, part: DrawChunk) -> None:
        """Draws the copies, the outermost first; `pixels` is the length of the strands on the screen."""
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
        program["u_cell"] = max(0.25 / self._usual**0.5, 2.0 * settings.root_radius)
        lift = LIFT * settings.length + 2.0 * settings.root_radius
        program["u_undercoat"] = (settings.undercoat, 3.0 / self._usual, lift)
        self._array.draw(program)
