from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QOpenGLContext

from sinew.app.session.active_model import ActiveModel
from sinew.app.session.playback import Playback
from sinew.sim.assets.model import Bounds
from sinew.sim.characters.comparison import ComparisonStatistics
from sinew.sim.profile.sample import FrameSample, SceneMoment, TimerStatus, Vsync
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import FrameRate
from sinew.sim.scene.vectors import Vec3


@dataclass(frozen=True, slots=True)
class FrameInfo:
    rate: FrameRate
    comparison: ComparisonStatistics | None
    difference_scale: float  # Upper end of the difference ramp [m]
    frame: int | None = None  # Number of its timing sample; None if it was not measured
    unit_scale: float = 1.0  # Metres per unit of the compared model


def with_point(box: Bounds | None, point: Vec3) -> Bounds:
    if box is None:
        return Bounds(np.array(point), np.array(point))
    return Bounds(np.minimum(box.lo, point), np.maximum(box.hi, point))


class ViewportTiming:
    """Measured frames, also across contexts, so that numbers continue; `status` says how the last was measured."""

    def __init__(self, playback: Playback, active: ActiveModel) -> None:
        self._playback, self._active = playback, active
        self.wanted = False
        self.status = TimerStatus()
        self._number = 0

    def begin(self, engine: Engine) -> None:
        """Begins to measure a frame; call this before it, with its context current."""
        timers = engine.context.timers
        if self.wanted and not timers.enabled:
            timers.number = self._number
            timers.vsync = vsync_now()
        timers.switch(self.wanted)

    def finish(self, engine: Engine) -> tuple[int | None, list[FrameSample]]:
        """Ends a frame; returns its number if it is measured, and the samples that have arrived."""
        timers = engine.context.timers
        if timers.enabled:
            number = timers.finish_frame(self._moment(engine), running=self._playback.is_running)
            samples = timers.poll()
            self._number = timers.number
        else:
            number, samples = None, []
        self.status = timers.status
        return number, samples

    def _moment(self, engine: Engine) -> SceneMoment:
        time = self._playback.playhead.time
        return SceneMoment(engine.simulation.step_count, time, *self._active.clip_frame(time))


def vsync_now() -> Vsync:
    """Returns the vertical synchronisation of the current context."""
    context = QOpenGLContext.currentContext()
    interval = context.format().swapInterval() if context is not None else -1
    if interval < 0:
        return Vsync.UNKNOWN
    return Vsync.ON if interval else Vsync.OFF
