import logging
from typing import TYPE_CHECKING, Any

from sinew.sim.gl.bootstrap import GL

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

log = logging.getLogger(__name__)


class DebugLog:
    """Log of messages of KHR_debug, if the driver has it; `errors` are of type "error" or high severity.

    They are reported inside the faulty call, so that a stack trace shows it.
    """

    def __init__(self, context: "Context") -> None:
        self.errors: list[str] = []
        self.available = context.capabilities.has_debug_output
        self._callback: Any = None
        if not self.available:
            return
        self._callback = GL.GLDEBUGPROC(self._report)
        GL.glEnable(GL.GL_DEBUG_OUTPUT)
        GL.glEnable(GL.GL_DEBUG_OUTPUT_SYNCHRONOUS)
        GL.glDebugMessageCallback(self._callback, None)
        # The driver keeps a bare pointer: the function must live as long as the context, even if the log is released.
        context.debug_callback = self._callback

    def release(self) -> None:
        if self._callback is not None:
            GL.glDebugMessageCallback(GL.GLDEBUGPROC(0), None)
            GL.glDisable(GL.GL_DEBUG_OUTPUT)
            self._callback = None

    def _report(
        self, source: int, kind: int, _id: int, severity: int, length: int, message: bytes, _user: object
    ) -> None:
        if source == GL.GL_DEBUG_SOURCE_SHADER_COMPILER:
            return  # ShaderError has the same text with file and line
        text = message[:length].decode("utf-8", "replace").strip()
        if kind == GL.GL_DEBUG_TYPE_ERROR or severity == GL.GL_DEBUG_SEVERITY_HIGH:
            self.errors.append(text)
            log.error("OpenGL: %s", text)
        elif severity != GL.GL_DEBUG_SEVERITY_NOTIFICATION:
            log.debug("OpenGL: %s", text)
