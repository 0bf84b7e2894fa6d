"""BufferRing: a kernel repeated over buffers that hold the last two states and the next one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sim.gl.back_end import BackEnd
from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.errors import GLLimitError
from sim.gl.kernel import Kernel
from sim.gl.objects import Owner
from sim.gl.texture import TexelBuffer
from sim.gl.transform_feedback import GROUP

if TYPE_CHECKING:
    from sim.gl.context import Context

WHOLE = {"WHOLE": True}
"""Compute macros of a kernel that makes many substeps in one run; see `BufferRing.run`."""

SPAN, PART = "u_span", "u_part"


class BufferRing(Owner):
    """The last two states of a simulation, and buffers for the next one; compute needs buffers for the next two.

    Args:
        records: Initial contents of both states; their number must be a multiple of `GROUP`.

    Attributes:
        count: Number of records, padding included.
    """

    def __init__(self, context: "Context", records: npt.NDArray[np.void], *, label: str) -> None:
        if len(records) % GROUP:
            raise GLLimitError(f"{label}: {len(records)} records are no multiple of {GROUP}")
        self.count = len(records)
        self._context, self._label = context, label
        self._sides = [self.owns(TexelBuffer(context, records, usage="copy", label=label)) for _ in range(3)]
        self._newest, self._older = 0, 2

    @property
    def now(self) -> Buffer:
        return self._sides[self._newest].buffer

    @property
    def texture(self) -> TexelBuffer:
        return self._sides[self._newest]

    @property
    def before(self) -> Buffer:
        return self._sides[self._older].buffer

    @property
    def texture_before(self) -> TexelBuffer:
        return self._sides[self._older]

    @property
    def _spare(self) -> int:
        return next(self._spares())

    def _spares(self) -> Iterator[int]:
        return (side for side in range(len(self._sides)) if side not in (self._newest, self._older))

    def write(self, now: npt.NDArray[np.void], before: npt.NDArray[np.void] | None = None) -> None:
        """Replaces both states; the older one is the same by default."""
        self.now.write(now)
        self.before.write(now if before is None else before)

    def run(self, kernel: Kernel, names: tuple[str, str], first: int, count: int, of: int) -> None:
        """Makes consecutive substeps.

        With transform feedback each substep is a run, whose uniform `SPAN` receives start and end as fractions of the
        step. With compute the kernel, which has the macros `WHOLE`, makes all substeps in one run and stores the older
        state at binding 1; its uniform `PART` receives (first, count, of).

        Args:
            kernel: Reads two samplers and writes records of the same kind, each from its own past only; other uniforms
                are set before.
            names: Names of the samplerBuffers of the newest and the older records.
            first: Number of the first substep.
            count: Number of substeps.
            of: Number of substeps in a step.
        """
        if kernel.back_end is BackEnd.COMPUTE:
            self._run_whole(kernel, names, (first, count, of))
            return
        program = kernel.program
        location = program.location(SPAN)
        newest_unit, older_unit = (GL.GL_TEXTURE0 + program.unit(name) for name in names)
        textures, targets = [side.name for side in self._sides], [side.buffer.name for side in self._sides]
        bind, activate, send, kind = GL.glBindTexture, GL.glActiveTexture, GL.glUniform2f, GL.GL_TEXTURE_BUFFER
        now, before, spare = self._newest, self._older, self._spare
        with kernel.writing() as capture:
            write = capture.writer(self.count)
            for index in range(first, first + count):
                activate(newest_unit)
                bind(kind, textures[now])
                activate(older_unit)
                bind(kind, textures[before])
                send(location, index / of, (index + 1) / of)
                write(targets[spare])
                now, before, spare = spare, now, before
        self._newest, self._older = now, before

    def _run_whole(self, kernel: Kernel, names: tuple[str, str], part: tuple[int, int, int]) -> None:
        if len(self._sides) == 3:
            size, dtype = self.now.size, self.now.dtype
            fourth = TexelBuffer(self._context, size, dtype=dtype, usage="copy", label=self._label)
            self._sides.append(self.owns(fourth))
        program = kernel.program
        program[names[0]], program[names[1]], program[PART] = self.texture, self.texture_before, part
        now, before = self._spares()
        with kernel.writing() as dispatch:
            dispatch.write(self._sides[now].buffer.name, 0, self.count, self._sides[before].buffer.name)
        self._newest, self._older = now, before

    def mend(self, kernel: Kernel, names: tuple[str, str], span: tuple[float, float]) -> None:
        """Replaces the newest records by the output of a kernel that reads both states; see `run`."""
        program, spare = kernel.program, self._spare
        program[names[0]], program[names[1]], program[SPAN] = self.texture, self.texture_before, span
        kernel.run(None, self._sides[spare].buffer, self.count)
        self._newest = spare

    def turn(self, kernel: Kernel, source: str, pivot: str) -> None:
        """Replaces both states by the output of a kernel for each; the sampler `pivot` is the newest state in both
        runs.
        """
        program, spare = kernel.program, self._sides[self._spare].buffer
        for texture, target in ((self.texture_before, self.before), (self.texture, self.now)):
            program[source], program[pivot] = texture, self.texture
            kernel.run(None, spare, self.count)
            spare.copy_to(target)
