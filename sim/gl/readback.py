"""Readback of buffers some frames later, without waiting for the GPU."""

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.objects import GLObject, Owner

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context


class Fence(GLObject):
    """A fence that the GPU passes after all commands so far; without `flush` the first look at `passed` sends them."""

    def __init__(self, context: "Context", *, flush: bool = True, label: str = "") -> None:
        self._sync = GL.glFenceSync(GL.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        super().__init__(context, "Sync", ctypes.cast(self._sync, ctypes.c_void_p).value or 0, label)
        self._flags = 0 if flush else GL.GL_SYNC_FLUSH_COMMANDS_BIT
        if flush:
            GL.glFlush()

    @property
    def passed(self) -> bool:
        """True once the GPU has passed the fence; never waits, the context must be current."""
        assert self.name
        status = GL.glClientWaitSync(self._sync, self._flags, 0)
        return bool(status in (GL.GL_ALREADY_SIGNALED, GL.GL_CONDITION_SATISFIED))


class Readback(Owner):
    """A staging buffer and a fence; one request is in flight at a time."""

    def __init__(self, context: "Context", *, label: str = "") -> None:
        self._staging = self.owns(Buffer(context, 0, usage="read", label=f"readback {label}"))
        self._fence: Fence | None = None
        self._dtype: np.dtype = np.dtype(np.uint8)

    @property
    def pending(self) -> bool:
        return self._fence is not None

    def request(self, buffer: Buffer) -> bool:
        """Copies the whole buffer on the GPU; returns False, doing nothing, while a copy is pending."""
        if self._fence is not None:
            return False
        if self._staging.size != buffer.size:
            self._staging.orphan(buffer.size)
        self._dtype = buffer.dtype
        buffer.copy_to(self._staging)
        self._fence = self.owns(Fence(self._staging.context, flush=False, label=self._staging.label))
        return True

    def poll(self) -> npt.NDArray[Any] | None:
        """Returns the copy if it is complete, else None; never waits."""
        if self._fence is None or not self._fence.passed:
            return None
        self.disown(self._fence)
        self._fence = None
        return self._staging.read(self._dtype)

    def release(self) -> None:
        self._fence = None
        super().release()
