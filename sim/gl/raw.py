"""Plain C functions, where PyOpenGL's convenience wrappers get in the way.

The wrappers of these guess array types or output sizes: they lack some pixel types (packed depth and stencil), and
their signatures differ between versions.  The C signatures do not change.
"""

import sim.gl.bootstrap  # noqa: F401, I001  (flags must be set before the functions are imported)
from OpenGL.raw.GL.VERSION.GL_1_0 import glGetTexImage, glReadPixels, glTexImage2D
from OpenGL.raw.GL.VERSION.GL_1_1 import glTexSubImage2D
from OpenGL.raw.GL.VERSION.GL_1_5 import glGetQueryiv, glGetQueryObjectiv
from OpenGL.raw.GL.VERSION.GL_2_0 import glGetActiveAttrib, glGetActiveUniform
from OpenGL.raw.GL.VERSION.GL_3_0 import glGetTransformFeedbackVarying
from OpenGL.raw.GL.VERSION.GL_3_3 import glGetQueryObjectui64v

__all__ = [
    "glGetActiveAttrib",
    "glGetActiveUniform",
    "glGetQueryObjectiv",
    "glGetQueryObjectui64v",
    "glGetQueryiv",
    "glGetTexImage",
    "glGetTransformFeedbackVarying",
    "glReadPixels",
    "glTexImage2D",
    "glTexSubImage2D",
]
