"""Motion of a collider over a step: straight travel, and a turn about a fixed axis at constant speed."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sim.colliders.state import ColliderState
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

_NO_TURN = 1e-12
"""Length of the vector part of a quaternion below which the turn is rounding."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Rigid motions over a step, of N colliders at once.

    Attributes:
        centre: Origin of the collider at the start [m], shape (N, 3).
        travel: How far it goes over the step [m], shape (N, 3).
        orientation: Rotation at the start, unit quaternions (N, 4).
        axis: Axis of the turn in the world, unit vectors (N, 3).
        angle: Turn over the whole step [rad], 0 to π, shape (N,).
    """

    centre: Float64
    travel: Float64
    orientation: Float64
    axis: Float64
    angle: Float64

    def at(self, fraction: float) -> tuple[Float64, Float64]:
        """Centres (N, 3) and orientations (N, 4) at a fraction of the step, 0 to 1."""
        turn = quaternion.from_axis_angle(self.axis, fraction * self.angle)
        return self.centre + fraction * self.travel, quaternion.multiply(turn, self.orientation)


def motions(start: Float64, end: Float64) -> Motion:
    """Motions between rigid placements (N, 4, 4) at the start and at the end of a step; the turn is the shorter one."""
    first, last = quaternion.from_matrix(np.stack([start[:, :3, :3], end[:, :3, :3]]))
    turn = quaternion.multiply(last, quaternion.conjugate(first))
    turn = np.where(turn[:, 3:] < 0.0, -turn, turn)
    length = np.linalg.norm(turn[:, :3], axis=1)
    turns = length > _NO_TURN
    axis = np.where(turns[:, None], turn[:, :3] / np.where(turns, length, 1.0)[:, None], [0.0, 1.0, 0.0])
    angle = np.where(turns, 2.0 * np.arctan2(length, turn[:, 3]), 0.0)
    return Motion(start[:, :3, 3].copy(), end[:, :3, 3] - start[:, :3, 3], first, axis, angle)


@lru_cache(maxsize=64)
def motion_of(state: ColliderState) -> Motion:
    """Motion of one collider, arrays of length 1; kept, because every substep asks for it."""
    return motions(state.world_from_start[None], state.world_from_end[None])
