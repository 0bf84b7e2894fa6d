"""Quaternions as files hold them: nearly unit, sometimes all zero."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


def unit_quaternions(values: Float64) -> Float64:
    """`values` (x, y, z, w), shape (..., 4), brought to unit length; what has no direction is the identity."""
    length = np.sqrt(np.einsum("...i,...i->...", values, values))[..., None]
    usable = (length > 1e-12) & np.isfinite(length)
    identity = np.array((0.0, 0.0, 0.0, 1.0))
    return np.where(usable, values / np.where(usable, length, 1.0), identity)
