"""What has to be set before the first QApplication or GL call."""

import os
import sys

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QSurfaceFormat

APPLICATION = "Sinew"


def set_environment() -> None:
    """One GL stack for window and headless contexts: EGL on Linux; other systems keep their native one."""
    if sys.platform.startswith("linux"):
        os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
        os.environ.setdefault("QT_XCB_GL_INTEGRATION", "xcb_egl")


def set_surface_format(debug: bool = False) -> None:
    """OpenGL 3.3 core; the engine multisamples in its own framebuffer, so the window needs no samples."""
    surface = QSurfaceFormat()
    surface.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setDepthBufferSize(0)
    surface.setSamples(0)
    surface.setSwapInterval(1)
    surface.setOption(QSurfaceFormat.FormatOption.DebugContext, debug)
    QSurfaceFormat.setDefaultFormat(surface)


def prepare(debug: bool = False) -> None:
    """Everything of this module, plus the names that settings and recovery files are kept under.

    Shared contexts keep the viewport's resources alive while its dock floats: without them Qt makes a new
    context each time.
    """
    set_environment()
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    QCoreApplication.setApplicationName(APPLICATION)
    QCoreApplication.setOrganizationName(APPLICATION)
    set_surface_format(debug)
