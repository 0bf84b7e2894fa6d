"""Directions that particles start in, in double precision; named as in shaders/emitter/direction.glsl."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


def angle_direction(angles: Float64, random: Float64) -> Float64:
    """Unit vectors (n, 3), uniform in both angles; pitch counts from the horizontal, yaw from z.

    Args:
        angles: Middle and span of yaw, middle and span of pitch [rad], shape (4,).
        random: Numbers from 0 up to 1, shape (n, 2).
    """
    yaw = angles[0] + angles[1] * (random[:, 0] - 0.5)
    pitch = angles[2] + angles[3] * (random[:, 1] - 0.5)
    level = np.cos(pitch)
    return np.stack([-np.sin(yaw) * level, np.sin(pitch), np.cos(yaw) * level], axis=1)
