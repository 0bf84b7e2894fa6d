"""Contact of points with colliders in double precision, by the functions of shaders/common/collide.glsl."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.ellipsoid_oracle import ellipsoid_distance
from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderShape, ColliderState, core
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

REST = 2.0
"""Times what acts in a substep; a slower approach is rest, not an impact: it does not bounce."""

EARTH = 9.81
"""Acceleration of contacts whose kernel says nothing else [m/s²]."""

_NO_SPEED = 1e-12  # Sliding [m/s] slower than this is none


@dataclass(frozen=True, slots=True)
class Contact:
    distance: Float64  # Signed [m], negative inside, shape (n,)
    normal: Float64  # Outward unit normals in the world, shape (n, 3)
    velocity: Float64  # Of the surface at the closest point [m/s], shape (n, 3)
    friction: float | Float64  # Coulomb coefficient
    restitution: float  # Part of the approach speed given back


def collider_contact(
    state: ColliderState, points: Float64, fraction: float, frame_time: float, substep: float
) -> Contact:
    """Returns the contact of world points (n, 3) at a `fraction`, 0 to 1, of a step of `frame_time` [s].

    `substep` [s] is that which ends now.
    """
    distance, local = proximity(state.shape, state.size, local_points(state, points, fraction))
    normal = quaternion.rotate(motion_of(state).at(fraction)[1], local)
    velocity = velocity_at(state, points - distance[:, None] * normal, fraction, frame_time, substep)
    return Contact(distance, normal, velocity, state.friction, state.restitution)


def bounce(
    position: Float64,
    velocity: Float64,
    contact: Contact,
    thickness: float | Float64,
    substep: float,
    acceleration: float | Float64 = EARTH,
) -> tuple[Float64, Float64]:
    """Returns positions and velocities (n, 3) after contact.

    `acceleration` [m/s²] is what acts on the points.  A point nearer than `thickness` [m] is put that far from the
    surface along the normal.  The position also loses what friction took from this substep's sliding: without that a
    point that friction holds would creep.
    """
    answered = contact_velocity(velocity, contact, substep, acceleration)
    change = answered - velocity
    held = change - np.sum(change * contact.normal, axis=1)[:, None] * contact.normal
    pushed = position + (thickness - contact.distance)[:, None] * contact.normal + substep * held
    touching = (contact.distance < thickness)[:, None]
    return np.where(touching, pushed, position), np.where(touching, answered, velocity)


def shortened(ways: Float64, most: Float64 | float) -> Float64:
    """Returns vectors (n, 3) that are at most this long."""
    found: Float64 = ways * np.minimum(1.0, most / np.maximum(np.linalg.norm(ways, axis=1), 1e-20))[:, None]
    return found


def contact_velocity(
    velocity: Float64, contact: Contact, substep: float, acceleration: float | Float64 = EARTH
) -> Float64:
    """Returns velocities (n, 3) after the touch of a surface, unchanged where the point leaves the surface.

    v_n' = -e v_n, and v_t' = v_t max(0, 1 - μ |Δv_n| / |v_t|), both relative to the surface.
    """
    relative = velocity - contact.velocity
    along = np.sum(relative * contact.normal, axis=1)
    across = relative - along[:, None] * contact.normal
    approach = np.maximum(-along, 0.0)
    bounced = np.where(approach > REST * acceleration * substep, contact.restitution * approach, 0.0)
    impulse = np.where(along < 0.0, approach + bounced, 0.0)
    sliding = np.linalg.norm(across, axis=1)
    lost = np.minimum(contact.friction * impulse / np.maximum(sliding, _NO_SPEED), 1.0)
    answered: Float64 = velocity + impulse[:, None] * contact.normal - lost[:, None] * across
    return answered


def local_points(state: ColliderState, points: Float64, fraction: float) -> Float64:
    """Returns world points (n, 3) in the frame of the collider at a fraction of the step."""
    centre, orientation = motion_of(state).at(fraction)
    return quaternion.rotate(quaternion.conjugate(orientation), points - centre)


def velocity_at(state: ColliderState, points: Float64, fraction: float, frame_time: float, substep: float) -> Float64:
    """Returns the mean velocity of the solid at world points over the last `substep` [s] [m/s], shape (n, 3).

    The mean is what position Verlet sees: a point that moves with the solid has had its last position there.  Where
    `frame_time` [s] is 0 nothing moves.
    """
    if frame_time <= 0.0:
        return np.zeros_like(points)
    motion = motion_of(state)
    centre = motion.centre + fraction * motion.travel
    spin = motion.axis * (motion.angle / frame_time)[:, None]
    now = quaternion.cross(spin, points - centre)
    velocity: Float64 = motion.travel / frame_time + now - 0.5 * substep * quaternion.cross(spin, now)
    return velocity


def proximity(shape: ColliderShape, size: Float64, points: Float64) -> tuple[Float64, Float64]:
    """Returns the signed distance (n,), negative inside, and the outward normal (n, 3) at the closest surface point.

    `points` (n, 3) are in the frame of the shape, `size` is as in `ColliderState`.
    """
    if shape is ColliderShape.PLANE:
        return points[:, 1].copy(), np.broadcast_to([0.0, 1.0, 0.0], points.shape).copy()
    if shape is ColliderShape.ELLIPSOID:
        return ellipsoid_distance(points, size)
    return rounded_box_distance(points, *core(shape, size))


def rounded_box_distance(points: Float64, half_sizes: Float64, radius: float) -> tuple[Float64, Float64]:
    """Returns `proximity` for a box of `half_sizes` (3,) swollen by `radius`.

    Inside the core the nearest face counts; of equally near ones the first of x, y, z.
    """
    outside = points - np.clip(points, -half_sizes, half_sizes)
    length = np.linalg.norm(outside, axis=1)
    depth = half_sizes - np.abs(points)
    face = np.eye(3)[np.argmin(depth, axis=1)] * np.where(points < 0.0, -1.0, 1.0)
    inside = length == 0.0
    normal = np.where(inside[:, None], face, outside / np.where(inside, 1.0, length)[:, None])
    return np.where(inside, -depth.min(axis=1), length) - radius, normal
