"""Clips: equally spaced keys (EZMesh), curves with keys at any times (glTF), and key frames of a whole mesh."""

import copy
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import NO_WEIGHTS, Clip, Interpolation, LocalPose, Skeleton, Targets, stacked
from sinew.sim.assets.raw import RawChannel
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64, Intp

DEFAULT_STEP = 1.0 / 30.0
_STEP_TOLERANCE = 0.01


def frame_step(frame_count: int, duration: float, stored_step: float) -> tuple[float, str | None]:
    """Returns the time between keys [s], 0 for a single key, and a note on oddities.

    The stored step counts if N or N - 1 steps make the duration within 1 %.  Several writers store a step that is wrong
    by a factor; then the duration spans N - 1 steps.  Without either value there are 30 keys per second.
    """
    if frame_count < 2:
        return 0.0, None
    if _is_usable(duration):
        for steps in (frame_count, frame_count - 1):
            if _is_usable(stored_step) and abs(stored_step * steps - duration) <= _STEP_TOLERANCE * duration:
                return stored_step, None
        return duration / (frame_count - 1), None
    if _is_usable(stored_step):
        return stored_step, f"has no usable duration; {stored_step:.6g} s between keys is taken from dtime"
    return DEFAULT_STEP, "has neither a usable duration nor a usable dtime; 30 keys a second are assumed"


def _is_usable(seconds: float) -> bool:
    # Beyond these limits the quotients and products of a timeline are no longer meaningful.
    return math.isfinite(seconds) and 1e-9 < seconds < 1e9


_EXPONENT = 10.0

_EASED: Mapping[Interpolation, Callable[[float], float]] = {
    Interpolation.NEAREST: lambda f: float(f >= 0.5),
    Interpolation.STEP: lambda _: 0.0,
    Interpolation.QUADRATIC: lambda f: f * f,
    Interpolation.SMOOTH: lambda f: f * f * (3.0 - 2.0 * f),
    Interpolation.EXPONENTIAL: lambda f: (2.0 ** (_EXPONENT * f) - 1.0) / (2.0**_EXPONENT - 1.0),
}


def eased(interpolation: Interpolation, fraction: float) -> float:
    """Returns an eased fraction, 0 to 1; Catmull-Rom needs more keys and is linear here."""
    if interpolation is Interpolation.LINEAR:
        return fraction
    if interpolation is Interpolation.STEP and fraction >= 1.0:
        return 1.0
    easing = _EASED.get(interpolation)
    return fraction if easing is None else easing(fraction)


def catmull_rom(fraction: float) -> tuple[float, float, float, float]:
    """Returns weights of the four keys around a time, which sum to 1.

    Source: Catmull and Rom 1974, "A class of local interpolating splines", uniform, tension 1/2.
    """
    f, f2, f3 = fraction, fraction**2, fraction**3
    return (-f + 2 * f2 - f3) / 2, (2 - 5 * f2 + 3 * f3) / 2, (f + 4 * f2 - 3 * f3) / 2, (f3 - f2) / 2


