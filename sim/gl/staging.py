"""Copies of buffers for the CPU: copied on the GPU at once, read when the copy is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.readback import Fence

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

SPARE = 8
"""Maximum number of unused staging buffers that are kept for the next copies."""


@dataclass(frozen=True, slots=True)
class BufferSpan:
    """The first `count` elements of a buffer, or all of them for None."""

    buffer: Buffer
    count: int | None = None

    @property
    def size(self) -> int:
        return self.buffer.size if self.count is None else self.count * self.buffer.dtype.itemsize

    def read(self) -> npt.NDArray[Any]:
        return self.buffer.read(count=self.count)


class StagedCopy:
    """The contents of some spans at one moment; made by `StagingCopies`, and may be dropped unread."""

    def __init__(self, home: "StagingCopies", staging: Buffer, spans: Sequence[BufferSpan]) -> None:
        self._home, self._staging = home, staging
        self._forms = [(span.buffer.dtype, span.size // span.buffer.dtype.itemsize) for span in spans]
        offset = 0
        for span in spans:
            span.buffer.copy_to(staging, span.size, target_offset=offset)
            offset += span.size
        self._fence = Fence(staging.context, label=staging.label)

    @property
    def passed(self) -> bool:
        """True if `read` returns without waiting; the context must be current."""
        return self._fence.passed

    def read(self) -> list[npt.NDArray[Any]]:
        """Returns the contents; call this once only. Waits for the GPU unless `passed`."""
        content = self._staging.read(np.uint8, count=sum(dtype.itemsize * count for dtype, count in self._forms))
        self._fence.release()
        self._home.take_back(self._staging)
        arrays, offset = [], 0
        for dtype, count in self._forms:
            end = offset + dtype.itemsize * count
            arrays.append(content[offset:end].view(dtype))
            offset = end
        return arrays


class StagingCopies:
    def __init__(self, context: "Context") -> None:
        self._context = context
        self._spare: list[Buffer] = []

    def begin(self, spans: Sequence[BufferSpan]) -> StagedCopy:
        """Begins a copy, which later writes to the buffers do not change."""
        size = sum(span.size for span in spans)
        fitting = [buffer for buffer in self._spare if size <= buffer.size <= 2 * size]
        if fitting:
            staging = min(fitting, key=lambda buffer: buffer.size)
            self._spare.remove(staging)
        else:
            staging = Buffer(self._context, size, usage="read", label="copies")
        return StagedCopy(self, staging, spans)

    def take_back(self, staging: Buffer) -> None:
        self._spare.append(staging)
        if len(self._spare) > SPARE:
            self._spare.pop(0).release()

    def release(self) -> None:
        for buffer in self._spare:
            buffer.release()
        self._spare.clear()
