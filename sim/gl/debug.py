"""Errors that OpenGL reports: a plain check, and the callback of KHR_debug where the driver has it."""

import logging
from typing import TYPE_CHECKING, Any

from sim.gl.bootstrap import GL
from sim.gl.errors import GLError

if TYPE_CHECKING:
    from sim.gl.context import Context

log = logging.getLogger(__name__)

ERROR_NAMES = {
    GL.GL_INVALID_ENUM: "invalid enum",
    GL.GL_INVALID_VALUE: "invalid value",
    GL.GL_INVALID_OPERATION: "invalid operation",
    GL.GL_INVALID_FRAMEBUFFER_OPERATION: "invalid framebuffer operation",
    GL.GL_OUT_OF_MEMORY: "out of memory",
}
ERROR_LIMIT = 32
"""A lost context returns errors for ever; stop asking after this many."""


def pending_errors() -> list[str]:
    """Names of all errors since the last call."""
    found: list[str] = []
    while len(found) < ERROR_LIMIT:
        code = int(GL.glGetError())
        if code == GL.GL_NO_ERROR:
            break
        found.append(ERROR_NAMES.get(code, f"error 0x{code:04x}"))
    return found


def check(where: str) -> None:
    """Raise GLError if OpenGL has reported errors since the last check."""
    found = pending_errors()
    if found:
        raise GLError(f"OpenGL: {', '.join(found)} before the end of {where}")


class DebugLog:
    """Collects what the driver reports through KHR_debug; collects nothing where the extension is missing.

    Args:
        context: The current context.
        synchronous: Report inside the faulty call, so that a stack trace shows it.

    Attributes:
        errors: Texts of type "error" and of high severity, in order.
        available: Whether the driver supports it.
    """

    def __init__(self, context: "Context", *, synchronous: bool = True) -> None:
        self.errors: list[str] = []
        self.available = context.capabilities.has_debug_output
        self._callback: Any = None
        if not self.available:
            return
        self._callback = GL.GLDEBUGPROC(self._report)
        GL.glEnable(GL.GL_DEBUG_OUTPUT)
        if synchronous:
            GL.glEnable(GL.GL_DEBUG_OUTPUT_SYNCHRONOUS)
        GL.glDebugMessageCallback(self._callback, None)
        # The driver keeps a bare pointer: the function must live as long as the context, whatever becomes of the log.
        context.debug_callback = self._callback

    def raise_errors(self) -> None:
        """Raise GLError with everything collected, and forget it."""
        if self.errors:
            texts, self.errors = self.errors, []
            raise GLError("OpenGL: " + "; ".join(texts))

    def release(self) -> None:
        """Stop collecting; the context must be current.  May be called twice."""
        if self._callback is not None:
            GL.glDebugMessageCallback(GL.GLDEBUGPROC(0), None)
            GL.glDisable(GL.GL_DEBUG_OUTPUT)
            self._callback = None

    def _report(
        self, source: int, kind: int, _id: int, severity: int, length: int, message: bytes, _user: object
    ) -> None:
        if source == GL.GL_DEBUG_SOURCE_SHADER_COMPILER:
            return  # ShaderError carries the same text with the right file and line
        text = message[:length].decode("utf-8", "replace").strip()
        if kind == GL.GL_DEBUG_TYPE_ERROR or severity == GL.GL_DEBUG_SEVERITY_HIGH:
            self.errors.append(text)
            log.error("OpenGL: %s", text)
        elif severity != GL.GL_DEBUG_SEVERITY_NOTIFICATION:
            log.debug("OpenGL: %s", text)
