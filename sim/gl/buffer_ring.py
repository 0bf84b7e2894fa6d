"""Buffers for kernels that run many times in a row: program, uniforms and textures are bound once before the first run.

`PingPong` computes the next state from the last one, `BufferRing` from the last two.
"""

import itertools
from collections.abc import Sequence
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


def _sides(owner: Owner, context: "Context", records: npt.NDArray[np.void], labels: Sequence[str]) -> list[TexelBuffer]:
    if len(records) % GROUP:
        raise GLLimitError(f"{labels[0]}: {len(records)} records are no multiple of {GROUP}")
    return [owner.owns(TexelBuffer(context, records, usage="copy", label=label)) for label in labels]


class PingPong(Owner):
    """Two buffers of the same records; a kernel computes one from the other.

    The number of records, padding included, must be a multiple of `GROUP`; `runs` counts the kernel runs.
    """

    def __init__(self, context: "Context", records: npt.NDArray[np.void], *, label: str) -> None:
        self._sides = _sides(self, context, records, (f"{label} first", f"{label} second"))
        """Both buffers, the newest first."""
        self.count, self.runs = len(records), 0

    @property
    def newest(self) -> Buffer:
        return self._sides[0].buffer

    @property
    def texture(self) -> TexelBuffer:
        return self._sides[0]

    def write(self, records: npt.NDArray[np.void]) -> None:
        self.newest.write(records)

    def copy_from(self, other: Buffer) -> None:
        other.copy_to(self.newest)

    def run(self, kernel: Kernel, source: str, varying: str, values: Sequence[tuple[float, float]]) -> None:
        """Runs a kernel once for each pair of values, which the vec2 uniform `varying` receives.

        The samplerBuffer `source` of the kernel reads the newest records; set other uniforms before.
        """
        program, (newest, other) = kernel.program, self._sides
        textures = itertools.cycle(((newest.name,), (other.name,)))
        targets = itertools.cycle((other.buffer.name, newest.buffer.name))
        substeps = zip(textures, targets, values, strict=False)
        units, location = (program.unit(source),), program.location(varying)
        with kernel.writing() as run:
            run.write_each(self.count, units, location, substeps)
        if len(values) % 2:
            self._sides.reverse()
        self.runs += len(values)


class BufferRing(Owner):
    """The last two states of a simulation, and buffers for the next one; compute needs buffers for the next two.

    The number of records, padding included, must be a multiple of `GROUP`.
    """

    def __init__(self, context: "Context", records: npt.NDArray[np.void], *, label: str) -> None:
        self._sides = _sides(self, context, records, [label] * 3)
        """All buffers: the newest state, the older one, then spare ones."""
        self._context, self._label, self.count = context, label, len(records)

    @property
    def now(self) -> Buffer:
        return self._sides[0].buffer

    @property
    def texture(self) -> TexelBuffer:
        return self._sides[0]

    @property
    def before(self) -> Buffer:
        return self._sides[1].buffer

    @property
    def texture_before(self) -> TexelBuffer:
        return self._sides[1]

    def write(self, now: npt.NDArray[np.void], before: npt.NDArray[np.void] | None = None) -> None:
        """Replaces both states; the older one is the same by default."""
        self.now.write(now)
        self.before.write(now if before is None else before)

    def run(self, kernel: Kernel, names: tuple[str, str], first: int, count: int, of: int) -> None:
        """Makes `count` of the `of` substeps of a step, beginning with number `first`.

        With transform feedback each substep is a run, whose uniform `SPAN` receives start and end as fractions of the
        step.  With compute the kernel, which has the macros `WHOLE`, makes all substeps in one run and stores the older
        state at binding 1; its uniform `PART` receives (first, count, of).

        Args:
            kernel: Reads two samplers and writes records of the same kind, each from its own past only.
            names: Names of the samplerBuffers of the newest and the older records.
        """
        if kernel.back_end is BackEnd.COMPUTE:
            self._run_whole(kernel, names, (first, count, of))
            return
        program, sides = kernel.program, self._sides
        substeps = []
        for index in range(first, first + count):
            now, before, spare, *more = sides
            substeps.append(((now.name, before.name), spare.buffer.name, (index / of, (index + 1) / of)))
            sides = [spare, now, before, *more]
        with kernel.writing() as run:
            run.write_each(self.count, [program.unit(name) for name in names], program.location(SPAN), substeps)
        self._sides = sides

    def _run_whole(self, kernel: Kernel, names: tuple[str, str], part: tuple[int, int, int]) -> None:
        if len(self._sides) == 3:
            size, dtype = self.now.size, self.now.dtype
            fourth = TexelBuffer(self._context, size, dtype=dtype, usage="copy", label=self._label)
            self._sides.append(self.owns(fourth))
        now, before, next_now, next_before = self._sides
        kernel.program.update({names[0]: now, names[1]: before, PART: part})
        with kernel.writing() as run:
            run.write((next_now.buffer, next_before.buffer), 0, self.count)
        self._sides = [next_now, next_before, now, before]

    def correct(self, kernel: Kernel, names: tuple[str, str], span: tuple[float, float]) -> None:
        """Replaces the newest records by the output of a kernel that reads both states; see `run`."""
        now, before, spare, *more = self._sides
        kernel.run(None, spare.buffer, self.count, **{names[0]: now, names[1]: before, SPAN: span})
        self._sides = [spare, before, now, *more]

    def turn(self, kernel: Kernel, source: str, pivot: str) -> None:
        """Replaces both states by the output of a kernel; the sampler `pivot` is the newest state in both runs."""
        now, before, spare = self._sides[:3]
        for side in (before, now):
            kernel.run(None, spare.buffer, self.count, **{source: side, pivot: now})
            spare.buffer.copy_to(side.buffer)
