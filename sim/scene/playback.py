"""Playback: a playhead depends on its past and the settings only, so tests and headless renders need no timer."""

import enum
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import numpy as np

from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, param

LENGTH = 5.0
"""Length of a scene without a clip [s]."""

SIMULATED_LENGTH = 10.0
"""Minimum length of a scene with a simulation [s]: most clips end before cloth has settled."""

FRAME_MAX = 1_000_000

TIME_MAX = 1e9
Frame = Annotated[int, msgspec.Meta(ge=0, le=FRAME_MAX)]
Moment = Annotated[float, msgspec.Meta(ge=-TIME_MAX, le=TIME_MAX)]


class LoopMode(enum.Enum):
    LOOP = "loop"
    ONCE = "once"
    PING_PONG = "ping-pong"


_playback = functools.partial(param, effect=Effect.VIEW)
_simulation = functools.partial(param, effect=Effect.RESET)


class PlaybackSettings(msgspec.Struct, frozen=True, kw_only=True):
    loop: Annotated[LoopMode, _playback("What happens at the end of the range.")] = LoopMode.LOOP
    speed: Annotated[float, _playback(
        "Scene seconds per second; negative plays backwards.", unit="×", lo=-4.0, hi=4.0, step=0.1,
    )] = 1.0  # fmt: skip
    in_point: Annotated[Moment | None, _playback(
        "Start of the playback range; none is the start of the scene.", unit="s", lo=-TIME_MAX, hi=TIME_MAX,
        bounded=False,
    )] = None  # fmt: skip
    out_point: Annotated[Moment | None, _playback(
        "End of the playback range; none is the end of the scene.", unit="s", lo=-TIME_MAX, hi=TIME_MAX,
        bounded=False,
    )] = None  # fmt: skip
    rate: Annotated[float, _playback(
        "Frames per second of scene time.", unit="Hz", lo=1.0, hi=1000.0, step=1.0, label="Frame rate",
    )] = 30.0  # fmt: skip
    start: Annotated[int, _simulation(
        "First frame of the scene; the simulation starts there.", unit="frames", lo=0, hi=FRAME_MAX,
    )] = 0  # fmt: skip
    end: Annotated[Frame | None, _playback(
        "Last frame of the scene; none is the end of the clip of the first model, or of the shortest simulation, "
        "whichever is later.", unit="frames", lo=0, hi=FRAME_MAX, bounded=False,
    )] = None  # fmt: skip
    min_length: Annotated[float, _playback(
        "Minimum length of the scene if something is simulated and no last frame is set.", unit="s", lo=0.0,
        hi=1000.0, label="Shortest simulation",
    )] = SIMULATED_LENGTH  # fmt: skip
    run_up: Annotated[float, _simulation(
        "Time simulated before the first frame, from the bind pose into the first pose.", unit="s", lo=0.0, hi=60.0,
        soft=(0.0, 5.0), step=0.1, label="Pre-roll",
    )] = 0.0  # fmt: skip

    @property
    def start_time(self) -> float:
        return self.start / self.rate

    @property
    def simulation_start(self) -> float:
        """Start of the pre-roll [s], which lasts whole steps."""
        return self.start_time - round(self.run_up / STEP_TIME) * STEP_TIME

    def end_time(self, duration: float, *, simulated: bool = False) -> float:
        """Returns the end of the scene [s]; `duration` is the end of the clips [s]."""
        if self.end is not None:
            return max(min(max(self.end, 0), FRAME_MAX) / self.rate, self.start_time)
        return max(duration, self.start_time + (self.min_length if simulated else 0.0))


_FRAME_TOLERANCE = 1e-6
"""Distance to a frame, in frames, that counts as being on it, so that rounding cannot make a step stand still."""


@dataclass(frozen=True, slots=True)
class Playhead:
    time: float = 0.0  # Scene time [s]; scrubbing may place it outside the range
    playing: bool = False
    direction: int = 1  # 1 or -1; ping-pong reverses it, and so does playing backwards


def play_range(settings: PlaybackSettings, duration: float) -> tuple[float, float]:
    """Returns start and end of the playback range [s], within 0 and `duration`.

    In and out point may be in either order.  A range that is empty or outside the scene means the whole scene.
    """
    length = max(duration, 0.0)
    first = min(settings.start_time, length)
    start = first if settings.in_point is None else settings.in_point
    end = length if settings.out_point is None else settings.out_point
    start, end = (min(max(point, 0.0), length) for point in (min(start, end), max(start, end)))
    return (start, end) if end > start else (first, length)


