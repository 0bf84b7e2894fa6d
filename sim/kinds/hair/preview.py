"""GroomPreview: the groom of some guides at rest, in place of what moves, while it is edited."""

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.hair.groom import Groom
from sim.kinds.hair.records import strand_record


class GroomPreview:
    """Guides in a groom.

    Args:
        context: Where it lives.
        kernel: That of shaders/hair/groomed.glsl.
        count: Records of guides, padding included.
        knots: Of each.

    Attributes:
        texels: `knots` texels a guide: place from the root [m], as of the last `pose`.
    """

    def __init__(self, context: Context, kernel: Kernel, count: int, knots: int) -> None:
        self._kernel = kernel
        self._table = np.zeros((count, knots - 1, 2, 4), np.float32)
        self._rest = Buffer(context, self._table.reshape(-1, 4), usage="dynamic", label="groom shown")
        self._rest_texels = BufferTexture(context, self._rest, "rgba32f")
        record = strand_record(knots)
        self._state = Buffer(context, record.zeros(count), usage="copy", label="strands shown")
        self.texels = BufferTexture(context, self._state, "rgba32f")
        self._nothing = VertexArray(context, label="groom shown")

    def take(self, groom: Groom, factors: npt.NDArray[np.float64]) -> None:
        """Show a groom whose lengths are those of the roots times factors (G,)."""
        self._table[: groom.count, :, 0, :3] = groom.edges * factors[:, None, None]
        self._rest.write(self._table)

    def pose(self, roots: BufferTexture) -> None:
        """Put the guides where their roots stand at the end of what these texels tell."""
        program = self._kernel.program
        program["u_roots"], program["u_rest"] = roots, self._rest_texels
        self._kernel.run(self._nothing, self._state, len(self._table))

    def release(self) -> None:
        for owned in (self.texels, self._state, self._rest_texels, self._rest, self._nothing):
            owned.release()
