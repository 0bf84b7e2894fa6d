"""Affine matrices (..., 4, 4) multiply column vectors; joints and nodes have `T(position) R(orientation) S(scale)`."""

import numpy as np

from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64

_SINGULAR = 1e-12
"""Ratio of smallest to largest singular value below which a matrix counts as flat."""

_SCALE_COLUMNS: Float64 = np.tile(np.eye(3, 4), 4)
_SCALE_COLUMNS[:, 12:] = 0.0
"""Map that spreads a scale over the first three columns of a row-major 4x4 matrix."""

_ROWS: Float64 = np.eye(4).repeat(4, axis=1)
_COLUMNS: Float64 = np.tile(np.eye(4), 4)
"""Maps that spread the components of a vector over the rows and the columns of a row-major 4x4 matrix."""


def compose(positions: Float64, orientations: Float64, scales: Float64) -> Float64:
    """Composes matrices from translations (..., 3), unit quaternions (..., 4) and scales (..., 3)."""
    q = orientations
    outer = (q @ _ROWS) * (q @ _COLUMNS)  # several times as fast as numpy's outer products of so few
    matrix = outer @ quaternion.ROTATION_FROM_OUTER
    matrix *= scales @ _SCALE_COLUMNS
    matrix[..., 3:12:4] = positions
    matrix[..., 15] = 1.0
    return matrix.reshape(*q.shape[:-1], 4, 4)


def inverse_affine(matrix: Float64) -> Float64:
    """Returns the inverse; the pseudo-inverse of a flat matrix (with a zero scale)."""
    linear = matrix[..., :3, :3]
    inverse = np.zeros_like(matrix)
    try:
        inverse[..., :3, :3] = np.linalg.inv(linear)
    except np.linalg.LinAlgError:
        inverse[..., :3, :3] = np.linalg.pinv(linear, rcond=_SINGULAR)
    inverse[..., :3, 3] = -(inverse[..., :3, :3] @ matrix[..., :3, 3:])[..., 0]
    inverse[..., 3, 3] = 1.0
    return inverse


def decompose(matrix: Float64) -> tuple[Float64, Float64, Float64]:
    """Returns translation (..., 3), unit quaternion (..., 4) and scale (..., 3) of affine matrices (..., 4, 4).

    The scale is the length of the columns; `compose` restores a matrix without shear.  A mirroring matrix has three
    negative scales.
    """
    linear = matrix[..., :3, :3]
    scales = np.linalg.norm(linear, axis=-2)
    rotation, _ = polar(linear / np.where(scales < np.finfo(float).tiny, 1.0, scales)[..., None, :])
    sign = np.where(np.linalg.det(linear) < 0.0, -1.0, 1.0)
    return matrix[..., :3, 3].copy(), quaternion.from_matrix(rotation), scales * sign[..., None]


def polar(linear: Float64) -> tuple[Float64, Float64]:
    """Returns proper rotation R and symmetric stretch S with `linear = R @ S`, each (..., 3, 3).

    R never mirrors: where the determinant is negative, S is negative definite instead, a choice that is
    unique and therefore steady over time.  Flat matrices get a rotation too.

    Source: Shoemake and Duff 1992, "Matrix animation and polar decomposition", by singular values.
    """
    u, singular, vt = np.linalg.svd(linear)
    mirrored = np.linalg.det(u @ vt) < 0.0
    flat = singular[..., 2] <= _SINGULAR * singular[..., 0]
    signs = np.ones_like(singular)
    signs[..., 2] = np.where(mirrored & flat, -1.0, 1.0)
    signs *= np.where(mirrored & ~flat, -1.0, 1.0)[..., None]
    rotation = (u * signs[..., None, :]) @ vt
    stretch = (np.swapaxes(vt, -1, -2) * (signs * singular)[..., None, :]) @ vt
    return rotation, stretch


def transform_points(matrix: Float64, points: Float64) -> Float64:
    """Transforms points (..., 3) by one affine matrix (4, 4)."""
    moved: Float64 = points @ matrix[:3, :3].T + matrix[:3, 3]
    return moved
