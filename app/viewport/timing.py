"""Measures what the pictures of the viewport cost: switches the timers of its context and ends their frames."""

import math

from PySide6.QtGui import QOpenGLContext

from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback
from sim.engine import Engine
from sim.profile.sample import FrameSample, SceneMoment, TimerStatus, Vsync


class ViewportTiming:
    """Outlives contexts: what the user wants measured stays, and frames count on.

    Args:
        playback: Says where the scene clock stands, and whether it runs.
        active: The model whose frames are told, if there are models.

    Attributes:
        wanted: Whether pictures are to be measured.
        status: How they are measured, as of the last picture.
    """

    def __init__(self, playback: Playback, active: ActiveModel | None = None) -> None:
        self._playback, self._active = playback, active
        self.wanted = False
        self.status = TimerStatus()
        self._number = 0

    def begin(self, engine: Engine) -> None:
        """A picture is about to be drawn, its context current: begins or ends measuring, as wanted."""
        timers = engine.context.timers
        if self.wanted and not timers.enabled:
            timers.number = self._number
            timers.vsync = vsync_now()
        timers.switch(self.wanted)

    def finish(self, engine: Engine) -> tuple[int | None, list[FrameSample]]:
        """The picture is drawn: the number of its frame, if it is measured, and the frames that are known by now."""
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
        clip, frame = "", math.nan
        time = self._playback.playhead.time
        if self._active is not None:
            clip, frame = self._active.clip_frame(time)
        return SceneMoment(engine.simulation.step_count, time, clip, frame)


def vsync_now() -> Vsync:
    """Whether the surfaces of the current context wait for the screen, as they were asked to."""
    context = QOpenGLContext.currentContext()
    interval = context.format().swapInterval() if context is not None else -1
    if interval < 0:
        return Vsync.UNKNOWN
    return Vsync.ON if interval else Vsync.OFF
