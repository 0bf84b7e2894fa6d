"""What one frame cost, pass by pass, as plain values; how it was measured is written on it.

A frame is everything since the picture before: the simulation steps and the picture itself.
"""

import enum
import math
from dataclasses import dataclass

SEPARATOR = "/"
"""Between a pass and the one that it is a part of: "simulate/cloth/Cape"."""


class TimeSource(enum.Enum):
    """Where the GPU times of a frame come from."""

    TIMER = "GPU timer"
    CLOCK = "wall clock around finished work"


@dataclass(frozen=True, slots=True)
class Slice:
    """One run of a pass; a pass may run several times in a frame."""

    path: str  # The passes it is a part of and itself, joined by `SEPARATOR`
    begin: float  # When the processor began to hand it out, since the begin of the frame [s]
    cpu: float  # Time until it was handed out: Python and driver [s]; with `TimeSource.CLOCK` without the waiting
    gpu_begin: float = math.nan  # When its work began, since the begin of the frame [s]; NaN where that was lost
    gpu: float = math.nan  # Time that its work took [s]; NaN where that was lost


@dataclass(frozen=True, slots=True)
class SceneMoment:
    """Where a scene stood in a frame."""

    step: int = 0  # Simulation steps since the start
    time: float = 0.0  # Scene clock [s]
    clip: str = ""  # Name of the clip of the active model, "" without one
    clip_frame: float = math.nan  # Its fractional frame; NaN without one


@dataclass(frozen=True, slots=True)
class FrameSample:
    """Times of one frame."""

    number: int  # Running number of the measured frames, from 0
    begin: float  # Monotonic time of its begin [s]
    # Time to the begin of the next frame [s]; NaN where none is known yet, or nothing was drawn between
    interval: float
    moment: SceneMoment  # Where the scene stood
    slices: tuple[Slice, ...]  # Every run of every pass, a pass before its parts, in the order of their begins
    source: TimeSource  # Where the GPU times come from
    latency: int = 0  # Pictures that were drawn before the times were known
    since: float = math.nan  # Time since the begin of the frame before [s], which tells the interval of that one

    @property
    def is_whole(self) -> bool:
        return not any(math.isnan(one.gpu) for one in self.slices)


def parent_of(path: str) -> str:
    """The pass that a pass is a part of; "" for the outermost ones."""
    return path.rpartition(SEPARATOR)[0]


def name_of(path: str) -> str:
    return path.rpartition(SEPARATOR)[2]


class Vsync(enum.Enum):
    """Whether pictures wait for the screen, which then bounds their interval from below."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a comparison of the graphics card's timer with a wall clock around finished work found."""

    source: TimeSource  # What measures from now on
    reason: str  # Why; one line
    # Time by the timer over time by the clock, of the workload where they differ most; NaN without a timer
    ratio: float = math.nan
    renderer: str = ""  # Name of the driver


@dataclass(frozen=True, slots=True)
class TimerStatus:
    """State of the measuring, for the labels beside every figure."""

    enabled: bool = False  # Whether passes are measured
    source: TimeSource = TimeSource.CLOCK  # Where GPU times come from
    reason: str = "nothing was measured yet"  # Why from there; one line
    renderer: str = ""  # Name of the driver
    latency_frames: int = 0  # Pictures that were drawn before the times of the newest known frame were known
    dropped: int = 0  # GPU times of passes that were lost since measuring began: late, disjoint, zero or negative
    warmup_discarded: int = 0  # Frames left out because they followed the switching on or a rebuild of shaders
    vsync: Vsync = Vsync.UNKNOWN  # Whether pictures wait for the screen
    own_cost_us_per_frame: float = 0.0  # Time in the instrument's own calls [us], median of the last frames
    # The part of it that is waiting for work of the passes, which takes its time anyway, only not always while
    # something else goes on [us]; 0 with a timer, which waits for nothing
    waiting_us_per_frame: float = 0.0
