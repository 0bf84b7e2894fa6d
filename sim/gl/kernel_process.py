"""Process that compiles programs and runs them once, within limits of time and memory; see `kernel_trial`."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError, ShaderError
from sinew.sim.gl.kernel_trial import MEMORY_MAX, SECONDS_MAX, TrialAnswer, TrialRequest, received, send
from sinew.sim.gl.program_build import build_program
from sinew.sim.gl.reflection import reflect

_BUFFER_SIZE = 1 << 20
_BUFFER_COUNT = 8


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the other process decides
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers may print
    missing, context = "", None
    try:
        context = Context.headless()
    except GLError as error:
        missing = str(error)
    _limit_memory()
    while (data := received(sys.stdin.buffer)) is not None:
        request = msgspec.msgpack.decode(data, type=TrialRequest)
        _limit_time()
        send(out, TrialAnswer(missing=missing) if context is None else _tried(context, request))
    os._exit(0)


def _limit_memory() -> None:
    if not sys.platform.startswith("linux"):
        return
    import resource

    status = Path("/proc/self/status").read_text()
    used = int(status.partition("VmData:")[2].split()[0]) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY_MAX,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time() -> None:
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + SECONDS_MAX, most))


def _tried(context: Context, request: TrialRequest) -> TrialAnswer:
    if request.binaries and context.binaries is None:
        context.keep_binaries(Path(request.binaries))
    try:
        program = build_program(request.sources, retrievable=context.binaries is not None)
    except ShaderError as error:
        return TrialAnswer(error.messages)
    with _inputs(program):
        if "compute" in request.sources.stages:
            GL.glDispatchCompute(1, 1, 1)
        elif request.sources.captures:
            GL.glEnable(GL.GL_RASTERIZER_DISCARD)
            GL.glBeginTransformFeedback(GL.GL_POINTS)
            GL.glDrawArrays(GL.GL_POINTS, 0, 1)
            GL.glEndTransformFeedback()
            GL.glDisable(GL.GL_RASTERIZER_DISCARD)
        else:
            for mode in (GL.GL_TRIANGLES, GL.GL_LINES, GL.GL_POINTS):  # a geometry stage takes one of them
                GL.glDrawArrays(mode, 0, 6)
        GL.glFinish()
    if context.binaries is not None:
        context.binaries.keep(request.sources, program)
    GL.glDeleteProgram(program)
    return TrialAnswer()


@contextlib.contextmanager
def _inputs(program: int) -> Iterator[None]:
    """Makes a program current with 1 in all uniforms, empty buffers, and vertices without attributes."""
    GL.glUseProgram(program)
    units = 0
    for info in reflect(program).uniforms.values():
        if info.type.sampler_target is None:
            info.type.upload(info.location, info.size, np.ones((info.size, *info.type.shape), info.type.dtype))
        else:
            info.type.upload(info.location, info.size, np.arange(units, units + info.size, dtype=np.int32))
            units += info.size
    names, vertices = np.zeros(_BUFFER_COUNT, np.uint32), np.zeros(1, np.uint32)
    GL.glGenBuffers(_BUFFER_COUNT, names)
    GL.glGenVertexArrays(1, vertices)
    GL.glBindVertexArray(int(vertices[0]))
    for name in names.tolist():
        GL.glBindBuffer(GL.GL_UNIFORM_BUFFER, name)
        GL.glBufferData(GL.GL_UNIFORM_BUFFER, _BUFFER_SIZE, None, GL.GL_DYNAMIC_COPY)
    for index, name in enumerate(names[:4].tolist()):
        GL.glBindBufferBase(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index, name)
        GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, index, int(names[4 + index]))
    GL.glBindBufferBase(GL.GL_UNIFORM_BUFFER, 0, int(names[7]))
    try:
        yield
    finally:
        GL.glDeleteVertexArrays(1, vertices)
        GL.glDeleteBuffers(_BUFFER_COUNT, names)


if __name__ == "__main__":
    main()
