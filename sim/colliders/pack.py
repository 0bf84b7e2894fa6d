"""Records of colliders, which move over a step by straight travel and a turn about a fixed axis at constant speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sinew.sim.colliders.state import ColliderShape, ColliderState, bounding_radius, core
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32, Float64

_NO_TURN = 1e-12
"""Length of the vector part of a quaternion below which the turn is rounding."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Rigid motions of N colliders over a step."""

    centre: Float64  # Origin at the start [m], shape (N, 3)
    travel: Float64  # Over the step [m], shape (N, 3)
    orientation: Float64  # At the start, unit quaternions (N, 4)
    axis: Float64  # Of the turn, in the world, unit vectors (N, 3)
    angle: Float64  # Turn over the whole step [rad], 0 to π, shape (N,)

    def at(self, fraction: float) -> tuple[Float64, Float64]:
        """Returns centres (N, 3) and orientations (N, 4) at a fraction of the step, 0 to 1."""
        turn = quaternion.from_axis_angle(self.axis, fraction * self.angle)
        return self.centre + fraction * self.travel, quaternion.multiply(turn, self.orientation)


def motions(start: Float64, end: Float64) -> Motion:
    """Returns motions between rigid transforms (N, 4, 4) at start and end of a step, by the shorter turn."""
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
    """Returns the motion in arrays of length 1; cached because every substep needs it."""
    return motions(state.world_from_start[None], state.world_from_end[None])


PLANES_MAX = 4
OVALS_MAX = 2
"""Maximum number of ellipsoids that kernels test directly; more are found by bounding spheres, like other shapes."""


@dataclass(frozen=True, slots=True)
class ColliderLayout:
    """The order of a list of colliders, compiled into the kernels: planes, ellipsoids, all others, yielding ones.

    The default is correct for any order.
    """

    planes: int = 0  # Planes at the front that do not turn
    ovals: int = 0  # Ellipsoids after them
    still: bool = False  # Whether no collider moves over the step
    yielding: int = 0  # Colliders at the end that yield

    @property
    def defines(self) -> dict[str, object]:
        return {
            "PLANES": str(self.planes),
            "OVALS": str(self.ovals),
            "YIELDING": str(self.yielding) if self.yielding else None,
            "COLLIDE_STILL": self.still,
            "COLLIDE_NEAR": True,
        }


ANY_ORDER = ColliderLayout()


def arranged(states: Sequence[ColliderState]) -> tuple[list[ColliderState], ColliderLayout]:
    firm, yielding = [one for one in states if not one.yields], [one for one in states if one.yields]
    planes = [state for state in firm if state.shape is ColliderShape.PLANE and not _turns(state)][:PLANES_MAX]
    ovals = [state for state in firm if state.shape is ColliderShape.ELLIPSOID]
    ovals = ovals if len(ovals) <= OVALS_MAX else []
    front = {id(state) for state in (*planes, *ovals)}
    others = [state for state in firm if id(state) not in front]
    still = all(np.array_equal(state.world_from_start, state.world_from_end) for state in states)
    return [*planes, *ovals, *others, *yielding], ColliderLayout(len(planes), len(ovals), still, len(yielding))


def _turns(state: ColliderState) -> bool:
    start, end = state.world_from_start, state.world_from_end
    return not np.array_equal(start[:3, :3], end[:3, :3]) and bool(motion_of(state).angle.any())


COLLIDER_TEXELS = 6

ROUND, PLANE, ELLIPSOID = 0.0, 1.0, 2.0
"""Shape codes of the shader; spheres, capsules and boxes are boxes with a rounding radius."""

_CODES = {ColliderShape.PLANE: PLANE, ColliderShape.ELLIPSOID: ELLIPSOID}
_ENDLESS = 1e18
"""Bounding radius of a plane; its square is still a float32."""


def pack_colliders(states: Sequence[ColliderState], frame_time: float, fixed: Float64 | None = None) -> Float32:
    """Returns records for `shaders/common/collide.glsl`, shape (N, COLLIDER_TEXELS, 4).

    Texels:
        0. Centre at the start, radius of the bounding sphere that moves along and covers the step.
        1. Travel over the step, shape code.
        2. Half extents or semi-axes, rounding radius; the normal of a plane that does not turn.
        3. Orientation at the start.
        4. Axis of the turn, its angle.
        5. Friction, restitution, 1 / frame_time, 0.

    Args:
        frame_time: Duration of the step [s]; 0 for a still scene.
        fixed: Result of `fixed_part` for these states, if known.
    """
    if not states:
        return np.zeros((0, COLLIDER_TEXELS, 4), np.float32)
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
    """Returns records without motion, shape (N, COLLIDER_TEXELS, 4); the radius belongs to the shape alone."""
    out = np.zeros((len(states), COLLIDER_TEXELS, 4))
    out[:, 0, 3] = [bounding_radius(state.shape, state.size) for state in states]
    out[:, 1, 3] = [_CODES.get(state.shape, ROUND) for state in states]
    out[:, 2] = np.array([_sizes(state) for state in states]).reshape(-1, 4)
    out[:, 5, :2] = np.array([(state.friction, state.restitution) for state in states]).reshape(-1, 2)
    return out


def has_fixed_part_of(states: Sequence[ColliderState], others: Sequence[ColliderState]) -> bool:
    """Returns True for equal fixed parts; sizes are compared by identity, because they are never modified."""
    if len(states) != len(others):
        return False
    for state, other in zip(states, others, strict=True):
        if (
            state.size is not other.size
            or state.shape is not other.shape
            or state.friction != other.friction
            or state.restitution != other.restitution
        ):
            return False
    return True


def _sizes(state: ColliderState) -> tuple[float, ...]:
    if state.shape is ColliderShape.PLANE:
        return 0.0, 0.0, 0.0, 0.0
    if state.shape is ColliderShape.ELLIPSOID:
        return *state.size.tolist(), 0.0
    half_sizes, radius = core(state.shape, state.size)
    return *half_sizes.tolist(), radius
