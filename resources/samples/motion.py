"""Motion of a skeleton as turns in model axes, and its translation into the local keys that files store.

A joint's turn is written as if every joint had the bind axes of the model: x to the left, y up, z to the front. All
frames are computed at once; arrays have the frame as their first axis.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_skeleton import Joint
from sinew.sim.assets.raw import RawClip, RawTrack
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]


def frame_times(count: int, step: float) -> Float64:
    return np.arange(count, dtype=np.float64) * step


class Curve:
    """C1 curve through (time, value) keys that is monotone between them.

    With a `period` the curve repeats, and keys need not include its end.  Otherwise it is constant beyond the keys.
    Source: Fritsch and Butland 1984, "A method for constructing local monotone piecewise cubic interpolants".
    """

    def __init__(self, keys: Sequence[tuple[float, float]], period: float | None = None) -> None:
        times, values = np.asarray(keys, dtype=np.float64).T
        self._period = period
        if period is not None:
            times = np.concatenate([times - period, times, times + period])
            values = np.tile(values, 3)
        self._times, self._values = times, values
        rise = np.diff(values) / np.diff(times)
        product = rise[:-1] * rise[1:]
        total = rise[:-1] + rise[1:]
        inner = np.where(product > 0.0, 2.0 * product / np.where(product > 0.0, total, 1.0), 0.0)
        self._slopes = np.concatenate([[0.0], inner, [0.0]])

    def __call__(self, time: npt.ArrayLike) -> Float64:
        """Values of the same shape."""
        t = np.asarray(time, dtype=np.float64)
        if self._period is not None:
            t = t % self._period
        t = np.clip(t, self._times[0], self._times[-1])
        i = np.clip(np.searchsorted(self._times, t, side="right") - 1, 0, len(self._times) - 2)
        span = self._times[i + 1] - self._times[i]
        s = (t - self._times[i]) / span
        return hermite(s, self._values[i], self._values[i + 1], span * self._slopes[i], span * self._slopes[i + 1])


def hermite(s: Float64, start: Float64, end: Float64, leave: Float64, arrive: Float64) -> Float64:
    """Cubic from `start` to `end` with the given tangents; `s` runs from 0 to 1."""
    value: Float64 = (
        (1 + 2 * s) * (1 - s) ** 2 * start
        + s * (1 - s) ** 2 * leave
        + s * s * (3 - 2 * s) * end
        + s * s * (s - 1) * arrive
    )
    return value


def eased(time: Float64, start: float, end: float) -> Float64:
    """0 before `start`, 1 after `end`, with zero velocity and acceleration at both."""
    s = np.clip((time - start) / (end - start), 0.0, 1.0)
    value: Float64 = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return value


def blended(first: Float64, second: Float64, share: Float64) -> Float64:
    """Turns from `first` to `second`, shape (F, 4), for shares of shape (F,)."""
    shape = (len(share), 4)
    return quaternion.slerp(np.broadcast_to(first, shape), np.broadcast_to(second, shape), share)


_DIGITS = 6  # decimals of the keys


def turn(axis: Sequence[float] | Float64, degrees: npt.ArrayLike) -> Float64:
    """Turns about an axis, shape (F, 4) for angles of shape (F,)."""
    return quaternion.from_axis_angle(axis, np.radians(np.asarray(degrees, dtype=np.float64)))


def chain(*turns: Float64) -> Float64:
    """Product of turns; the last one acts first."""
    result = turns[0]
    for other in turns[1:]:
        result = quaternion.multiply(result, other)
    return result


def mirrored(turns: Float64) -> Float64:
    """The same turns on the other side of the body."""
    other: Float64 = turns * np.array([1.0, -1.0, -1.0, 1.0])
    return other


class Motion:
    """Turns of all joints over a number of frames, relative to their parents, and the travel of the hips."""

    def __init__(self, joints: Sequence[Joint], frame_count: int) -> None:
        self.frame_count = frame_count
        self.travel = np.zeros((frame_count, 3))
        self._joints = list(joints)
        self._index = {joint.name: joint for joint in joints}
        self._turns: dict[str, Float64] = {}

    def set_turn(self, name: str, turns: Float64) -> None:
        """`turns` is relative to the parent, shape (F, 4) or (4,)."""
        self._turns[name] = np.broadcast_to(turns, (self.frame_count, 4))

    def set_world_turn(self, name: str, turns: Float64) -> None:
        """`turns` is relative to the bind pose and does not depend on the parents."""
        parent = self._index[name].parent
        assert parent is not None
        self.set_turn(name, quaternion.multiply(quaternion.conjugate(self.world_turn(parent)), turns))

    def turns(self, name: str) -> Float64:
        """Turns relative to the parent, shape (F, 4)."""
        return self._turns.get(name, np.broadcast_to(quaternion.IDENTITY, (self.frame_count, 4)))

    def world_turn(self, name: str) -> Float64:
        """Turns away from the bind pose, shape (F, 4)."""
        parent = self._index[name].parent
        own = self.turns(name)
        return own if parent is None else quaternion.multiply(self.world_turn(parent), own)

    def position(self, name: str) -> Float64:
        """Places of a joint in the model [m], shape (F, 3)."""
        joint = self._index[name]
        if joint.parent is None:
            return np.broadcast_to(joint.position, (self.frame_count, 3))
        offset = joint.position - self._index[joint.parent].position
        place = self.position(joint.parent) + quaternion.rotate(self.world_turn(joint.parent), offset)
        return place + self.travel if name == "hips" else place

    def clip(self, name: str, frame_step: float) -> RawClip:
        """Has keys every `frame_step` seconds."""
        duration = round((self.frame_count - 1) * frame_step, 9)
        return RawClip(name, self.frame_count, duration, frame_step, [self._track(joint) for joint in self._joints])

    def _track(self, joint: Joint) -> RawTrack:
        position, bind = local_bind(joint, self._index)
        parent_axes = quaternion.IDENTITY if joint.parent is None else _axes(self._index[joint.parent])
        own = chain(quaternion.conjugate(parent_axes), self.turns(joint.name), _axes(joint))
        for frame in range(1, self.frame_count):
            own[frame] = quaternion.aligned(own[frame], own[frame - 1])
        own = own if (own[0] * bind).sum() >= 0.0 else -own
        places = np.broadcast_to(position, (self.frame_count, 3))
        if joint.name == "hips":
            places = places + self.travel
        return RawTrack(joint.name, np.round(places, _DIGITS), np.round(own, _DIGITS), None)


def _axes(joint: Joint) -> Float64:
    return quaternion.from_matrix(joint.axes)


def local_bind(joint: Joint, joints: dict[str, Joint]) -> tuple[Float64, Float64]:
    """Place (3,) and orientation (4,) of a joint relative to its parent in the bind pose."""
    if joint.parent is None:
        return joint.position, _axes(joint)
    parent = joints[joint.parent]
    place = quaternion.rotate(quaternion.conjugate(_axes(parent)), joint.position - parent.position)
    return place, chain(quaternion.conjugate(_axes(parent)), _axes(joint))