class UniformClip:
    """Clip with keys at 0, step, 2 step, ... seconds, as EZMesh stores them; a `sinew.sim.assets.model.Clip`.

    The constructor flips signs so that successive key quaternions lie in one half space.

    Args:
        name: Unique within the model.
        frame_step: Time between keys [s], positive; ignored for a single key.
        positions: Local translations, shape (F, B, 3), F at least 1.
        orientations: Local quaternions (x, y, z, w), shape (F, B, 4); normalised here, zero is the identity.
        scales: Local scales, shape (F, B, 3).
        weights: Weights of morph targets, shape (F, M); None without any.

    Raises:
        ValueError: For shapes that disagree, no key, keys that are not finite or a step that is not positive.
    """

    def __init__(
        self, name: str, frame_step: float, positions: npt.ArrayLike, orientations: npt.ArrayLike,
        scales: npt.ArrayLike, weights: Float64 | None = None,
    ) -> None:  # fmt: skip
        position, orientation, scale = (np.array(keys, dtype=np.float64) for keys in (positions, orientations, scales))
        _check_keys(name, position, orientation, scale)
        self._name = name
        self._step = float(frame_step) if len(position) > 1 else 0.0
        if len(position) > 1 and not (np.isfinite(frame_step) and frame_step > 0.0):
            raise ValueError(f"clip {name!r}: frame step {frame_step} s is not positive")
        self._quaternions = _continuous(quaternion.normalised(orientation))
        self._arcs = quaternion.arc(self._quaternions[:-1], self._quaternions[1:])[..., None]
        self._sines = np.sin(self._arcs)
        # Translation and scale are interpolated alike: one array halves the numpy calls.
        self._linear = np.concatenate([position, scale], axis=2)
        self._weights = np.zeros((len(position), 0)) if weights is None else weights.copy()
        self._key_times: Float64 = np.arange(len(position), dtype=np.float64) * self._step
        for keys in (self._quaternions, self._arcs, self._sines, self._linear, self._weights, self._key_times):
            keys.flags.writeable = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def duration(self) -> float:
        """Duration [s]; 0 for a single pose."""
        return (len(self._linear) - 1) * self._step

    @property
    def key_times(self) -> Float64:
        return self._key_times

    @property
    def frame_times(self) -> Float64:
        return self._key_times

    def key(self, index: int) -> LocalPose:
        """Returns the pose of a key; raises IndexError outside 0 to F - 1."""
        if not 0 <= index < len(self._linear):
            raise IndexError(f"clip {self._name!r} has keys 0 to {len(self._linear) - 1}, not {index}")
        linear = self._linear[index]
        return LocalPose(linear[:, :3], self._quaternions[index], linear[:, 3:], self._weights[index])

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Samples at `time` [s], clamped to the clip; lerp and shortest-arc slerp between two keys, eased."""
        last = len(self._linear) - 1
        frame = min(max(0.0, time / self._step), float(last)) if last else 0.0
        index = int(frame)
        fraction = eased(interpolation, frame - index)
        if fraction in (0.0, 1.0):
            return self.key(index + int(fraction))
        start, end = self._linear[index], self._linear[index + 1]
        linear = start + (end - start) * fraction
        arc, sine = self._arcs[index], self._sines[index]
        blend = np.sin(arc * (1.0 - fraction)) * self._quaternions[index]
        blend += np.sin(arc * fraction) * self._quaternions[index + 1]
        blend /= sine
        weights = self._weights[index] + (self._weights[index + 1] - self._weights[index]) * fraction
        return LocalPose(linear[:, :3], blend, linear[:, 3:], weights)

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        """Samples at times [s]; bit-identical to `sample`."""
        last = len(self._linear) - 1
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
        weights = self._weights[lower] + (self._weights[lower + 1] - self._weights[lower]) * part[:, 0]
        for number, share in enumerate(parts):
            if share in (0.0, 1.0):
                key = index[number] + int(share)
                linear[number], blend[number] = self._linear[key], self._quaternions[key]
                weights[number] = self._weights[key]
        return LocalPose(linear[..., :3], blend, linear[..., 3:], weights)


def renamed(clip: Clip, name: str) -> Clip:
    """Returns the same keys under another name."""
    assert isinstance(clip, UniformClip | CurveClip | FrameClip)
    other = copy.copy(clip)
    other._name = name
    return other


def _continuous(q: Float64) -> Float64:
    """Flips signs in place so that successive quaternions (F, ..., 4) have no negative dot product."""
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


NOMINAL_RATE = 30.0
"""Frames per second of a clip whose keys are not equally spaced."""

FRAMES_MAX = 100_000
_EVEN = 1e-3
"""Fraction of a step by which keys may deviate from equal spacing."""

Driven = tuple[RawChannel, int, int]


class CurveClip:
    """Clip of channels with keys at times of their own, as glTF stores them; a `sinew.sim.assets.model.Clip`.

    All channels are evaluated together.  Between keys, values are polynomials of the fraction of the interval (degree 0
    for steps), except slerped rotations.  The result is one table of rows: translations, scales and rotations of all
    joints, and weights of morph targets.

    Args:
        name: Unique within the model.
        channels: At most one for each property of a joint.
        skeleton: Bind pose of properties that no channel drives.
        targets: Morph targets whose weights channels may drive.
        weight_starts: First weight of each joint with targets; "weights" channels of other joints are ignored.
    """

    def __init__(
        self,
        name: str,
        channels: Sequence[RawChannel],
        skeleton: Skeleton,
        targets: Targets | None = None,
        weight_starts: Mapping[int, int] | None = None,
    ) -> None:
        starts, count = weight_starts or {}, skeleton.joint_count
        used = [channel for channel in channels if channel.path != "weights" or channel.joint in starts]
        self._name, self._joint_count = name, count
        self._rest = _rest_table(skeleton, NO_WEIGHTS if targets is None else targets.rest_weights)
        self._grids = _KeyGrids([channel.times for channel in used])
        firsts = {"translation": 0, "scale": count, "rotation": 2 * count}
        driven: list[Driven] = []
        for channel, grid in zip(used, self._grids.number_of, strict=True):
            if channel.path == "weights":
                first = 3 * count + starts[channel.joint]
                for number in range(channel.values.shape[-1]):
                    values = channel.values[..., number : number + 1]
                    single = RawChannel(channel.joint, channel.path, channel.mode, channel.times, values)
                    driven.append((single, first + number, grid))
            else:
                driven.append((channel, firsts[channel.path] + channel.joint, grid))
        even = [part for part in driven if (part[0].path, part[0].mode) == ("rotation", "LINEAR")]
        others = [part for part in driven if (part[0].path, part[0].mode) != ("rotation", "LINEAR")]
        self._polynomials = _Polynomials(others, self._grids) if others else None
        self._turns = _SlerpTracks(even, self._grids) if even else None
        self._key_times: Float64 = np.unique(self._grids.times)
        self._duration = float(self._key_times.max(initial=0.0))
        self._frame_times = _frame_times(self._key_times, self._duration)
        for keys in (self._rest, self._key_times, self._frame_times):
            keys.flags.writeable = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def duration(self) -> float:
        return self._duration

    @property
    def key_times(self) -> Float64:
        return self._key_times

    @property
    def frame_times(self) -> Float64:
        """Times of frames [s], (F,): the grid of the keys if they are equally spaced, else 30 per second."""
        return self._frame_times

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Samples at `time` [s], clamped to the keys of each channel."""
        keys, fractions = self._grids.find(time)
        if interpolation is not Interpolation.LINEAR:
            listed = [fractions] if isinstance(fractions, float) else fractions.tolist()
            parts = [eased(interpolation, part) for part in listed]
            fractions = parts[0] if isinstance(fractions, float) else np.array(parts)
        table = self._rest.copy()
        for group in (self._polynomials, self._turns):
            if group is not None:
                table[group.rows] = group.sample(keys, fractions)
        count = self._joint_count
        positions, scales = table[:count, :3], table[count : 2 * count, :3]
        return LocalPose(positions, table[2 * count : 3 * count], scales, table[3 * count :, 0])

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        return stacked([self.sample(time, interpolation) for time in times])


