"""The running playhead: the only place where editor time advances, for clips and for simulations."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sim.scene.clock import STEP_TIME, FixedStep, FrameMeter
from sim.scene.playback import LoopMode, PlaybackSettings
from sim.scene.playhead import Playhead, advanced, pause, play, scrub, simulation_start, stepped

TICK_MS = 16
# Simulation steps of one tick end within this time [s], if all but the first take as long as the one before; what is
# left over is dropped, and the scene runs slower.
STEP_BUDGET = 0.05
MAX_STEPS = 8
# A longer gap (a dialog, a suspended laptop) is not caught up with.
LONGEST_GAP = 1.0


class SimulationControl(Protocol):
    """Does simulation steps; the viewport's client is one."""

    @property
    def is_active(self) -> bool:
        """Whether there is anything to simulate."""

    @property
    def has_state(self) -> bool:
        """Whether something of it depends on more than the time."""

    @property
    def step_count(self) -> int:
        """Steps since the start."""

    def is_held(self, time: float) -> bool:
        """Whether what is shown at a moment of the scene [s] is an earlier step, since its own is missing."""

    def can_reach(self, time: float) -> bool:
        """Whether the step at a moment of the scene [s] is kept, or is the next to be simulated."""

    def step(self, time: float) -> float:
        """Goes to the step at a moment of the scene [s], or simulates it; returns when that ends [s]."""

    def pull(self) -> None:
        """Simulates a step of what the user holds while time stands."""

    def reset(self) -> None:
        """Back to the start."""

    def forget(self) -> None:
        """Lets go of all steps that are kept."""


@dataclass(frozen=True, slots=True)
class SimulationState:
    """The simulation clock, for the status bar.

    Attributes:
        active: Whether there is anything to simulate.
        running: Whether it runs; held otherwise.
        steps: Steps since the start.
        share: Part of real time that the steps keep up with, 1 when they do.
        stale: Whether what is simulated stands, and not as it would be at the playhead.
        held: Whether it is not as it would be there, also while time runs.
    """

    active: bool
    running: bool
    steps: int
    share: float
    stale: bool = False
    held: bool = False


