import ctypes
import os
import sys

from PySide6.QtCore import QCoreApplication, QMessageLogContext, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QOffscreenSurface, QOpenGLContext, QSurfaceFormat
from PySide6.QtWidgets import QApplication

from sinew.app.failure.errors import FAILED, CommandError, one_line
from sinew.sim.gl.environment import COMPUTE_VERSION, WANTED, set_environment

APPLICATION = "Sinew"

_GL_VERSION = 0x1F02
_M_ARENA_MAX, _ARENAS = -8, 2  # glibc's mallopt key; the arena of the main thread and one more
_DISPLAY_HELP = (
    "start it where DISPLAY or WAYLAND_DISPLAY names a running server, or as xvfb-run sinew; info, pose, simulate,"
    " render and bench need no display"
)
_LIBRARIES_HELP = "on Debian, apt install libxcb-cursor0 libegl1 libegl-mesa0 brings what is commonly missing"


def set_surface_format(debug: bool = False) -> None:
    """Requests OpenGL 3.3 core or later for windows, unsampled: the engine multisamples in its own framebuffer."""
    surface = QSurfaceFormat()
    surface.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    # Drivers on Linux and macOS give their latest version; on Windows it is the requested one or less.
    surface.setVersion(*(COMPUTE_VERSION if sys.platform == "win32" else WANTED))
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setDepthBufferSize(0)
    surface.setSamples(0)
    surface.setSwapInterval(1)
    surface.setOption(QSurfaceFormat.FormatOption.DebugContext, debug)
    QSurfaceFormat.setDefaultFormat(surface)


def share_memory() -> None:
    """Makes all worker threads allocate from one arena.

    By default glibc has an arena for each thread, so that memory freed by one thread cannot be used by the next: a
    hundred projects leave 30 MB of fragments. Has no effect with other C libraries.
    """
    if sys.platform.startswith("linux") and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_M_ARENA_MAX, _ARENAS)


def prepare(debug: bool = False) -> None:
    """Prepares Qt and OpenGL; call this before the first QApplication and GL call.

    Shared contexts keep the GL resources of the viewport alive while its dock floats: otherwise Qt makes a new context
    each time.
    """
    share_memory()
    set_environment()
    if os.environ.get("QT_XCB_GL_INTEGRATION") != "xcb_egl" and sys.platform.startswith("linux"):
        os.environ["QT_XCB_GL_INTEGRATION"] = "xcb_egl"  # a value that differs from the GL library's crashes
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    QCoreApplication.setApplicationName(APPLICATION)
    QCoreApplication.setOrganizationName(APPLICATION)
    set_surface_format(debug)


def application(debug: bool = False) -> QApplication:
    """Makes the application after `prepare`. Without a display, Qt ends the process: one line is printed instead of
    seven and an abort. Raises CommandError, which names the available OpenGL, if windows cannot have the required one.
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
        is_valid = shared is not None and shared.isValid()
        found = (shared.format().majorVersion(), shared.format().minorVersion()) if is_valid else (0, 0)
        if found < WANTED or not _is_reached(shared):
            raise CommandError("OpenGL", "", _no_opengl(made))
    finally:
        qInstallMessageHandler(before)
    for text in reported:
        print(text, file=sys.stderr)
    return made


def _is_reached(context: QOpenGLContext) -> bool:
    """Returns False if the loaded GL library does not know the context: without EGL, Qt may fall back on GLX."""
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


def _no_display(reported: list[str]) -> str:
    reason = next((text for text in reported if "connect to display" in text), "")
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if reason or not (platform or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return f"no display: {one_line(reason.rpartition(': ')[2]) or 'none is set'}; {_DISPLAY_HELP}"
    first = one_line(reported[0]).rstrip(".") if reported else "Qt gives no reason"
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
