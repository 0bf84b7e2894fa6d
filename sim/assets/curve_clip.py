"""A clip whose channels have keys at times of their own, with steps, lines or splines between them, as glTF has it."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.easing import eased
from sim.assets.model import NO_WEIGHTS, Interpolation, LocalPose, Skeleton, Targets, stacked
from sim.assets.raw import RawChannel
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

NOMINAL_RATE = 30.0
"""Frames a second of a clip whose keys are not equally spaced."""

FRAMES_MAX = 100_000
_EVEN = 1e-3
"""Part of a step by which keys may lie beside frames and still be frames."""

Driven = tuple[RawChannel, int, int]
"""A channel, the row of the result that it drives, and its grid."""


class CurveClip:
    """Keys of single properties; implements `sim.assets.model.Clip`.

    All channels are evaluated together.  Between keys, everything is a polynomial of the part of the way, of degree 0
    for a step, but for rotations that turn evenly.  The result is one table of rows: the translations of all joints,
    their scales, their rotations, and the weights of morph targets.
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
            channels: At most one for each property of a joint.
            skeleton: What is not driven rests as it is bound.
            targets: Morph targets, whose weights channels may drive.
            weight_starts: First weight of each joint that has any; channels of others are passed over.
        """
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
                driven += [(part, first + number, grid) for number, part in enumerate(_single(channel))]
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
        """Time of the last key of any channel [s]."""
        return self._duration

    @property
    def key_times(self) -> Float64:
        """Times at which any channel has a key [s], ascending."""
        return self._key_times

    @property
    def frame_times(self) -> Float64:
        """Times of the frames [s], shape (F,): with every key where those are equally spaced, else nominal."""
        return self._frame_times

    @property
    def joint_count(self) -> int:
        return self._joint_count

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Pose at `time` [s], which is clamped to the keys of each channel; eased between two."""
        keys, fractions = self._grids.find(time)
        if interpolation is not Interpolation.LINEAR:
            fractions = _eased(interpolation, fractions)
        table = self._rest.copy()
        for group in (self._polynomials, self._turns):
            if group is not None:
                table[group.rows] = group.sample(keys, fractions)
        count = self._joint_count
        positions, scales = table[:count, :3], table[count : 2 * count, :3]
        return LocalPose(positions, table[2 * count : 3 * count], scales, table[3 * count :, 0])

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        """Poses at many times [s]."""
        return stacked([self.sample(time, interpolation) for time in times])


