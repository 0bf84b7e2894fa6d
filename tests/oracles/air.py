"""The air of gusts in double precision, as in shaders/common/gusts.glsl."""

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.gusts import Gusts

Float64 = npt.NDArray[np.float64]


def air_velocity(wind: Float64, gusts: Gusts, points: Float64) -> Float64:
    """Velocity of the air [m/s] at points (n, 3)."""
    angle = points @ gusts.waves[:, :3].T + gusts.waves[:, 3]
    velocity: Float64 = wind + np.cos(angle) @ gusts.amplitudes
    return velocity
