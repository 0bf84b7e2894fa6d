"""A native OpenGL context without a window, and the small framebuffer it needs."""

import sys
from typing import Any

from sim.gl.bootstrap import GL
from sim.gl.errors import GLError
from sim.gl.objects import new_name

SURFACE_SIZE = (4, 4)


def open_native(version: tuple[int, int]) -> Any:
    """Create a core-profile context of at least `version` and make it current.

    Linux uses EGL without a surface, which needs no display server; elsewhere the platform's own window system
    interface is used (WGL with a hidden window on Windows, CGL on macOS).

    Raises:
        GLError: If no context of this version can be had; the message carries the reason.
    """
    import glcontext

    code = version[0] * 100 + version[1] * 10
    try:
        if sys.platform.startswith("linux"):
            backend = glcontext.get_backend_by_name("egl")
            native = backend(mode="standalone", glversion=code, libgl="libGL.so.1", libegl="libEGL.so.1")
        else:
            native = glcontext.default_backend()(mode="standalone", glversion=code)
    except Exception as error:
        # The backends raise bare Exception with a short text; there is no narrower class to catch.
        raise GLError(f"no OpenGL {version[0]}.{version[1]} core context without a window: {error}") from error
    native.__enter__()
    return native


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
