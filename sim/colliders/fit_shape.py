"""Fits one capsule and one ellipsoid to a cloud of surface points, and takes the better.

A pattern search over centre, turn and sizes from a start by principal axes; robust, because distances count and not
their squares.  A point left outside counts twice: what lies on the body should not sink into it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.collider_settings import SMALLEST_SIZE, ColliderShape
from sim.colliders.shapes import rounded_box_distance
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

_OUTSIDE = 2.0
"""Weight of a distance outside over one inside."""

_BULK = 0.02
"""Weight of the sizes themselves: holds the open ends, where no points are, from growing."""

_ROUNDS = 12
_PLACE, _TURN = 3, 6
"""The first parameters are the centre, the next a small turn; the sizes follow."""


@dataclass(frozen=True, slots=True)
class FittedShape:
    """A shape in the frame of the points.

    Attributes:
        shape: Capsule or ellipsoid.
        size: As in `ColliderState`, shape (3,).
        centre: shape (3,).
        rotation: points_from_shape, shape (3, 3).
        error: Mean distance of the points, those outside counted twice.
    """

    shape: ColliderShape
    size: Float64
    centre: Float64
    rotation: Float64
    error: float


def fit_shape(points: Float64, weights: Float64, along: Float64 | None = None) -> FittedShape:
    """The capsule or ellipsoid that comes closest to surface points.

    Args:
        points: shape (n, 3), at least one.
        weights: Share of each point, the area around it, shape (n,).
        along: Direction that the long axis may take instead of the principal one, shape (3,); of a bone.
    """
    share = weights / weights.sum()
    frames = [_principal(points, share)]
    if along is not None and np.linalg.norm(along) > 0.0:
        frames.append(_along(frames[0], along / np.linalg.norm(along)))
    found = []
    for frame in frames:
        found.append(_capsule(points, share, frame))
        found.append(_ellipsoid(points, share, frame))
    return min(found, key=lambda fitted: fitted.error)


def ellipsoid_distance_estimate(points: Float64, semi_axes: Float64) -> Float64:
    """First-order signed distance (n,): exact on the surface and its gradient there, quick elsewhere."""
    level = np.linalg.norm(points / semi_axes, axis=1)
    slope = np.maximum(np.linalg.norm(points / semi_axes**2, axis=1), 1e-12)
    estimate: Float64 = level * (level - 1.0) / slope
    return np.where(level < 1e-6, -semi_axes.min(), estimate)


def _capsule(points: Float64, share: Float64, frame: Float64) -> FittedShape:
    low, high = _extent(points @ frame)
    radius = max(0.25 * float((high - low)[[0, 2]].sum()), SMALLEST_SIZE)
    straight = max(0.5 * float(high[1] - low[1]) - radius, SMALLEST_SIZE)

    def distance(local: Float64, sizes: Float64) -> Float64:
        return rounded_box_distance(local, np.array([0.0, sizes[1], 0.0]), float(sizes[0]))[0]

    sizes = np.array([radius, straight])
    centre, rotation, sizes, error = _search(points, share, frame, frame @ (0.5 * (low + high)), sizes, distance)
    return FittedShape(ColliderShape.CAPSULE, np.array([sizes[0], sizes[1], 0.0]), centre, rotation, error)


def _ellipsoid(points: Float64, share: Float64, frame: Float64) -> FittedShape:
    low, high = _extent(points @ frame)
    sizes = np.maximum(0.5 * (high - low), SMALLEST_SIZE)
    centre, rotation, sizes, error = _search(
        points, share, frame, frame @ (0.5 * (low + high)), sizes, ellipsoid_distance_estimate
    )
    return FittedShape(ColliderShape.ELLIPSOID, sizes, centre, rotation, error)


def _search(
    points: Float64,
    share: Float64,
    frame: Float64,
    centre: Float64,
    sizes: Float64,
    distance: Callable[[Float64, Float64], Float64],
) -> tuple[Float64, Float64, Float64, float]:
    """Centre, rotation, sizes and error of the best fit found by trying single parameters at shrinking steps."""
    length = float(sizes.max())

    def place(parameters: Float64) -> tuple[Float64, Float64]:
        vector = parameters[_PLACE:_TURN]
        turn = quaternion.from_axis_angle(vector, np.linalg.norm(vector))
        return parameters[:_PLACE], quaternion.to_matrix(turn) @ frame

    def error(parameters: Float64) -> float:
        middle, rotation = place(parameters)
        tried = parameters[_TURN:]
        if tried.min() < SMALLEST_SIZE:
            return float("inf")
        apart = distance((points - middle) @ rotation, tried)
        return float(np.sum(share * np.where(apart > 0.0, _OUTSIDE * apart, -apart))) + _BULK * float(tried.sum())

    parameters = np.concatenate([centre, np.zeros(3), sizes])
    steps = np.concatenate([np.full(3, 0.2 * length), np.full(3, 0.2), np.full(len(sizes), 0.2 * length)])
    best = error(parameters)
    for _ in range(_ROUNDS):
        improved = False
        for index in range(len(parameters)):
            for direction in (1.0, -1.0):
                tried = parameters.copy()
                tried[index] += direction * steps[index]
                value = error(tried)
                if value < best:
                    parameters, best, improved = tried, value, True
                    break
        if not improved:
            steps *= 0.5
    middle, rotation = place(parameters)
    return middle, rotation, parameters[_TURN:], best


def _principal(points: Float64, share: Float64) -> Float64:
    """Principal axes as columns (3, 3) of a rotation; y is the longest, x the next."""
    apart = points - share @ points
    _, axes = np.linalg.eigh(apart.T @ (share[:, None] * apart))
    x, y = axes[:, 1], axes[:, 2]
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _along(frame: Float64, direction: Float64) -> Float64:
    """`frame` turned so that its y is `direction`."""
    x = frame[:, 0] - (frame[:, 0] @ direction) * direction
    if np.linalg.norm(x) < 1e-6:
        x = frame[:, 2] - (frame[:, 2] @ direction) * direction
    x /= np.linalg.norm(x)
    return np.stack([x, direction, np.cross(x, direction)], axis=1)


def _extent(local: Float64) -> tuple[Float64, Float64]:
    """Box (3,), (3,) of all points but a few stray ones."""
    low, high = np.percentile(local, [2.0, 98.0], axis=0)
    return low, high
