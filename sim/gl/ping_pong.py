"""PingPong: a kernel repeated between two buffers, with as few calls as it takes.

A simulation runs one kernel hundreds of times in a row, so what `Kernel.run` does each time is done once here: the
program, its uniforms and textures are bound before the first run, and a run is six calls.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.errors import GLLimitError
from sim.gl.kernel import Kernel
from sim.gl.texture import BufferTexture
from sim.gl.transform_feedback import GROUP
from sim.gl.vertex_array import VertexArray


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
        (first, second), (one, other) = self._textures, self._buffers
        self._turns = ((first.name, other.name), (second.name, one.name))

    @property
    def newest(self) -> Buffer:
        return self._buffers[self._newest]

    @property
    def texture(self) -> BufferTexture:
        return self._textures[self._newest]

    def write(self, records: npt.NDArray[np.void]) -> None:
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
        program, side = kernel.program, self._newest
        turns = itertools.cycle(self._turns if side == 0 else self._turns[::-1])
        with kernel.writing(self._vertices) as capture:
            bind, send, write = GL.glBindTexture, GL.glUniform2f, capture.writer(self.count)
            kind, location = GL.GL_TEXTURE_BUFFER, program.location(varying)
            GL.glActiveTexture(GL.GL_TEXTURE0 + program.unit(source))
            for (first, second), (old, new) in zip(values, turns, strict=False):
                bind(kind, old)
                send(location, first, second)
                write(new)
        self._newest = (side + len(values)) % 2
        self.runs += len(values)

    def release(self) -> None:
        for owned in (*self._textures, *self._buffers, self._vertices):
            owned.release()
