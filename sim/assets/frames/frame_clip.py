"""A clip of key frames of a mesh: weights of the frames, which are morph targets, by time."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.assets.easing import catmull_rom, eased
from sim.assets.model import Interpolation, LocalPose, stacked

Float64 = npt.NDArray[np.float64]


class FrameClip:
    """Frames of a mesh without joints at ascending times; implements `sim.assets.model.Clip`.

    Frame 0 is the mesh as it is, frame k the target with the weight k - 1.  A clip that ends with the frame it begins
    with is a circle: a spline through it has neither beginning nor end.

    Args:
        name: Unique name within the model.
        times: Of the keys [s], ascending from 0.
        frames: Frame of each.
        frame_count: Number of frames of the model.
    """

    def __init__(self, name: str, times: Float64, frames: Sequence[int], frame_count: int) -> None:
        self._name, self._frames, self._weight_count = name, tuple(frames), frame_count - 1
        self._times = np.array(times, np.float64)
        self._times.flags.writeable = False
        self._listed: list[float] = self._times.tolist()
        self._is_circle = len(self._frames) > 2 and self._frames[0] == self._frames[-1]

    @property
    def name(self) -> str:
        return self._name

    @property
    def duration(self) -> float:
        """Time of the last key [s]."""
        return self._listed[-1]

    @property
    def key_times(self) -> Float64:
        """Times of the keys [s]."""
        return self._times

    @property
    def frame_times(self) -> Float64:
        """The same: every key is a frame."""
        return self._times

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Weights at `time` [s], which is clamped to the clip; at most four frames act, and their weights sum to 1."""
        last = len(self._listed) - 1
        key = min(max(bisect_right(self._listed, time) - 1, 0), max(last - 1, 0))
        span = self._listed[min(key + 1, last)] - self._listed[key]
        fraction = min(max((time - self._listed[key]) / span, 0.0), 1.0) if span > 0.0 else 0.0
        weights = np.zeros(self._weight_count + 1)
        if interpolation is Interpolation.CATMULL_ROM:
            for step, weight in zip((-1, 0, 1, 2), catmull_rom(fraction), strict=True):
                weights[self._frame(key + step)] += weight
        else:
            part = eased(interpolation, fraction)
            weights[self._frame(key)] += 1.0 - part
            weights[self._frame(key + 1)] += part
        return LocalPose(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), weights[1:])

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        """Poses at many times [s]."""
        return stacked([self.sample(time, interpolation) for time in times])

    def _frame(self, key: int) -> int:
        """Frame of a key, also before the first and after the last one."""
        last = len(self._frames) - 1
        if self._is_circle:
            return self._frames[key % last]
        return self._frames[min(max(key, 0), last)]