class _KeyGrids:
    """The distinct sequences of key times, shifted one behind the other, so that one search covers them all.

    Attributes:
        number_of: Grid of every given sequence.
        firsts: Number of each grid's first key.
        counts: Number of keys of each grid.
        times: All key times, grid after grid [s].
        spans: Time from each key to the next of its grid [s], 0 for the last.
    """

    def __init__(self, sequences: Sequence[Float64]) -> None:
        numbers: dict[bytes, int] = {}
        arrays = {id(times): times for times in sequences}
        number_of = {key: numbers.setdefault(times.tobytes(), len(numbers)) for key, times in arrays.items()}
        self.number_of = [number_of[id(times)] for times in sequences]
        grids = [np.frombuffer(data) for data in numbers]
        self.counts = np.array([len(times) for times in grids], np.intp)
        self.firsts = np.cumsum(self.counts) - self.counts
        self.times = np.concatenate([np.zeros(0), *grids])
        self._low, self._high = float(self.times.min(initial=0.0)), float(self.times.max(initial=0.0))
        self._moves = np.arange(len(grids)) * (2.0 * (self._high - self._low) + 1.0)
        self._moved = self.times + np.repeat(self._moves, self.counts)
        self.spans = np.append(np.diff(self.times), 0.0)[: len(self.times)]
        self.spans[self.firsts + self.counts - 1] = 0.0
        self._rates = np.divide(1.0, self.spans, out=np.zeros_like(self.spans), where=self.spans > 0.0)
        self._only = self.times.tolist() if len(grids) == 1 else None

    def find(self, time: float) -> tuple[Any, Any]:
        """Returns the last key up to `time` and the fraction of its interval, for each grid; scalars for one grid."""
        if self._only is not None:
            key = max(bisect_right(self._only, time) - 1, 0)
            return key, min(max((time - self._only[key]) * float(self._rates[key]), 0.0), 1.0)
        time = min(max(time, self._low), self._high)
        keys = np.searchsorted(self._moved, self._moves + time, "right") - 1
        keys = np.minimum(np.maximum(keys, self.firsts), self.firsts + self.counts - 1)
        fractions = (time - self.times.take(keys)) * self._rates.take(keys)
        return keys, np.minimum(np.maximum(fractions, 0.0), 1.0)


