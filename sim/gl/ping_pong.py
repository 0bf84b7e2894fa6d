"""PingPong: a kernel repeated between two buffers, with few calls per run.

A simulation runs one kernel hundreds of times in a row: program, uniforms and textures are bound once before the first
run, and a run is six calls.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.errors import GLLimitError
from sim.gl.kernel import Kernel
from sim.gl.objects import Owner
from sim.gl.texture import TexelBuffer
from sim.gl.transform_feedback import GROUP

if TYPE_CHECKING:
    from sim.gl.context import Context


class PingPong(Owner):
    """Two buffers of the same records; a kernel computes one from the other.

    Args:
        records: Initial contents; their number must be a multiple of `GROUP`.

    Attributes:
        count: Number of records, padding included.
        runs: Number of kernel runs so far.
    """

    def __init__(self, context: "Context", records: npt.NDArray[np.void], *, label: str) -> None:
        if len(records) % GROUP:
            raise GLLimitError(f"{label}: {len(records)} records are no multiple of {GROUP}")
        self.count = len(records)
        self.runs = 0
        self._sides = tuple(
            self.owns(TexelBuffer(context, records, usage="copy", label=f"{label} {side}"))
            for side in ("first", "second")
        )
        self._newest = 0
        first, second = self._sides
        self._turns = ((first.name, second.buffer.name), (second.name, first.buffer.name))

    @property
    def newest(self) -> Buffer:
        return self._sides[self._newest].buffer

    @property
    def texture(self) -> TexelBuffer:
        return self._sides[self._newest]

    def write(self, records: npt.NDArray[np.void]) -> None:
        self.newest.write(records)

    def copy_from(self, other: Buffer) -> None:
        """Replaces the newest records by a copy on the GPU."""
        other.copy_to(self.newest)

    def run(self, kernel: Kernel, source: str, varying: str, values: Sequence[tuple[float, float]]) -> None:
        """Runs once for each pair of values.

        Args:
            kernel: Reads the sampler `source` and writes records of the same kind; other uniforms are set before.
            source: Name of the samplerBuffer of the newest records.
            varying: Name of a vec2 uniform that receives the values.
            values: One pair for each run.
        """
        program, side = kernel.program, self._newest
        turns = itertools.cycle(self._turns if side == 0 else self._turns[::-1])
        with kernel.writing() as capture:
            bind, send, write = GL.glBindTexture, GL.glUniform2f, capture.writer(self.count)
            kind, location = GL.GL_TEXTURE_BUFFER, program.location(varying)
            GL.glActiveTexture(GL.GL_TEXTURE0 + program.unit(source))
            for (first, second), (old, new) in zip(values, turns, strict=False):
                bind(kind, old)
                send(location, first, second)
                write(new)
        self._newest = (side + len(values)) % 2
        self.runs += len(values)
