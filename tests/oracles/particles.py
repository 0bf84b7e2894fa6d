"""Particles in double precision: the oracle of the kernels, with the same hash and the same births.

Functions are named as in shaders/particles.  It is written to be read, not to be fast.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import Contact, collider_contact, contact_velocity, local_points
from sinew.sim.colliders.state import ColliderState
from sinew.sim.kinds.emitter.births import GENERATIONS, Schedule, hash_number
from sinew.sim.kinds.emitter.block import constants_of, drag_terms
from sinew.sim.kinds.emitter.handles import angle_direction
from sinew.sim.kinds.emitter.settings import (
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
)
from sinew.sim.maths.curl_noise import Pattern, pattern_at
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, unit_numbers
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.skin.surface_table import face_at, triangle_shares
from tests.oracles.collider_motion import world_points
from tests.oracles.curl_noise import curl_noise
from tests.oracles.emission import about_normal, box_place, cap_direction, disc_place, sphere_place, unit_or_up
from tests.oracles.sweep import swept_contact

Float64 = npt.NDArray[np.float64]

DEAD = -1.0


@dataclass(slots=True)
class Slots:
    positions: Float64  # [m], shape (N, 3)
    velocities: Float64  # [m/s], shape (N, 3)
    lives: Float64  # what is left at the end of the step [steps], negative for the dead, shape (N,)
    generations: npt.NDArray[np.int64]  # how often a slot was used before; -1 for never, shape (N,)


@dataclass(frozen=True, slots=True)
class Surface:
    faces: npt.NDArray[np.uint32]  # threshold and corners, shape (F, 4)
    points: Float64  # of the vertices at the end of the step, shape (V, 3)
    normals: Float64  # of the vertices at the end of the step, shape (V, 3)
    points_before: Float64  # at its start
    normals_before: Float64  # at its start


@dataclass(frozen=True, slots=True)
class Actions:
    """What acts on an emitter during one step.

    Attributes:
        world_from_start, world_from_end: Placement of the source, shape (4, 4).
        colliders: In the order that they are met in.
        surface: For sources on a surface.
        world_from_aim: Axes that particles from a surface start about, where they do not follow its normals.
    """

    world_from_start: Float64 = field(default_factory=lambda: np.eye(4))
    world_from_end: Float64 = field(default_factory=lambda: np.eye(4))
    colliders: Sequence[ColliderState] = ()
    surface: Surface | None = None
    world_from_aim: Float64 | None = None


def no_slots(capacity: int) -> Slots:
    zeros = np.zeros((capacity, 3))
    return Slots(zeros, zeros.copy(), np.full(capacity, DEAD), np.full(capacity, -1, np.int64))


def births_of(schedule: Schedule, start: float, end: float, capacity: int) -> list[tuple[int, int, float]]:
    """Slot, generation and moment [steps since the start] of every birth in a span; later ones take slots again."""
    return [
        (number % capacity, number // capacity % GENERATIONS, one.moment + index * one.spacing)
        for one in schedule.segments(start, end)
        for index, number in enumerate(range(one.first, one.first + one.count))
    ]


def birth_places(settings: EmitterSettings, actions: Actions, number: int) -> tuple[Float64, ...]:
    """Places and normals (1, 3) of a birth in the frames of the start and of the end of the step."""
    bits = birth_bits(settings.seed, [number], RandomStream.PLACE)
    if actions.surface is not None:
        surface = actions.surface
        corners = surface.faces[face_at(surface.faces[:, 0], bits[:, 0]), 1:][0]
        shares = triangle_shares(unit_numbers(bits)[:, 1:])
        values = (surface.points_before, surface.normals_before, surface.points, surface.normals)
        return tuple(shares @ value[corners] for value in values)
    place, normal = shape_place(settings, unit_numbers(bits))
    return place, normal, place, normal


def shape_place(settings: EmitterSettings, random: Float64) -> tuple[Float64, Float64]:
    """Places and normals (n, 3) of a shape in its own frame."""
    upward = np.broadcast_to([0.0, 1.0, 0.0], random.shape).copy()
    size, radius, hollow = np.array(settings.source_size), settings.source_radius, settings.source_hollow
    if settings.source is EmitterSource.SPHERE:
        return sphere_place(radius, hollow, random)
    if settings.source is EmitterSource.BOX:
        return box_place(size, random), upward
    if settings.source is EmitterSource.DISC:
        return disc_place(radius, hollow, random), upward
    if settings.source is EmitterSource.LINE:
        return box_place(size * [1.0, 0.0, 0.0], random), upward
    return np.zeros_like(random), upward


def birth_direction(settings: EmitterSettings, normal: Float64, random: Float64) -> Float64:
    """Direction (n, 3) in the frame of the source."""
    constants = constants_of(settings)
    if settings.aim is EmissionAim.ANGLES:
        return angle_direction(np.array(constants.angles), random)
    direction = cap_direction(constants.rise, random)
    return about_normal(unit_or_up(normal), direction) if settings.aim is EmissionAim.OUTWARD else direction


def varied(mean: float, variance: float, random: Float64) -> Float64:
    return mean * (1.0 + variance * (2.0 * random - 1.0))


def birth_start(
    settings: EmitterSettings, actions: Actions, number: int, moment: float
) -> tuple[Float64, Float64, float]:
    """Place (1, 3), velocity (1, 3) and lifetime [steps] of a birth at a moment of the step, 0 to 1."""
    lives = birth_numbers(settings.seed, [number], RandomStream.LIFE)
    directions = birth_numbers(settings.seed, [number], RandomStream.DIRECTION)
    before, normal_before, after, normal_after = birth_places(settings, actions, number)
    start, end = actions.world_from_start, actions.world_from_end
    first = before @ start[:3, :3].T + start[:3, 3]
    travel = after @ end[:3, :3].T + end[:3, 3] - first
    normal = (1.0 - moment) * normal_before + moment * normal_after
    local = birth_direction(settings, normal, directions[:, :2])
    turn = (1.0 - moment) * start[:3, :3] + moment * end[:3, :3]
    if actions.surface is not None and settings.aim is not EmissionAim.OUTWARD:
        turn = (end if actions.world_from_aim is None else actions.world_from_aim)[:3, :3]
    speed = varied(settings.speed, settings.speed_variance, lives[:, 1:2])
    velocity = speed * unit_or_up(local @ turn.T) + settings.inherited_velocity / STEP_TIME * travel
    life = varied(settings.lifetime / STEP_TIME, settings.lifetime_variance, lives[:, 0])
    return first + moment * travel, velocity, float(life[0])


def attraction(settings: EmitterSettings, points: Float64) -> Float64:
    """Pull towards the attractor and push around the axis [m/s²], shape (n, 3)."""
    constants = constants_of(settings)
    towards = np.array(settings.attractor) - points
    fall = (np.sum(towards**2, axis=1) + settings.attractor_radius**2) ** -1.5
    around = np.cross(np.array(constants.vortex), towards)
    pull: Float64 = (constants.attraction * towards - around) * fall[:, None]
    return pull


def acceleration(settings: EmitterSettings, points: Float64, pattern: Pattern) -> Float64:
    """Everything that acts on particles at points (n, 3) [m/s²], but for the drag of still air."""
    air = np.broadcast_to(np.array(settings.wind), points.shape)
    if settings.turbulence > 0.0:
        places = points / settings.turbulence_scale
        air = air + settings.turbulence * curl_noise(places, pattern, settings.turbulence_seed)
    return np.array(settings.gravity) + settings.drag * air + attraction(settings, points)


def moved_on(
    settings: EmitterSettings, actions: Actions, slots: Slots, chosen: Sequence[int] | npt.NDArray[np.intp],
    span: tuple[float, float], pattern: Pattern,
) -> None:  # fmt: skip
    """Move the chosen slots over a span, given as fractions of the step."""
    indices = np.asarray(chosen, np.intp)
    if not len(indices):
        return
    time = (span[1] - span[0]) * STEP_TIME
    start, before = slots.positions[indices], slots.velocities[indices]
    middle = start + 0.5 * drag_terms(settings.drag, time)[1] * before
    pull = acceleration(settings, middle, pattern)
    position, velocity, touched, held = _met(settings, actions, start, before, pull, span)
    if settings.collision is CollisionResponse.DIE:
        slots.lives[indices[touched & ~held]] = DEAD
    lives = slots.lives[indices] >= 0.0
    slots.positions[indices[lives]], slots.velocities[indices[lives]] = position[lives], velocity[lives]


def _met(
    settings: EmitterSettings, actions: Actions, start: Float64, before: Float64, pull: Float64,
    span: tuple[float, float],
) -> tuple[Float64, Float64, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:  # fmt: skip
    """Places and velocities after all contacts, who touched something, and who was carried along."""
    touched, held = np.zeros(len(start), bool), np.zeros(len(start), bool)
    response, clearance, time = settings.collision, settings.clearance, (span[1] - span[0]) * STEP_TIME
    position, velocity = flown(start, before, pull, settings.drag, np.full(len(start), time))
    flight = (start, before, np.full(len(start), time))
    if response is CollisionResponse.NONE:
        return position, velocity, touched, held
    attached = start.copy()
    if response is CollisionResponse.STICK:
        attached, held = carried(actions.colliders, start, span, clearance)
    for state in actions.colliders:
        contact = swept_contact(state, start, position, span[0], span[1], STEP_TIME, time)
        touches = contact.distance < clearance
        if response is CollisionResponse.BOUNCE:
            position, velocity, flight = bounced(position, velocity, contact, clearance, flight, pull, settings.drag)
        else:
            pushed = position + (clearance - contact.distance)[:, None] * contact.normal
            position = np.where(touches[:, None], pushed, position)
            velocity = np.where(touches[:, None], contact.velocity, velocity)
        touched |= touches
    is_attached = held[:, None]
    return (
        np.where(is_attached, attached, position),
        np.where(is_attached, (attached - start) / time, velocity),
        touched,
        held,
    )


def flown(start: Float64, velocity: Float64, pull: Float64, drag: float, times: Float64) -> tuple[Float64, Float64]:
    """Places and velocities (n, 3) after times (n,) [s] of a constant acceleration and drag."""
    left, gain, square = np.array([drag_terms(drag, time) for time in times]).T[..., None]
    return start + gain * velocity + square * pull, left * velocity + gain * pull


def bounced(
    position: Float64, velocity: Float64, contact: Contact, clearance: float,
    flight: tuple[Float64, Float64, Float64], pull: Float64, drag: float,
) -> tuple[Float64, Float64, tuple[Float64, Float64, Float64]]:  # fmt: skip
    """Places and velocities at the end of a flight that bounced at its contact, and the flight from there.

    A flight is its start (n, 3), velocity there (n, 3) and duration (n,).
    """
    start, before, times = flight
    along = functools.partial(np.einsum, "ij,ij->i", contact.normal)
    gap = contact.distance - clearance
    speed, push = along(velocity - contact.velocity), along(pull - drag * velocity)
    impact = np.sqrt(np.maximum(speed**2 - 2.0 * push * gap, 0.0))
    nears = (speed < 0.0) & (gap < 0.0)
    after = np.where(nears, np.clip(2.0 * gap / np.where(nears, speed - impact, -1.0), 0.0, times), 0.0)
    met, at_contact = flown(start, before, pull, drag, times - after)
    approach = -along(at_contact - contact.velocity)
    hits = np.where(approach > np.abs(push) * times, contact.restitution, 0.0)
    answered = contact_velocity(at_contact, replace(contact, restitution=hits), 0.0)
    end, last = flown(met, answered, pull, drag, after)
    rest = replace(contact, distance=contact.distance + along(end - position), restitution=0.0)
    slower = contact_velocity(last, rest, 0.0)
    held = slower - last - along(slower - last)[:, None] * contact.normal
    lies = (rest.distance < clearance)[:, None]
    lifted = end + (clearance - rest.distance)[:, None] * contact.normal + 0.5 * after[:, None] * held
    end, last = np.where(lies, lifted, end), np.where(lies, slower, last)
    touches = gap < 0.0
    here = touches[:, None]
    later = np.where(here, met, start), np.where(here, answered, before), np.where(touches, after, times)
    return np.where(here, end, position), np.where(here, last, velocity), later


def carried(
    colliders: Sequence[ColliderState], start: Float64, span: tuple[float, float], clearance: float
) -> tuple[Float64, npt.NDArray[np.bool_]]:
    """Places (n, 3) after the first collider that a point sits on took it along, and which points sit on one."""
    place, held = start.copy(), np.zeros(len(start), bool)
    for state in colliders:
        contact = collider_contact(state, start, span[0], STEP_TIME, STEP_TIME)
        slop = 1e-5 + 1e-6 * np.abs(start).max(axis=1)
        sits = ~held & (np.abs(contact.distance - clearance) < slop)
        lifted = start + (clearance - contact.distance)[:, None] * contact.normal
        taken = world_points(state, local_points(state, lifted, span[0]), span[1])
        place, held = np.where(sits[:, None], taken, place), held | sits
    return place, held


def step(settings: EmitterSettings, slots: Slots, schedule: Schedule, actions: Actions, index: int) -> None:
    pattern = pattern_at(
        index * STEP_TIME, settings.turbulence_change, settings.wind, settings.turbulence_scale
    )  # fmt: skip
    slots.lives -= 1.0
    full = settings.mode is EmissionMode.FULL
    births = [] if full else births_of(schedule, index, index + 1, settings.capacity)
    for part in range(settings.substeps):
        start, end = part / settings.substeps, (part + 1) / settings.substeps
        due = _deaths_as_births(slots, start, end) if full else _due(births, index, start, end)
        born = {slot for slot, _, _ in due}
        others = np.array([slot for slot in np.flatnonzero(slots.lives >= 0.0) if slot not in born], np.intp)
        moved_on(settings, actions, slots, others, (start, end), pattern)
        for slot, generation, moment in due:
            bear(settings, actions, slots, slot, generation, moment)
            moved_on(settings, actions, slots, [slot], (moment, end), pattern)


def bear(settings: EmitterSettings, actions: Actions, slots: Slots, slot: int, generation: int, moment: float) -> None:
    """Put a newborn into its slot, at its moment of the step."""
    number = hash_number(slot, generation, settings.capacity)
    position, velocity, life = birth_start(settings, actions, number, moment)
    slots.positions[slot], slots.velocities[slot] = position[0], velocity[0]
    slots.generations[slot] = generation
    slots.lives[slot] = life - (1.0 - moment)
    if settings.mode is EmissionMode.FULL and generation == 0:
        share = birth_numbers(settings.seed, [number], RandomStream.DIRECTION)[0, 2]
        slots.lives[slot] = max(share * life, 1.0) - (1.0 - moment)


def stateless(settings: EmitterSettings, schedule: Schedule, actions: Actions, step_count: float) -> Slots:
    """All slots at a moment [steps since the start], by the formula."""
    slots = no_slots(settings.capacity)
    since = max(step_count - settings.longest_life / STEP_TIME - 1.0, 0.0)
    pull = np.array(settings.gravity) + settings.drag * np.array(settings.wind)
    still = Actions(actions.world_from_end, actions.world_from_end, (), actions.surface)
    for slot, generation, moment in births_of(schedule, since, step_count, settings.capacity):
        number = hash_number(slot, generation, settings.capacity)
        position, velocity, life = birth_start(settings, still, number, 1.0)
        age = step_count - moment
        left, gain, square = drag_terms(settings.drag, age * STEP_TIME)
        slots.positions[slot] = position[0] + gain * velocity[0] + square * pull
        slots.velocities[slot] = left * velocity[0] + gain * pull
        slots.lives[slot] = life - age if age <= life else DEAD
        slots.generations[slot] = generation
    return slots


def _due(births: list[tuple[int, int, float]], index: int, start: float, end: float) -> list[tuple[int, int, float]]:
    """Births within a part of the step, with moments as fractions of the step; of one slot only the last of all."""
    last = {slot: (slot, generation, min(max(moment - index, 0.0), 1.0 - 1e-7)) for slot, generation, moment in births}
    return [one for one in last.values() if start <= one[2] < end]


def _deaths_as_births(slots: Slots, start: float, end: float) -> list[tuple[int, int, float]]:
    """The slots that a death left empty within a part of the step, to be filled at that moment."""
    found = []
    for slot in np.flatnonzero(slots.lives < 0.0):
        moment = max(float(slots.lives[slot]) + 1.0, 0.0)
        if start <= moment < end:
            found.append((int(slot), int(slots.generations[slot] + 1) % GENERATIONS, moment))
    return found
