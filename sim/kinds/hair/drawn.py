"""DrawnStrands: what is drawn of some hair, strands in the world that are made of the guides on the GPU."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.task import finish
from sim.gl.texture import BufferTexture
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.growth import Children
from sim.kinds.hair.records import CHILD, ChildBuffers, packed_children, strand_record, strand_texels, upload_children
from sim.kinds.hair.settings import HairSettings

AT_ONCE = 16_384
"""Strands that are made before a picture asks for them."""


class DrawnStrands:
    """Strands in the world.

    Args:
        context: Where they live.
        library: Where programs come from.
        buffers: Their roots and guides, and room for them; to be released here.
        knots: Of each.
        plain: Whether they are drawn as the guides are, without clumps, curls and noise.

    Attributes:
        count: How many.
        buffers: As given.
        version: Another number after every `expand`.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, buffers: ChildBuffers, knots: int, *, plain: bool = False
    ) -> None:
        self._context, self.count, self.knots, self._is_plain = context, buffers.count, knots, plain
        self.buffers = buffers
        self._table, self._strands = buffers.table, buffers.strands
        self._source = VertexArray(context, [Stream(self._table)], label="hair children")
        record = strand_record(knots)
        self.texels = BufferTexture(context, self._strands, "rgba32f")
        self._detail: tuple[Buffer, BufferTexture] | None = None
        if buffers.details is not None:
            self._detail = buffers.details, BufferTexture(context, buffers.details, "rgba32f")
        defines = {"KNOTS": knots, "DETAILS": self._detail is not None}
        self._expand = Kernel(library, "hair/expand.glsl", record, inputs=[CHILD], defines=defines, records=self.count)
        self._colours: tuple[Buffer, BufferTexture] | None = None
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
        """Take the guides as they stand; `surface` are the uniforms of shaders/hair/surface.glsl.

        As many strands are made as were needed since the last time, up to `AT_ONCE`; more when they are.
        """
        form = (settings.clump, 1.0, settings.noise)
        values = {"u_state": state, "u_roots": roots, "u_form": (0.0,) * 3 if self._is_plain else form}
        if self._detail is not None:
            values["u_details"] = self._detail[1]
        self._values = values | dict(surface)
        self.version += 1
        wanted, self._made, self._wanted = self._wanted, 0, 0
        self._make(min(wanted, AT_ONCE))

    def need(self, count: int) -> None:
        """Have at least the first strands made; a framebuffer must be bound."""
        self._wanted = max(self._wanted, count)
        self._make(count)

    @property
    def points(self) -> VertexArray:
        if self._points is None:
            knots = Stream(self._strands, dtype=np.dtype([("position", "f4", 4)]))
            self._points = VertexArray(self._context, [knots], label="hair knots")
        return self._points

    @property
    def colours(self) -> BufferTexture:
        """Linear colours of the knots, as of the last `shade`."""
        return self._coloured()[1]

    def shade(self, kernel: Kernel, first: int, count: int) -> None:
        """Write the colours of some strands by a kernel of the same record, whose other uniforms are set.

        The first is a multiple of `sim.gl.transform_feedback.GROUP`, so that the last are padded.
        """
        self.need(first + count)
        kernel.program["u_strands"] = self.texels
        kernel.run(self._source, self._coloured()[0], padded_count(count), first)

    def positions(self) -> npt.NDArray[np.float32]:
        """Knots in the world [m], shape (N, K, 3); waits for the GPU."""
        return self.knot_texels()[..., :3]

    def knot_texels(self) -> npt.NDArray[np.float32]:
        """The same with what stands beside them, see shaders/hair/expand.glsl, shape (N, K, 4); waits for the GPU."""
        self._make(self.count)
        return strand_texels(self._strands.read(), self.count)

    def positions_of(self, strand: int) -> npt.NDArray[np.float32]:
        """Knots of one of them in the world [m], shape (K, 3); waits for the GPU, yet reads no others."""
        size = self._strands.dtype.itemsize
        return strand_texels(self._strands.read(offset=strand * size, count=1), 1)[0, :, :3]

    def release(self) -> None:
        detail, detail_texels = self._detail or (None, None)
        owners = [self._source, self.texels, detail_texels, self._points, self._strands, *(self._colours or ())]
        if not self.buffers.is_borrowed:
            owners += [self._table, detail]
        for owned in owners:
            if owned is not None:
                owned.release()

    def _make(self, count: int) -> None:
        padded = padded_count(count)
        if padded > self._made:
            self._expand.run(self._source, self._strands, padded - self._made, self._made, **self._values)
            self._made = padded

    def _coloured(self) -> tuple[Buffer, BufferTexture]:
        if self._colours is None:
            buffer = Buffer(self._context, self._strands.size, usage="copy", label="hair colours")
            self._colours = buffer, BufferTexture(self._context, buffer, "rgba32f")
        return self._colours
