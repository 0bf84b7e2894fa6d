"""Timestamps of the graphics card: queries that are put into the stream of work and read once they are known."""

import ctypes
import time
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.objects import GLObject, new_name
from sim.gl.raw import glGetQueryiv, glGetQueryObjectiv, glGetQueryObjectui64v
from sim.profile.sample import TimeSource

if TYPE_CHECKING:
    from sim.gl.context import Context

NANOSECOND = 1e-9


class TimestampQuery(GLObject):
    """One query object; holds the time of the last `take`."""

    kind = "Query"

    def __init__(self, context: "Context") -> None:
        super().__init__(context, new_name(GL.glGenQueries), "timestamp")
        self._known = np.zeros(1, np.int32)
        self._time = ctypes.c_uint64()

    def take(self) -> None:
        """Asks for the time at which all work handed out so far is done."""
        GL.glQueryCounter(self.name, GL.GL_TIMESTAMP)

    def read(self) -> float | None:
        """That time [s], or None while it is not known; never waits."""
        glGetQueryObjectiv(self.name, GL.GL_QUERY_RESULT_AVAILABLE, self._known)
        if not self._known[0]:
            return None
        glGetQueryObjectui64v(self.name, GL.GL_QUERY_RESULT, ctypes.byref(self._time))
        return self._time.value * NANOSECOND


class TimerStamps:
    """Stamps by the card's timer; queries are used again and again.

    Args:
        context: Where they live.
    """

    source = TimeSource.TIMER

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._spare: list[TimestampQuery] = []
        self._all: list[TimestampQuery] = []

    def stamp(self) -> TimestampQuery:
        """A query behind all work handed out so far."""
        if self._spare:
            query = self._spare.pop()
        else:
            query = TimestampQuery(self._context)
            self._all.append(query)
        query.take()
        return query

    def time_of(self, stamp: TimestampQuery) -> float | None:
        """Its time by the card's clock [s]; None while that is not known."""
        return stamp.read()

    def give_back(self, stamp: TimestampQuery) -> None:
        """Lets a query be used again."""
        self._spare.append(stamp)

    def offset(self) -> tuple[float, float]:
        """By how much the card's clock is ahead of `perf_counter`, and half the time it took to tell [s]."""
        before = time.perf_counter()
        card = gpu_time()
        after = time.perf_counter()
        return card - (before + after) / 2.0, (after - before) / 2.0

    def release(self) -> None:
        """Deletes the queries."""
        for query in self._all:
            query.release()
        self._all, self._spare = [], []


def gpu_time() -> float:
    """Reading of the card's clock [s], without waiting for work."""
    value = np.zeros(1, np.int64)
    GL.glGetInteger64v(GL.GL_TIMESTAMP, value)
    return int(value[0]) * NANOSECOND


def has_timer() -> bool:
    """Whether the driver counts time at all; the context must be current."""
    bits = np.zeros(1, np.int32)
    glGetQueryiv(GL.GL_TIMESTAMP, GL.GL_QUERY_COUNTER_BITS, bits)
    return bool(bits[0])
