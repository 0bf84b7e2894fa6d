"""A clip, or the whole scene, as the timeline sees it: a name and its frames; knows no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.scene.playhead import frame_of, time_of

_POSE_FRAME_STEP = 1.0 / 30.0


@dataclass(frozen=True, slots=True)
class ClipEntry:
    """One clip of the chooser, or the scene."""

    name: str  # Unique name within the model
    frame_count: int  # Number of frames, equally spaced from 0 to the end
    duration: float  # Playable length [s]; 0 for a single pose
    key_times: Sequence[float] | npt.NDArray[np.float64] = ()  # Times of the keys [s], ascending; drawn as ticks
    rate: float = 0.0  # Frames in a second where that is given, and frames need not fill the length
    start: float = 0.0  # Where it starts [s]; it can be scrubbed from 0 on

    @property
    def frame_step(self) -> float:
        """Time between two frames [s], positive; a single pose counts in thirtieths of a second."""
        if self.rate > 0.0:
            return 1.0 / self.rate
        if self.frame_count < 2 or self.duration <= 0.0:
            return _POSE_FRAME_STEP
        return self.duration / (self.frame_count - 1)

    @property
    def last_frame(self) -> int:
        return max(self.frame_count - 1, 0)

    @property
    def summary(self) -> str:
        """Length as text, such as "31 frames · 1.00 s"."""
        if self.duration <= 0.0:
            return "single pose"
        return f"{self.frame_count} frames · {self.duration:.2f} s"

    def frame_of(self, time: float) -> float:
        """Frame at `time` [s], fractional between keys."""
        return frame_of(time, self.frame_step)

    def time_of(self, frame: float) -> float:
        """Time [s] of a frame, which may be fractional."""
        return time_of(frame, self.frame_step)


def scene_entry(start: float, end: float, rate: float, key_times: Sequence[float] = ()) -> ClipEntry:
    """The scene from a start to an end [s] with so many frames in a second; keys are those of the model shown."""
    return ClipEntry("", int(end * rate + 1e-6) + 1, end, tuple(key_times), rate, start)
