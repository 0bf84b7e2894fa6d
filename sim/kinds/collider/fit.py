from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Mesh, Skeleton, Skin
from sinew.sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sinew.sim.kinds.collider.settings import LARGEST_SIZE, ColliderSettings
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.points import triangle_areas
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import rigid_frames

_OUTSIDE = 6.0
"""Weight of a distance outside over one inside."""

_BULK = 0.02
"""Weight of the sizes themselves, which keeps open ends, which have no points, from growing."""

_STRAY = 0.01
"""Share of the weight at each end of a direction that may stick out: spikes of a helmet, a blade."""

_ROOM, _BEYOND = 0.08, 6.0
"""Harmless reach beyond the limb, as a part of its length, and the weight of any further reach."""

STICKING = 0.095
"""Largest reach beyond the limb, as a part of its length."""

_ROUNDS = 12
_PLACE, _TURN = 3, 6
"""Indices of parameters: the centre comes first, then a small turn, then the sizes."""


def _around(count: int) -> Float64:
    """Returns evenly distributed directions on a golden spiral, shape (count, 3)."""
    height = (2.0 * np.arange(count) + 1.0) / count - 1.0
    turn, radius = np.pi * (1.0 + 5.0**0.5) * np.arange(count), np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)


DIRECTIONS, DENSE = _around(160), _around(1500)
"""Directions of the search, and of the last check."""

Distance = Callable[[Float64, Float64], Float64]
"""Function that returns signed distances (n,) of points (n, 3) in the frame of a shape, by its sizes."""


@dataclass(frozen=True, slots=True)
class FittedShape:
    shape: ColliderShape
    size: Float64  # As in `ColliderState`, shape (3,)
    centre: Float64  # Shape (3,)
    rotation: Float64  # points_from_shape, shape (3, 3)
    error: float  # Mean distance of the points, with more weight outside, and a little of the sizes


def fit_shape(
    points: Float64,
    weights: Float64,
    along: Float64 | None = None,
    around: tuple[Float64, Float64] | None = None,
) -> FittedShape:
    """Returns the capsule or ellipsoid that comes closest to surface points.

    Args:
        points: Shape (N, 3), at least one.
        weights: Area around each point, shape (N,).
        along: Direction of a bone that the long axis may take instead of the principal one, shape (3,).
        around: Points (M, 3) beyond which the shape hardly reaches, and their weights (M,); by default the first
            points.
    """
    share = weights / weights.sum()
    limb, held = (points, share) if around is None else (around[0], around[1] / around[1].sum())
    reach = _reach(limb, held)
    frames = [_principal(points, share)]
    if along is not None and np.linalg.norm(along) > 0.0:
        frames.append(_along(frames[0], along / np.linalg.norm(along)))
    fits = [_fit(shape, frames, points, share, reach) for shape in _SHAPES]
    return min(fits, key=lambda fitted: fitted.error)


def ellipsoid_distance_estimate(points: Float64, semi_axes: Float64) -> Float64:
    """Returns first-order signed distances (N,): exact on the surface, with its gradient, and quick elsewhere."""
    level = np.linalg.norm(points / semi_axes, axis=1)
    slope = np.maximum(np.linalg.norm(points / semi_axes**2, axis=1), 1e-12)
    estimate: Float64 = level * (level - 1.0) / slope
    return np.where(level < 1e-6, -semi_axes.min(), estimate)


@dataclass(frozen=True, slots=True)
class _Extents:
    """Harmless reach of a shape in `DIRECTIONS`, and its largest reach in `DENSE`."""

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
        return parameters[:_PLACE], _turned(tuple(parameters[_PLACE:_TURN].tolist())) @ self.frame

    def fitting_part(self, parameters: Float64) -> float:
        """Returns the factor of the sizes, at most 1, that keeps the shape within its largest reach."""
        centre, rotation = self.place(parameters)
        room = np.maximum(self.reach.largest - DENSE @ centre, 0.0)
        return float(min(1.0, (room / self.support(DENSE @ rotation, parameters[_TURN:])).min()))

    def error(self, parameters: Float64) -> float:
        """Returns the mean distance and a little of the sizes; infinite for sizes that are too small."""
        sizes = parameters[_TURN:]
        if sizes.min() < SMALLEST_SIZE:
            return float("inf")
        centre, rotation = self.place(parameters)
        apart = self.distance((self.points - centre) @ rotation, sizes)
        mean = float(np.sum(self.share * np.where(apart > 0.0, _OUTSIDE * apart, -apart)))
        beyond = self.support(DIRECTIONS @ rotation, sizes) + DIRECTIONS @ centre - self.reach.harmless
        return mean + _BULK * float(sizes.sum()) + _BEYOND * float(np.maximum(beyond, 0.0).mean())


