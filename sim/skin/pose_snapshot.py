from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.palette import rigid_and_scale
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Skin
from sinew.sim.maths import dual_quaternion, quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import inverse_affine

WIDTH = 8
"""Maximum number of influences per point."""

_CHUNK = 1 << 20

_SAME_PLACE = 1e-12
"""Squared distance to an anchor, relative to the extent, below which a point is at the anchor."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseSnapshot:
    pose: Pose
    world_from_model: Float64  # Shape (4, 4)

    def same(self, other: "PoseSnapshot") -> bool:
        if self.pose is other.pose and self.world_from_model is other.world_from_model:
            return True
        joints = np.array_equal(self.pose.model_from_joint, other.pose.model_from_joint)
        return (
            joints
            and self.pose.same_shape(other.pose)
            and np.array_equal(self.world_from_model, other.world_from_model)
        )


def motions(influences: Skin, before: PoseSnapshot, now: PoseSnapshot) -> Float64:
    """Returns world motions (P, 4, 4), rigid in model space, blended as dual quaternions."""
    (first, _), (last, _) = (
        rigid_and_scale(snapshot.pose.palette, snapshot.pose.centres) for snapshot in (before, now)
    )
    of_entry = dual_quaternion.multiply(last, quaternion.conjugate(first))
    into_model = inverse_affine(before.world_from_model)
    parts = []
    for start in range(0, len(influences.joints), _CHUNK >> 6):
        rows = slice(start, start + (_CHUNK >> 6))
        mean = dual_quaternion.blend(of_entry[influences.joints[rows]], influences.weights[rows].astype(np.float64))
        parts.append(now.world_from_model @ dual_quaternion.to_matrix(dual_quaternion.normalised(mean)) @ into_model)
    return np.concatenate(parts)


def carried(carriers: Skin, before: PoseSnapshot, now: PoseSnapshot) -> Float64:
    """Returns the world motion (1, 4, 4), rigid in model space, of what joints carry; a skin need not move with it.

    Args:
        carriers: A single row of joints, not of entries of the palette.
    """
    joints, weights = carriers.joints[0], carriers.weights.astype(np.float64)
    (first, _), (last, _) = (
        rigid_and_scale(one.pose.model_from_joint[joints], np.zeros((len(joints), 3))) for one in (before, now)
    )
    of_joint = dual_quaternion.multiply(last, quaternion.conjugate(first))
    mean = dual_quaternion.normalised(dual_quaternion.blend(of_joint[None], weights))
    return now.world_from_model @ dual_quaternion.to_matrix(mean) @ inverse_affine(before.world_from_model)


def moved(matrices: Float64, points: Float64) -> Float64:
    """Moves points (P, 3) by affine matrices (P, 4, 4) or (1, 4, 4)."""
    return turned(matrices, points) + matrices[:, :3, 3]


def turned(matrices: Float64, vectors: Float64) -> Float64:
    """Turns vectors (P, 3) by affine matrices (P, 4, 4) or (1, 4, 4)."""
    out: Float64 = (matrices[:, :3, :3] @ vectors[..., None])[..., 0]
    return out


def rows_of(influences: Skin, chosen: npt.NDArray[np.intp] | slice) -> Skin:
    """Returns influences of the chosen points; a single row applies to all."""
    if len(influences.joints) == 1:
        return influences
    return Skin(influences.joints[chosen], influences.weights[chosen], influences.influence_max)


def nearest(points: Float64, vertices: Float64) -> npt.NDArray[np.intp]:
    """Returns the vertex (V, 3) nearest to each point (P, 3)."""
    squares = np.sum(vertices**2, axis=1)
    found = np.empty(len(points), np.intp)
    size = max(1, _CHUNK // len(vertices))
    for start in range(0, len(points), size):
        part = points[start : start + size]
        found[start : start + size] = (squares - 2.0 * part @ vertices.T).argmin(axis=1)
    return found


def spread(influences: Skin, anchors: Float64 | None, points: Float64) -> Skin:
    """Returns influences of points, interpolated between anchors by the inverse square of the distance.

    Args:
        anchors: Positions, shape (A, 3); None mixes all evenly, for points that move as one.
        points: Shape (P, 3).
    """
    used, columns = np.unique(influences.joints, return_inverse=True)
    table = np.zeros((len(influences.joints), len(used)))
    rows = np.repeat(np.arange(len(table)), influences.joints.shape[1])
    np.add.at(table, (rows, columns.ravel()), influences.weights.ravel())
    if anchors is None:
        return _strongest(used, table.mean(axis=0, keepdims=True))
    extent = max(float(np.ptp(points, axis=0).max()), np.finfo(float).tiny)
    size, parts = max(1, _CHUNK // len(anchors)), []
    for start in range(0, len(points), size):
        apart = (points[start : start + size, None, :] - anchors) / extent
        nearness = 1.0 / np.maximum(np.sum(apart**2, axis=2), _SAME_PLACE)
        parts.append(_strongest(used, nearness @ table))
    joints, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("joints", "weights"))
    return Skin(joints, weights, joints.shape[1])


def _strongest(joints: npt.NDArray[np.uint16], weights: Float64) -> Skin:
    order = np.argsort(-weights, axis=1, kind="stable")[:, :WIDTH]
    cached = np.take_along_axis(weights, order, axis=1)
    return Skin(joints[order], (cached / cached.sum(axis=1, keepdims=True)).astype(np.float32), order.shape[1])
