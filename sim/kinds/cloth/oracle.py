"""Cloth in double precision: the oracle of the kernels in shaders/cloth.

It scatters over springs and faces where the kernels gather, and looks at all pairs of particles where they look at
lists, so that a mistake in a table shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import EARTH, Contact, bounce, collider_contact, shortened
from sinew.sim.colliders.state import ColliderState
from sinew.sim.kinds.air import AirTravel
from sinew.sim.kinds.cloth.material import ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import push_of
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import Gusts, gusts_at

Float64 = npt.NDArray[np.float64]

ABSORBED, PUSHED, NEIGHBOURHOOD = 0.2, 0.1, 1.5
"""As in shaders/cloth/self_contact.glsl."""

PRESSED, SOFT, PRESS, FREE, BODY, HELP = 0.009, 0.1, 4.0, 5.0, 1.4, 12.0
"""As in shaders/cloth/contact.glsl."""

State = tuple[Float64, Float64]
"""Positions [m] and velocities [m/s], (P, 3)."""


@dataclass(frozen=True, slots=True)
class ClothParticles:
    """Positions [m] and velocities [m/s], each (P, 3); the velocity is (x - x_before) / h of position Verlet."""

    positions: Float64
    velocities: Float64


class SkinContacts(Protocol):
    def __call__(
        self, yielding: bool, start: Float64, end: Float64, begins: float, ends: float, substep: float
    ) -> Contact:
        """Returns contacts with the parts of skins that yield, or with the others.

        Args:
            start: Positions [m] at the fraction `begins` of the step, shape (P, 3); `end` likewise.
            substep: Between the two [s].
        """


@dataclass(frozen=True, slots=True)
class ClothActions:
    held: npt.NDArray[np.bool_]  # Pinned particles, shape (P,)
    targets: Float64  # Their positions at the end of the step [m], shape (P, 3)
    colliders: Sequence[ColliderState] = ()  # Over the step
    travel: AirTravel | None = None  # As in `ClothInputs`
    skin: SkinContacts | None = None
    meets: bool = False  # Other cloth, which does not touch it


def step(
    model: ClothModel, settings: ClothSettings, particles: ClothParticles, actions: ClothActions, *, time: float = 0.0
) -> ClothParticles:
    """Returns the state after a step that begins at `time` [s]; the gusts stay as they are then."""
    constants, gusts = constants_of(settings), gusts_at(settings, time, actions.travel)
    h, count = settings.substep_time, settings.substeps
    pressing = float(np.linalg.norm(constants.gravity))
    masses, held = (model.shares * constants.mass_scale)[:, None], actions.held[:, None]
    for index in range(count):
        before, speed = particles.positions, particles.velocities
        forces = spring_forces(model, constants, particles) + air_forces(model, constants, particles, gusts)
        forces = forces + pressure_forces(model, constants, particles)
        velocities = speed + h * (constants.gravity + forces / masses - constants.air_drag * speed)
        positions = before + h * velocities
        if settings.self_collision:
            change, push = touches(model, settings, particles)
            velocities, positions = velocities + change, positions + h * change + push
        moved, fraction = ClothParticles(positions, velocities), (index + 1) / count
        fallen = ClothParticles(before, speed + h * constants.gravity)
        positions, velocities = collided(model, settings, fallen, moved, actions, fraction, acceleration=pressing)
        way = (actions.targets - before) / (count - index)
        particles = ClothParticles(np.where(held, before + way, positions), np.where(held, way / h, velocities))
    return particles


def collided(
    model: ClothModel,
    settings: ClothSettings,
    before: ClothParticles,
    moved: ClothParticles,
    actions: ClothActions,
    fraction: float,
    friction: Float64 | float = 1.0,
    acceleration: Float64 | float = EARTH,
    pulled: Float64 | float = 0.0,
) -> tuple[Float64, Float64]:
    """Returns positions and velocities (P, 3) after contact: with colliders that yield, then with the firm ones.

    Args:
        before: At the start of the substep, with the velocities that gravity and fields alone would have given the
            particles in it.
        fraction: Of the step, at the end of the substep.
        friction: Factors of the friction (P,).
        acceleration: What acts on the particles [m/s²].
        pulled: What pins added to the ways of the particles in the substep (P, 3).
    """
    clearance, h, (give, most) = constants_of(settings).clearance, settings.substep_time, push_of(model, settings)

    def against(way: Float64 | float, contact: Contact) -> Float64:
        found: Float64 = np.maximum(-np.sum(way * contact.normal, axis=1), 0.0)
        return found

    def met_yielding(contact: Contact, now: State, factor: Float64 | float = 1.0) -> State:
        contact = replace(contact, friction=contact.friction * friction)
        pushed, answered = bounce(*now, contact, clearance, h, acceleration)
        change = factor * most * h + against(pulled, contact) / h
        return now[0] + shortened(pushed - now[0], change * h), now[1] + shortened(answered - now[1], change)

    def met_firm(
        contact: Contact, now: State, give: Float64 | float = give, spacing: Float64 | float = clearance
    ) -> State:
        nearing = against(before.velocities, contact) + against(-contact.velocity, contact)
        nearest = np.maximum(contact.distance, spacing - give - against(pulled, contact) - h * nearing)
        contact = replace(contact, friction=contact.friction * friction, distance=nearest)
        return bounce(*now, contact, spacing, h, acceleration)

    def met_limbs(now: State) -> tuple[State, Float64]:
        """See `meet_limbs` of shaders/cloth/contact.glsl."""
        body, limb = skin(False, now[0]), skin(True, now[0])
        spacing, share, presses, pressing = between(body, limb, clearance)
        soft = met_yielding(limb, now, 1.0 + share * (FREE - 1.0))
        soft = mixed(soft, met_firm(pressing, now, PRESS * give), presses)
        return mixed(soft, met_firm(limb, now), share * (not actions.meets)), spacing

    def skin(yielding: bool, end: Float64) -> Contact:
        assert actions.skin is not None
        return actions.skin(yielding, before.positions, end, fraction - 1.0 / settings.substeps, fraction, h)

    now, spacing = (moved.positions, moved.velocities), np.full(len(moved.positions), clearance)
    for yields in (True, False):
        if actions.skin is not None and not yields:
            now, spacing = met_limbs(now)
        for collider in actions.colliders:
            if collider.yields is yields:
                contact = collider_contact(collider, now[0], fraction, settings.step_time, h)
                now = met_yielding(contact, now) if yields else met_firm(contact, now)
    if actions.skin is None:
        return now
    body = skin(False, now[0])
    helped = np.where(body.distance < 0.0, HELP * against(-pulled, body), 0.0)
    return met_firm(body, now, BODY * give + helped, spacing)


def between(body: Contact, limb: Contact, clearance: float) -> tuple[Float64, Float64, Float64, Contact]:
    """Returns the distance from the body, the shares of a firm limb and of pressing, and the contact that presses."""
    facing = np.clip(-2.0 * np.sum(body.normal * limb.normal, axis=1), 0.0, 1.0)
    spacing = np.clip(0.5 * (body.distance + limb.distance), -min(clearance, PRESSED), clearance)
    spacing = clearance + facing * (spacing - clearance)
    room = np.clip((body.distance - clearance) / max(clearance, 1e-20), 0.0, 1.0)
    room = np.where(facing > 0.0, room, 1.0)
    share = room * room * (3.0 - 2.0 * room)
    way = np.maximum(np.minimum(spacing - limb.distance, body.distance - spacing), 0.0)
    presses = np.clip(1.0 + (spacing - limb.distance) / max(SOFT * clearance, 1e-20), 0.0, 1.0)
    presses *= (1.0 - share) * facing
    return spacing, share, presses, replace(limb, normal=-body.normal, distance=clearance - way)


def mixed(first: State, second: State, share: Float64) -> State:
    share = share[:, None]
    return first[0] + share * (second[0] - first[0]), first[1] + share * (second[1] - first[1])


def spring_forces(model: ClothModel, constants: ClothConstants, particles: ClothParticles) -> Float64:
    """Returns the force of all springs on every particle [N], shape (P, 3)."""
    springs = model.springs
    first, second = springs.pairs.T
    apart = particles.positions[first] - particles.positions[second]
    relative = particles.velocities[first] - particles.velocities[second]
    length = np.linalg.norm(apart, axis=1)
    along = apart / np.maximum(length, 1e-20)[:, None]
    longer = lengthening(model, constants, length)
    stiffness = springs.factors * constants.stiffness[springs.kinds]
    damping = springs.factors * constants.damping[springs.kinds]
    force = -(stiffness * longer + damping * np.sum(relative * along, axis=1))[:, None] * along
    return _summed(first, force, model.particle_count) + _summed(second, -force, model.particle_count)


def lengthening(model: ClothModel, constants: ClothConstants, length: Float64) -> Float64:
    """Returns how much longer than at rest springs are [m], between the limits of bend springs."""
    springs = model.springs
    longer = length - springs.rest
    limited = np.clip(longer, -constants.fold / np.maximum(springs.rest, 1e-20), constants.bend_pull)
    found: Float64 = np.where(springs.kinds == SpringKind.BEND, limited, longer)
    return found


def air_velocity(wind: Float64, gusts: Gusts, points: Float64) -> Float64:
    """Returns the velocity of the air [m/s] at points (n, 3), as shaders/common/gusts.glsl."""
    angle = points @ gusts.waves[:, :3].T + gusts.waves[:, 3]
    velocity: Float64 = wind + np.cos(angle) @ gusts.amplitudes
    return velocity


def air_forces(model: ClothModel, constants: ClothConstants, particles: ClothParticles, gusts: Gusts) -> Float64:
    """Returns the force of the air on every particle [N], shape (P, 3): on each face a part for every corner.

    The faces of a sheet are its cells.  The air at a corner is that at the particle, the face moves with the mean of
    its corners.
    """
    faces = cells_of(model)
    corners = particles.positions[faces]
    count = faces.shape[1]
    across = corners[:, 2] - corners[:, 0], corners[:, 3 if count == 4 else 1] - corners[:, 1 if count == 4 else 0]
    area = 0.5 * np.cross(*across)
    size = np.linalg.norm(area, axis=1)
    normal = area / np.maximum(size, 1e-20)[:, None]
    moving = particles.velocities[faces].mean(axis=1)
    total = np.zeros_like(particles.positions)
    for corner in range(count):
        wind = air_velocity(constants.wind, gusts, corners[:, corner]) - moving
        head_on = np.sum(wind * normal, axis=1)[:, None] * normal
        drag = constants.normal_drag * head_on + constants.tangent_drag * (wind - head_on)
        scale = size * np.linalg.norm(wind, axis=1) / count
        total += _summed(faces[:, corner], scale[:, None] * drag, model.particle_count)
    return total


def pressure_forces(model: ClothModel, constants: ClothConstants, particles: ClothParticles) -> Float64:
    """Returns the force of the pressure on every particle [N], shape (P, 3).

    A triangle gives a third of its force to each corner; a particle of a sheet has a quarter of the parallelogram
    between its neighbours, of which those beyond the border are the particle itself.
    """
    if model.grid is None:
        faces = model.faces.astype(np.int64)
        first, second, third = (particles.positions[faces[:, corner]] for corner in range(3))
        part = constants.pressure / 6.0 * np.cross(second - first, third - first)
        return sum((_summed(faces[:, corner], part, model.particle_count) for corner in range(3)), np.zeros(()))
    places = particles.positions.reshape(model.grid.rows, model.grid.columns, 3)
    padded = np.pad(places, ((1, 1), (1, 1), (0, 0)), mode="edge")
    across, along = padded[1:-1, 2:] - padded[1:-1, :-2], padded[:-2, 1:-1] - padded[2:, 1:-1]
    force: Float64 = (constants.pressure / 4.0 * np.cross(across, along)).reshape(-1, 3)
    return force


def cells_of(model: ClothModel) -> npt.NDArray[np.int64]:
    """Returns the faces that the air acts on: cells of a sheet (F, 4) around their outline, or triangles (F, 3)."""
    if model.grid is None:
        return model.faces.astype(np.int64)
    numbers = model.grid.numbers().astype(np.int64)
    outline = (numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, 1:], numbers[1:, :-1])
    return np.stack([corner.ravel() for corner in outline], axis=1)


def distant_pairs(rest: Float64, thickness: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Returns pairs of particles (P, 3) that are no neighbours at rest, each once."""
    first, second = np.triu_indices(len(rest), 1)
    apart = np.linalg.norm(rest[first] - rest[second], axis=1) > NEIGHBOURHOOD * thickness
    return first[apart], second[apart]


