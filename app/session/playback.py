"""The only place where the time of the editor advances, for clips and for simulations."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sinew.sim.scene.clock import STEP_TIME, FixedStep, FrameMeter
from sinew.sim.scene.playback import (
    LoopMode,
    PlaybackSettings,
    Playhead,
    advanced,
    frame_of,
    pause,
    play,
    play_range,
    scrub,
    simulation_start,
    stepped,
    time_of,
)

TICK_MS = 16
LOADING_TICK_MS = 50
"""Interval while a model is loading, which then has more of the processor."""
# Time budget of the simulation steps of one tick [s]; the rest is dropped, and the scene runs slower.
STEP_BUDGET = 0.05
MAX_STEPS = 8
_ON_FRAME = 1e-6  # Part of a frame by which the playhead misses it and is on it
# Longer gaps, such as a dialog or a suspended laptop, are skipped.
LONGEST_GAP = 1.0


class SimulationControl(Protocol):
    """Simulation that playback advances, such as `SimulationStepper`."""

    @property
    def is_active(self) -> bool:
        """True if anything is simulated."""

    @property
    def has_state(self) -> bool:
        """True if a simulation depends on more than the time."""

    @property
    def step_count(self) -> int:
        """Number of steps since the first frame."""

    def is_held(self, time: float) -> bool:
        """Returns True if the viewport shows an earlier step at a scene time [s], because its own is missing."""

    def can_reach(self, time: float) -> bool:
        """Returns True if the step at a scene time [s] is cached, or can be simulated next."""

    def step(self, time: float) -> float:
        """Shows the step at a scene time [s], or simulates it; returns when it ends [s]."""

    def pull(self) -> None:
        """Simulates one step of the system that the user drags while time is paused."""

    def reset(self) -> None:
        """Resets the simulation to the first frame."""

    def forget(self) -> None:
        """Removes all cached steps."""


@dataclass(frozen=True, slots=True)
class SimulationState:
    active: bool  # Something is simulated
    running: bool  # False while paused
    steps: int  # Steps since the first frame
    share: float  # Simulation speed as a fraction of real time
    stale: bool = False  # It is paused at another step than the playhead's
    held: bool = False  # It shows another step than the playhead's, also while time runs
    waits: bool = False  # Playing begins once the steps before the playhead are simulated


class Playback(QObject):
    """The playhead and its motion while playing.

    A clip keeps real time: a slow frame makes the playhead jump further.  A scene with simulations advances by whole
    steps, so that results depend on settings alone; if steps take longer than real time, the scene runs slower.

    Args:
        duration: Returns the end of the scene [s].
        clock: Monotonic time [s].

    Attributes:
        meter: Counts the frames that were drawn while playing.
        whole_frames: Pausing goes back to a frame.
    """

    time_changed = Signal(float)  # The new time of the playhead [s]
    playing_changed = Signal(bool, int)  # Playing or waiting started or stopped, or playing turned round
    simulated = Signal(object)  # The new `SimulationState`
    behind = Signal()  # Steps before the playhead are missing and must be simulated before playing continues
    seen_changed = Signal()  # In slow motion, another time is shown while the playhead stays at its step

    def __init__(
        self,
        settings: Callable[[], PlaybackSettings],
        duration: Callable[[], float],
        stepper: SimulationControl,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._settings, self._duration, self._clock = settings, duration, clock
        self._stepper = stepper
        self._steps = FixedStep(STEP_TIME, MAX_STEPS)
        self._share = 1.0
        self._stepping = 0.0  # fraction of real time that steps took
        self._playhead = Playhead()
        self._wanted = 0.0  # Time of the playhead before it was moved into a shorter scene [s]
        self._scrubbing = self._in_hand = self._waiting = False
        self._reported: SimulationState | None = None
        self._last = clock()
        self.meter = FrameMeter()
        self.whole_frames = False
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=TICK_MS)
        self._timer.timeout.connect(self.tick)

    @property
    def playhead(self) -> Playhead:
        return self._playhead

    @property
    def seen(self) -> float:
        """Time to show [s]: the playhead's, or in slow motion a time between two steps."""
        if not self._is_slow:
            return self._playhead.time
        return max(self._playhead.time - (1.0 - self._steps.share) * STEP_TIME, self.start)

    @property
    def is_between(self) -> bool:
        """True if times between two steps are interpolated, as in slow motion."""
        return self._playhead.playing and 0.0 < abs(self._settings().speed) < 1.0 and not self._scrubbing

    @property
    def settings(self) -> PlaybackSettings:
        return self._settings()

    @property
    def is_running(self) -> bool:
        """True if time advances by itself, or the user drags a part of a simulation."""
        return self._playhead.playing or self._in_hand

    @property
    def is_waiting(self) -> bool:
        """True if playing begins once the steps before the playhead are simulated."""
        return self._waiting

    @property
    def start(self) -> float:
        """Start of the scene and of simulations [s]."""
        return simulation_start(self._settings(), self._duration()).time

    @property
    def duration(self) -> float:
        """End of the scene [s]."""
        return self._duration()

    @property
    def end(self) -> float:
        """Out point, else the end of the scene [s]."""
        return play_range(self._settings(), self._duration())[1]

    @property
    def pace(self) -> float:
        """Scene time per real time: 1 unless simulation steps take longer than they last."""
        return self._share if self._simulates() else 1.0

    @property
    def slowed_by(self) -> str:
        """Reason for a `pace` below 1: "simulation" or "drawing"."""
        return "simulation" if self._stepping > 0.5 else "drawing"

    def set_playhead(self, playhead: Playhead) -> None:
        before, self._playhead = self._playhead, playhead
        waited, self._waiting = self._waiting, False
        self._wanted = playhead.time
        if waited or playhead.playing != before.playing or playhead.direction != before.direction:
            self._run()
            self.playing_changed.emit(playhead.playing, playhead.direction)
            self.report()
        if playhead.time != before.time:
            self.time_changed.emit(playhead.time)
            if not playhead.playing:
                self.report()

    def toggle(self, direction: int = 1) -> None:
        """Plays in a direction, or pauses if it plays or waits in that direction already.

        Ping-pong changes the direction by itself, so there the same key always pauses.
        """
        turning = self._settings().loop is LoopMode.PING_PONG
        if (self._playhead.playing or self._waiting) and (turning or self._playhead.direction == direction):
            was_playing = self._playhead.playing
            self.set_playhead(pause(self._playhead))
            if was_playing and self.whole_frames:
                self._go_to_frame()
        else:
            started = play(self._playhead, self._settings(), self._duration(), direction)
            if started.time != self._playhead.time:
                self.visit(started)
            else:
                self.set_playhead(started)
            self._check_behind()

    def _go_to_frame(self) -> None:
        """Moves the paused playhead to the frame that it passed last."""
        step = 1.0 / self._settings().rate
        frame = frame_of(self._playhead.time, step)
        passed = math.floor(frame + _ON_FRAME) if self._playhead.direction > 0 else math.ceil(frame - _ON_FRAME)
        start, end = play_range(self._settings(), self._duration())
        time = min(max(time_of(passed, step), start), max(end, start))
        if time != self._playhead.time:
            self.visit(replace(self._playhead, time=time))

    def pause(self) -> None:
        self.set_playhead(pause(self._playhead))

    def wait(self) -> None:
        """Pauses until steps are simulated; moving the playhead ends waiting."""
        self.pause()
        self._waiting = True
        self.playing_changed.emit(True, self._playhead.direction)
        self.report()

    def scrub(self, seconds: float) -> None:
        """Moves the playhead to a time in seconds without pausing."""
        self.visit(scrub(self._playhead, seconds, self._duration()))

    def visit(self, playhead: Playhead) -> None:
        """Moves the playhead; simulations show cached steps, and reset at the start of the scene."""
        self.set_playhead(playhead)
        if playhead.time <= self.start and self._stepper.step_count:
            self._reset_steps()
        self.report()

    def visit_next(self, playhead: Playhead) -> None:
        """Moves the playhead a little forward, and simulates up to `MAX_STEPS` missing steps on the way."""
        stepper = self._stepper
        if stepper.is_active and playhead.time > self._playhead.time:
            for part in range(1, MAX_STEPS + 1):
                time = min(self._playhead.time + part * STEP_TIME, playhead.time)
                if not stepper.can_reach(time):
                    break
                stepper.step(time)
                if time >= playhead.time:
                    break
        self.visit(playhead)

    def restore(self, seconds: float) -> None:
        """Moves the playhead to its saved time [s]; the clip that limits it may not be loaded yet."""
        self._stepper.forget()
        self._reset_steps()
        self.set_playhead(Playhead(time=max(seconds, 0.0)))

    def adopt(self, seconds: float) -> None:
        """Moves the playhead to the time [s] that a simulation has reached."""
        self._share = 1.0
        self._steps.reset()
        self.set_playhead(replace(self._playhead, time=seconds))
        self.report()

    def fit(self) -> None:
        """Moves the playhead into the duration of another clip, and back when the scene is long enough again."""
        fitted, wanted = scrub(self._playhead, self._wanted, self._duration()), self._wanted
        if self._duration() > 0.0 and fitted != self._playhead:  # else a playhead that waits keeps waiting
            self.set_playhead(fitted)
            self._wanted = wanted

    def hold(self, held: bool) -> None:
        """Stops time while the user drags the playhead."""
        self._scrubbing = held
        self._last = self._clock()

    def set_in_hand(self, held: bool) -> None:
        """Runs simulations while the user drags a part of one, even if the playhead is paused."""
        self._in_hand = held
        self._run()
        self.report()

    def tick(self) -> None:
        """Advances playback by the real time since the last call."""
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
        if self._stepper.is_active:
            self._step(stepped(Playhead(self._playhead.time, True, 1), self._settings(), self._duration()))
            self.pause()
            self._check_behind()

    def reset_simulation(self) -> None:
        """Moves the playhead to the start of its range and resets the simulation."""
        self.set_playhead(scrub(self._playhead, self.start, self._duration()))
        self._reset_steps()

    def slow_down(self, is_loading: bool) -> None:
        """Ticks less often while a model is loading."""
        self._timer.setInterval(LOADING_TICK_MS if is_loading else TICK_MS)

    def report(self) -> None:
        """Reports the state of the simulation; emits `simulated` if it changed."""
        running = self._playhead.playing or self._in_hand
        active = self._stepper.is_active
        held = active and self._stepper.has_state and self._stepper.is_held(self._playhead.time)
        stale = held and not running
        state = SimulationState(active, running, self._stepper.step_count, self._share, stale, held, self._waiting)
        if state != self._reported:
            self._reported = state
            self.simulated.emit(state)

    def _simulates(self) -> bool:
        """Returns True if this tick consists of simulation steps."""
        forwards = self._playhead.direction * self._settings().speed > 0.0
        runs = forwards if self._playhead.playing else self._in_hand
        return self._stepper.is_active and runs

    @property
    def _is_slow(self) -> bool:
        """True if there are frames between two steps."""
        return self.is_between and self._simulates() and not self._in_hand

    def _simulate(self, elapsed: float) -> None:
        """Simulates the steps that are due within the time budget."""
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
        """Simulates a step, and restarts the simulation if the range loops."""
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
        if not self._stepper.has_state or not self._simulates():
            return
        if not self._stepper.can_reach(self._playhead.time):
            self.behind.emit()

    def _reset_steps(self) -> None:
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
