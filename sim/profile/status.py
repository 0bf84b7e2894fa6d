"""How the times of passes are measured, as values that labels, tooltips and files show."""

import enum
import math
from dataclasses import dataclass

from sim.profile.sample import TimeSource


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
