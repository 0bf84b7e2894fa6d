"""A clip whose channels have keys at times of their own, with steps, lines or splines between them, as glTF has it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import NO_WEIGHTS, LocalPose, Skeleton, Targets
from sim.assets.raw import RawChannel
from sim.figures.settings import Interpolation
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

NOMINAL_RATE = 30.0
"""Frames a second of a clip whose keys are not equally spaced."""

FRAMES_MAX = 100_000
_EVEN = 1e-3
"""Part of a step by which keys may lie beside equal distances and still be frames."""


class CurveClip:
    """Keys of single properties; implements `sim.assets.model.Clip`.

    All channels are evaluated together: the times of all grids stand in one array, each grid moved so that it follows
    the one before, which takes one search; then each kind of keys is looked up and blended at once.
    """

    def __init__(
        self,
        name: str,
        channels: Sequence[RawChannel],
        skeleton: Skeleton,
        targets: Targets | None = None,
        weight_starts: Mapping[int, int] | None = None,
    ) -> None:
        """Take the keys.

        Args:
            name: Unique name within the model.
            channels: At most one for each property of a joint, at least one.
            skeleton: What is not driven rests as it is bound.
            targets: Morph targets, whose weights channels may drive.
            weight_starts: First weight of each joint that has any; channels of others are passed over.
        """
        starts = weight_starts or {}
        used = [channel for channel in channels if channel.path != "weights" or channel.joint in starts]
        self._name, self._joint_count = name, skeleton.joint_count
        self._linear = np.concatenate([skeleton.bind_positions, skeleton.bind_scales])
        self._orientations = skeleton.bind_orientations
        self._weights = NO_WEIGHTS if targets is None else targets.rest_weights
        self._grids = _Grids([channel.times for channel in used])
        first_row = {"translation": 0, "scale": skeleton.joint_count}
        grids = self._grids.number_of
        moved = [(c, [first_row[c.path] + c.joint], grids[i]) for i, c in enumerate(used) if c.path in first_row]
        turned = [(c, [c.joint], grids[i]) for i, c in enumerate(used) if c.path == "rotation"]
        weighed = [
            (part, [starts[c.joint] + number], grids[i])
            for i, c in enumerate(used)
            if c.path == "weights"
            for number, part in enumerate(_single(c))
        ]
        self._lines = [_Lines(self._grids, part, is_cubic) for part, is_cubic in _by_mode(moved)]
        self._turns = [_turns(self._grids, part, is_cubic) for part, is_cubic in _by_mode(turned)]
        self._weight_lines = [_Lines(self._grids, part, is_cubic) for part, is_cubic in _by_mode(weighed)]
        times = np.concatenate([np.zeros(0), *(channel.times for channel in used)])
        self._key_times: Float64 = np.unique(times)
        self._duration = float(times.max(initial=0.0))
        self._frame_times = _frame_times(self._key_times, self._duration)
        for keys in (self._key_times, self._frame_times):
            keys.flags.writeable = False

    @property
    def name(self) -> str:
        """Unique name within the model."""
        return self._name

    @property
    def duration(self) -> float:
        """Time of the last key of any channel [s]."""
        return self._duration

    @property
    def key_times(self) -> Float64:
        """Times at which any channel has a key [s], ascending."""
        return self._key_times

    @property
    def frame_times(self) -> Float64:
        """Times of the frames [s], shape (F,): the keys where they are equally spaced from 0, else nominal ones."""
        return self._frame_times

    @property
    def joint_count(self) -> int:
        """Number of joints, B."""
        return self._joint_count

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Pose at `time` [s], which is clamped to the keys of each channel; NEAREST takes the nearest key of each."""
        linear, orientations, weights = self._linear, self._orientations, self._weights
        keys, fractions = self._grids.find(time)
        if interpolation is Interpolation.NEAREST:
            fractions = np.floor(fractions + 0.5)
        if self._lines:
            linear = linear.copy()
            for lines in self._lines:
                linear[lines.rows] = lines.sample(keys, fractions)
        if self._turns:
            orientations = orientations.copy()
            for turns in self._turns:
                orientations[turns.rows] = turns.sample(keys, fractions)
        if self._weight_lines:
            weights = weights.copy()
            for lines in self._weight_lines:
                weights[lines.rows] = lines.sample(keys, fractions)[:, 0]
        return LocalPose(linear[: self._joint_count], orientations, linear[self._joint_count :], weights)


