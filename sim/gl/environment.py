"""OpenGL versions to request, and environment variables that must be set before any library is loaded."""

import os
import sys

WANTED = (3, 3)
"""Oldest supported version of the core profile."""

COMPUTE_VERSION = (4, 3)
"""First version with compute shaders.  It is requested first: some drivers return exactly the requested version."""


def set_environment() -> None:
    """Selects EGL on Linux, for windows and headless contexts alike; other systems keep their native platform.

    Overrides another platform named by the environment: functions would be looked up in a library that does not know
    the context, which crashes or fails at the first call.  Silences the drivers' messages on the terminal unless the
    environment enables them.
    """
    if sys.platform.startswith("linux"):
        os.environ["PYOPENGL_PLATFORM"] = "egl"
        os.environ.setdefault("EGL_LOG_LEVEL", "fatal")
        os.environ.setdefault("LIBGL_DEBUG", "quiet")
