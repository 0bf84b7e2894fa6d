from sinew.sim.gl.bootstrap import GL

ERROR_NAMES = {
    GL.GL_INVALID_ENUM: "invalid enum",
    GL.GL_INVALID_VALUE: "invalid value",
    GL.GL_INVALID_OPERATION: "invalid operation",
    GL.GL_INVALID_FRAMEBUFFER_OPERATION: "invalid framebuffer operation",
    GL.GL_OUT_OF_MEMORY: "out of memory",
}
ERROR_LIMIT = 32  # A lost context returns errors for ever; stop asking after this many


def pending_errors() -> list[str]:
    found: list[str] = []
    while len(found) < ERROR_LIMIT:
        code = int(GL.glGetError())
        if code == GL.GL_NO_ERROR:
            break
        found.append(ERROR_NAMES.get(code, f"error 0x{code:04x}"))
    return found
