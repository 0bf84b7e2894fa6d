"""SpringLines: the threads of a cloth as lines with their strain, made from its state on the GPU."""

import numpy as np

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.cloth.buffers import LINE_VERTEX, SPRING_ENDS, SPRING_LINE
from sim.kinds.cloth.springs import Springs


class SpringLines:
    """One line for each spring.

    Args:
        context: Where it lives.
        library: Where the program comes from.
        springs: Which springs.

    Attributes:
        lines: Records of `LINE_VERTEX`, two for each spring.
    """

    def __init__(self, context: Context, library: ShaderLibrary, springs: Springs) -> None:
        ends = np.zeros(springs.count, SPRING_ENDS)
        ends["ends"], ends["rest"] = springs.pairs, springs.rest
        self._ends = Buffer(context, ends, label="cloth springs")
        self._source = VertexArray(context, [Stream(self._ends)], label="cloth springs")
        size = len(ends) * SPRING_LINE.dtype.itemsize
        self.lines = Buffer(context, size, dtype=LINE_VERTEX, usage="copy", label="cloth spring lines")
        self._kernel = Kernel(library, "cloth/spring_line.glsl", SPRING_LINE, inputs=[SPRING_ENDS], records=len(ends))

    def write(self, state: BufferTexture) -> None:
        self._kernel.run(self._source, self.lines, u_state=state)

    def release(self) -> None:
        for owned in (self._ends, self._source, self.lines):
            owned.release()
