"""Rotation: a kernel repeated over buffers of the same records: what was, what is, and what is made of both."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sim.gl.back_end import BackEnd
from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.errors import GLLimitError
from sim.gl.kernel import Kernel
from sim.gl.texture import BufferTexture
from sim.gl.transform_feedback import GROUP
from sim.gl.vertex_array import VertexArray

WHOLE = {"WHOLE": True}
"""Macros by compute of a kernel that makes many substeps in one run; see `BufferRing.run`."""

SPAN, PART = "u_span", "u_part"


class BufferRing:
    """Two moments of a state, and room for the next one, by compute for the next two.

    Args:
        context: Where the buffers live.
        records: First contents of both moments; their number must be a multiple of `GROUP`.
        label: Name in `Context.live`.

    Attributes:
        count: Number of records, padding included.
    """

    def __init__(self, context: Context, records: npt.NDArray[np.void], *, label: str) -> None:
        if len(records) % GROUP:
            raise GLLimitError(f"{label}: {len(records)} records are no multiple of {GROUP}")
        self.count = len(records)
        self._context, self._label = context, label
        self._buffers: list[Buffer] = []
        self._textures: list[BufferTexture] = []
        for _ in range(3):
            self._add(Buffer(context, records, usage="copy", label=label))
        self._vertices = VertexArray(context, label=label)
        self._newest, self._older = 0, 2

    @property
    def now(self) -> Buffer:
        return self._buffers[self._newest]

    @property
    def texture(self) -> BufferTexture:
        return self._textures[self._newest]

    @property
    def before(self) -> Buffer:
        return self._buffers[self._older]

    @property
    def texture_before(self) -> BufferTexture:
        return self._textures[self._older]

    @property
    def _spare(self) -> int:
        return next(self._spares())

    def _spares(self) -> Iterator[int]:
        return (side for side in range(len(self._buffers)) if side not in (self._newest, self._older))

    def _add(self, buffer: Buffer) -> None:
        self._buffers.append(buffer)
        self._textures.append(BufferTexture(self._context, buffer, "rgba32f"))

    def write(self, now: npt.NDArray[np.void], before: npt.NDArray[np.void] | None = None) -> None:
        """Replace both moments; the one before is the same by default."""
        self.now.write(now)
        self.before.write(now if before is None else before)

    def run(self, kernel: Kernel, names: tuple[str, str], first: int, count: int, of: int) -> None:
        """Make substeps, one after another.

        By transform feedback each is a run of its own, whose uniform `SPAN` takes start and end as fractions of the
        step.  By compute the kernel, which has the macros `WHOLE`, makes them in one run and stores the moment before
        at binding 1; its uniform `PART` takes the numbers.

        Args:
            kernel: Reads two samplers and writes records of the same kind, each from its own past alone; other uniforms
                are set before.
            names: Names of the samplerBuffers that take the newest records, and those before.
            first: Number of the first substep.
            count: How many.
            of: How many a step has.
        """
        if kernel.back_end is BackEnd.COMPUTE:
            self._run_whole(kernel, names, (first, count, of))
            return
        program = kernel.program
        location = program.location(SPAN)
        newest_unit, older_unit = (GL.GL_TEXTURE0 + program.unit(name) for name in names)
        textures, targets = [one.name for one in self._textures], [one.name for one in self._buffers]
        bind, activate, send, kind = GL.glBindTexture, GL.glActiveTexture, GL.glUniform2f, GL.GL_TEXTURE_BUFFER
        now, before, spare = self._newest, self._older, self._spare
        with kernel.writing(self._vertices) as capture:
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
        if len(self._buffers) == 3:
            self._add(Buffer(self._context, self.now.size, dtype=self.now.dtype, usage="copy", label=self._label))
        program = kernel.program
        program[names[0]], program[names[1]], program[PART] = self.texture, self.texture_before, part
        now, before = self._spares()
        with kernel.writing(self._vertices) as dispatch:
            dispatch.write(self._buffers[now].name, 0, self.count, self._buffers[before].name)
        self._newest, self._older = now, before

    def mend(self, kernel: Kernel, names: tuple[str, str], span: tuple[float, float]) -> None:
        """Replace the newest records by what a kernel makes of them and of those before; see `run`."""
        program, spare = kernel.program, self._spare
        program[names[0]], program[names[1]], program[SPAN] = self.texture, self.texture_before, span
        kernel.run(self._vertices, self._buffers[spare], self.count)
        self._newest = spare

    def turn(self, kernel: Kernel, source: str, pivot: str) -> None:
        """Replace both moments by what a kernel makes of each; `pivot` is the sampler of the newest in both runs."""
        program, spare = kernel.program, self._buffers[self._spare]
        for texture, target in ((self.texture_before, self.before), (self.texture, self.now)):
            program[source], program[pivot] = texture, self.texture
            kernel.run(self._vertices, spare, self.count)
            spare.copy_to(target)

    def release(self) -> None:
        for owned in (*self._textures, *self._buffers, self._vertices):
            owned.release()
