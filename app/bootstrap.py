"""What has to be set before the first QApplication or GL call, and what is said where a window cannot be had."""

import ctypes
import os
import sys

from PySide6.QtCore import QCoreApplication, QMessageLogContext, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QOffscreenSurface, QOpenGLContext, QSurfaceFormat
from PySide6.QtWidgets import QApplication

from app.cli.failure import FAILED, CommandError, one_line
from sim.gl.environment import COMPUTE_VERSION, WANTED, set_environment

APPLICATION = "Sinew"

_GL_VERSION = 0x1F02
_M_ARENA_MAX, _ARENAS = -8, 2
"""Number of glibc's `mallopt` for how many pools of memory there are, and how many: the main thread's, and another."""
_DISPLAY_HELP = (
    "start it where DISPLAY or WAYLAND_DISPLAY names a running server, or as xvfb-run sinew; info, pose, simulate,"
    " render and bench need no display"
)
_LIBRARIES_HELP = "on Debian, apt install libxcb-cursor0 libegl1 libegl-mesa0 brings what is commonly missing"


def set_surface_format(debug: bool = False) -> None:
    """OpenGL 3.3 core or later; the engine multisamples in its own framebuffer, so the window needs no samples."""
    surface = QSurfaceFormat()
    surface.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    # Drivers on Linux and macOS give the latest they have; on Windows it is what was asked for, or less if need be.
    surface.setVersion(*(COMPUTE_VERSION if sys.platform == "win32" else WANTED))
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setDepthBufferSize(0)
    surface.setSamples(0)
    surface.setSwapInterval(1)
    surface.setOption(QSurfaceFormat.FormatOption.DebugContext, debug)
    QSurfaceFormat.setDefaultFormat(surface)


def share_memory() -> None:
    """Makes all worker threads take their memory from one pool.

    With one for each, as glibc has it, what one thread freed is of no use to the next: a hundred projects that come
    and go leave 30 MB in pieces.  Other libraries have no such number, and do as they do.
    """
    if sys.platform.startswith("linux") and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_M_ARENA_MAX, _ARENAS)


def prepare(debug: bool = False) -> None:
    """Everything of this module, plus the names that settings and recovery files are kept under.

    Shared contexts keep the viewport's resources alive while its dock floats: without them Qt makes a new
    context each time.
    """
    share_memory()
    set_environment()
    if os.environ.get("QT_XCB_GL_INTEGRATION") != "xcb_egl" and sys.platform.startswith("linux"):
        os.environ["QT_XCB_GL_INTEGRATION"] = "xcb_egl"  # one that differs from the library's crashes inside it
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    QCoreApplication.setApplicationName(APPLICATION)
    QCoreApplication.setOrganizationName(APPLICATION)
    set_surface_format(debug)


def application(debug: bool = False) -> QApplication:
    """The application with windows, after `prepare`.

    Without a display, Qt ends the process: it leaves with one line instead of seven and an abort.

    Raises:
        CommandError: If windows cannot have the OpenGL that is needed; says which there is.
    """
    prepare(debug)
    reported: list[str] = []

    def listen(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        reported.append(text)
        if kind is QtMsgType.QtFatalMsg:
            sys.stderr.write(f"sinew: {_no_display(reported)}\n")
            sys.stderr.flush()
            os._exit(FAILED)

    before = qInstallMessageHandler(listen)
    try:
        made = QApplication([APPLICATION])
        shared = QOpenGLContext.globalShareContext()
        if shared is None or not shared.isValid() or _version(shared.format()) < WANTED or not _is_reached(shared):
            raise CommandError("OpenGL", "", _no_opengl(made))
    finally:
        qInstallMessageHandler(before)
    for text in reported:
        print(text, file=sys.stderr)
    return made


def _is_reached(context: QOpenGLContext) -> bool:
    """Whether the library that functions are called through knows a context; without EGL, Qt may fall back on GLX."""
    if not sys.platform.startswith("linux"):
        return True
    surface = QOffscreenSurface()
    surface.setFormat(context.format())
    surface.create()
    current = ctypes.CDLL("libEGL.so.1").eglGetCurrentContext
    current.restype = ctypes.c_void_p
    known = context.makeCurrent(surface) and bool(current())
    context.doneCurrent()
    return known


def _version(surface: QSurfaceFormat) -> tuple[int, int]:
    return surface.majorVersion(), surface.minorVersion()


def _no_display(reported: list[str]) -> str:
    """Why Qt could not start, from what it told on the way."""
    reason = next((text for text in reported if "connect to display" in text), "")
    wanted = os.environ.get("QT_QPA_PLATFORM", "")
    if reason or not (wanted or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return f"no display: {one_line(reason.rpartition(': ')[2]) or 'none is named'}; {_DISPLAY_HELP}"
    first = one_line(reported[0]).rstrip(".") if reported else "Qt tells no reason"
    return f"no display: {first}; {_DISPLAY_HELP}; {_LIBRARIES_HELP}"


def _no_opengl(made: QApplication) -> str:
    needed = f"{WANTED[0]}.{WANTED[1]} core is needed"
    surface = QOffscreenSurface()
    surface.setFormat(QSurfaceFormat())
    surface.create()
    context = QOpenGLContext()
    context.setFormat(QSurfaceFormat())
    if not (context.create() and _is_reached(context) and context.makeCurrent(surface)):
        return f"{needed}, and windows of the platform {made.platformName()!r} have none of EGL; {_LIBRARIES_HELP}"
    found = context.functions().glGetString(_GL_VERSION) or "an older one"
    context.doneCurrent()
    return f"{needed}, and windows have {one_line(str(found))}; a newer driver, or Mesa's software renderer, has it"
