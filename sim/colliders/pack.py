"""Packs colliders for the GPU: a fixed number of texels each, as shaders/common/collide.glsl reads them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.collider_settings import ColliderShape
from sim.colliders.motion import motions
from sim.colliders.shapes import core
from sim.colliders.state import ColliderState, bounding_radius
from sim.maths import quaternion

Float32 = npt.NDArray[np.float32]

COLLIDER_TEXELS = 6

ROUND, PLANE, ELLIPSOID = 0.0, 1.0, 2.0
"""Kinds of the shader; sphere, capsule and box are all a box with a rounding radius."""

_KINDS = {ColliderShape.PLANE: PLANE, ColliderShape.ELLIPSOID: ELLIPSOID}
_ENDLESS = 1e18
"""Bounding radius of a plane; its square is still a float32."""


def pack_colliders(states: Sequence[ColliderState], frame_time: float) -> Float32:
    """Records of colliders, shape (N, COLLIDER_TEXELS, 4).

    Texels: centre at the start, bounding radius | travel over the step, kind | half sizes or semi-axes, rounding radius
    (of a plane that does not turn its normal, else zero) | orientation at the start | axis of the turn, its angle | friction, restitution, 1 / frame_time, 0.

    Args:
        states: Any number.
        frame_time: Duration of the step that the states span [s]; 0 for a scene that stands still.
    """
    out = np.zeros((len(states), COLLIDER_TEXELS, 4))
    if not states:
        return out.astype(np.float32)
    motion = motions(
        np.array([state.world_from_start for state in states]), np.array([state.world_from_end for state in states])
    )
    out[:, 0, :3], out[:, 1, :3] = motion.centre, motion.travel
    out[:, 3], out[:, 4, :3], out[:, 4, 3] = motion.orientation, motion.axis, motion.angle
    turns = motion.angle > 0.0
    upward = quaternion.rotate(motion.orientation, np.array([0.0, 1.0, 0.0]))
    out[:, 5, 2] = 1.0 / frame_time if frame_time > 0.0 else 0.0
    for index, state in enumerate(states):
        row = out[index]
        row[0, 3] = min(bounding_radius(state.shape, state.size), _ENDLESS)
        row[1, 3] = _KINDS.get(state.shape, ROUND)
        if state.shape is ColliderShape.PLANE:
            row[2, :3] = 0.0 if turns[index] else upward[index]
        else:
            row[2, :3], row[2, 3] = _sizes(state)
        row[5, :2] = state.friction, state.restitution
    return out.astype(np.float32)


def collider_defines(states: Sequence[ColliderState]) -> dict[str, object]:
    """Macros for collide.glsl that leave out what these colliders do not need; a kernel without them handles all.

    They change only when a collider starts or stops to move, or the first ellipsoid comes or the last goes.
    """
    still = all(np.array_equal(state.world_from_start, state.world_from_end) for state in states)
    ellipsoids = any(state.shape is ColliderShape.ELLIPSOID for state in states)
    return {"COLLIDE_STILL": still, "COLLIDE_NO_ELLIPSOID": not ellipsoids}


def _sizes(state: ColliderState) -> tuple[npt.NDArray[np.float64], float]:
    if state.shape is ColliderShape.ELLIPSOID:
        return state.size, 0.0
    return core(state.shape, state.size)
