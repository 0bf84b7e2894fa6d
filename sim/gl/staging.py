"""Copies of buffers on their way to the CPU: made on the GPU at once, and read when they are done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.fence import Fence

SPARE = 8
"""Most staging buffers that wait to be used again."""


@dataclass(frozen=True, slots=True)
class BufferSpan:
    """The first elements of a buffer.

    Attributes:
        buffer: The buffer.
        count: How many elements; all for None.
    """

    buffer: Buffer
    count: int | None = None

    @property
    def size(self) -> int:
        return self.buffer.size if self.count is None else self.count * self.buffer.dtype.itemsize

    def read(self) -> npt.NDArray[Any]:
        """What it holds now; waits for the GPU."""
        return self.buffer.read(count=self.count)


class StagedCopy:
    """What some spans held at one moment; made by `StagingCopies`.  Let go of unread, it costs nothing more."""

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
        """Whether it is done, so that reading does not wait.  The context must be current."""
        return self._fence.passed

    def read(self) -> list[npt.NDArray[Any]]:
        """The contents of the spans, once; waits for the GPU where it is not done."""
        content = self._staging.read(np.uint8, count=sum(dtype.itemsize * count for dtype, count in self._forms))
        self._fence.release()
        self._home.take_back(self._staging)
        found, offset = [], 0
        for dtype, count in self._forms:
            end = offset + dtype.itemsize * count
            found.append(content[offset:end].view(dtype))
            offset = end
        return found


class StagingCopies:
    """Makes copies, and uses their staging buffers again.

    Args:
        context: Where the buffers live.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._spare: list[Buffer] = []

    def begin(self, spans: Sequence[BufferSpan]) -> StagedCopy:
        """Begins to copy; what is written into the buffers later does not change it."""
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
