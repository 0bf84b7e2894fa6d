"""A native OpenGL context without a window, and the small framebuffer it needs."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sim.gl.bootstrap import GL
from sim.gl.errors import GLError
from sim.gl.objects import new_name

SURFACE_SIZE = (4, 4)

CLIENT_LIBRARIES = ("libGL.so.1", "libOpenGL.so.0")
"""A machine without X11 may have the second only."""


def open_native(version: tuple[int, int]) -> Any:
    """Create a core-profile context of at least `version` and make it current.

    Linux uses EGL without a surface, which needs no display server; elsewhere the platform's own window system
    interface is used (WGL with a hidden window on Windows, CGL on macOS).

    Raises:
        GLError: If no context of this version can be had; the message carries the reason.
    """
    reasons = []
    for open_one in _backends(version[0] * 100 + version[1] * 10):
        try:
            native = open_one()
        except Exception as error:  # the backends raise bare Exception with a short text
            reasons.append(str(error))
            continue
        native.__enter__()
        return native
    reason = "; ".join(dict.fromkeys(reasons))
    raise GLError(f"no OpenGL {version[0]}.{version[1]} core context without a window: {reason}")


def _backends(code: int) -> Iterator[Callable[[], Any]]:
    """Ways to open a context, most likely first."""
    import glcontext

    if not sys.platform.startswith("linux"):
        yield lambda: glcontext.default_backend()(mode="standalone", glversion=code)
        return
    egl = glcontext.get_backend_by_name("egl")
    for library in CLIENT_LIBRARIES:
        yield partial(egl, mode="standalone", glversion=code, libgl=library, libegl="libEGL.so.1")


def bind_small_framebuffer() -> tuple[int, int]:
    """Create and bind a 4 x 4 framebuffer; even transform feedback fails without one on a surfaceless context.

    Returns:
        Names of the framebuffer and of its renderbuffer.
    """
    renderbuffer = new_name(GL.glGenRenderbuffers)
    GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, renderbuffer)
    GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, GL.GL_RGBA8, *SURFACE_SIZE)
    framebuffer = new_name(GL.glGenFramebuffers)
    GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, framebuffer)
    GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_RENDERBUFFER, renderbuffer)
    GL.glViewport(0, 0, *SURFACE_SIZE)
    return framebuffer, renderbuffer
