"""PingPong: a kernel repeated between two buffers, with as few calls as it takes.

A simulation runs one kernel hundreds of times in a row, so what `Kernel.run` does each time is done once here: the
program, its uniforms and textures are bound before the first run, and a run is six calls.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.errors import GLLimitError
from sim.gl.kernel import Kernel
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray

GROUP = 3
"""Records are captured as triangles: a software driver spends less per primitive, and the order is the same."""


def padded_count(count: int) -> int:
    """Number of records a buffer needs so that `count` of them can be captured in one draw."""
    return -(-count // GROUP) * GROUP


class PingPong:
    """Two buffers of the same records and what makes one from the other.

    Args:
        context: Where the buffers live.
        records: First contents; the number of records must be a multiple of `GROUP`.
        label: Name in `Context.live`.

    Attributes:
        count: Number of records, padding included.
        runs: How many times a kernel has run.
    """

    def __init__(self, context: Context, records: npt.NDArray[np.void], *, label: str) -> None:
        if len(records) % GROUP:
            raise GLLimitError(f"{label}: {len(records)} records are no multiple of {GROUP}")
        self.count = len(records)
        self.runs = 0
        self._buffers = tuple(
            Buffer(context, records, usage="copy", label=f"{label} {side}") for side in ("first", "second")
        )
        self._textures = tuple(BufferTexture(context, buffer, "rgba32f") for buffer in self._buffers)
        self._vertices = VertexArray(context, label=label)
        self._newest = 0

    @property
    def newest(self) -> Buffer:
        """The buffer written last."""
        return self._buffers[self._newest]

    @property
    def texture(self) -> BufferTexture:
        """The same, seen as texels."""
        return self._textures[self._newest]

    def write(self, records: npt.NDArray[np.void]) -> None:
        """Replace the newest records."""
        self.newest.write(records)

    def copy_from(self, other: Buffer) -> None:
        """Replace the newest records by those of another buffer, on the GPU."""
        other.copy_to(self.newest)

    def run(self, kernel: Kernel, source: str, varying: str, values: Sequence[tuple[float, float]]) -> None:
        """Run once for each pair of values.

        Args:
            kernel: Reads the sampler `source` and writes records of the same kind; other uniforms are set before.
            source: Name of its samplerBuffer that takes the newest records.
            varying: Name of its vec2 uniform that takes the values.
            values: One pair for each run.
        """
        program = kernel.program
        program[source] = self.texture
        program.use()
        self._vertices.bind(program)
        unit = GL.GL_TEXTURE0 + int(program[source][0])
        location = program.uniforms[varying].location if varying in program else -1
        names = [(texture.name, buffer.name) for texture, buffer in zip(self._textures, self._buffers, strict=True)]
        GL.glActiveTexture(unit)
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
        self._repeat(names, location, values)
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)
        # Nothing of this object stays bound where a pass might capture into it.
        GL.glBindBufferBase(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0)
        self.runs += len(values)

    def release(self) -> None:
        """Delete the buffers; may be called twice."""
        for owned in (*self._textures, *self._buffers, self._vertices):
            owned.release()

    def _repeat(self, names: Sequence[tuple[int, int]], location: int, values: Sequence[tuple[float, float]]) -> None:
        target, feedback, triangles = GL.GL_TEXTURE_BUFFER, GL.GL_TRANSFORM_FEEDBACK_BUFFER, GL.GL_TRIANGLES
        bind_texture, bind_buffer, set_pair = GL.glBindTexture, GL.glBindBufferBase, GL.glUniform2f
        begin, draw, end = GL.glBeginTransformFeedback, GL.glDrawArrays, GL.glEndTransformFeedback
        side, count = self._newest, self.count
        for first, second in values:
            bind_texture(target, names[side][0])
            side = 1 - side
            bind_buffer(feedback, 0, names[side][1])
            set_pair(location, first, second)
            begin(triangles)
            draw(triangles, 0, count)
            end()
        self._newest = side
