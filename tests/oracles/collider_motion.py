import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderState
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]


def world_points(state: ColliderState, points: Float64, fraction: float) -> Float64:
    """Points (n, 3) of the frame of the collider in the world at a fraction of the step."""
    centre, orientation = motion_of(state).at(fraction)
    return centre + quaternion.rotate(orientation, points)