def play(playhead: Playhead, settings: PlaybackSettings, duration: float, direction: int = 1) -> Playhead:
    """Returns a playing playhead; a range that plays once and is at its end starts again from its beginning."""
    started = Playhead(playhead.time, True, 1 if direction >= 0 else -1)
    start, end = play_range(settings, duration)
    if settings.loop is not LoopMode.ONCE:
        return started
    if _sense(started, settings) > 0:
        return replace(started, time=start) if playhead.time >= end else started
    return replace(started, time=end) if playhead.time <= start else started


def pause(playhead: Playhead) -> Playhead:
    return replace(playhead, playing=False)


def scrub(playhead: Playhead, time: float, duration: float) -> Playhead:
    """Returns the playhead at `time` [s], clamped to the scene but not to the range; playback continues there."""
    return replace(playhead, time=min(max(0.0, time), max(duration, 0.0)))


def advanced(playhead: Playhead, elapsed: float, settings: PlaybackSettings, duration: float) -> Playhead:
    """Returns the playhead after some real time [s].

    Outside the range it runs towards the range, or, if it moves away from it, enters at the far end (ping-pong: turns
    at the near one; once: stops there).  Any elapsed time is taken in one step; time that runs backwards or is not a
    number is ignored.  `duration` is the end of the scene [s].
    """
    step = abs(settings.speed) * elapsed
    if not playhead.playing or not 0.0 < step < math.inf:
        return playhead
    start, end = play_range(settings, duration)
    length, sense = end - start, _sense(playhead, settings)
    # Measured from the edge that playback comes from, both senses are the same motion.
    gone = playhead.time - start if sense > 0 else end - playhead.time
    gone, turned, playing = _moved(gone, step, length, settings.loop)
    time = start + gone if sense > 0 else end - gone
    if gone >= 0.0:
        time = min(max(time, start), end)
    return Playhead(time, playing, -playhead.direction if turned else playhead.direction)


def stepped(playhead: Playhead, settings: PlaybackSettings, duration: float) -> Playhead:
    """Returns the playhead after `STEP_TIME` of scene time at any speed; unchanged in an empty scene."""
    if duration <= 0.0:
        return playhead
    return advanced(playhead, STEP_TIME / (abs(settings.speed) or 1.0), settings, duration)


def simulation_start(settings: PlaybackSettings, duration: float) -> Playhead:
    return Playhead(min(settings.start_time, max(duration, 0.0)), True, 1 if settings.speed >= 0.0 else -1)


def _sense(playhead: Playhead, settings: PlaybackSettings) -> int:
    return playhead.direction if settings.speed >= 0.0 else -playhead.direction


def _moved(gone: float, step: float, length: float, loop: LoopMode) -> tuple[float, bool, bool]:
    """Returns distance from the near edge after a step, True if reversed, True if it still plays."""
    if loop is LoopMode.ONCE:
        return (gone + step, False, True) if gone + step < length else (length, False, False)
    if length <= 0.0:
        return 0.0, False, True
    if gone > length:
        gone = 0.0 if loop is LoopMode.LOOP else length
    ahead = gone + step
    if ahead <= length:
        return ahead, False, True
    if loop is LoopMode.LOOP:
        return ahead % length, False, True
    swing = ahead % (2.0 * length)
    return (swing, False, True) if swing <= length else (2.0 * length - swing, True, True)


def frame_of(time: float, frame_step: float) -> float:
    """Returns a frame with its fraction; 0 if a clip has a single pose and no step. Times are in seconds."""
    return time / frame_step if frame_step > 0.0 else 0.0


def time_of(frame: float, frame_step: float) -> float:
    return frame * frame_step


def stepped_frame(playhead: Playhead, count: int, frame_step: float, duration: float) -> Playhead:
    """Returns the paused playhead `count` whole frames further (back if negative), from the neighbouring frame."""
    if count == 0 or frame_step <= 0.0:
        return pause(playhead)
    frame = frame_of(playhead.time, frame_step)
    reached = math.floor(frame + _FRAME_TOLERANCE) if count > 0 else math.ceil(frame - _FRAME_TOLERANCE)
    return scrub(pause(playhead), time_of(reached + count, frame_step), duration)


def stepped_key(playhead: Playhead, count: int, key_times: Sequence[float] | Float64) -> Playhead:
    """Returns the paused playhead `count` keys further (back if negative), within the ascending times [s]."""
    times = np.asarray(key_times, dtype=np.float64)
    if count == 0 or not len(times):
        return pause(playhead)
    tolerance = _FRAME_TOLERANCE * max(float(times[-1] - times[0]) / max(len(times) - 1, 1), 1e-9)
    if count > 0:
        index = int(np.searchsorted(times, playhead.time + tolerance, side="right")) + count - 1
    else:
        index = int(np.searchsorted(times, playhead.time - tolerance, side="left")) + count
    return replace(playhead, playing=False, time=float(times[min(max(index, 0), len(times) - 1)]))
