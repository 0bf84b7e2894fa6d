import time

from PySide6.QtCore import QObject, Qt, Signal

from sinew.app.document.document import Document
from sinew.app.session.playback import Playback
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskProgress, TaskQueue
from sinew.sim.gl.task import Delay
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect

WATCH = 0.2  # [s] between two checks for instabilities

_LOOK = 0.02  # [s] between two checks whether all shaders are compiled


class SimulationSeek(QObject):
    """Simulation of the same steps as in playback, cached, at full speed while the window stays responsive.

    Edits that affect simulations, playing and scrubbing stop it. `ended` carries one line for the user.
    """

    ended = Signal(str)

    def __init__(self, tasks: TaskQueue, document: Document, playback: Playback, stepper: SimulationStepper) -> None:
        super().__init__()
        self._tasks, self._playback, self._stepper = tasks, playback, stepper
        self._first = self._done = self._count = self._plays = 0
        self._task = TaskHandle()
        document.changed.connect(self._on_changed)
        playback.time_changed.connect(lambda _: self._task.cancel())
        playback.simulated.connect(lambda state: self.cancel() if state.running else None)
        playback.behind.connect(self.catch_up, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        return self._task.busy

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
        """Cancels the seek and moves the playhead to the last simulated step."""
        if self.busy:
            self._task.cancel()
            self._finish(f"Simulated {self._done} of {self._count} steps")

    def _begin(self, plays: int) -> None:
        """Begins a seek; playback continues in the direction `plays` afterwards, unless it is 0."""
        self._task.cancel()
        runner = self._stepper.runner
        if runner is not None:
            self._plays = plays
            self._count_missing(runner)
            self._task = self._tasks.add(self._simulate(runner), Priority.SIMULATE, on_done=self._on_simulated)

    def _count_missing(self, runner: SimulationRunner) -> None:
        wanted = runner.step_of(self._playback.playhead.time)
        self._count, self._done = runner.missing(wanted), 0
        self._first = wanted - self._count

    def _simulate(self, runner: SimulationRunner) -> QueueTask[bool]:
        """Simulates the missing steps; returns False if nothing is simulated any more.

        Finishes each step on the GPU, so that the queue can keep to its time budget.
        """
        yield self._progress()
        while self._stepper.is_waiting:  # the compiled nodes will take part in the steps
            yield Delay(_LOOK)
        self._stepper.prepare()
        if not self._stepper.is_active:
            return False
        self._count_missing(runner)
        watched = time.monotonic()
        while self._done < self._count:
            runner.advance(self._first + self._done + 1)
            runner.engine.context.finish()
            self._done += 1
            now = time.monotonic()
            if now >= watched + WATCH:
                watched = now
                runner.engine.refresh(now)
                runner.note_stopped()
            yield self._progress()
        return True

    def _progress(self) -> TaskProgress:
        return TaskProgress(f"Simulating step {self._done} of {self._count}", self._done / max(self._count, 1))

    def _on_simulated(self, is_active: bool) -> None:
        if is_active:
            done = f"Simulated {self._count} steps, {self._count * STEP_TIME:.2f} s"
            self._finish(done if self._count else "All steps up to here are already cached")

    def _finish(self, text: str) -> None:
        runner, plays = self._stepper.runner, self._plays if self._done == self._count else 0
        if runner is not None:
            reached = runner.time_of(self._first + self._done)
            self._playback.adopt(reached)
            self._stepper.settle(reached)
        self.ended.emit(text)
        if plays:
            self._playback.toggle(plays)

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._task.cancel()
        elif change.effect is not Effect.VIEW:
            self.cancel()
