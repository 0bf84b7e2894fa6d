"""Data that reaches the GPU in steps of bounded size, so that nobody waits long for it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.steps import Steps

STEP_BYTES = 1 << 22
"""Bytes of one step; a software driver takes about two milliseconds."""


def uploaded(context: Context, data: npt.NDArray[Any], *, label: str = "") -> Steps[Buffer]:
    """A buffer of some data, which is done with the last step; given up, it is deleted by `Context.collect`."""
    buffer = Buffer(context, data.nbytes, dtype=data.dtype, label=label)
    octets = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    for first in range(0, len(octets), STEP_BYTES):
        buffer.write(octets[first : first + STEP_BYTES], first)
        yield
    return buffer
