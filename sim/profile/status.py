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
    """What a comparison of the graphics card's timer with a wall clock around finished work found.

    Attributes:
        source: What measures from now on.
        reason: Why; one line.
        ratio: Time by the timer over time by the clock, of the workload where they differ most; NaN without a timer.
        renderer: Name of the driver.
    """

    source: TimeSource
    reason: str
    ratio: float = math.nan
    renderer: str = ""


@dataclass(frozen=True, slots=True)
class TimerStatus:
    """State of the measuring, for the labels beside every figure.

    Attributes:
        enabled: Whether passes are measured.
        source: Where GPU times come from.
        reason: Why from there; one line.
        renderer: Name of the driver.
        latency_frames: Pictures that were drawn before the times of the newest known frame were known.
        dropped: GPU times of passes that were lost since measuring began: late, disjoint, zero or negative.
        warmup_discarded: Frames left out because they followed the switching on or a rebuild of shaders.
        vsync: Whether pictures wait for the screen.
        own_cost_us_per_frame: Time in the instrument's own calls [us], median of the last frames.
        waiting_us_per_frame: The part of it that is waiting for work of the passes, which takes its time anyway, only
            not always while something else goes on [us]; 0 with a timer, which waits for nothing.
    """

    enabled: bool = False
    source: TimeSource = TimeSource.CLOCK
    reason: str = "nothing was measured yet"
    renderer: str = ""
    latency_frames: int = 0
    dropped: int = 0
    warmup_discarded: int = 0
    vsync: Vsync = Vsync.UNKNOWN
    own_cost_us_per_frame: float = 0.0
    waiting_us_per_frame: float = 0.0
