"""The running playhead: the only place where editor time advances."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sim.clock import FrameMeter
from sim.playhead import Playhead, advanced, pause, play, scrub
from sim.scene import LoopMode, PlaybackSettings

TICK_MS = 16
# A longer gap (a dialog, a suspended laptop) is not caught up with.
LONGEST_GAP = 1.0


class Playback(QObject):
    """Owns the playhead and moves it in real time while playing.

    A slow picture makes the playhead jump further per picture; it never slows the clip.

    Args:
        settings: Gives the current playback settings.
        duration: Gives the length of the active clip [s].
        clock: Monotonic time [s].

    Signals:
        time_changed: The playhead is at another time [s].
        playing_changed: Whether it runs, and in which direction.

    Attributes:
        meter: Counts the pictures that were really drawn while playing.
    """

    time_changed = Signal(float)
    playing_changed = Signal(bool, int)

    def __init__(
        self,
        settings: Callable[[], PlaybackSettings],
        duration: Callable[[], float],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._settings, self._duration, self._clock = settings, duration, clock
        self._playhead = Playhead()
        self._scrubbing = False
        self._last = clock()
        self.meter = FrameMeter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.tick)

    @property
    def playhead(self) -> Playhead:
        """Time, whether it runs, and in which direction."""
        return self._playhead

    @property
    def duration(self) -> float:
        """Length of the active clip [s]."""
        return self._duration()

    def set_playhead(self, playhead: Playhead) -> None:
        """Replaces the playhead and tells what changed."""
        before, self._playhead = self._playhead, playhead
        if playhead.playing != before.playing or playhead.direction != before.direction:
            self._run()
            self.playing_changed.emit(playhead.playing, playhead.direction)
        if playhead.time != before.time:
            self.time_changed.emit(playhead.time)

    def toggle(self, direction: int = 1) -> None:
        """Plays in a direction, or pauses when it plays in that direction already.

        Ping-pong turns the direction by itself, so there the same key always pauses.
        """
        turning = self._settings().loop is LoopMode.PING_PONG
        if self._playhead.playing and (turning or self._playhead.direction == direction):
            self.set_playhead(pause(self._playhead))
        else:
            self.set_playhead(play(self._playhead, self._settings(), self._duration(), direction))

    def pause(self) -> None:
        """Holds the playhead."""
        self.set_playhead(pause(self._playhead))

    def scrub(self, seconds: float) -> None:
        """Moves the playhead [s]; playing goes on from there."""
        self.set_playhead(scrub(self._playhead, seconds, self._duration()))

    def restore(self, seconds: float) -> None:
        """Stands where a project was saved [s]; the clip that limits it may not be loaded yet."""
        self.set_playhead(Playhead(time=max(seconds, 0.0)))

    def fit(self) -> None:
        """Keeps the playhead within another clip; without one it stays where it is."""
        if self._duration() > 0.0:
            self.scrub(self._playhead.time)

    def hold(self, held: bool) -> None:
        """While the user drags the playhead, time stands still under the mouse even when playing."""
        self._scrubbing = held
        self._last = self._clock()

    def tick(self) -> None:
        """Advances by the real time since the last call."""
        now = self._clock()
        elapsed, self._last = min(now - self._last, LONGEST_GAP), now
        if not self._scrubbing:
            self.set_playhead(advanced(self._playhead, elapsed, self._settings(), self._duration()))

    def _run(self) -> None:
        self._last = self._clock()
        if self._playhead.playing:
            self._timer.start()
        else:
            self._timer.stop()
            self.meter.pause()
