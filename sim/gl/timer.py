"""Timers of a context: what its passes cost; they do nothing until they are switched on."""

import time
from typing import TYPE_CHECKING

from sim.gl.query import TimerStamps, has_timer
from sim.profile.calibration import verdict
from sim.profile.recorder import Recorder
from sim.profile.run import NO_RUN, NoRun, Run
from sim.profile.sample import FrameSample, Moment, TimeSource
from sim.profile.stamps import ClockStamps, Stamps
from sim.profile.status import Calibration, TimerStatus, Vsync

if TYPE_CHECKING:
    from sim.gl.context import Context

MICROSECONDS = 1e6


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
        """Whether passes are measured."""
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
        """How passes are measured."""
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

    def scope(self, name: str, detail: str = "") -> Run | NoRun:
        """Measures what is done within, `with timers.scope("cloth", "Cape"):`; scopes nest.

        Args:
            name: Which pass.
            detail: Which of several of its kind, the name of a node.
        """
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail)

    def host_scope(self, name: str, detail: str = "") -> Run | NoRun:
        """Measures what the processor alone does within; it takes no time of the card, and no other scope is in it."""
        recorder = self._recorder
        return NO_RUN if recorder is None else Run(recorder, name, detail, is_host=True)

    def finish_frame(self, moment: Moment, *, running: bool = True) -> int | None:
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
