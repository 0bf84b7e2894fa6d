"""The OpenGL context as an object: what it can do, what lives in it, and when names are deleted.

A context is passed explicitly to everything that creates GL names; there is no process-wide one.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.capabilities import Capabilities, query_capabilities
from sim.gl.errors import GLError
from sim.gl.headless import bind_small_framebuffer, open_native
from sim.gl.objects import ObjectRegistry
from sim.gl.timer import Timers

if TYPE_CHECKING:
    from sim.gl.state import PipelineState

MINIMUM_VERSION = (3, 3)
SCRATCH_UNIT = 15
"""Texture unit that uploads bind to, so that they disturb no binding of a pass; 16 is the guaranteed count."""


class Context:
    """An OpenGL context of version 3.3 core or later.

    Attributes:
        capabilities: Driver strings and limits.
        registry: Names that exist and names waiting for deletion.
        default_framebuffer: Framebuffer that stands for the screen: the small one of a headless context, or the
            number Qt gives (`defaultFramebufferObject()`), which the viewport sets before every frame.
        released: Whether `release` was called.
        debug_callback: Function that the driver calls with its messages, kept alive for it; see `debug.DebugLog`.
        timers: What passes cost, once they are switched on.
        applied_state: The pipeline state set last, or None when something else may have changed it.
    """

    def __init__(self, native: Any = None) -> None:
        self.capabilities: Capabilities = query_capabilities()
        if self.capabilities.version_number < MINIMUM_VERSION:
            raise GLError(
                f"OpenGL 3.3 is needed; {self.capabilities.renderer or 'this driver'} offers "
                f"{self.capabilities.version or 'no context'}"
            )
        self.registry = ObjectRegistry()
        self.timers = Timers(self)
        self.released = False
        self.applied_state: PipelineState | None = None
        self.default_framebuffer = 0
        self.debug_callback: Any = None
        self._native = native
        self._small: tuple[int, int] | None = None
        self._block_bindings: dict[str, int] = {}
        if native is not None:
            self._small = bind_small_framebuffer()
            self.default_framebuffer = self._small[0]

    @classmethod
    def headless(cls, version: tuple[int, int] = MINIMUM_VERSION) -> Self:
        """A new context without a window, made current, with a small framebuffer bound.

        Raises:
            GLError: If the system offers no such context.
        """
        native = open_native(version)
        try:
            return cls(native)
        except GLError:
            native.release()
            raise

    @classmethod
    def current(cls) -> Self:
        """Adopt the context that is current, as Qt makes it; the caller keeps owning the native context.

        Raises:
            GLError: If none is current or it is older than 3.3.
        """
        if not GL.glGetString(GL.GL_VERSION):
            raise GLError("no OpenGL context is current")
        return cls()

    @property
    def live(self) -> list[str]:
        """`kind:label` of everything that exists in the context, including what waits for `collect`."""
        return self.registry.labels()

    def make_current(self) -> None:
        """Make a headless context current; an adopted one is made current by its owner."""
        if self._native is not None and not self.released:
            self._native.__enter__()

    def bind_default_framebuffer(self) -> None:
        """Bind the framebuffer that stands for the screen."""
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.default_framebuffer)

    def invalidate(self) -> None:
        """Forget the state set last; call at the start of a frame, because Qt changes state between frames."""
        self.applied_state = None

    def collect(self) -> int:
        """Delete the names whose owners are gone; the context must be current.  Returns their number."""
        return self.registry.collect()

    def flush(self) -> None:
        """Send work on its way, without waiting for it."""
        GL.glFlush()

    def finish(self) -> None:
        """Wait until all work is done; for measurements and tests only."""
        GL.glFinish()

    def block_binding(self, name: str) -> int:
        """Binding point of the uniform block called `name`, the same for every program of this context."""
        return self._block_bindings.setdefault(name, len(self._block_bindings))

    def release(self) -> None:
        """Delete everything that exists and close a native context; may be called twice.

        The context must be current.
        """
        if self.released:
            return
        self.registry.delete_all()
        self.released = True
        if self._small is not None:
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, 0)
            GL.glDeleteFramebuffers(1, np.array(self._small[:1], np.uint32))
            GL.glDeleteRenderbuffers(1, np.array(self._small[1:], np.uint32))
        if self._native is not None:
            self._native.release()
            self._native = None

    def __enter__(self) -> Self:
        self.make_current()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