def _fit(shape: ColliderShape, frames: list[Float64], points: Float64, share: Float64, reach: _Extents) -> FittedShape:
    distance, support, first_sizes = _SHAPES[shape]
    fits = []
    for frame in frames:
        low, high = -_ends(points, share, -frame.T, 0.02), _ends(points, share, frame.T, 0.02)
        start = np.concatenate([frame @ (0.5 * (low + high)), np.zeros(3), first_sizes(high - low)])
        objective = _Objective(points, share, frame, distance, support, reach)
        fits.append((objective, *_search(objective, start)))
    objective, parameters, error = min(fits, key=lambda fitted: fitted[2])
    centre, rotation = objective.place(parameters)
    size = np.zeros(3)
    size[: len(parameters) - _TURN] = parameters[_TURN:] * objective.fitting_part(parameters)
    return FittedShape(shape, size, centre, rotation, error)


def _search(objective: _Objective, parameters: Float64) -> tuple[Float64, float]:
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
    """Returns a rotation by the length of a vector about it, (3, 3); cached, as most steps of a search keep it."""
    return quaternion.to_matrix(quaternion.from_axis_angle(vector, np.linalg.norm(vector)))


def _capsule_distance(local: Float64, sizes: Float64) -> Float64:
    beyond = local.copy()
    beyond[:, 1] -= np.clip(local[:, 1], -sizes[1], sizes[1])
    distance: Float64 = np.linalg.norm(beyond, axis=1) - sizes[0]
    return distance


def _reach(limb: Float64, share: Float64) -> _Extents:
    ends, along = _ends(limb, share, DIRECTIONS), limb @ DENSE.T
    harmless = ends + _ROOM * float((ends + _ends(limb, share, -DIRECTIONS)).max())
    return _Extents(harmless, along.max(axis=0) + STICKING * float(np.ptp(along, axis=0).max()))


def _ends(points: Float64, share: Float64, directions: Float64, stray: float = _STRAY) -> Float64:
    """Returns the reach of points in directions (k, 3), without a few stray ones by weight, shape (k,)."""
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


def _capsule_sizes(box: Float64) -> Float64:
    radius = max(0.25 * float(box[[0, 2]].sum()), SMALLEST_SIZE)
    return np.array([radius, max(0.5 * float(box[1]) - radius, SMALLEST_SIZE)])


def _ellipsoid_sizes(box: Float64) -> Float64:
    return np.maximum(0.5 * box, SMALLEST_SIZE)


_SHAPES: dict[ColliderShape, tuple[Distance, Distance, Callable[[Float64], Float64]]] = {
    ColliderShape.CAPSULE: (_capsule_distance, _capsule_support, _capsule_sizes),
    ColliderShape.ELLIPSOID: (ellipsoid_distance_estimate, _ellipsoid_support, _ellipsoid_sizes),
}
"""Shapes: signed distances of points, extents from the centre in directions, first sizes for a box (3,) of points."""


def _principal(points: Float64, share: Float64) -> Float64:
    """Returns the columns (3, 3) of a rotation; y is the longest axis, x the next."""
    apart = points - share @ points
    _, axes = np.linalg.eigh(apart.T @ (share[:, None] * apart))
    x, y = axes[:, 1], axes[:, 2]
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _along(frame: Float64, direction: Float64) -> Float64:
    x = frame[:, 0] - (frame[:, 0] @ direction) * direction
    if np.linalg.norm(x) < 1e-6:
        x = frame[:, 2] - (frame[:, 2] @ direction) * direction
    x /= np.linalg.norm(x)
    return np.stack([x, direction, np.cross(x, direction)], axis=1)


Indices = npt.NDArray[np.intp]

COLLIDERS_MAX = 24
SMALL_PART = 0.09
"""Longest extent, as a fraction of the character's, below which the vertices of a bone go to its parent."""

MOVED = 0.1
"""Least weight of vertices that belong to a limb; its collider may reach over them."""

POINTS_MIN = 8
_POINTS_FITTED = 200


class FittedCollider(NamedTuple):
    bone: str
    settings: ColliderSettings  # Shape and size [m] for a model node of scale 1
    transform: Transform  # Relative to the joint


def fit_colliders(
    model: CharacterModel, *, unit_scale: float = 1.0, count_max: int = COLLIDERS_MAX
) -> list[FittedCollider]:
    """Returns colliders that together follow the skin of a character in its bind pose, in the order of its joints.

    Args:
        model: Without skeleton, weights or triangles it gets none.
        unit_scale: Metres per unit of its file.
        count_max: The smallest parts join their neighbours.
    """
    if model.skeleton is None or model.skin is None or not model.mesh.triangle_count:
        return []
    areas = vertex_areas(model.mesh)
    positions = model.mesh.positions.astype(np.float64)
    groups = skin_groups(model.skeleton, model.skin.strongest.astype(np.intp), positions, areas, count_max)
    frames = rigid_frames(model.skeleton.model_from_bind)
    held = group_weights(model.skeleton, model.skin, sorted(groups))
    fitted = []
    for joint, weights in zip(sorted(groups), held.T, strict=True):
        rows, frame = groups[joint], frames[joint]
        moved = _thinned(np.flatnonzero((weights >= MOVED) & (areas > 0.0)), 2 * _POINTS_FITTED)
        points, limb = (unit_scale * ((positions[some] - frame[:3, 3]) @ frame[:3, :3]) for some in (rows, moved))
        along = frame[:3, :3].T @ _bone_direction(model.skeleton, joint)
        shape = fit_shape(points, areas[rows], along, (limb, (areas * weights)[moved]))
        fitted.append(_collider(model.skeleton.names[joint], shape))
    return fitted


