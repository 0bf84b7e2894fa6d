"""Timers of a context: what its passes cost; they do nothing until they are switched on."""

import ctypes
import time
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.objects import GLObject, new_name
from sim.gl.raw import glGetQueryiv, glGetQueryObjectiv, glGetQueryObjectui64v
from sim.profile.calibration import verdict
from sim.profile.recorder import NO_RUN, ClockStamps, EmptyRun, Recorder, Run, Stamps
from sim.profile.sample import Calibration, FrameSample, SceneMoment, TimerStatus, TimeSource, Vsync

if TYPE_CHECKING:
    from sim.gl.context import Context

NANOSECOND = 1e-9
MICROSECONDS = 1e6


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
        self._spare.append(stamp)

    def offset(self) -> tuple[float, float]:
        """By how much the card's clock is ahead of `perf_counter`, and half the time it took to tell [s]."""
        before = time.perf_counter()
        card = gpu_time()
        after = time.perf_counter()
        return card - (before + after) / 2.0, (after - before) / 2.0

    def release(self) -> None:
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


class Timers:
    """Measures passes of one context.

    Args:
        context: Whose work is measured.

    Attributes:
        calibration: What was found about the timer; None before it was asked for.
        vsync: Whether pictures wait for the screen; whoever owns the window says so.
        number: Number of the next frame.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._recorder: Recorder | None = None
        self.calibration: Calibration | None = None
        self.vsync = Vsync.UNKNOWN
        self._number = 0

    @property
    def enabled(self) -> bool:
        return self._recorder is not None

    @property
    def number(self) -> int:
        """Number of the next frame; frames go on counting when measuring is switched off and on."""
        return self._recorder.number if self._recorder is not None else self._number

    @number.setter
    def number(self, value: int) -> None:
        self._number = value
        if self._recorder is not None:
            self._recorder.number = value

    @property
    def own_time(self) -> float:
        """Time that the instrument took of the frame that is not finished yet, without waiting for its work [s]."""
        return self._recorder.own_time if self._recorder is not None else 0.0

    @property
    def status(self) -> TimerStatus:
        found, recorder = self.calibration, self._recorder
        known = TimerStatus(vsync=self.vsync)
        if found is not None:
            known = TimerStatus(source=found.source, reason=found.reason, renderer=found.renderer, vsync=self.vsync)
        if recorder is None:
            return known
        return TimerStatus(
            enabled=True,
            source=recorder.source,
            reason=known.reason,
            renderer=known.renderer,
            latency_frames=recorder.latency,
            dropped=recorder.dropped,
            warmup_discarded=recorder.discarded,
            vsync=self.vsync,
            own_cost_us_per_frame=recorder.cost * MICROSECONDS,
            waiting_us_per_frame=recorder.waiting * MICROSECONDS,
        )

    # --- switching ------------------------------------------------------------------------------------

    def calibrate(self) -> Calibration:
        """Finds out what measures here, the first time by a trial of a tenth of a second; the context is current."""
        if self.calibration is None:
            from sim.gl.timer_trials import run_trials  # which needs contexts, and a context needs timers

            trials = run_trials(self._context) if has_timer() else []
            self.calibration = verdict(self._context.capabilities.renderer, trials)
        return self.calibration

    def switch(self, on: bool, source: TimeSource | None = None) -> None:
        """Begins or ends measuring; the context must be current.

        Args:
            on: Whether to measure.
            source: What with; what the calibration found by default.
        """
        if on == self.enabled:
            return
        if not on:
            assert self._recorder is not None
            self._number = self._recorder.number
            self._recorder.close()
            self._recorder = None
            return
        wanted = source or self.calibrate().source
        self._recorder = Recorder(self._stamps(wanted), time.perf_counter, self._number)

    def warm_up(self) -> None:
        """Leaves out the next frames, because shaders are built anew."""
        if self._recorder is not None:
            self._recorder.warm_up()

    # --- passes and frames ----------------------------------------------------------------------------

    def scope(self, name: str, detail: str = "") -> Run | EmptyRun:
        """Measures what is done within, `with timers.scope("cloth", "Cape"):`; scopes nest.

        Args:
            name: Which pass.
            detail: Which of several of its kind, the name of a node.
        """
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail)

    def host_scope(self, name: str, detail: str = "") -> Run | EmptyRun:
        """Measures what the processor alone does within; it takes no time of the card, and no other scope is in it."""
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail, is_host=True)

    def finish_frame(self, moment: SceneMoment, *, running: bool = True) -> int | None:
        """Everything since the last call is a frame; returns its number, or None where it will be no sample.

        Args:
            moment: Where the scene stands.
            running: Whether the next picture follows by itself.
        """
        return None if self._recorder is None else self._recorder.finish_frame(moment, running=running)

    def poll(self) -> list[FrameSample]:
        """Frames whose times became known, in order; never waits.  The context must be current."""
        return [] if self._recorder is None else self._recorder.poll()

    def _stamps(self, source: TimeSource) -> Stamps:
        if source is TimeSource.TIMER:
            return TimerStamps(self._context)
        return ClockStamps(self._context.finish, time.perf_counter)
