"""The OpenGL that is asked for, before any library is loaded."""

import os
import sys

WANTED = (3, 3)
"""Version of the core profile."""

COMPUTE_VERSION = (4, 3)
"""From here on kernels can run by compute; it is asked for first, since some drivers give what they are asked for."""


def set_environment() -> None:
    """One GL stack for window and headless contexts: EGL on Linux; other systems keep their native one.

    Another platform that a variable of the environment names is overruled: functions would be looked up in a library
    that knows nothing of the context, which crashes or fails at the first call.  The drivers' own chatter on the
    terminal is for those who ask for it.
    """
    if sys.platform.startswith("linux"):
        os.environ["PYOPENGL_PLATFORM"] = "egl"
        os.environ.setdefault("EGL_LOG_LEVEL", "fatal")
        os.environ.setdefault("LIBGL_DEBUG", "quiet")
