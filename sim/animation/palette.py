"""A palette matrix is split into a scale about the joint's bind position, which keeps that point, and the rigid motion
that follows.  Splitting about the joint and not about the origin keeps the joint where the clip puts it even when the
scale is omitted or blended differently from the motion.
"""

import numpy as np

from sinew.sim.maths import dual_quaternion, quaternion
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.transform import polar

_RIGID = 5e-6
"""Largest deviation of an element from a rotation that counts as float noise of the file, not as scale."""

_NO_SCALE: Float64 = np.eye(3, 4)


def lbs_rows(palette: Float64) -> Float32:
    """Returns the upper three rows, shape (B, 3, 4)."""
    return palette[:, :3].astype(np.float32)


def dual_quaternions(palette: Float64, centres: Float64 | None = None) -> Float32:
    """Returns the rigid part of every matrix as real and dual quaternion, shape (B, 2, 4).

    Every real part has w not negative; each vertex aligns the signs with its strongest influence.

    Args:
        palette: Shape (B, 4, 4).
        centres: Bind positions of the joints, shape (B, 3), `Pose.centres`; the origin if None.
    """
    return rigid_and_scale(palette, centres)[0].astype(np.float32)


def rigid_and_scale(palette: Float64, centres: Float64 | None = None) -> tuple[Float64, Float64]:
    """Splits the palette into rigid motions (B, 2, 4) and scales (B, 3, 4), which act first.

    Source: Kavan et al. 2008, section 4.3 (two-phase skinning), with the scale centred on the joint.
    """
    linear, translation = palette[:, :3, :3], palette[:, :3, 3]
    scales = np.repeat(_NO_SCALE[None], len(palette), axis=0)
    rotation = quaternion.from_matrix(linear)
    # True for matrices (B, 3, 3) that differ from the rotations extracted from them (B, 4).
    deviation = np.abs(quaternion.to_matrix(rotation) - linear)
    scaling = np.flatnonzero(np.asarray(deviation.reshape(-1, 9).max(axis=1) > _RIGID))
    if len(scaling):
        turn, scales[scaling, :, :3] = polar(linear[scaling])
        rotation[scaling] = quaternion.from_matrix(turn)
        if centres is not None:
            cached = centres[scaling]
            scales[scaling, :, 3] = cached - _apply(scales[scaling, :, :3], cached)
            translation = translation.copy()
            translation[scaling] += _apply(linear[scaling] - turn, cached)
    return dual_quaternion.from_rotation_translation(rotation, translation), scales


def _apply(linear: Float64, vectors: Float64) -> Float64:
    moved: Float64 = (linear @ vectors[..., None])[..., 0]
    return moved