class _KeyGrids:
    """Distinct sequences of key times, searched at once.

    They stand in one array, each moved so that it follows the one before: one search finds the keys of all.

    Args:
        sequences: Times of every channel, ascending, at least one each.

    Attributes:
        number_of: Grid of every sequence.
        firsts: Place of each grid's first key among all.
        counts: Number of keys of each.
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
        """For each grid its last key that is not later, or its first, and the part of the way to the next, 0 to 1.

        Where there is one grid, both are numbers.
        """
        if self._only is not None:
            key = max(bisect_right(self._only, time) - 1, 0)
            return key, min(max((time - self._only[key]) * float(self._rates[key]), 0.0), 1.0)
        time = min(max(time, self._low), self._high)
        keys = np.searchsorted(self._moved, self._moves + time, "right") - 1
        keys = np.minimum(np.maximum(keys, self.firsts), self.firsts + self.counts - 1)
        fractions = (time - self.times.take(keys)) * self._rates.take(keys)
        return keys, np.minimum(np.maximum(fractions, 0.0), 1.0)


class _Group:
    """Channels that are evaluated alike, their keys one after the other; those with the same keys share them.

    Args:
        driven: The channels, at least one.
        grids: Where they look up times.

    Attributes:
        rows: Rows of the result that they drive, shape (C,).
        tables: A channel and its grid for each table of keys.
        ends: Where the keys of each table end.
    """

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        self.rows = np.array([row for _, row, _ in driven], np.intp)
        self._grids = np.array([grid for _, _, grid in driven], np.intp)
        numbers: dict[tuple[object, ...], int] = {}
        table_of = np.array([numbers.setdefault(_content(channel, grid), len(numbers)) for channel, _, grid in driven])
        _, first_uses = np.unique(table_of, return_index=True)
        self.tables = [(driven[use][0], driven[use][2]) for use in first_uses]
        counts = grids.counts[self._grids[first_uses]]
        self.ends = np.cumsum(counts)
        # From a place among the times of all grids to that among the keys of the channel.
        self._shifts = (self.ends - counts)[table_of] - grids.firsts[self._grids]
        self._spread = len(grids.counts) > 1

    def _place(self, keys: Any, fractions: Any) -> tuple[Index, Any]:
        """Key of each channel, shape (C,), and the part of the way to the next, shape (C, 1) or one for all."""
        if not self._spread:
            return self._shifts + keys, fractions
        return self._shifts + keys.take(self._grids), fractions.take(self._grids)[:, None]


class _Polynomials(_Group):
    """Steps, lines and cubic splines; rotations among them are made unit afterwards, their keys never change sign."""

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        super().__init__(driven, grids)
        degree = max((channel.mode == "LINEAR") + 3 * (channel.mode == "CUBICSPLINE") for channel, _ in self.tables)
        # Coefficients of the powers of the part of the way, shape (powers, R, 4).
        self._coefficients = np.zeros((degree + 1, self.ends[-1], 4))
        for (channel, grid), end in zip(self.tables, self.ends, strict=True):
            spans = grids.spans[grids.firsts[grid] :][: grids.counts[grid], None]
            _fill_coefficients(self._coefficients[:, end - len(spans) : end], channel, spans)
        bent = [index for index, (channel, _, _) in enumerate(driven) if channel.path == "rotation"]
        self._bent = np.array(bent, np.intp) if bent else None

    def sample(self, keys: Any, fractions: Any) -> Float64:
        """Values of all channels, shape (C, 4)."""
        place, u = self._place(keys, fractions)
        value: Float64
        *lower, value = self._coefficients.take(place, 1)
        for coefficient in reversed(lower):
            value = value * u + coefficient
        if self._bent is not None:
            value[self._bent] = quaternion.normalised(value[self._bent])
        return value


class _SlerpTracks(_Group):
    """Rotations that turn evenly from key to key on the shortest arc."""

    def __init__(self, driven: Sequence[Driven], grids: _KeyGrids) -> None:
        super().__init__(driven, grids)
        # Key, next key, the angle between them and the inverse of its sine, shape (R, 10).
        self._table = np.empty((self.ends[-1], 10))
        for (channel, _), end in zip(self.tables, self.ends, strict=True):
            keys = _continuous(quaternion.normalised(channel.values))
            following = np.concatenate([keys[1:], keys[-1:]])
            arcs = quaternion.arc(keys, following)[:, None]
            self._table[end - len(keys) : end] = np.concatenate([keys, following, arcs, 1.0 / np.sin(arcs)], axis=1)

    def sample(self, keys: Any, fractions: Any) -> Float64:
        """Unit quaternions of all channels, shape (C, 4)."""
        place, u = self._place(keys, fractions)
        part = self._table.take(place, 0)
        arc, inverse = part[:, 8:9], part[:, 9:]
        turned = arc * u
        blend: Float64 = np.sin(arc - turned) * part[:, :4]
        blend += np.sin(turned) * part[:, 4:8]
        blend *= inverse
        return blend


def _eased(interpolation: Interpolation, fractions: Any) -> Any:
    """Parts of the way, an array or a number."""
    if isinstance(fractions, float):
        return eased(interpolation, fractions)
    return np.array([eased(interpolation, float(part)) for part in fractions])


def _content(channel: RawChannel, grid: int) -> tuple[object, ...]:
    """Equal for channels that have the same keys in memory."""
    values = channel.values
    place = values.__array_interface__["data"][0], values.shape, values.strides
    return *place, channel.mode, channel.path == "rotation", grid


def _fill_coefficients(table: Float64, channel: RawChannel, spans: Float64) -> None:
    """Sets coefficients of the powers for the way from every key to the next, in zeros of shape (powers, F, 4)."""
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


def _single(channel: RawChannel) -> list[RawChannel]:
    return [
        RawChannel(channel.joint, channel.path, channel.mode, channel.times, channel.values[..., number : number + 1])
        for number in range(channel.values.shape[-1])
    ]


def _continuous(keys: Float64) -> Float64:
    """Quaternions (F, 4) with signs such that successive ones never have a negative dot product."""
    flips = np.append(False, np.sum(keys[1:] * keys[:-1], axis=1) < 0.0)
    return np.where((np.cumsum(flips) % 2 == 1)[:, None], -keys, keys)


def _rest_table(skeleton: Skeleton, weights: Float64) -> Float64:
    count = skeleton.joint_count
    table = np.zeros((3 * count + len(weights), 4))
    table[:count, :3] = skeleton.bind_positions
    table[count : 2 * count, :3] = skeleton.bind_scales
    table[2 * count : 3 * count] = skeleton.bind_orientations
    table[3 * count :, 0] = weights
    return table


def _frame_times(key_times: Float64, duration: float) -> Float64:
    """Multiples of the distance of keys where all keys are such, else of a nominal time; they end with the clip."""
    if duration <= 0.0:
        return np.zeros(1)
    steps = np.diff(key_times, prepend=0.0)
    count = max(round(duration / float(steps[steps > 0.0].min())), 1)
    step = duration / count
    if count > FRAMES_MAX or np.abs(key_times - step * np.rint(key_times / step)).max() > _EVEN * step:
        count = min(max(round(duration * NOMINAL_RATE), 1), FRAMES_MAX)
    return np.linspace(0.0, duration, count + 1)
