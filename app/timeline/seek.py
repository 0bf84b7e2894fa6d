"""Simulates from the start to the playhead at full speed, in short turns between which the window stays alive."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.document.document import Document
from app.timeline.playback import Playback
from app.timeline.simulation_stepper import SimulationStepper
from sim.scene.change import Change, ChangeKind
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect

TURN = 0.02
"""Time after which a turn ends with the step that it is at [s]."""

WATCH = 10
"""Turns after which it is looked for what blew up."""


class SimulationSeek(QObject):
    """Brings simulations to the moment of the playhead, with the same steps that playing does, which are kept.

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
        self._first = self._done = self._count = self._turns = 0
        self._plays: int = 0
        self.busy = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)
        document.changed.connect(self._on_changed)
        playback.time_changed.connect(self._on_scrubbed)
        playback.simulated.connect(lambda state: self.cancel() if state.running else None)
        playback.behind.connect(self.catch_up, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Simulates from the start with the settings of now, but for what is kept; what is under way begins anew."""
        if not (self._stepper.is_active or self._stepper.is_waiting):
            self.ended.emit("There is nothing to simulate")
            return
        self._playback.pause()
        self._stepper.reset()
        self._begin(0)

    def catch_up(self) -> None:
        """Simulates what is missing before the playhead, and lets what was to be played go on from there."""
        playhead = self._playback.playhead
        if self.busy or not self._stepper.is_active or self._stepper.can_reach(playhead.time):
            return
        self._playback.pause()
        self._begin(playhead.direction if playhead.playing else 0)

    def cancel(self) -> None:
        """Gives up: the playhead goes to the moment that was reached, and playing would go on from there."""
        if self.busy:
            self._finish(f"Simulated {self._done} of {self._count} steps")

    # --- turns ----------------------------------------------------------------------------------------

    def _begin(self, plays: int) -> None:
        self._stop()
        runner = self._stepper.runner
        if runner is None:
            return
        wanted = runner.step_of(self._playback.playhead.time)
        self._count = runner.missing(wanted)
        self._first, self._done, self._turns, self._plays = wanted - self._count, 0, 0, plays
        self.busy = True
        self._timer.start()
        self._report()

    def _turn(self) -> None:
        """As many steps as fit into a turn."""
        if self._stepper.is_waiting:  # the steps are others once that takes part
            self._begin(self._plays)
            return
        runner = self._stepper.runner
        if runner is None or not self._stepper.is_active:
            self._stop()  # there is nothing left to step
            return
        self._turns += 1
        ends = self._clock() + TURN
        self._stepper.rush(self._steps_until(ends), watch=self._turns % WATCH == 0)
        if self._done < self._count:
            self._report()
        else:
            done = f"Simulated {self._count} steps, {self._count * STEP_TIME:.2f} s"
            self._finish(done if self._count else "All steps up to here are kept already")

    def _steps_until(self, ends: float) -> Iterator[int]:
        """Numbers of steps, each counted once it is done, as long as the turn lasts."""
        while self._done < self._count:
            yield self._first + self._done + 1
            self._done += 1
            if self._clock() >= ends:
                return

    # --- ends -----------------------------------------------------------------------------------------

    def _finish(self, text: str) -> None:
        runner, plays = self._stepper.runner, self._plays if self._done == self._count else 0
        self._stop()
        if runner is not None:
            reached = runner.time_of(self._first + self._done)
            self._playback.adopt(reached)
            self._stepper.settle(reached)
        self.ended.emit(text)
        if plays:
            self._playback.toggle(plays)

    def _stop(self) -> None:
        if self.busy:
            self.busy = False
            self._timer.stop()
            self.progressed.emit("", 1.0)

    def _report(self) -> None:
        self.progressed.emit(f"Simulating step {self._done} of {self._count}", self._done / max(self._count, 1))

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._stop()
        elif change.effect is not Effect.VIEW:
            self.cancel()

    def _on_scrubbed(self, _seconds: float) -> None:
        """The playhead was moved by hand and stays there."""
        self._stop()
