"""Configuration and import of PyOpenGL; this package takes `GL` and the plain C functions from here.

The flags of PyOpenGL only count if they are set before the first import of `OpenGL.GL`.
"""

from sinew.sim.gl.environment import set_environment

# EGL serves headless contexts, Wayland and (with QT_XCB_GL_INTEGRATION=xcb_egl) X11; GLX only serves X11.
# Windows (WGL) and macOS (CGL) have a single platform each, which PyOpenGL selects by itself.
set_environment()

import OpenGL  # noqa: E402

# Errors are read through KHR_debug; a glGetError after every call costs more than most calls.
OpenGL.ERROR_CHECKING = False
OpenGL.ERROR_LOGGING = False
# Hidden conversions of arrays cost time: they raise instead.
OpenGL.ERROR_ON_COPY = True
# Vertex data lives in buffers, so there are no client pointers to keep alive.
OpenGL.STORE_POINTERS = False

from OpenGL import GL, platform  # noqa: E402

# PyOpenGL's wrappers of these functions guess array types and output sizes: they do not know packed depth and stencil
# pixels, and their signatures differ between versions.  The C signatures do not change.
from OpenGL.raw.GL.VERSION.GL_1_0 import (  # noqa: E402
    glGetTexImage,
    glGetTexLevelParameteriv,
    glGetTexParameteriv,
    glReadPixels,
    glTexImage2D,
)
from OpenGL.raw.GL.VERSION.GL_1_1 import glTexSubImage2D  # noqa: E402
from OpenGL.raw.GL.VERSION.GL_1_5 import glGetQueryiv, glGetQueryObjectiv  # noqa: E402
from OpenGL.raw.GL.VERSION.GL_2_0 import (  # noqa: E402
    glGetActiveAttrib,
    glGetActiveUniform,
    glGetVertexAttribfv,
    glGetVertexAttribiv,
    glGetVertexAttribPointerv,
)
from OpenGL.raw.GL.VERSION.GL_3_0 import (  # noqa: E402
    glGetFramebufferAttachmentParameteriv,
    glGetIntegeri_v,
    glGetRenderbufferParameteriv,
)
from OpenGL.raw.GL.VERSION.GL_3_1 import glGetActiveUniformBlockiv  # noqa: E402
from OpenGL.raw.GL.VERSION.GL_3_2 import glGetInteger64i_v  # noqa: E402
from OpenGL.raw.GL.VERSION.GL_3_3 import glGetQueryObjectui64v  # noqa: E402

__all__ = [
    "GL",
    "glGetActiveAttrib",
    "glGetActiveUniform",
    "glGetActiveUniformBlockiv",
    "glGetFramebufferAttachmentParameteriv",
    "glGetInteger64i_v",
    "glGetIntegeri_v",
    "glGetQueryObjectiv",
    "glGetQueryObjectui64v",
    "glGetQueryiv",
    "glGetRenderbufferParameteriv",
    "glGetTexImage",
    "glGetTexLevelParameteriv",
    "glGetTexParameteriv",
    "glGetVertexAttribPointerv",
    "glGetVertexAttribfv",
    "glGetVertexAttribiv",
    "glReadPixels",
    "glTexImage2D",
    "glTexSubImage2D",
    "platform",
]
