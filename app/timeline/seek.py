"""Simulates up to the playhead at full speed while the window stays responsive."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sinew.app.document.document import Document
from sinew.app.timeline.playback import Playback
from sinew.app.timeline.simulation_stepper import SimulationStepper
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect

TURN = 0.02
"""Time budget of a turn [s]."""

WATCH = 10
"""Turns between two checks for instabilities."""


class SimulationSeek(QObject):
    """Simulates and caches the same steps as playing does, in short turns of the event loop.

    Edits that affect simulations, playing and scrubbing stop it.

    Args:
        clock: Monotonic time [s].

    Signals:
        progressed: What is done, and the fraction 0 to 1; an empty text at the end.
        ended: One line for the user.
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
        """Simulates from the first frame with the current settings; uses cached steps."""
        if not (self._stepper.is_active or self._stepper.is_waiting):
            self.ended.emit("Nothing to simulate")
            return
        self._playback.pause()
        self._stepper.reset()
        self._begin(0)

    def catch_up(self) -> None:
        """Simulates the missing steps before the playhead, then continues playing."""
        playhead = self._playback.playhead
        if self.busy or not self._stepper.is_active or self._stepper.can_reach(playhead.time):
            return
        self._playback.pause()
        self._begin(playhead.direction if playhead.playing else 0)

    def cancel(self) -> None:
        """Stops, and moves the playhead to the last simulated step."""
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
        if self._stepper.is_waiting:  # the compiled nodes will take part in the steps
            self._begin(self._plays)
            return
        runner = self._stepper.runner
        if runner is None or not self._stepper.is_active:
            self._stop()  # nothing is left to simulate
            return
        self._turns += 1
        ends = self._clock() + TURN
        self._stepper.rush(self._steps_until(ends), watch=self._turns % WATCH == 0)
        if self._done < self._count:
            self._report()
        else:
            done = f"Simulated {self._count} steps, {self._count * STEP_TIME:.2f} s"
            self._finish(done if self._count else "All steps up to here are already cached")

    def _steps_until(self, ends: float) -> Iterator[int]:
        """Yields step numbers until monotonic time `ends` [s], and counts each when it is done."""
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
        self._stop()