class Playback(QObject):
    """Owns the playhead and moves it while playing.

    A clip keeps real time: a slow picture makes the playhead jump further per picture, and never slows the clip.  A
    scene that simulates advances by whole steps, each with its own moment, so that results depend on settings alone;
    where the steps take longer than real time, the scene runs slower and says so.

    Args:
        settings: Gives the current playback settings.
        duration: Gives the end of the scene [s].
        stepper: Does the simulation steps.
        clock: Monotonic time [s].

    Signals:
        time_changed: The playhead is at another time [s].
        playing_changed: Whether it runs, and in which direction.
        simulated: How the simulation clock stands; carries `SimulationState`.
        seen_changed: In slow motion another moment is to be shown, while the playhead stands at the same step.
        behind: What is simulated is missing from where it is to be played on; steps before that are to be simulated.

    Attributes:
        meter: Counts the pictures that were really drawn while playing.
    """

    time_changed = Signal(float)
    playing_changed = Signal(bool, int)
    simulated = Signal(object)
    behind = Signal()
    seen_changed = Signal()

    def __init__(
        self,
        settings: Callable[[], PlaybackSettings],
        duration: Callable[[], float],
        stepper: SimulationControl | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._settings, self._duration, self._clock = settings, duration, clock
        self._stepper = stepper
        self._steps = FixedStep(STEP_TIME, MAX_STEPS)
        self._share = 1.0
        self._stepping = 0.0  # Part of real time that steps took
        self._playhead = Playhead()
        self._scrubbing = self._in_hand = False
        self._reported: SimulationState | None = None
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
    def seen(self) -> float:
        """The moment to show [s]: the playhead's, in slow motion on the way to its step from the one before."""
        if not self._is_slow:
            return self._playhead.time
        return max(self._playhead.time - (1.0 - self._steps.share) * STEP_TIME, self.start)

    @property
    def is_between(self) -> bool:
        """Whether moments between two steps are to be shown as such: while it plays slowly."""
        return self._playhead.playing and 0.0 < abs(self._settings().speed) < 1.0 and not self._scrubbing

    @property
    def settings(self) -> PlaybackSettings:
        return self._settings()

    @property
    def is_running(self) -> bool:
        """Whether time moves by itself: it plays, or the user holds a part of a simulation."""
        return self._playhead.playing or self._in_hand

    @property
    def start(self) -> float:
        """Start of the scene [s], where simulations start."""
        return simulation_start(self._settings(), self._duration()).time

    @property
    def duration(self) -> float:
        """End of the scene [s]."""
        return self._duration()

    @property
    def pace(self) -> float:
        """Scene time per time that should have passed: 1 unless simulation steps take longer than they last."""
        return self._share if self._simulates() else 1.0

    @property
    def slowed_by(self) -> str:
        """What takes longer than it lasts where the pace is below 1: the simulation, or everything else."""
        return "simulation" if self._stepping > 0.5 else "drawing"

    def set_playhead(self, playhead: Playhead) -> None:
        before, self._playhead = self._playhead, playhead
        if playhead.playing != before.playing or playhead.direction != before.direction:
            self._run()
            self.playing_changed.emit(playhead.playing, playhead.direction)
            self.report()
        if playhead.time != before.time:
            self.time_changed.emit(playhead.time)
            if not playhead.playing:
                self.report()

    def toggle(self, direction: int = 1) -> None:
        """Plays in a direction, or pauses when it plays in that direction already.

        Ping-pong turns the direction by itself, so there the same key always pauses.
        """
        turning = self._settings().loop is LoopMode.PING_PONG
        if self._playhead.playing and (turning or self._playhead.direction == direction):
            self.set_playhead(pause(self._playhead))
        else:
            started = play(self._playhead, self._settings(), self._duration(), direction)
            if started.time != self._playhead.time:
                self.visit(started)
            else:
                self.set_playhead(started)
            self._check_behind()

    def pause(self) -> None:
        self.set_playhead(pause(self._playhead))

    def scrub(self, seconds: float) -> None:
        """Moves the playhead [s]; playing goes on from there."""
        self.visit(scrub(self._playhead, seconds, self._duration()))

    def visit(self, playhead: Playhead) -> None:
        """Goes where the user wants: simulations show what is kept, and start anew at the start of the scene."""
        self.set_playhead(playhead)
        if playhead.time <= self.start and self._stepper is not None and self._stepper.step_count:
            self._reset_steps()
        self.report()

    def visit_next(self, playhead: Playhead) -> None:
        """Goes a little further, and simulates what is missing on the way where that is not much."""
        stepper = self._stepper
        if stepper is not None and stepper.is_active and playhead.time > self._playhead.time:
            for part in range(1, MAX_STEPS + 1):
                time = min(self._playhead.time + part * STEP_TIME, playhead.time)
                if not stepper.can_reach(time):
                    break
                stepper.step(time)
                if time >= playhead.time:
                    break
        self.visit(playhead)

    def restore(self, seconds: float) -> None:
        """Stands where a project was saved [s]; the clip that limits it may not be loaded yet."""
        if self._stepper is not None:
            self._stepper.forget()
        self._reset_steps()
        self.set_playhead(Playhead(time=max(seconds, 0.0)))

    def adopt(self, seconds: float) -> None:
        """The simulation was brought to a moment [s]: the playhead goes there, and playing goes on from both."""
        self._share = 1.0
        self._steps.reset()
        self.set_playhead(replace(self._playhead, time=seconds))
        self.report()

    def fit(self) -> None:
        """Keeps the playhead within another clip; without one it stays where it is."""
        if self._duration() > 0.0:
            self.set_playhead(scrub(self._playhead, self._playhead.time, self._duration()))

    def hold(self, held: bool) -> None:
        """While the user drags the playhead, time stands still under the mouse even when playing."""
        self._scrubbing = held
        self._last = self._clock()

    def set_in_hand(self, held: bool) -> None:
        """While the user holds a part of a simulation it runs, even when the playhead stands."""
        self._in_hand = held
        self._run()
        self.report()

    def tick(self) -> None:
        """Advances by the real time since the last call."""
        now = self._clock()
        elapsed, self._last = min(now - self._last, LONGEST_GAP), now
        if self._scrubbing:
            return
        if self._simulates():
            self._simulate(elapsed)
        elif self._playhead.playing:
            self.set_playhead(advanced(self._playhead, elapsed, self._settings(), self._duration()))

    def step_simulation(self) -> None:
        self.pause()
        if self._stepper is not None and self._stepper.is_active:
            self._step(stepped(Playhead(self._playhead.time, True, 1), self._settings(), self._duration()))
            self.pause()
            self._check_behind()

    def reset_simulation(self) -> None:
        """Brings every simulation back to its start, and the playhead to the start of its range."""
        self.set_playhead(scrub(self._playhead, self.start, self._duration()))
        self._reset_steps()

    def report(self) -> None:
        """Says how the simulation clock stands, if that is news."""
        if self._stepper is None:
            return
        running = self._playhead.playing or self._in_hand
        active = self._stepper.is_active
        held = active and self._stepper.has_state and self._stepper.is_held(self._playhead.time)
        stale = held and not running
        state = SimulationState(active, running, self._stepper.step_count, self._share, stale, held)
        if state != self._reported:
            self._reported = state
            self.simulated.emit(state)

    def _simulates(self) -> bool:
        """Whether this tick is made of simulation steps: there are simulations, and time runs forwards or stands."""
        forwards = self._playhead.direction * self._settings().speed > 0.0
        runs = forwards if self._playhead.playing else self._in_hand
        return self._stepper is not None and self._stepper.is_active and runs

    @property
    def _is_slow(self) -> bool:
        """Whether steps last longer than they take, so that there are pictures between them."""
        return self.is_between and self._simulates() and not self._in_hand

    def _simulate(self, elapsed: float) -> None:
        """Whole steps of scene time, as many as are due and as the time allows."""
        due = self._steps.advance(elapsed * abs(self._settings().speed))
        begun = now = self._clock()
        done, last = 0, 0.0
        while done < due.steps and self._simulates() and (not done or now - begun + last < STEP_BUDGET):
            self._step(stepped(self._playhead, self._settings(), self._duration()))
            done, last, now = done + 1, self._clock() - now, self._clock()
        if due.steps:
            self._share += 0.1 * (done / (due.steps + due.dropped) - self._share)
            self._stepping += 0.1 * ((now - begun) / max(elapsed, STEP_TIME) - self._stepping)
            self.report()
        elif self._is_slow:
            self.seen_changed.emit()

    def _step(self, after: Playhead) -> None:
        """One step, which ends with the playhead at `after`; a run over the end begins anew at the start."""
        assert self._stepper is not None
        before = self._playhead.time
        if after.time == before and self._duration() > 0.0:
            self._stepper.pull()
            return
        if before > after.time and after.time < self.start + STEP_TIME:
            self._stepper.reset()
            after = replace(after, time=self.start)
        reached = self._stepper.can_reach(after.time)
        self.set_playhead(after)
        moment = self._stepper.step(after.time)
        if moment != after.time:
            self.set_playhead(replace(after, time=moment))
        if not reached:
            self._check_behind()
        self.report()

    def _check_behind(self) -> None:
        """Says so where steps are missing before the ones that are to be played."""
        if self._stepper is None or not self._stepper.has_state or not self._simulates():
            return
        if not self._stepper.can_reach(self._playhead.time):
            self.behind.emit()

    def _reset_steps(self) -> None:
        if self._stepper is not None:
            self._stepper.reset()
            self._share = 1.0
            self._steps.reset()
            self.report()

    def _run(self) -> None:
        self._last = self._clock()
        self._steps.reset()
        if self._playhead.playing or self._in_hand:
            self._timer.start()
        else:
            self._timer.stop()
            self.meter.pause()
