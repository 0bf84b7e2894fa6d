"""Known work that the timer of the graphics card is compared with a wall clock on."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.back_end import BackEnd
from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.context import get_integer
from sim.gl.framebuffer import Framebuffer
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.state import PipelineState
from sim.gl.timer import TimerStamps
from sim.gl.vertex_array import VertexArray
from sim.profile.calibration import Timing, Trial, is_distrusted, try_out

if TYPE_CHECKING:
    from sim.gl.context import Context

BITS = record("busy bits", bits=(4, "f4"))
SMALL, LARGE = 1_000, 60_000
"""Vertices of transform feedback, where a timer may be right for one and wrong for the other."""

VERTEX_ROUNDS, PIXEL_ROUNDS = 16, 8
EDGE = 256

_FLAT = PipelineState(depth_test=False, depth_write=False)


class CalibratedWork:
    """Two sizes of transform feedback, and a picture that is filled.

    Args:
        context: Where the work is done.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._library = ShaderLibrary(context)
        self._kernel = Kernel(self._library, "timing/busy.glsl", BITS, back_end=BackEnd.TF)
        self._fill = self._library.program("viewport/fullscreen.vert", "timing/busy.frag")
        self._nothing = VertexArray(context, label="timer trial")
        self._target = Buffer(context, LARGE * BITS.dtype.itemsize, usage="copy", label="timer trial")
        self._picture = Framebuffer(context, (EDGE, EDGE), depth=None, label="timer trial")
        self._salt = 0

    def feed_back(self, count: int) -> None:
        """One transform feedback of so many vertices."""
        self._salt += 1
        self._kernel.run(self._nothing, self._target, count, u_rounds=VERTEX_ROUNDS, u_salt=self._salt)

    def fill(self) -> None:
        self._salt += 1
        self._picture.bind()
        _FLAT.apply(self._context)
        self._fill["u_rounds"], self._fill["u_salt"] = PIXEL_ROUNDS, self._salt
        self._nothing.draw(self._fill, count=3)

    def release(self) -> None:
        for owned in (self._nothing, self._target, self._picture, self._library):
            owned.release()


def run_trials(context: "Context") -> list[Trial]:
    """What the timer says of known work; the context must be current, and what is bound stays bound.

    One that is not trusted anyway is asked once instead of several times.
    """
    bound, viewport = get_integer(GL.GL_FRAMEBUFFER_BINDING), np.zeros(4, np.int32)
    GL.glGetIntegerv(GL.GL_VIEWPORT, viewport)
    context.invalidate()
    stamps, work = TimerStamps(context), CalibratedWork(context)
    workloads: dict[str, Callable[[], None]] = {
        "a small transform feedback": lambda: work.feed_back(SMALL),
        "a large transform feedback": lambda: work.feed_back(LARGE),
        "a filled picture": work.fill,
    }
    quick = is_distrusted(context.capabilities.renderer)
    try:
        return [try_out(name, _timed(context, stamps, step), quick=quick) for name, step in workloads.items()]
    finally:
        work.release()
        stamps.release()
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, bound)
        GL.glViewport(*viewport.tolist())
        context.invalidate()


def _timed(context: "Context", stamps: TimerStamps, step: Callable[[], None]) -> Callable[[int], Timing]:
    """Times work by both; the clock includes handing it out, as the timer does."""

    def run(repeats: int) -> Timing:
        context.finish()
        begun = time.perf_counter()
        first = stamps.stamp()
        for _ in range(repeats):
            step()
        last = stamps.stamp()
        context.finish()
        clock = time.perf_counter() - begun
        begin, end = stamps.time_of(first), stamps.time_of(last)
        stamps.give_back(first)
        stamps.give_back(last)
        return Timing(math.nan if begin is None or end is None else end - begin, clock)

    return run
