"""Packs solids for the GPU: a fixed number of texels each, as shaders/common/collide.glsl reads them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.colliders.motion import motions
from sim.colliders.state import ColliderShape, ColliderState, bounding_radius, core
from sim.maths import quaternion

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

SOLID_TEXELS = 6

ROUND, PLANE, ELLIPSOID = 0.0, 1.0, 2.0
"""Kinds of the shader; sphere, capsule and box are all a box with a rounding radius."""

_KINDS = {ColliderShape.PLANE: PLANE, ColliderShape.ELLIPSOID: ELLIPSOID}
_ENDLESS = 1e18
"""Bounding radius of a plane; its square is still a float32."""


def pack_colliders(states: Sequence[ColliderState], frame_time: float, fixed: Float64 | None = None) -> Float32:
    """Records of solids, shape (N, SOLID_TEXELS, 4).

    Texels:
        0. Centre at the start, radius of the sphere about it that the collider stays in when it travels with it.
        1. Travel over the step, kind.
        2. Half sizes or semi-axes, rounding radius; of a plane that does not turn its normal.
        3. Orientation at the start.
        4. Axis of the turn, its angle.
        5. Friction, restitution, 1 / frame_time, 0.

    Args:
        states: Any number.
        frame_time: Duration of the step that the states span [s]; 0 for a scene that stands still.
        fixed: What `fixed_part` gives for these states, where that is known.
    """
    if not states:
        return np.zeros((0, SOLID_TEXELS, 4), np.float32)
    out = (fixed_part(states) if fixed is None else fixed).copy()
    motion = motions(
        np.array([state.world_from_start for state in states]), np.array([state.world_from_end for state in states])
    )
    out[:, 0, :3], out[:, 1, :3] = motion.centre, motion.travel
    out[:, 0, 3] = np.minimum(out[:, 0, 3] + np.linalg.norm(motion.travel, axis=1), _ENDLESS)
    standing = (out[:, 1, 3] == PLANE) & (motion.angle == 0.0)
    if standing.any():
        out[standing, 2, :3] = quaternion.rotate(motion.orientation[standing], np.array([0.0, 1.0, 0.0]))
    out[:, 3], out[:, 4, :3], out[:, 4, 3] = motion.orientation, motion.axis, motion.angle
    out[:, 5, 2] = 1.0 / frame_time if frame_time > 0.0 else 0.0
    return out.astype(np.float32)


def fixed_part(states: Sequence[ColliderState]) -> Float64:
    """What of the records no motion changes, shape (N, SOLID_TEXELS, 4): kinds, sizes and surfaces.

    The radius of the sphere that holds a solid stands where that of its way will.
    """
    out = np.zeros((len(states), SOLID_TEXELS, 4))
    out[:, 0, 3] = [bounding_radius(state.shape, state.size) for state in states]
    out[:, 1, 3] = [_KINDS.get(state.shape, ROUND) for state in states]
    out[:, 2] = np.array([_sizes(state) for state in states]).reshape(-1, 4)
    out[:, 5, :2] = np.array([(state.friction, state.restitution) for state in states]).reshape(-1, 2)
    return out


def has_fixed_part_of(states: Sequence[ColliderState], others: Sequence[ColliderState]) -> bool:
    """Whether `fixed_part` of both is the same for certain; sizes are values that nobody writes into."""
    return len(states) == len(others) and all(
        one.size is other.size
        and one.shape is other.shape
        and one.friction == other.friction
        and one.restitution == other.restitution
        for one, other in zip(states, others, strict=True)
    )


def _sizes(state: ColliderState) -> tuple[float, ...]:
    if state.shape is ColliderShape.PLANE:
        return 0.0, 0.0, 0.0, 0.0
    if state.shape is ColliderShape.ELLIPSOID:
        return *state.size.tolist(), 0.0
    half_sizes, radius = core(state.shape, state.size)
    return *half_sizes.tolist(), radius
