"""A clip whose keys are equally spaced, as EZMesh stores them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.assets.easing import eased
from sim.assets.model import Interpolation, LocalPose, stacked
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]


class UniformClip:
    """Keys at 0, step, 2 step, ... seconds; implements `sim.assets.model.Clip`.

    Successive key quaternions are made to lie in the same half space once, here, so that sampling needs
    no sign test; the arcs between them are measured once for the same reason.
    """

    def __init__(
        self,
        name: str,
        frame_step: float,
        positions: npt.ArrayLike,
        orientations: npt.ArrayLike,
        scales: npt.ArrayLike,
    ) -> None:
        """Take the keys.

        Args:
            name: Unique name within the model.
            frame_step: Time between keys [s], positive; ignored for a single key.
            positions: Local translations, shape (F, B, 3), F at least 1.
            orientations: Local quaternions (x, y, z, w), shape (F, B, 4); normalised here, zero is the identity.
            scales: Local scales, shape (F, B, 3).

        Raises:
            ValueError: For shapes that disagree, no key, keys that are not finite or a step that is not positive.
        """
        position, orientation, scale = (np.array(keys, dtype=np.float64) for keys in (positions, orientations, scales))
        _check_keys(name, position, orientation, scale)
        self._name = name
        self._step = _checked_step(name, frame_step, len(position))
        self._quaternions = _continuous(quaternion.normalised(orientation))
        self._arcs = quaternion.arc(self._quaternions[:-1], self._quaternions[1:])[..., None]
        self._sines = np.sin(self._arcs)
        # Translation and scale are interpolated alike: one array halves the numpy calls.
        self._linear = np.concatenate([position, scale], axis=2)
        self._key_times: Float64 = np.arange(len(position), dtype=np.float64) * self._step
        for keys in (self._quaternions, self._arcs, self._sines, self._linear, self._key_times):
            keys.flags.writeable = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def frame_step(self) -> float:
        """Time between keys [s]; 0 for a single key."""
        return self._step

    @property
    def frame_count(self) -> int:
        return len(self._linear)

    @property
    def joint_count(self) -> int:
        return int(self._linear.shape[1])

    @property
    def duration(self) -> float:
        """Playable length [s]; 0 for a single pose."""
        return (self.frame_count - 1) * self._step

    @property
    def key_times(self) -> Float64:
        """Times of the keys [s], shape (F,)."""
        return self._key_times

    @property
    def frame_times(self) -> Float64:
        """The same: every key is a frame."""
        return self._key_times

    def key(self, index: int) -> LocalPose:
        """Pose of the key `index`; IndexError outside 0 to F - 1."""
        if not 0 <= index < self.frame_count:
            raise IndexError(f"clip {self._name!r} has keys 0 to {self.frame_count - 1}, not {index}")
        linear = self._linear[index]
        return LocalPose(linear[:, :3], self._quaternions[index], linear[:, 3:])

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Pose at `time` [s], clamped to the clip: lerp and shortest-arc slerp between two keys, eased."""
        last = self.frame_count - 1
        frame = min(max(0.0, time / self._step), float(last)) if last else 0.0
        index = int(frame)
        fraction = eased(interpolation, frame - index)
        if fraction in (0.0, 1.0):
            return self.key(index + int(fraction))
        return self._between(index, fraction)

    def _between(self, index: int, fraction: float) -> LocalPose:
        start, end = self._linear[index], self._linear[index + 1]
        linear = start + (end - start) * fraction
        arc, sine = self._arcs[index], self._sines[index]
        blend = np.sin(arc * (1.0 - fraction)) * self._quaternions[index]
        blend += np.sin(arc * fraction) * self._quaternions[index + 1]
        blend /= sine
        return LocalPose(linear[:, :3], blend, linear[:, 3:])

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        """Poses at many times [s]; every number is made as `sample` makes it."""
        last = self.frame_count - 1
        if not last:
            return stacked([self.sample(time, interpolation) for time in times])
        frames = np.minimum(np.maximum(0.0, np.asarray(times, np.float64) / self._step), float(last))
        index = frames.astype(np.intp)
        parts = [eased(interpolation, part) for part in (frames - index).tolist()]
        part = np.array(parts)[:, None, None]
        lower = np.minimum(index, last - 1)
        start, end = self._linear[lower], self._linear[lower + 1]
        linear = start + (end - start) * part
        arc = self._arcs[lower]
        blend = np.sin(arc * (1.0 - part)) * self._quaternions[lower]
        blend += np.sin(arc * part) * self._quaternions[lower + 1]
        blend /= self._sines[lower]
        for number, share in enumerate(parts):
            if share in (0.0, 1.0):
                key = index[number] + int(share)
                linear[number], blend[number] = self._linear[key], self._quaternions[key]
        weights = np.zeros((len(parts), 0))
        return LocalPose(linear[..., :3], blend, linear[..., 3:], weights)


def _continuous(q: Float64) -> Float64:
    """Keys (F, B, 4) with signs such that successive ones never have a negative dot product."""
    flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
    odd = np.cumsum(flips, axis=0) % 2 == 1
    q[1:][odd] *= -1.0
    return q


def _check_keys(name: str, positions: Float64, orientations: Float64, scales: Float64) -> None:
    if positions.ndim != 3 or 0 in positions.shape[:2]:
        raise ValueError(f"clip {name!r} has no keys")
    frames, joints = positions.shape[:2]
    for what, keys, size in (("positions", positions, 3), ("orientations", orientations, 4), ("scales", scales, 3)):
        if keys.shape != (frames, joints, size):
            raise ValueError(f"clip {name!r}: {what} have shape {keys.shape}, expected ({frames}, {joints}, {size})")
        if not np.isfinite(keys).all():
            frame, joint = np.argwhere(~np.isfinite(keys))[0][:2]
            raise ValueError(f"clip {name!r}: {what} of key {frame}, joint {joint} are not finite")


def _checked_step(name: str, step: float, frames: int) -> float:
    if frames == 1:
        return 0.0
    if not (np.isfinite(step) and step > 0.0):
        raise ValueError(f"clip {name!r}: frame step {step} s is not positive")
    return float(step)
