"""Colliders for a character: a capsule or ellipsoid for every bone that moves enough of the skin."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel, Mesh, Skeleton, Skin
from sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sim.kinds.collider.fit_shape import FittedShape, fit_shape
from sim.kinds.collider.settings import LARGEST_SIZE, ColliderSettings
from sim.maths.quaternion import degrees_from_matrix
from sim.scene.transform import Transform
from sim.scene.world_transforms import rigid_frames

Float64 = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

COLLIDERS_MAX = 24
SMALL_PART = 0.09
"""Longest extent, as a part of the figure's, below which what a bone moves goes to its parent: fingers, face, twist."""

MOVED = 0.1
"""Weight from which on a vertex belongs to the limb that a collider may reach over."""

POINTS_MIN = 8
_POINTS_FITTED = 200


class FittedCollider(NamedTuple):
    """A collider for one joint.

    Attributes:
        bone: Name of the joint.
        settings: Shape and size [m] for a model node of scale 1; rides on `bone`, of a model that the caller names.
        transform: Placement relative to the joint.
    """

    bone: str
    settings: ColliderSettings
    transform: Transform


def fit_colliders(
    model: CharacterModel, *, unit_scale: float = 1.0, count_max: int = COLLIDERS_MAX
) -> list[FittedCollider]:
    """Colliders that together follow the skin of a character in its bind pose, in the order of its joints.

    Args:
        model: The character; one without skeleton, weights or triangles gets none.
        unit_scale: Metres per unit of its file.
        count_max: Most colliders to make; the smallest parts join their neighbours.
    """
    if model.skeleton is None or model.skin is None or not model.mesh.triangle_count:
        return []
    areas = vertex_areas(model.mesh)
    positions = model.mesh.positions.astype(np.float64)
    groups = skin_groups(
        model.skeleton, model.skin.joints_of(model.skin.joints[:, 0]).astype(np.intp), positions, areas, count_max
    )
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
    """Weight of every vertex on some joints, each with what below it has no other of them above, shape (V, k)."""
    column_of = np.full(skeleton.joint_count, len(joints))
    column_of[joints] = np.arange(len(joints))
    for level in skeleton.levels:
        below = level[column_of[level] == len(joints)]
        below = below[skeleton.parents[below] >= 0]
        column_of[below] = column_of[skeleton.parents[below]]
    held = np.zeros((len(skin.joints), len(joints) + 1))
    vertices = np.arange(len(skin.joints))
    for influence in range(skin.joints.shape[1]):
        np.add.at(held, (vertices, column_of[skin.joints_of(skin.joints[:, influence])]), skin.weights[:, influence])
    return held[:, :-1]


def vertex_areas(mesh: Mesh) -> Float64:
    """A third of the area of the triangles at each vertex, shape (V,), in squared units of the file."""
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    double = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    areas = np.bincount(mesh.triangles.ravel(), weights=np.repeat(double / 6.0, 3), minlength=mesh.vertex_count)
    return areas.astype(np.float64)


def skin_groups(
    skeleton: Skeleton, owners: Indices, positions: Float64, areas: Float64, count_max: int
) -> dict[int, Indices]:
    """Vertices that each joint answers for, after small parts went to their parents.

    Args:
        skeleton: Whose hierarchy decides where small parts go.
        owners: Joint that moves each vertex most, shape (V,).
        positions: shape (V, 3).
        areas: Area of each vertex; those without one are left out, shape (V,).
        count_max: Most groups.

    Returns:
        At most `_POINTS_FITTED` vertices for each joint that is left, evenly over the skin in file order.
    """
    used = np.flatnonzero(areas > 0.0)
    if not len(used):
        return {}
    groups = {int(joint): used[owners[used] == joint] for joint in np.unique(owners[used])}
    small = SMALL_PART * _extent(positions[used])
    order = [int(joint) for level in reversed(skeleton.levels) for joint in level]
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
    """The nearest joint above that has vertices."""
    above = int(skeleton.parents[joint])
    while above >= 0 and above not in groups:
        above = int(skeleton.parents[above])
    return above if above >= 0 else None


def _bone_direction(skeleton: Skeleton, joint: int) -> Float64:
    """From a joint to the middle of its children, shape (3,); zero where it has none."""
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