Part = tuple[RawChannel, list[int], int]
"""A channel, the row of the result that it drives, and its grid."""


def _by_mode(parts: list[Part]) -> list[tuple[list[Part], bool]]:
    """Those with steps or lines between keys, which are evaluated alike, and those with splines."""
    plain = [part for part in parts if part[0].mode != "CUBICSPLINE"]
    cubic = [part for part in parts if part[0].mode == "CUBICSPLINE"]
    return [(group, is_cubic) for group, is_cubic in ((plain, False), (cubic, True)) if group]


def _single(channel: RawChannel) -> list[RawChannel]:
    """One channel for each of the numbers that a channel drives."""
    return [
        RawChannel(channel.joint, channel.path, channel.mode, channel.times, channel.values[..., number : number + 1])
        for number in range(channel.values.shape[-1])
    ]


class _Grids:
    """Distinct sequences of key times, searched at once.

    Args:
        sequences: Times of every channel, ascending, at least one each.

    Attributes:
        number_of: Grid of every sequence.
        firsts: Place of each grid's first key among all.
    """

    def __init__(self, sequences: Sequence[Float64]) -> None:
        numbers: dict[bytes, int] = {}
        self.number_of = [numbers.setdefault(times.tobytes(), len(numbers)) for times in sequences]
        # A single key counts twice: then every grid has a key after each but the last.
        grids = [np.frombuffer(data) for data in numbers]
        grids = [np.append(times, times[-1]) if len(times) == 1 else times for times in grids]
        counts = np.array([len(times) for times in grids], np.intp)
        self.firsts = np.cumsum(counts) - counts
        self._lasts = self.firsts + counts - 2
        self._times = np.concatenate([np.zeros(0), *grids])
        self._low = float(self._times.min(initial=0.0))
        self._high = float(self._times.max(initial=0.0))
        self._moves = np.arange(len(grids)) * (2.0 * (self._high - self._low) + 1.0)
        self._moved = self._times + np.repeat(self._moves, counts)
        spans = np.append(np.diff(self._times), 1.0)
        self.spans = np.where(spans > 0.0, spans, np.inf)

    def find(self, time: float) -> tuple[Index, Float64]:
        """For each grid its last key that is not later, but never its very last, and the fraction to the next."""
        time = min(max(time, self._low), self._high)
        keys = np.searchsorted(self._moved, self._moves + time, "right") - 1
        keys = np.minimum(np.maximum(keys, self.firsts), self._lasts)
        fractions = (time - self._times[keys]) / self.spans[keys]
        return keys, np.minimum(np.maximum(fractions, 0.0), 1.0)


@dataclass(slots=True)
class _Rows:
    """Keys of channels one after the other, and where in the grids each is looked up."""

    rows: Index  # Rows of the result that the channels drive, shape (C,)
    grids: Index  # Grid of each, shape (C,)
    shifts: Index  # From a place among the times of all grids to that among the keys, shape (C,)
    holds: Float64 | None  # 1 for channels that step, else 0, shape (C, 1); None where none does
    keys: Float64  # shape (R, n), or (R, 3, n)
    spans: Float64  # Time from each key to the next [s], shape (R, 1)

    @classmethod
    def of(cls, grids: _Grids, parts: list[Part]) -> "_Rows":
        """The keys of some channels."""
        # The last key counts twice, so that there is one after a single one.
        values = [np.concatenate([channel.values, channel.values[-1:]]) for channel, _, _ in parts]
        counts = np.array([len(keys) for keys in values], np.intp)
        starts = np.cumsum(counts) - counts
        numbers = np.array([grid for _, _, grid in parts], np.intp)
        steps = np.array([[float(channel.mode == "STEP")] for channel, _, _ in parts])
        spans = [grids.spans[grids.firsts[grid] :][: len(keys)] for keys, (_, _, grid) in zip(values, parts, strict=True)]
        return cls(
            rows=np.array([row for _, (row,), _ in parts], np.intp),
            grids=numbers,
            shifts=starts - grids.firsts[numbers],
            holds=steps if steps.any() else None,
            keys=np.concatenate(values),
            spans=np.concatenate(spans)[:, None],
        )

    def place(self, keys: Index, fractions: Float64) -> tuple[Index, Float64]:
        """Key of every channel, shape (C,), and the fraction to the next, shape (C, 1)."""
        fraction = fractions.take(self.grids)[:, None]
        if self.holds is not None:
            fraction = np.where(self.holds, np.floor(fraction), fraction)
        return keys.take(self.grids) + self.shifts, fraction


