"""Rigid transforms as unit dual quaternions, shape (..., 2, 4): the real part, then the dual part.

The real part is the rotation (x, y, z, w), the dual part half the translation times the rotation.
A dual quaternion and its negative are the same transform; blending must bring them to one side first.

Source: Kavan, Collins, Zara, O'Sullivan 2008, "Geometric skinning with approximate dual quaternion blending".
"""

import numpy as np

from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64


def from_rotation_translation(rotation: Float64, translation: Float64) -> Float64:
    """Makes transforms that rotate by unit quaternions (..., 4), then translate by (..., 3)."""
    motion = np.zeros((*rotation.shape[:-1], 2, 4))
    motion[..., 1, :3] = translation
    motion[..., 1, :] = 0.5 * quaternion.multiply(motion[..., 1, :], rotation)
    motion[..., 0, :] = rotation
    return motion


def multiply(a: Float64, b: Float64) -> Float64:
    """Multiplies transforms: the result transforms by `b` first, then by `a`."""
    real = quaternion.multiply(a[..., 0, :], b[..., 0, :])
    first, second = quaternion.multiply(a[..., 0, :], b[..., 1, :]), quaternion.multiply(a[..., 1, :], b[..., 0, :])
    return np.stack([real, first + second], axis=-2)


def blend(transforms: Float64, weights: Float64) -> Float64:
    """Returns the weighted mean (..., 2, 4), not normalised.

    Every transform has the sign that lies on the side of the strongest one (the first of equals), so the result does
    not depend on the signs of the input.

    Args:
        transforms: Unit dual quaternions, shape (..., K, 2, 4).
        weights: Not negative, at least one positive, shape (..., K).
    """
    strongest = np.argmax(weights, axis=-1)[..., None, None, None]
    pivot = np.take_along_axis(transforms, strongest, axis=-3)[..., 0, :]
    dots = np.sum(transforms[..., 0, :] * pivot, axis=-1)
    signed = np.where(dots < 0.0, -weights, weights)
    mean: Float64 = np.sum(signed[..., None, None] * transforms, axis=-3)
    return mean


def normalised(transform: Float64) -> Float64:
    unit: Float64 = transform / np.linalg.norm(transform[..., :1, :], axis=-1, keepdims=True)
    return unit


def translation(transform: Float64) -> Float64:
    """Returns the translations, shape (..., 3)."""
    moved = quaternion.multiply(transform[..., 1, :], quaternion.conjugate(transform[..., 0, :]))
    return 2.0 * moved[..., :3]


def transform_points(transform: Float64, points: Float64) -> Float64:
    """Transforms points (..., 3) by unit dual quaternions (..., 2, 4)."""
    return quaternion.rotate(transform[..., 0, :], points) + translation(transform)


def to_matrix(transform: Float64) -> Float64:
    """Returns matrices, shape (..., 4, 4)."""
    matrix = np.zeros((*transform.shape[:-2], 4, 4))
    matrix[..., :3, :3] = quaternion.to_matrix(transform[..., 0, :])
    matrix[..., :3, 3] = translation(transform)
    matrix[..., 3, 3] = 1.0
    return matrix