class _Group:
    """Channels of one kind of evaluation; channels with the same keys share them in one table.

    Attributes:
        rows: Rows of the result that they drive, shape (C,).
        tables: A channel and its grid for each table of keys.
        ends: End of each table of keys.
    """

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        self.rows = np.array([row for _, row, _ in driven], np.intp)
        self._grids = np.array([grid for _, _, grid in driven], np.intp)
        numbers: dict[tuple[object, ...], int] = {}
        table_of = np.array(
            [numbers.setdefault(_key_identity(channel, grid), len(numbers)) for channel, _, grid in driven]
        )
        _, first_uses = np.unique(table_of, return_index=True)
        self.tables = [(driven[use][0], driven[use][2]) for use in first_uses]
        counts = grids.counts[self._grids[first_uses]]
        self.ends = np.cumsum(counts)
        # From an index into the times of all grids to one into the keys of the channel.
        self._shifts = (self.ends - counts)[table_of] - grids.firsts[self._grids]
        self._spread = len(grids.counts) > 1

    def _place(self, keys: Any, fractions: Any) -> tuple[Intp, Any]:
        """Returns the key of each channel, (C,), and the fraction of its interval, (C, 1) or a scalar."""
        if not self._spread:
            return self._shifts + keys, fractions
        return self._shifts + keys.take(self._grids), fractions.take(self._grids)[:, None]


class _Polynomials(_Group):
    """Steps, lines and cubic splines; rotations are normalised afterwards, and their keys never change sign."""

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        super().__init__(driven, grids)
        degree = max((channel.mode == "LINEAR") + 3 * (channel.mode == "CUBICSPLINE") for channel, _ in self.tables)
        # Polynomial coefficients, shape (powers, R, 4).
        self._coefficients = np.zeros((degree + 1, self.ends[-1], 4))
        for (channel, grid), end in zip(self.tables, self.ends, strict=True):
            spans = grids.spans[grids.firsts[grid] :][: grids.counts[grid], None]
            _fill_coefficients(self._coefficients[:, end - len(spans) : end], channel, spans)
        rotations = [index for index, (channel, _, _) in enumerate(driven) if channel.path == "rotation"]
        self._bent = np.array(rotations, np.intp) if rotations else None

    def sample(self, keys: Any, fractions: Any) -> Float64:
        place, u = self._place(keys, fractions)
        value: Float64
        *lower, value = self._coefficients.take(place, 1)
        for coefficient in reversed(lower):
            value = value * u + coefficient
        if self._bent is not None:
            value[self._bent] = quaternion.normalised(value[self._bent])
        return value


