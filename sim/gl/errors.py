"""Errors of the GL layer."""


class GLError(RuntimeError):
    """OpenGL reported an error, or a context could not be had."""


class GLLimitError(GLError):
    """A request exceeds what the driver, or the guaranteed minimum of OpenGL 3.3, allows."""
