"""Euler angles of rotations, as nodes keep them: turns about the fixed x, then y, then z axis."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_GIMBAL_LOCK = 1e-9


def degrees_from_matrix(rotation: Float64) -> tuple[float, float, float]:
    """Turns about the fixed x, then y, then z axis [degrees] that make a rotation matrix (3, 3).

    Where the turn about y is a right angle only one combination of the others is determined; z is 0 then.
    """
    horizontal = float(np.hypot(rotation[0, 0], rotation[1, 0]))
    y = float(np.degrees(np.arctan2(-rotation[2, 0], horizontal)))
    if horizontal < _GIMBAL_LOCK:
        return float(np.degrees(np.arctan2(-rotation[1, 2], rotation[1, 1]))), y, 0.0
    x = float(np.degrees(np.arctan2(rotation[2, 1], rotation[2, 2])))
    return x, y, float(np.degrees(np.arctan2(rotation[1, 0], rotation[0, 0])))