def touches(model: ClothModel, settings: ClothSettings, particles: ClothParticles) -> tuple[Float64, Float64]:
    """Returns changes of velocities [m/s] and positions [m] by self-collision in a substep, each (P, 3)."""
    thickness, weights = settings.thickness, 1.0 / model.shares
    first, second = distant_pairs(model.positions, thickness)
    apart = particles.positions[first] - particles.positions[second]
    reach = np.linalg.norm(apart, axis=1)
    normal = apart / np.maximum(reach, 1e-20)[:, None]
    relative = particles.velocities[first] - particles.velocities[second]
    rate = np.sum(relative * normal, axis=1)
    stopped = ABSORBED * np.maximum(-rate - np.maximum(reach - thickness, 0.0) / settings.substep_time, 0.0)
    slide = relative - rate[:, None] * normal
    speed = np.linalg.norm(slide, axis=1)
    held = np.minimum(settings.self_friction * stopped, ABSORBED * speed) / np.maximum(speed, 1e-20)
    change = stopped[:, None] * normal - held[:, None] * slide
    push = (PUSHED * np.maximum(thickness - reach, 0.0))[:, None] * normal
    share = (weights[first] / (weights[first] + weights[second]))[:, None]
    count = model.particle_count
    velocity, place = (_summed(first, share * x, count) + _summed(second, (share - 1.0) * x, count)
                       for x in (change, push))  # fmt: skip
    return velocity, place


def _summed(owner: npt.NDArray[np.integer], values: Float64, count: int) -> Float64:
    columns = [np.bincount(owner, weights=values[:, axis], minlength=count) for axis in range(3)]
    return np.stack(columns, axis=1)
