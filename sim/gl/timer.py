"""Measurement of passes and frames; timers cost nothing while switched off."""

import ctypes
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sinew.sim.gl.bootstrap import GL, glGetQueryiv, glGetQueryObjectiv, glGetQueryObjectui64v
from sinew.sim.gl.objects import GLObject, Owner, new_name
from sinew.sim.profile.calibration import Trial, verdict
from sinew.sim.profile.recorder import NO_RUN, ClockStamps, EmptyRun, Recorder, Run, Stamps
from sinew.sim.profile.sample import Calibration, FrameSample, SceneMoment, TimerStatus, TimeSource, Vsync

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

NANOSECOND = 1e-9
MICROSECONDS = 1e6


class TimestampQuery(GLObject):
    def __init__(self, context: "Context") -> None:
        super().__init__(context, "Query", new_name(GL.glGenQueries), "timestamp")
        self._known = np.zeros(1, np.int32)
        self._time = ctypes.c_uint64()

    def take(self) -> None:
        """Requests the time at which all work submitted so far is finished."""
        GL.glQueryCounter(self.name, GL.GL_TIMESTAMP)

    def read(self) -> float | None:
        """Returns the time [s], or None while it is unknown; never waits."""
        glGetQueryObjectiv(self.name, GL.GL_QUERY_RESULT_AVAILABLE, self._known)
        if not self._known[0]:
            return None
        glGetQueryObjectui64v(self.name, GL.GL_QUERY_RESULT, ctypes.byref(self._time))
        return self._time.value * NANOSECOND


class TimerStamps(Owner):
    source = TimeSource.TIMER

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._spare: list[TimestampQuery] = []

    def stamp(self) -> TimestampQuery:
        query = self._spare.pop() if self._spare else self.owns(TimestampQuery(self._context))
        query.take()
        return query

    def time_of(self, stamp: TimestampQuery) -> float | None:
        return stamp.read()

    def give_back(self, stamp: TimestampQuery) -> None:
        self._spare.append(stamp)

    def offset(self) -> tuple[float, float]:
        """Returns the offset of the GPU clock from `perf_counter`, and half the time of reading it [s]."""
        before = time.perf_counter()
        value = np.zeros(1, np.int64)
        GL.glGetInteger64v(GL.GL_TIMESTAMP, value)
        after = time.perf_counter()
        return int(value[0]) * NANOSECOND - (before + after) / 2.0, (after - before) / 2.0

    def release(self) -> None:
        self._spare.clear()
        super().release()


class Timers:
    """Timers of a context; `calibration` is None before `calibrate`, the owner of the window sets `vsync`."""

    def __init__(self, context: "Context", run_trials: Callable[["Context"], list[Trial]]) -> None:
        self._context, self._run_trials = context, run_trials
        self._recorder: Recorder | None = None
        self.calibration: Calibration | None = None
        self.vsync = Vsync.UNKNOWN
        self._number = 0

    @property
    def enabled(self) -> bool:
        return self._recorder is not None

    @property
    def number(self) -> int:
        """Number of the next frame; it continues after measuring was switched off and on."""
        return self._recorder.number if self._recorder is not None else self._number

    @number.setter
    def number(self, value: int) -> None:
        self._number = value
        if self._recorder is not None:
            self._recorder.number = value

    @property
    def own_time(self) -> float:
        """Overhead of measuring in the unfinished frame, without waiting for the GPU [s]."""
        return self._recorder.own_time if self._recorder is not None else 0.0

    @property
    def status(self) -> TimerStatus:
        calibration, recorder = self.calibration, self._recorder
        status = TimerStatus(vsync=self.vsync)
        if calibration is not None:
            status = TimerStatus(
                source=calibration.source, reason=calibration.reason, renderer=calibration.renderer, vsync=self.vsync
            )
        if recorder is None:
            return status
        return TimerStatus(
            enabled=True,
            source=recorder.source,
            reason=status.reason,
            renderer=status.renderer,
            latency_frames=recorder.latency,
            dropped=recorder.dropped,
            warmup_discarded=recorder.discarded,
            vsync=self.vsync,
            own_cost_us_per_frame=recorder.cost * MICROSECONDS,
            waiting_us_per_frame=recorder.waiting * MICROSECONDS,
        )

    def calibrate(self) -> Calibration:
        """Decides whether to trust the GPU timer; the first call measures for 0.1 s.  The context must be current."""
        if self.calibration is None:
            bits = np.zeros(1, np.int32)
            glGetQueryiv(GL.GL_TIMESTAMP, GL.GL_QUERY_COUNTER_BITS, bits)
            trials = self._run_trials(self._context) if bits[0] else []
            self.calibration = verdict(self._context.capabilities.renderer, trials)
        return self.calibration

    def switch(self, on: bool, source: TimeSource | None = None) -> None:
        """Starts or stops measuring, by default with the calibrated source; the context must be current."""
        if on == self.enabled:
            return
        if not on:
            assert self._recorder is not None
            self._number = self._recorder.number
            self._recorder.close()
            self._recorder = None
            return
        stamps: Stamps = ClockStamps(self._context.finish, time.perf_counter)
        if (source or self.calibrate().source) is TimeSource.TIMER:
            stamps = TimerStamps(self._context)
        self._recorder = Recorder(stamps, time.perf_counter, self._number)

    def warm_up(self) -> None:
        if self._recorder is not None:
            self._recorder.warm_up()

    def scope(self, name: str, detail: str = "") -> Run | EmptyRun:
        """Returns a block, `with timers.scope("cloth", "Cape"):`, that measures a pass of a node; scopes nest."""
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail)

    def host_scope(self, name: str, detail: str = "") -> Run | EmptyRun:
        """Returns a block that measures work of the CPU only; it must not contain other scopes."""
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail, is_host=True)

    def finish_frame(self, moment: SceneMoment, *, running: bool = True) -> int | None:
        """Ends a frame; returns its number, or None without a sample. `running`: the next frame follows at once."""
        return None if self._recorder is None else self._recorder.finish_frame(moment, running=running)

    def poll(self) -> list[FrameSample]:
        """Returns frames whose times became known, in order; never waits. The context must be current."""
        return [] if self._recorder is None else self._recorder.poll()
