"""Readback: contents of a buffer on the CPU, some frames later and without waiting."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer

if TYPE_CHECKING:
    from sim.gl.context import Context


class Readback:
    """A staging buffer and a fence: `request` copies on the GPU, `poll` returns the array once the copy is done.

    One request is in flight at a time.
    """

    def __init__(self, context: "Context", *, label: str = "") -> None:
        self.context = context
        self._staging = Buffer(context, 0, usage="read", label=f"readback {label}")
        self._fence: Any = None
        self._dtype = np.dtype(np.uint8)

    @property
    def pending(self) -> bool:
        return self._fence is not None

    def request(self, buffer: Buffer) -> bool:
        """Start a copy of the whole buffer; returns False, doing nothing, while one is pending."""
        if self.pending:
            return False
        if self._staging.size != buffer.size:
            self._staging.orphan(buffer.size)
        self._dtype = buffer.dtype
        buffer.copy_to(self._staging)
        self._fence = GL.glFenceSync(GL.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        return True

    def poll(self) -> npt.NDArray[Any] | None:
        """The copy if it is complete, else None; never waits."""
        if self._fence is None:
            return None
        # The flush bit makes sure that the fence is signalled some time even if nobody else flushes.
        status = GL.glClientWaitSync(self._fence, GL.GL_SYNC_FLUSH_COMMANDS_BIT, 0)
        if status not in (GL.GL_ALREADY_SIGNALED, GL.GL_CONDITION_SATISFIED):
            return None
        self._drop_fence()
        return self._staging.read(self._dtype)

    def release(self) -> None:
        self._drop_fence()
        self._staging.release()

    def _drop_fence(self) -> None:
        if self._fence is not None and not self.context.released:
            GL.glDeleteSync(self._fence)
        self._fence = None
