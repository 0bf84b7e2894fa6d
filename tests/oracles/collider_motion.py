"""Points of a moving collider and their velocities, in double precision."""

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderState
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]


def local_points(state: ColliderState, points: Float64, fraction: float) -> Float64:
    """World points (n, 3) in the frame of the collider at a fraction of the step."""
    centre, orientation = motion_of(state).at(fraction)
    return quaternion.rotate(quaternion.conjugate(orientation), points - centre)


def world_points(state: ColliderState, points: Float64, fraction: float) -> Float64:
    """Points (n, 3) of the frame of the collider in the world at a fraction of the step."""
    centre, orientation = motion_of(state).at(fraction)
    return centre + quaternion.rotate(orientation, points)


def velocity_at(state: ColliderState, points: Float64, fraction: float, frame_time: float, substep: float) -> Float64:
    """Velocity of the solid at world points [m/s], shape (n, 3): its mean over the last `substep` [s].

    The mean is what position Verlet sees: a point that moves with the solid has had its last position there.  To second
    order in the turn of a substep it is the velocity half a substep ago.  `fraction` is that of the step, 0 to 1; where
    its `frame_time` [s] is 0 nothing moves.
    """
    if frame_time <= 0.0:
        return np.zeros_like(points)
    motion = motion_of(state)
    centre = motion.centre + fraction * motion.travel
    spin = motion.axis * (motion.angle / frame_time)[:, None]
    now = quaternion.cross(spin, points - centre)
    velocity: Float64 = motion.travel / frame_time + now - 0.5 * substep * quaternion.cross(spin, now)
    return velocity
