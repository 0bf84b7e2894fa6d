"""Buffers for kernels that run many times in a row: program, uniforms and textures are bound once before the first run.

`PingPong` computes the next state from the last one, `BufferRing` from the last two.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.back_end import BackEnd
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.transform_feedback import GROUP

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

WHOLE = {"WHOLE": True}
"""Compute macros of a kernel that makes many substeps in one run; see `BufferRing.run`."""

SPAN, PART = "u_span", "u_part"


class PingPong(Owner):
    """Two buffers of the same records; a kernel computes one from the other.

    The number of records, padding included, must be a multiple of `GROUP`; `runs` counts the kernel runs.
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
        """Runs once for each pair of values, which the vec2 uniform `varying` receives.

        The samplerBuffer `source` of the kernel reads the newest records; set other uniforms before.
        """
        program = kernel.program
        units, location = (program.unit(source),), program.location(varying)
        read, written = self._sides[self._newest], self._sides[1 - self._newest]
        textures = itertools.cycle(((read.name,), (written.name,)))
        targets = itertools.cycle((written.buffer.name, read.buffer.name))
        with kernel.writing() as run:
            run.write_each(self.count, units, location, zip(textures, targets, values, strict=False))
        self._newest = (self._newest + len(values)) % 2
        self.runs += len(values)


class BufferRing(Owner):
    """The last two states of a simulation, and buffers for the next one; compute needs buffers for the next two.

    The number of records, padding included, must be a multiple of `GROUP`.
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
        """Makes `count` of the `of` substeps of a step, beginning with number `first`.

        With transform feedback each substep is a run, whose uniform `SPAN` receives start and end as fractions of the
        step. With compute the kernel, which has the macros `WHOLE`, makes all substeps in one run and stores the older
        state at binding 1; its uniform `PART` receives (first, count, of).

        Args:
            kernel: Reads two samplers and writes records of the same kind, each from its own past only.
            names: Names of the samplerBuffers of the newest and the older records.
        """
        if kernel.back_end is BackEnd.COMPUTE:
            self._run_whole(kernel, names, (first, count, of))
            return
        program = kernel.program
        textures, targets = [side.name for side in self._sides], [side.buffer.name for side in self._sides]
        now, before, spare = self._newest, self._older, self._spare
        substeps = []
        for index in range(first, first + count):
            substeps.append(((textures[now], textures[before]), targets[spare], (index / of, (index + 1) / of)))
            now, before, spare = spare, now, before
        with kernel.writing() as run:
            run.write_each(self.count, [program.unit(name) for name in names], program.location(SPAN), substeps)
        self._newest, self._older = now, before

    def _run_whole(self, kernel: Kernel, names: tuple[str, str], part: tuple[int, int, int]) -> None:
        if len(self._sides) == 3:
            size, dtype = self.now.size, self.now.dtype
            fourth = TexelBuffer(self._context, size, dtype=dtype, usage="copy", label=self._label)
            self._sides.append(self.owns(fourth))
        program = kernel.program
        program[names[0]], program[names[1]], program[PART] = self.texture, self.texture_before, part
        now, before = self._spares()
        with kernel.writing() as run:
            run.write((self._sides[now].buffer, self._sides[before].buffer), 0, self.count)
        self._newest, self._older = now, before

    def correct(self, kernel: Kernel, names: tuple[str, str], span: tuple[float, float]) -> None:
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
