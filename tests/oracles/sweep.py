"""Continuous collision: where the path of a point within a substep enters a collider that may move meanwhile.

The path is taken straight in the frame of the collider.  That is exact for colliders that travel, at any speed; a
turn of θ [rad] within the substep bends the true path of a point at distance r from the centre by up to r θ² / 8.
The functions and their names are those of shaders/common/sweep.glsl.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import Contact, collider_contact, local_points, proximity, velocity_at
from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderShape, ColliderState, core
from sinew.sim.maths import quaternion
from tests.oracles.collider_motion import world_points

Float64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SWEEP_SLOP = 1e-4
"""A path that begins this deep [m] below the surface still begins outside, as a point at rest on it does."""

NEVER = 2.0  # entry time of a line that misses; above 1, so that it counts as after the substep
_NO_MOTION = 1e-12


@dataclass(frozen=True, slots=True)
class Hit:
    found: Bools  # whether the path enters, shape (n,)
    time: Float64  # when, as a fraction of the substep, 0 to 1; above 1 where it does not, shape (n,)
    point: Float64  # place of the entry in the world, carried along to the end of the substep [m], shape (n, 3)
    normal: Float64  # outward normal there, at the end of the substep, shape (n, 3)


def sweep(state: ColliderState, start: Float64, end: Float64, fraction_start: float, fraction_end: float) -> Hit:
    """Where points that go from `start` to `end` (n, 3), world [m], enter the collider.

    A path that begins inside, or only leaves, does not enter.  The fractions are those of the collider's step.
    """
    begin = local_points(state, start, fraction_start)
    path = local_points(state, end, fraction_end) - begin
    time = entry_time(state.shape, state.size, begin, path)
    place = begin + np.clip(time, 0.0, 1.0)[:, None] * path
    distance, local = proximity(state.shape, state.size, place)
    inward = np.sum(path * local, axis=1) < 0.0
    found = (time <= 1.0) & (np.abs(distance) <= SWEEP_SLOP) & inward
    _, orientation = motion_of(state).at(fraction_end)
    normal = quaternion.rotate(orientation, local)
    moment = np.where(found, np.clip(time, 0.0, 1.0), NEVER)
    return Hit(found, moment, world_points(state, place, fraction_end), normal)


def swept_contact(
    state: ColliderState,
    start: Float64,
    end: Float64,
    fraction_start: float,
    fraction_end: float,
    frame_time: float,
    substep: float,
) -> Contact:
    """Contact of `end` that knows the path: where the path enters, that with the tangent plane of the entry.

    A point that went through is so on the wrong side of that plane and is put back; what it moved along the surface
    stays, so that slow contact is not changed and nothing sticks.
    """
    contact = collider_contact(state, end, fraction_end, frame_time, substep)
    hit = sweep(state, start, end, fraction_start, fraction_end)
    behind = np.sum((end - hit.point) * hit.normal, axis=1)
    entered = hit.found[:, None]
    return replace(
        contact,
        distance=np.where(hit.found, behind, contact.distance),
        normal=np.where(entered, hit.normal, contact.normal),
        velocity=np.where(entered, velocity_at(state, hit.point, fraction_end, frame_time, substep), contact.velocity),
    )


def entry_time(shape: ColliderShape, size: Float64, begin: Float64, path: Float64) -> Float64:
    """When lines `begin + t path` (n, 3), in the frame of the shape, enter it, shape (n,); `NEVER` where they miss."""
    if shape is ColliderShape.PLANE:
        downward = np.where(path[:, 1] < -_NO_MOTION, path[:, 1], -_NO_MOTION)
        return np.where(path[:, 1] < -_NO_MOTION, -begin[:, 1] / downward, NEVER)
    if shape is ColliderShape.BOX:
        return _entry_box(begin, path, size)
    if shape is ColliderShape.CAPSULE:
        half_sizes, radius = core(shape, size)
        return _entry_capsule(begin, path, float(half_sizes[1]), radius)
    axes = size if shape is ColliderShape.ELLIPSOID else np.full(3, size[0])
    return _entry_sphere(begin / axes, path / axes, 1.0)


def _entry_sphere(begin: Float64, path: Float64, radius: float) -> Float64:
    """Also for a circle, with points of the plane."""
    a = np.maximum(np.sum(path * path, axis=1), _NO_MOTION**2)
    b = np.sum(begin * path, axis=1)
    nearest = begin - (b / a)[:, None] * path
    inside_root = a * (radius**2 - np.sum(nearest * nearest, axis=1))
    return np.where(inside_root >= 0.0, (-b - np.sqrt(np.maximum(inside_root, 0.0))) / a, NEVER)


def _entry_capsule(begin: Float64, path: Float64, straight: float, radius: float) -> Float64:
    """Through the infinite cylinder, whose entry decides which round end can be hit first."""
    time = _entry_sphere(begin[:, ::2], path[:, ::2], radius)
    height = begin[:, 1] + time * path[:, 1]
    end = np.clip(height, -straight, straight)
    from_end = begin - np.stack([np.zeros_like(end), end, np.zeros_like(end)], axis=1)
    capped = _entry_sphere(from_end, path, radius)
    misses = time == NEVER
    return np.where(misses | (np.abs(height) <= straight), time, capped)


def _entry_box(begin: Float64, path: Float64, half_sizes: Float64) -> Float64:
    moving = np.where(np.abs(path) < _NO_MOTION, np.where(path < 0.0, -_NO_MOTION, _NO_MOTION), path)
    middle, span = -begin / moving, half_sizes / np.abs(moving)
    first, last = np.max(middle - span, axis=1), np.min(middle + span, axis=1)
    return np.where(first <= last, first, NEVER)
