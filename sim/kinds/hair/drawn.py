"""DrawnStrands: what is drawn of some hair, strands in the world that are made of the guides on the GPU."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.growth import Children
from sim.kinds.hair.records import CHILD, bound_records, strand_record, strand_texels
from sim.kinds.hair.settings import HairSettings

TWO_PI = 2.0 * np.pi


class DrawnStrands:
    """Strands in the world.

    Args:
        context: Where they live.
        library: Where programs come from.
        children: Their roots and guides.
        knots: Of each.
        plain: Whether they are drawn as the guides are, without clumps, curls and noise.

    Attributes:
        count: How many.
        version: Another number after every `expand`.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, children: Children, knots: int, *, plain: bool = False
    ) -> None:
        self._context, self.count, self.knots, self._is_plain = context, children.count, knots, plain
        self._table = Buffer(context, _child_records(children), label="hair children")
        self._source = VertexArray(context, [Stream(self._table)], label="hair children")
        record = strand_record(knots)
        size = self._table.count * record.dtype.itemsize
        self._strands = Buffer(context, size, dtype=record.dtype, usage="copy", label="hair strands")
        self.texels = BufferTexture(context, self._strands, "rgba32f")
        self._expand = Kernel(
            library, "hair/expand.glsl", record, inputs=[CHILD], defines={"KNOTS": knots}, records=self.count
        )
        self._colours: tuple[Buffer, BufferTexture] | None = None
        self.version = 0

    def expand(
        self, state: BufferTexture, roots: BufferTexture, surface: Mapping[str, object], settings: HairSettings
    ) -> None:
        """Make the strands of the guides as these stand; `surface` are the uniforms of shaders/hair/surface.glsl."""
        form = (settings.clump, settings.curl_radius, TWO_PI * settings.curl_turns, settings.noise)
        values = {"u_state": state, "u_roots": roots, "u_form": (0.0,) * 4 if self._is_plain else form}
        self._expand.run(self._source, self._strands, self._table.count, **values, **surface)
        self.version += 1

    @property
    def colours(self) -> BufferTexture:
        """Linear colours of the knots, as of the last `shade`."""
        return self._coloured()[1]

    def shade(self, kernel: Kernel) -> None:
        """Write the colours by a kernel of the same record, whose other uniforms are set."""
        kernel.program["u_strands"] = self.texels
        kernel.run(self._source, self._coloured()[0], self._table.count)

    def positions(self) -> npt.NDArray[np.float32]:
        """Knots in the world [m], shape (N, K, 3); waits for the GPU."""
        return strand_texels(self._strands.read(), self.count)[..., :3]

    def positions_of(self, strand: int) -> npt.NDArray[np.float32]:
        """Knots of one of them in the world [m], shape (K, 3); waits for the GPU, yet reads no others."""
        size = self._strands.dtype.itemsize
        return strand_texels(self._strands.read(offset=strand * size, count=1), 1)[0, :, :3]

    def release(self) -> None:
        """Delete everything; may be called twice."""
        for owned in (self._source, self._table, self.texels, self._strands, *(self._colours or ())):
            owned.release()

    def _coloured(self) -> tuple[Buffer, BufferTexture]:
        if self._colours is None:
            buffer = Buffer(self._context, self._strands.size, usage="copy", label="hair colours")
            self._colours = buffer, BufferTexture(self._context, buffer, "rgba32f")
        return self._colours


def _child_records(children: Children) -> npt.NDArray[np.void]:
    out = bound_records(children.roots, children.factors, CHILD)
    count = children.count
    out["guides"][:count, :3], out["guides"][:count, 3] = children.guides, np.arange(count)
    out["weights"][:count, :3], out["weights"][:count, 3] = children.weights, children.random
    out["tint"][:count, :3], out["tip_tint"][:count, :3] = children.tints[:, 0], children.tints[:, 1]
    out["tint"][:count, 3], out["tip_tint"][:count, 3] = children.dyes, children.has_colours
    out["form"][:count] = children.forms
    out[count:] = out[count - 1]
    return out
