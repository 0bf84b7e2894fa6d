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

    Edits that affect simulations, playing and scrubbing stop it; while playback waits for it, edits begin it anew and
    the playhead stays when it is stopped.
    `ended` carries one line for the user.
    """

    ended = Signal(str)

    def __init__(self, tasks: TaskQueue, document: Document, playback: Playback, stepper: SimulationStepper) -> None:
        super().__init__()
        self._tasks, self._playback, self._stepper = tasks, playback, stepper
        self._first = self._done = self._count = 0
        self._until: float | None = None
        self._task = TaskHandle()
        document.changed.connect(self._on_changed)
        playback.time_changed.connect(lambda _: self._task.cancel())
        playback.simulated.connect(lambda state: self.cancel() if state.running else None)
        playback.playing_changed.connect(self._on_playing)
        playback.behind.connect(self.catch_up, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        return self._task.busy

    @property
    def progress(self) -> tuple[int, int]:
        """Numbers of the last simulated step and of the last one to simulate."""
        return self._first + self._done, self._first + self._count

    def start(self, until: float | None = None) -> None:
        """Simulates from the first frame with the current settings; uses cached steps.

        Args:
            until: Scene time [s] up to which steps are simulated while the playhead stays; the playhead's by default.
        """
        if not (self._stepper.is_active or self._stepper.is_waiting):
            self.ended.emit("Nothing to simulate")
            return
        self._playback.pause()
        self._stepper.reset()
        self._begin(until)

    def catch_up(self) -> None:
        """Simulates the missing steps before the playhead, then continues playing."""
        playhead = self._playback.playhead
        if self.busy or not self._stepper.is_active or self._stepper.can_reach(playhead.time):
            return
        if playhead.playing:
            self._playback.wait()
        self._begin()

    def cancel(self) -> None:
        """Cancels the seek and moves the playhead to the last simulated step if it was to be reached."""
        if self._playback.is_waiting:
            self._playback.pause()
        elif self.busy:
            self._task.cancel()
            self._finish(self._text)

    @property
    def _text(self) -> str:
        return f"Simulated {self._done} of {self._count} steps"

    def _on_playing(self, playing: bool, _direction: int) -> None:
        """Stops simulating if waiting has ended."""
        if not playing and self.busy:
            self._task.cancel()
            self.ended.emit(self._text)

    def _begin(self, until: float | None = None) -> None:
        self._task.cancel()
        runner = self._stepper.runner
        if runner is not None:
            self._until = until
            self._count_missing(runner)
            self._task = self._tasks.add(
                self._simulate(runner), Priority.SIMULATE, on_done=self._on_simulated, on_error=self._on_failed
            )

    def _count_missing(self, runner: SimulationRunner) -> None:
        wanted = runner.step_of(self._playback.playhead.time if self._until is None else self._until)
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
        elif self._playback.is_waiting:
            self._playback.toggle(self._playback.playhead.direction)

    def _on_failed(self, error: Exception) -> None:
        self._playback.pause()
        self._tasks.fail(error)
        self.ended.emit(self._text)

    def _finish(self, text: str) -> None:
        runner, waits = self._stepper.runner, self._playback.is_waiting
        if runner is not None:
            if self._until is None:
                self._playback.adopt(runner.time_of(self._first + self._done))
            self._stepper.settle(self._playback.playhead.time)
            self._playback.report()
        self.ended.emit(text)
        if waits:
            self._playback.toggle(self._playback.playhead.direction)

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._task.cancel()
        elif change.effect is not Effect.VIEW:
            if self._playback.is_waiting:
                self._begin()
            else:
                self.cancel()
