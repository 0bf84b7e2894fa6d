"""The one place that configures and imports PyOpenGL; every module of this package takes `GL` from here.

Owns the PyOpenGL flags, which only count when set before the first import of `OpenGL.GL`.
"""

from sim.gl.environment import set_environment

# EGL serves headless contexts, Wayland and (with QT_XCB_GL_INTEGRATION=xcb_egl) X11 alike; GLX only serves X11.
# Windows (WGL) and macOS (CGL) have a single platform each, which PyOpenGL selects by itself.
set_environment()

import OpenGL  # noqa: E402

# Errors are read through KHR_debug; a glGetError after every call costs more than most calls.
OpenGL.ERROR_CHECKING = False
OpenGL.ERROR_LOGGING = False
# A hidden conversion of an array is a bug of the wrapper: let it raise instead of costing time.
OpenGL.ERROR_ON_COPY = True
# Vertex data lives in buffers, so there are no client pointers to keep alive.
OpenGL.STORE_POINTERS = False

from OpenGL import GL  # noqa: E402

__all__ = ["GL"]
