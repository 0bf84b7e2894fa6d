"""Fences: whether work that was handed to the GPU is done, without waiting for it."""

import ctypes
from typing import TYPE_CHECKING

from sim.gl.bootstrap import GL
from sim.gl.objects import GLObject

if TYPE_CHECKING:
    from sim.gl.context import Context


class Fence(GLObject):
    """Behind everything that the context was told before; sends it on its way."""

    kind = "Sync"

    def __init__(self, context: "Context", *, label: str = "") -> None:
        self._sync = GL.glFenceSync(GL.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        super().__init__(context, ctypes.cast(self._sync, ctypes.c_void_p).value or 0, label)
        GL.glFlush()

    @property
    def passed(self) -> bool:
        """Whether all of it is done; never waits.  The context must be current."""
        assert self.name
        status = GL.glClientWaitSync(self._sync, 0, 0)
        return bool(status in (GL.GL_ALREADY_SIGNALED, GL.GL_CONDITION_SATISFIED))
