"""Picking in the image; pixels count from its top left corner, x to the right and y down; pixel 0 spans 0 to 1."""

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.camera import Camera

_DOT_SHARE = 0.5
"""Fraction of the pick radius within which a joint's dot wins over bones, which always end in a dot."""

_TIE = 0.5
"""Difference of distances on the screen [px] below which candidates are equally near."""

_NEAREST = 1e-3
"""Closest visible depth as a fraction of the camera's distance; bones are clipped there."""


def project_points(camera: Camera, size: tuple[float, float], points: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Projects points of the world into the image.

    Args:
        size: Width and height of the image [px].
        points: World positions [m], shape (N, 3).

    Returns:
        Pixels (N, 2), NaN for points behind a perspective camera, and depths [m] along the view direction (N,).
    """
    seen = _camera_space(camera, points)
    return _pixels(camera, size, seen), -seen[:, 2]


def pick_joint(
    camera: Camera,
    size: tuple[float, float],
    points_world: npt.ArrayLike,
    parents: npt.ArrayLike,
    cursor_px: tuple[float, float],
    radius_px: float,
) -> int | None:
    """Returns the joint under the cursor, or None.

    The dot of a joint selects that joint; the bone between a joint and its parent selects the parent.  Dots win close
    to the cursor; otherwise the nearest on the screen wins, and of equally near ones the one nearest to the camera.

    Args:
        size: Width and height of the image [px].
        points_world: Joint positions [m], shape (B, 3); joints that are not finite cannot be picked.
        parents: Parent index or -1, shape (B,).
        cursor_px: Cursor in the image [px].
        radius_px: Largest distance from the cursor [px].
    """
    seen = _camera_space(camera, points_world)
    parent = np.asarray(parents, dtype=np.intp)
    cursor = np.asarray(cursor_px, dtype=np.float64)
    dots = np.linalg.norm(_pixels(camera, size, seen) - cursor, axis=1)
    found = _nearest(dots, -seen[:, 2], radius_px * _DOT_SHARE)
    if found is not None:
        return found
    children = np.flatnonzero(parent >= 0)
    heads, tails = _cut(camera, seen[parent[children]], seen[children])
    bones, depths = _segment_distances(camera, size, heads, tails, cursor)
    choice = _nearest(np.concatenate([dots, bones]), np.concatenate([-seen[:, 2], depths]), radius_px)
    if choice is None or choice < len(dots):
        return choice
    return int(parent[children[choice - len(dots)]])


def ray_plane(origin: glm.dvec3, direction: glm.dvec3, point: glm.dvec3, normal: glm.dvec3) -> glm.dvec3 | None:
    """Returns the intersection [m]; None if parallel or behind. Direction and normal may have any length."""
    approach = glm.dot(direction, normal)
    if abs(approach) <= 1e-9 * glm.length(direction) * glm.length(normal):
        return None
    distance = glm.dot(point - origin, normal) / approach
    return origin + direction * distance if distance >= 0.0 else None


def _camera_space(camera: Camera, points: npt.ArrayLike) -> Float64:
    view = np.asarray(camera.view_from_world())
    places = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    # NaN passes through every operation without a warning, infinity does not.
    seen: Float64 = np.where(np.isfinite(places), places, np.nan) @ view[:3, :3].T + view[:3, 3]
    return seen


def _pixels(camera: Camera, size: tuple[float, float], seen: Float64) -> Float64:
    """Returns pixels (N, 2) of points in camera space (N, 3)."""
    width, height = size
    depth = np.full(len(seen), camera.distance) if camera.orthographic else -seen[:, 2]
    half = np.where(depth > 0.0, depth, np.nan) * camera.tangent
    across, upward = seen[:, 0] / (half * width / height), seen[:, 1] / half
    return np.stack([(1.0 + across) * width / 2.0, (1.0 - upward) * height / 2.0], axis=1)


def _cut(camera: Camera, heads: Float64, tails: Float64) -> tuple[Float64, Float64]:
    """Clips segments in front of a perspective camera; NaN if nothing is left."""
    if camera.orthographic:
        return heads, tails
    plane = -_NEAREST * camera.distance
    drop = tails[:, 2] - heads[:, 2]
    share = (plane - heads[:, 2]) / np.where(drop == 0.0, np.nan, drop)
    crossing = heads + share[:, None] * (tails - heads)
    head_behind, tail_behind = heads[:, 2] > plane, tails[:, 2] > plane
    lost = (head_behind & tail_behind)[:, None]
    cut_heads = np.where(head_behind[:, None], crossing, heads)
    cut_tails = np.where(tail_behind[:, None], crossing, tails)
    return np.where(lost, np.nan, cut_heads), np.where(lost, np.nan, cut_tails)


def _segment_distances(
    camera: Camera, size: tuple[float, float], heads: Float64, tails: Float64, cursor: Float64
) -> tuple[Float64, Float64]:
    """Returns the distance on the screen [px] to each segment, and the depth [m] of the nearest point."""
    start, end = _pixels(camera, size, heads), _pixels(camera, size, tails)
    along = end - start
    squared = np.sum(along**2, axis=1)
    share = np.sum((cursor - start) * along, axis=1) / np.where(squared < 1e-12, 1.0, squared)
    share = np.clip(share, 0.0, 1.0)
    distances: Float64 = np.linalg.norm(start + share[:, None] * along - cursor, axis=1)
    near, far = -heads[:, 2], -tails[:, 2]
    if camera.orthographic:
        return distances, near + share * (far - near)
    # Depth is not linear along the image, its reciprocal is.
    return distances, 1.0 / ((1.0 - share) / near + share / far)


def _nearest(distances: Float64, depths: Float64, limit: float) -> int | None:
    """Returns the nearest one up to a limit; of equally near ones the one with the smallest depth."""
    near = np.flatnonzero(distances <= limit)
    if not len(near):
        return None
    best = near[distances[near] <= distances[near].min() + _TIE]
    return int(best[np.argmin(depths[best])])