class _SlerpTracks(_Group):
    """Rotations with constant angular speed from key to key on the shortest arc."""

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        super().__init__(driven, grids)
        # Key, next key, their angle and the inverse of its sine, shape (R, 10).
        self._table = np.empty((self.ends[-1], 10))
        for (channel, _), end in zip(self.tables, self.ends, strict=True):
            keys = _continuous(quaternion.normalised(channel.values))
            following = np.concatenate([keys[1:], keys[-1:]])
            arcs = quaternion.arc(keys, following)[:, None]
            self._table[end - len(keys) : end] = np.concatenate([keys, following, arcs, 1.0 / np.sin(arcs)], axis=1)

    def sample(self, keys: Any, fractions: Any) -> Float64:
        place, u = self._place(keys, fractions)
        part = self._table.take(place, 0)
        arc, inverse = part[:, 8:9], part[:, 9:]
        turned = arc * u
        blend: Float64 = np.sin(arc - turned) * part[:, :4]
        blend += np.sin(turned) * part[:, 4:8]
        blend *= inverse
        return blend


def _key_identity(channel: RawChannel, grid: int) -> tuple[object, ...]:
    """Returns a key that is equal for channels that share their keys in memory."""
    values = channel.values
    place = values.__array_interface__["data"][0], values.shape, values.strides
    return *place, channel.mode, channel.path == "rotation", grid


def _fill_coefficients(table: Float64, channel: RawChannel, spans: Float64) -> None:
    """Fills a table of zeros, shape (powers, F, 4), with the coefficients of a channel."""
    values = channel.values
    width = values.shape[-1]
    if channel.mode == "CUBICSPLINE":
        before, start, leaving = values[:, 0], values[:, 1], values[:, 2] * spans
        end = np.concatenate([start[1:], start[-1:]])
        coming = np.concatenate([before[1:], before[-1:]]) * spans
        table[0, :, :width], table[1, :, :width] = start, leaving
        table[2, :, :width] = 3.0 * (end - start) - 2.0 * leaving - coming
        table[3, :, :width] = 2.0 * (start - end) + leaving + coming
    else:
        table[0, :, :width] = quaternion.normalised(values) if channel.path == "rotation" else values
        if channel.mode == "LINEAR":
            table[1, :-1, :width] = np.diff(values, axis=0)


def _rest_table(skeleton: Skeleton, weights: Float64) -> Float64:
    count = skeleton.joint_count
    table = np.zeros((3 * count + len(weights), 4))
    table[:count, :3] = skeleton.bind_positions
    table[count : 2 * count, :3] = skeleton.bind_scales
    table[2 * count : 3 * count] = skeleton.bind_orientations
    table[3 * count :, 0] = weights
    return table


def _frame_times(key_times: Float64, duration: float) -> Float64:
    """Returns equally spaced times from 0 to `duration` [s]: on all keys where possible, else at the nominal rate."""
    if duration <= 0.0:
        return np.zeros(1)
    steps = np.diff(key_times, prepend=0.0)
    count = max(round(duration / float(steps[steps > 0.0].min())), 1)
    step = duration / count
    if count > FRAMES_MAX or np.abs(key_times - step * np.rint(key_times / step)).max() > _EVEN * step:
        count = min(max(round(duration * NOMINAL_RATE), 1), FRAMES_MAX)
    return np.linspace(0.0, duration, count + 1)


class FrameClip:
    """Clip of key frames of a mesh without joints; a `sinew.sim.assets.model.Clip`.

    Frame 0 is the mesh itself, frame k the morph target with weight k - 1.  A clip that ends with its first frame is a
    loop: a spline through it is smooth there too.

    Args:
        name: Unique within the model.
        times: Of the keys [s], ascending from 0.
        frames: Frame of each key.
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
        return self._listed[-1]

    @property
    def key_times(self) -> Float64:
        return self._times

    @property
    def frame_times(self) -> Float64:
        return self._times

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Samples at `time` [s], clamped to the clip; at most four frames act, and their weights sum to 1."""
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
        return stacked([self.sample(time, interpolation) for time in times])

    def _frame(self, key: int) -> int:
        last = len(self._frames) - 1
        if self._is_circle:
            return self._frames[key % last]
        return self._frames[min(max(key, 0), last)]
