"""Buffers that are filled in steps of bounded size, so that a large model stops nobody for long."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer, Usage
from sim.gl.context import Context
from sim.gl.task import Task

STEP_BYTES = 4 << 20
"""Bytes of one step; a software driver copies them in one or two milliseconds."""


def upload_buffer(
    context: Context,
    data: npt.NDArray[Any],
    *,
    dtype: npt.DTypeLike | None = None,
    usage: Usage = "static",
    label: str = "",
) -> Task[Buffer]:
    """A buffer that holds an array; arguments are those of `Buffer`."""
    buffer = Buffer(context, data.nbytes, dtype=data.dtype if dtype is None else dtype, usage=usage, label=label)
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    for offset in range(0, len(raw), STEP_BYTES):
        buffer.write(raw[offset : offset + STEP_BYTES], offset)
        yield
    return buffer


def copy_buffer(source: Buffer, *, usage: Usage = "copy", label: str = "") -> Task[Buffer]:
    """A second buffer with the same contents, copied on the GPU."""
    buffer = Buffer(source.context, source.size, dtype=source.dtype, usage=usage, label=label)
    for offset in range(0, source.size, STEP_BYTES):
        size = min(STEP_BYTES, source.size - offset)
        source.copy_to(buffer, size, source_offset=offset, target_offset=offset)
        yield
    return buffer
