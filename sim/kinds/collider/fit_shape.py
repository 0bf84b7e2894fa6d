"""Fits one capsule and one ellipsoid to a cloud of surface points, and takes the better.

A pattern search over centre, turn and sizes from a start by principal axes; robust, because distances count and not
their squares.  A point left outside counts six times: what lies on the body should not sink into it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

_OUTSIDE = 6.0
"""Weight of a distance outside over one inside."""

_BULK = 0.02
"""Weight of the sizes themselves: holds the open ends, where no points are, from growing."""

_STRAY = 0.01
"""Share of the weight at each end of a direction that is let stick out: spikes of a helmet, a blade."""

_ROOM, _BEYOND = 0.08, 6.0
"""How far a shape reaches beyond its limb without harm, as a part of the length of that, and the weight of the rest."""

STICKING = 0.095
"""How far it may reach at most."""

_ROUNDS = 12
_PLACE, _TURN = 3, 6
"""The first parameters are the centre, the next a small turn; the sizes follow."""


def _around(count: int) -> Float64:
    """Directions all around, evenly, on a golden spiral, shape (count, 3)."""
    height = (2.0 * np.arange(count) + 1.0) / count - 1.0
    turn, radius = np.pi * (1.0 + 5.0**0.5) * np.arange(count), np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)


DIRECTIONS, DENSE = _around(160), _around(1500)
"""Directions of the search, and of the last check."""

Distance = Callable[[Float64, Float64], Float64]
"""Signed distance (n,) of points (n, 3) in the frame of a shape, by its sizes."""


@dataclass(frozen=True, slots=True)
class FittedShape:
    """A shape in the frame of the points.

    Attributes:
        shape: Capsule or ellipsoid.
        size: As in `Solid`, shape (3,).
        centre: shape (3,).
        rotation: points_from_shape, shape (3, 3).
        error: Mean distance of the points, those outside counted more, and a little of the sizes.
    """

    shape: ColliderShape
    size: Float64
    centre: Float64
    rotation: Float64
    error: float


def fit_shape(
    points: Float64,
    weights: Float64,
    along: Float64 | None = None,
    around: tuple[Float64, Float64] | None = None,
) -> FittedShape:
    """The capsule or ellipsoid that comes closest to surface points.

    Args:
        points: shape (n, 3), at least one.
        weights: Share of each point, the area around it, shape (n,).
        along: Direction that the long axis may take instead of the principal one, shape (3,); of a bone.
        around: Points (m, 3) beyond which it shall hardly reach, and their weights (m,); the first points for None.
    """
    share = weights / weights.sum()
    limb, held = (points, share) if around is None else (around[0], around[1] / around[1].sum())
    reach = _reach(limb, held)
    frames = [_principal(points, share)]
    if along is not None and np.linalg.norm(along) > 0.0:
        frames.append(_along(frames[0], along / np.linalg.norm(along)))
    capsules, ellipsoids = _capsule_starts(points, share, frames), _ellipsoid_starts(points, share, frames)
    found = (
        _fit(ColliderShape.CAPSULE, capsules, points, share, reach),
        _fit(ColliderShape.ELLIPSOID, ellipsoids, points, share, reach),
    )
    return min(found, key=lambda fitted: fitted.error)


def ellipsoid_distance_estimate(points: Float64, semi_axes: Float64) -> Float64:
    """First-order signed distance (n,): exact on the surface and its gradient there, quick elsewhere."""
    level = np.linalg.norm(points / semi_axes, axis=1)
    slope = np.maximum(np.linalg.norm(points / semi_axes**2, axis=1), 1e-12)
    estimate: Float64 = level * (level - 1.0) / slope
    return np.where(level < 1e-6, -semi_axes.min(), estimate)


@dataclass(frozen=True, slots=True)
class _SearchStart:
    """Where a search begins: a frame (3, 3), and a centre (3,) and sizes in it."""

    frame: Float64
    centre: Float64
    sizes: Float64


@dataclass(frozen=True, slots=True)
class _Extents:
    """How far a shape reaches without harm in `DIRECTIONS`, and at most in `DENSE`."""

    harmless: Float64
    largest: Float64


@dataclass(frozen=True, slots=True)
class _Objective:
    """Error of a fit as a function of its parameters: centre (3), small turn (3), sizes."""

    points: Float64
    share: Float64
    frame: Float64
    distance: Distance
    support: Distance
    reach: "_Extents"

    def place(self, parameters: Float64) -> tuple[Float64, Float64]:
        """Centre (3,) and rotation (3, 3)."""
        return parameters[:_PLACE], _turned(tuple(parameters[_PLACE:_TURN].tolist())) @ self.frame

    def fitting_part(self, parameters: Float64) -> float:
        """The largest part of the sizes, at most 1, with which the shape reaches no farther than it may."""
        centre, rotation = self.place(parameters)
        room = np.maximum(self.reach.largest - DENSE @ centre, 0.0)
        return float(min(1.0, (room / self.support(DENSE @ rotation, parameters[_TURN:])).min()))

    def error(self, parameters: Float64) -> float:
        """Mean distance and a little of the sizes; infinite for sizes that are none."""
        sizes = parameters[_TURN:]
        if sizes.min() < SMALLEST_SIZE:
            return float("inf")
        centre, rotation = self.place(parameters)
        apart = self.distance((self.points - centre) @ rotation, sizes)
        mean = float(np.sum(self.share * np.where(apart > 0.0, _OUTSIDE * apart, -apart)))
        beyond = self.support(DIRECTIONS @ rotation, sizes) + DIRECTIONS @ centre - self.reach.harmless
        return mean + _BULK * float(sizes.sum()) + _BEYOND * float(np.maximum(beyond, 0.0).mean())


def _fit(
    shape: ColliderShape, starts: list[_SearchStart], points: Float64, share: Float64, reach: _Extents
) -> FittedShape:
    """The best fit of one shape, searched from the most promising start."""
    distance, support = _SHAPES[shape]
    objectives = [(_Objective(points, share, s.frame, distance, support, reach), _parameters(s)) for s in starts]
    found = [(objective, *_search(objective, parameters)) for objective, parameters in objectives]
    objective, parameters, error = min(found, key=lambda tried: tried[2])
    centre, rotation = objective.place(parameters)
    size = np.zeros(3)
    size[: len(parameters) - _TURN] = parameters[_TURN:] * objective.fitting_part(parameters)
    return FittedShape(shape, size, centre, rotation, error)


def _search(objective: _Objective, parameters: Float64) -> tuple[Float64, float]:
    """Parameters and error of the least error found by changing single parameters at shrinking steps."""
    length = float(parameters[_TURN:].max())
    steps = np.full(len(parameters), 0.2 * length)
    steps[_PLACE:_TURN] = 0.2
    best = objective.error(parameters)
    for _ in range(_ROUNDS):
        improved = False
        for index, step in product(range(len(parameters)), (1.0, -1.0)):
            tried = parameters.copy()
            tried[index] += step * steps[index]
            value = objective.error(tried)
            if value < best:
                parameters, best, improved = tried, value, True
        if not improved:
            steps *= 0.5
    return parameters, best


@lru_cache(maxsize=1)
def _turned(vector: tuple[float, ...]) -> Float64:
    """Matrix (3, 3) of a turn by the length of a vector about it; most steps of a search leave it as it is."""
    return quaternion.to_matrix(quaternion.from_axis_angle(vector, np.linalg.norm(vector)))


def _parameters(start: _SearchStart) -> Float64:
    return np.concatenate([start.centre, np.zeros(3), start.sizes])


def _capsule_distance(local: Float64, sizes: Float64) -> Float64:
    beyond = local.copy()
    beyond[:, 1] -= np.clip(local[:, 1], -sizes[1], sizes[1])
    distance: Float64 = np.linalg.norm(beyond, axis=1) - sizes[0]
    return distance


def _reach(limb: Float64, share: Float64) -> _Extents:
    """How far a shape may reach that is fitted to a limb, of which these are points (m, 3)."""
    ends, along = _ends(limb, share, DIRECTIONS), limb @ DENSE.T
    harmless = ends + _ROOM * float((ends + _ends(limb, share, -DIRECTIONS)).max())
    return _Extents(harmless, along.max(axis=0) + STICKING * float(np.ptp(along, axis=0).max()))


def _ends(points: Float64, share: Float64, directions: Float64, stray: float = _STRAY) -> Float64:
    """How far points reach in directions (k, 3), but for a few stray ones by weight, shape (k,)."""
    along = points @ directions.T
    order = np.argsort(along, axis=0)
    below = np.cumsum(share[order], axis=0)
    last = np.argmax(below >= 1.0 - stray, axis=0)
    ends: Float64 = np.take_along_axis(along, np.take_along_axis(order, last[None], 0), 0)[0]
    return ends


def _capsule_support(directions: Float64, sizes: Float64) -> Float64:
    reach: Float64 = sizes[0] + sizes[1] * np.abs(directions[:, 1])
    return reach


def _ellipsoid_support(directions: Float64, sizes: Float64) -> Float64:
    reach: Float64 = np.linalg.norm(directions * sizes, axis=1)
    return reach


_SHAPES: dict[ColliderShape, tuple[Distance, Distance]] = {
    ColliderShape.CAPSULE: (_capsule_distance, _capsule_support),
    ColliderShape.ELLIPSOID: (ellipsoid_distance_estimate, _ellipsoid_support),
}
"""Signed distances of points, and how far the shape reaches from its centre in directions."""


def _capsule_starts(points: Float64, share: Float64, frames: list[Float64]) -> list[_SearchStart]:
    starts = []
    for frame in frames:
        low, high = -_ends(points, share, -frame.T, 0.02), _ends(points, share, frame.T, 0.02)
        radius = max(0.25 * float((high - low)[[0, 2]].sum()), SMALLEST_SIZE)
        straight = max(0.5 * float(high[1] - low[1]) - radius, SMALLEST_SIZE)
        starts.append(_SearchStart(frame, frame @ (0.5 * (low + high)), np.array([radius, straight])))
    return starts


def _ellipsoid_starts(points: Float64, share: Float64, frames: list[Float64]) -> list[_SearchStart]:
    starts = []
    for frame in frames:
        low, high = -_ends(points, share, -frame.T, 0.02), _ends(points, share, frame.T, 0.02)
        starts.append(_SearchStart(frame, frame @ (0.5 * (low + high)), np.maximum(0.5 * (high - low), SMALLEST_SIZE)))
    return starts


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