class _Lines:
    """Keys of vectors or numbers, blended by components."""

    def __init__(self, grids: _Grids, parts: list[Part], is_cubic: bool) -> None:
        self._rows, self._is_cubic = _Rows.of(grids, parts), is_cubic
        self.rows = self._rows.rows

    def sample(self, keys: Index, fractions: Float64) -> Float64:
        """Values of all channels, shape (C, n)."""
        place, u = self._rows.place(keys, fractions)
        table = self._rows.keys
        if self._is_cubic:
            return _spline(table.take(place, 0), table.take(place + 1, 0), self._rows.spans.take(place, 0), u)
        start = table.take(place, 0)
        return start + (table.take(place + 1, 0) - start) * u


class _SplineTurns(_Lines):
    """Splines of quaternions, which are made unit afterwards; their keys are never turned to the other sign."""

    def sample(self, keys: Index, fractions: Float64) -> Float64:
        """Quaternions of all channels, shape (C, 4)."""
        return quaternion.normalised(super().sample(keys, fractions))


class _Turns:
    """Keys of rotations, blended on the shortest arc."""

    def __init__(self, grids: _Grids, parts: list[Part]) -> None:
        self._rows = _Rows.of(grids, parts)
        self.rows = self._rows.rows
        counts = [len(channel.times) + 1 for channel, _, _ in parts]
        firsts = np.cumsum([0, *counts[:-1]])
        unit = quaternion.normalised(self._rows.keys)
        flips = np.append(False, np.sum(unit[1:] * unit[:-1], axis=1) < 0.0)
        # Signs are continuous within a channel; what the one before ended with does not matter.
        flips[firsts] = False
        odd = np.cumsum(flips) % 2
        odd = odd != np.repeat(odd[firsts], counts)
        self._keys = np.where(odd[:, None], -unit, unit)
        self._arcs = np.append(quaternion.arc(self._keys[:-1], self._keys[1:]), 1.0)[:, None]
        self._sines = np.sin(self._arcs)

    def sample(self, keys: Index, fractions: Float64) -> Float64:
        """Unit quaternions of all channels, shape (C, 4)."""
        place, u = self._rows.place(keys, fractions)
        arc = self._arcs.take(place, 0)
        blend = np.sin(arc - arc * u) * self._keys.take(place, 0)
        blend += np.sin(arc * u) * self._keys.take(place + 1, 0)
        blend /= self._sines.take(place, 0)
        return blend


def _turns(grids: _Grids, parts: list[Part], is_cubic: bool) -> _SplineTurns | _Turns:
    return _SplineTurns(grids, parts, True) if is_cubic else _Turns(grids, parts)


def _spline(start: Float64, end: Float64, span: Float64, u: Float64) -> Float64:
    """Hermite splines between keys (C, 3, n), each a tangent that comes in, a value, and a tangent that goes out."""
    square = u * u
    cube = square * u
    bend = 3.0 * square - 2.0 * cube
    span = np.where(np.isfinite(span), span, 0.0)
    value = (1.0 - bend) * start[:, 1] + bend * end[:, 1]
    value += span * ((cube - 2.0 * square + u) * start[:, 2] + (cube - square) * end[:, 0])
    return value


def _frame_times(key_times: Float64, duration: float) -> Float64:
    count = len(key_times)
    if duration <= 0.0:
        return np.zeros(1)
    even = np.arange(count) * (duration / max(count - 1, 1))
    if count > 1 and np.abs(key_times - even).max() <= _EVEN * even[1]:
        return even
    return np.linspace(0.0, duration, min(max(round(duration * NOMINAL_RATE), 1), FRAMES_MAX) + 1)