def group_weights(skeleton: Skeleton, skin: Skin, joints: list[int]) -> Float64:
    """Returns the weight of each vertex on each joint and those below up to the next of `joints`, (V, k)."""
    column_of = np.full(skeleton.joint_count, len(joints))
    column_of[joints] = np.arange(len(joints))
    for level in skeleton.hierarchy.levels:
        below = level[column_of[level] == len(joints)]
        below = below[skeleton.parents[below] >= 0]
        column_of[below] = column_of[skeleton.parents[below]]
    held = np.zeros((len(skin.joints), len(joints) + 1))
    vertices = np.arange(len(skin.joints))
    for influence in range(skin.joints.shape[1]):
        np.add.at(held, (vertices, column_of[skin.joints_of(skin.joints[:, influence])]), skin.weights[:, influence])
    return held[:, :-1]


def vertex_areas(mesh: Mesh) -> Float64:
    """Returns a third of the area of the triangles at each vertex, (V,), in squared units of the file."""
    thirds = np.repeat(triangle_areas(mesh.positions, mesh.triangles) / 3.0, 3)
    areas = np.bincount(mesh.triangles.ravel(), weights=thirds, minlength=mesh.vertex_count)
    return areas.astype(np.float64)


def skin_groups(
    skeleton: Skeleton, owners: Indices, positions: Float64, areas: Float64, count_max: int
) -> dict[int, Indices]:
    """Returns vertices of each joint, after small parts joined their parents.

    Args:
        owners: Joint that moves each vertex most, shape (V,).
        positions: Shape (V, 3).
        areas: Area of each vertex, shape (V,); vertices without area are omitted.

    Returns:
        At most `_POINTS_FITTED` vertices for each remaining joint, evenly over the skin in file order.
    """
    used = np.flatnonzero(areas > 0.0)
    if not len(used):
        return {}
    groups = {int(joint): used[owners[used] == joint] for joint in np.unique(owners[used])}
    small = SMALL_PART * _extent(positions[used])
    order = [int(joint) for level in reversed(skeleton.hierarchy.levels) for joint in level]
    for joint in order:  # leaves first, so that a finger is joined before its hand is judged
        if joint in groups and (len(groups[joint]) < POINTS_MIN or _extent(positions[groups[joint]]) < small):
            _merge(skeleton, groups, joint)
    while len(groups) > count_max:
        mergeable = [joint for joint in groups if _ancestor(skeleton, groups, joint) is not None]
        if not mergeable:
            break
        _merge(skeleton, groups, min(mergeable, key=lambda joint: _extent(positions[groups[joint]])))
    return {joint: _thinned(rows, _POINTS_FITTED) for joint, rows in groups.items() if len(rows) >= POINTS_MIN}


def _thinned(rows: Indices, count_max: int) -> Indices:
    return rows[:: -(-len(rows) // count_max)]


def _merge(skeleton: Skeleton, groups: dict[int, Indices], joint: int) -> None:
    ancestor = _ancestor(skeleton, groups, joint)
    if ancestor is not None:
        groups[ancestor] = np.sort(np.concatenate([groups[ancestor], groups.pop(joint)]))


def _ancestor(skeleton: Skeleton, groups: dict[int, Indices], joint: int) -> int | None:
    above = int(skeleton.parents[joint])
    while above >= 0 and above not in groups:
        above = int(skeleton.parents[above])
    return above if above >= 0 else None


def _bone_direction(skeleton: Skeleton, joint: int) -> Float64:
    """Returns the vector from a joint to the middle of its children, shape (3,); zero without children."""
    children = np.flatnonzero(skeleton.parents == joint)
    places = skeleton.model_from_bind[:, :3, 3]
    if not len(children):
        return np.zeros(3)
    direction: Float64 = places[children].mean(axis=0) - places[joint]
    return direction


def _extent(points: Float64) -> float:
    return float(np.ptp(points, axis=0).max())


def _collider(bone: str, fitted: FittedShape) -> FittedCollider:
    size = np.clip(fitted.size, SMALLEST_SIZE, LARGEST_SIZE)
    if fitted.shape is ColliderShape.CAPSULE:
        settings = ColliderSettings(
            shape=fitted.shape,
            radius=float(size[0]),
            length=float(np.clip(2.0 * size[1], None, LARGEST_SIZE)),
        )
    else:
        settings = ColliderSettings(shape=fitted.shape, semi_axes=(float(size[0]), float(size[1]), float(size[2])))
    x, y, z = fitted.centre.tolist()
    return FittedCollider(bone, settings, Transform(position=(x, y, z), rotation=degrees_from_matrix(fitted.rotation)))
