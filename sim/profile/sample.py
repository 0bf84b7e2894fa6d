"""Samples of frames; a frame is everything since the frame before: simulation steps and drawing."""

import enum
import math
from dataclasses import dataclass

SEPARATOR = "/"
"""Separator of the names of nested passes: "simulate/cloth/Cape"."""


class TimeSource(enum.Enum):
    """Source of times; its values are stored in files, `label` is displayed."""

    TIMER = "GPU timer"
    CLOCK = "wall clock around finished work"

    @property
    def label(self) -> str:
        return "GPU timer" if self is TimeSource.TIMER else "wall clock incl. GPU sync"


@dataclass(frozen=True, slots=True)
class Slice:
    """One run of a pass; a pass may run several times in a frame."""

    path: str  # Names of the enclosing passes and of this one, joined by `SEPARATOR`
    begin: float  # Begin of its submission on the CPU, since the begin of the frame [s]
    cpu: float  # Submission time, Python and driver [s]; with `TimeSource.CLOCK` without the waiting
    gpu_begin: float = math.nan  # Begin on the GPU, since the begin of the frame [s]; NaN if lost
    gpu: float = math.nan  # Time on the GPU [s]; NaN if lost


@dataclass(frozen=True, slots=True)
class SceneMoment:
    step: int = 0  # Simulation steps since the start
    time: float = 0.0  # Scene clock [s]
    clip: str = ""  # Name of the clip of the active model, "" without one
    clip_frame: float = math.nan  # Its fractional frame; NaN without one


@dataclass(frozen=True, slots=True)
class FrameSample:
    number: int  # Running number of the measured frames, from 0
    begin: float  # Monotonic time of its begin [s]
    # Time to the begin of the next frame [s]; NaN if there is none yet, or nothing was drawn between
    interval: float
    moment: SceneMoment
    slices: tuple[Slice, ...]  # Every run of every pass, a pass before its parts, in the order of their begins
    source: TimeSource  # Of the GPU times
    latency: int = 0  # Frames that were drawn before the times were known
    since: float = math.nan  # Time since the begin of the frame before, its interval [s]

    @property
    def is_whole(self) -> bool:
        return not any(math.isnan(part.gpu) for part in self.slices)


def parent_of(path: str) -> str:
    """Returns the path of the pass around; "" for the outermost passes."""
    return path.rpartition(SEPARATOR)[0]


def name_of(path: str) -> str:
    return path.rpartition(SEPARATOR)[2]


class Vsync(enum.Enum):
    """Synchronisation with the screen; if frames wait for it, their interval has a lower bound."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Result of comparing the GPU's timer with a wall clock."""

    source: TimeSource  # To be used from now on
    reason: str  # Why; one line
    # Time by the timer / time by the clock, of the workload where they differ most; NaN without a timer
    ratio: float = math.nan
    renderer: str = ""  # Name of the driver


@dataclass(frozen=True, slots=True)
class TimerStatus:
    enabled: bool = False  # Whether passes are measured
    source: TimeSource = TimeSource.CLOCK  # Of the GPU times
    reason: str = "nothing was measured yet"  # For the source; one line
    renderer: str = ""  # Name of the driver
    latency_frames: int = 0  # Frames that were drawn before the times of the newest known frame were known
    dropped: int = 0  # GPU times of passes that were lost since measuring began: late, disjoint, zero or negative
    warmup_discarded: int = 0  # Frames discarded after measuring was switched on or shaders were rebuilt
    vsync: Vsync = Vsync.UNKNOWN
    own_cost_us_per_frame: float = 0.0  # Overhead of measuring [us], median of the last frames
    # Part of the overhead that waits for work of the passes [us], when the CPU could do other work; 0 with a timer
    waiting_us_per_frame: float = 0.0
