"""Contact of points with a collider: where the surface is, how it moves, and what a touch does to a point.

The functions and their names are those of shaders/common/collide.glsl, in double precision and for many points.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderState
from sinew.sim.maths import quaternion
from tests.oracles.collider_motion import local_points, velocity_at
from tests.oracles.shapes import proximity

Float64 = npt.NDArray[np.float64]

RESTING_ACCELERATION = 20.0
"""An approach that this acceleration [m/s²] makes within one substep is rest, not an impact: it does not bounce."""

_NO_SPEED = 1e-12  # sliding [m/s] slower than this is none


@dataclass(frozen=True, slots=True)
class Contact:
    distance: Float64  # signed distance [m], negative inside, shape (n,)
    normal: Float64  # outward unit normals in the world, shape (n, 3)
    velocity: Float64  # velocity of the surface at the closest point [m/s], shape (n, 3)
    friction: float  # Coulomb coefficient
    restitution: float  # part of the approach speed given back


def collider_contact(
    state: ColliderState, points: Float64, fraction: float, frame_time: float, substep: float
) -> Contact:
    """Contact of world points (n, 3) with a collider at a `fraction`, 0 to 1, of its step of `frame_time` [s].

    `substep` [s] is that which ends now.
    """
    near = proximity(state.shape, state.size, local_points(state, points, fraction))
    _, orientation = motion_of(state).at(fraction)
    normal = quaternion.rotate(orientation, near.normal)
    closest = points - near.distance[:, None] * normal
    velocity = velocity_at(state, closest, fraction, frame_time, substep)
    return Contact(near.distance, normal, velocity, state.friction, state.restitution)


def resolve(
    position: Float64, previous: Float64, contact: Contact, thickness: float | Float64, substep: float
) -> tuple[Float64, Float64]:
    """Positions and previous positions (n, 3) [m] after contact, for position Verlet.

    A point nearer than `thickness` [m] is put that far from the surface along the normal, and its previous position so
    that its velocity is the answer to the contact.  Points further away keep both.
    """
    touching = (contact.distance < thickness)[:, None]
    pushed, velocity = _answer(position, (position - previous) / substep, contact, thickness, substep)
    return np.where(touching, pushed, position), np.where(touching, pushed - substep * velocity, previous)


def bounce(
    position: Float64, velocity: Float64, contact: Contact, thickness: float | Float64, substep: float
) -> tuple[Float64, Float64]:
    """Positions and velocities (n, 3) after contact, for points that carry their velocity; otherwise as `resolve`."""
    touching = (contact.distance < thickness)[:, None]
    pushed, answered = _answer(position, velocity, contact, thickness, substep)
    return np.where(touching, pushed, position), np.where(touching, answered, velocity)


def _answer(
    position: Float64, velocity: Float64, contact: Contact, thickness: float | Float64, substep: float
) -> tuple[Float64, Float64]:
    """Position and velocity after contact, as if every point touched.

    The position also loses what friction took from this substep's sliding; without that a point that friction holds
    would creep by the acceleration of every substep.
    """
    answered = contact_velocity(velocity, contact, substep)
    change = answered - velocity
    held = change - np.sum(change * contact.normal, axis=1)[:, None] * contact.normal
    return position + (thickness - contact.distance)[:, None] * contact.normal + substep * held, answered


def contact_velocity(velocity: Float64, contact: Contact, substep: float) -> Float64:
    """Velocity (n, 3) after the touch of a surface: restitution along the normal, Coulomb friction across it.

    Nothing changes where the point leaves the surface.  v_n' = -e v_n, and v_t' = v_t max(0, 1 - μ |Δv_n| / |v_t|),
    both relative to the surface.
    """
    relative = velocity - contact.velocity
    along = np.sum(relative * contact.normal, axis=1)
    across = relative - along[:, None] * contact.normal
    approach = np.maximum(-along, 0.0)
    bounced = np.where(approach > RESTING_ACCELERATION * substep, contact.restitution * approach, 0.0)
    impulse = np.where(along < 0.0, approach + bounced, 0.0)
    sliding = np.linalg.norm(across, axis=1)
    lost = np.minimum(contact.friction * impulse / np.maximum(sliding, _NO_SPEED), 1.0)
    answered: Float64 = velocity + impulse[:, None] * contact.normal - lost[:, None] * across
    return answered
