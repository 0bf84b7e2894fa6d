"""Simulates from the start to the playhead at full speed, in short turns between which the window stays alive."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from app.document.document import Document
from app.timeline.playback import Playback
from app.timeline.simulation_stepper import SimulationStepper
from sim.scene.change import Change, ChangeKind
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect
from sim.scene.playhead import Playhead, play_range, simulation_start, stepped

TURN = 0.02
"""Time after which a turn ends with the step that it is at [s]."""

WATCH = 10
"""Turns after which it is looked for what blew up."""


class SimulationSeek(QObject):
    """Brings simulations to the moment of the playhead, with the same steps that playing does.

    Where no clip gives the scene a time, the steps that were done are done again: what they would have led to with
    the settings of now.

    Args:
        document: The scene; an edit that matters to simulations ends the seek.
        playback: Has the playhead; playing and scrubbing end the seek.
        stepper: Does the steps.
        clock: Monotonic time [s].

    Signals:
        progressed: What is done, and the share of it, 0 to 1; an empty text when it is over.
        ended: One line how it went.
    """

    progressed = Signal(str, float)
    ended = Signal(str)

    def __init__(
        self,
        document: Document,
        playback: Playback,
        stepper: SimulationStepper,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._playback, self._stepper, self._clock = playback, stepper, clock
        self._times: Iterator[float] = iter(())
        self._reached = 0.0
        self._done = self._count = self._turns = 0
        self.busy = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)
        document.changed.connect(self._on_changed)
        playback.time_changed.connect(self._on_scrubbed)
        playback.simulated.connect(lambda state: self.cancel() if state.running else None)

    def start(self) -> None:
        """Begins; what is under way begins anew."""
        if not self._stepper.is_active:
            self.ended.emit("There is nothing to simulate")
            return
        self._stop()
        playback = self._playback
        playback.pause()
        start = simulation_start(playback.settings, playback.duration)
        self._count = self._steps_to_playhead(start)
        self._times, self._done, self._turns = self._moments(start), 0, 0
        self._reached = start.time
        self._stepper.reset()
        self.busy = True
        self._timer.start()
        self._tell()

    def cancel(self) -> None:
        """Gives up: the playhead goes to the moment that was reached, and playing would go on from there."""
        if self.busy:
            self._finish(f"Simulated {self._done} of {self._count} steps")

    # --- turns ----------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """As many steps as fit into a turn."""
        if not self._stepper.is_active or self._stepper.step_count != self._done:
            self._stop()  # someone else reset or stepped, or there is nothing left to step
            return
        self._turns += 1
        ends = self._clock() + TURN
        self._stepper.rush(self._moments_until(ends), since=self._reached, watch=self._turns % WATCH == 0)
        if self._done < self._count:
            self._tell()
        else:
            self._finish(f"Simulated {self._count} steps, {self._count * STEP_TIME:.2f} s")

    def _moments_until(self, ends: float) -> Iterator[float]:
        """Moments of steps, each counted once it is done, as long as the turn lasts."""
        for moment in self._times:
            yield moment
            self._reached, self._done = moment, self._done + 1
            if self._clock() >= ends:
                return

    def _moments(self, start: Playhead) -> Iterator[float]:
        """Moment at the end of each step [s]."""
        playback, playhead = self._playback, start
        for _ in range(self._count):
            playhead = stepped(playhead, playback.settings, playback.duration)
            yield playhead.time

    def _steps_to_playhead(self, start: Playhead) -> int:
        """Steps that end nearest to the playhead, within the range."""
        playback = self._playback
        if playback.duration <= 0.0:
            return self._stepper.step_count
        way = max(playback.playhead.time - start.time, 0.0)
        _, end = play_range(playback.settings, playback.duration)
        room = int((end - start.time) / STEP_TIME + 1e-6)
        return min(round(way / STEP_TIME), room)

    # --- ends -----------------------------------------------------------------------------------------

    def _finish(self, text: str) -> None:
        reached = self._reached
        self._stop()
        self._playback.adopt(reached)
        self.ended.emit(text)

    def _stop(self) -> None:
        if self.busy:
            self.busy = False
            self._timer.stop()
            self.progressed.emit("", 1.0)

    def _tell(self) -> None:
        self.progressed.emit(f"Simulating step {self._done} of {self._count}", self._done / max(self._count, 1))

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._stop()
        elif change.effect is not Effect.VIEW:
            self.cancel()

    def _on_scrubbed(self, _seconds: float) -> None:
        """The playhead was moved by hand and stays there."""
        self._stop()
