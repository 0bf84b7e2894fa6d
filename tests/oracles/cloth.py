"""Cloth in double precision: the oracle of the kernels in shaders/cloth.

It scatters over springs and faces where the kernels gather, so that a mistake in a neighbour table shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.state import ColliderState
from sinew.sim.kinds.cloth.material import ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import Gusts, gusts_at
from tests.oracles.air import air_velocity
from tests.oracles.cloth_touch import touches
from tests.oracles.contact import bounce, collider_contact

Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Particles:
    """Places [m] and velocities [m/s], each (P, 3); the velocity is (x - x_before) / h of position Verlet."""

    positions: Float64
    velocities: Float64


@dataclass(frozen=True, slots=True)
class Actions:
    held: Bool  # pinned particles, shape (P,)
    targets: Float64  # where they are at the end of the step [m], shape (P, 3)
    colliders: Sequence[ColliderState] = ()  # colliders that move over the step


@dataclass(frozen=True, slots=True)
class Energies:
    """Kinetic, elastic and potential energy [J]; the largest strain of a thread."""

    kinetic: float
    elastic: float
    potential: float
    strain: float


def at_rest(model: ClothModel) -> Particles:
    return Particles(model.positions.copy(), np.zeros_like(model.positions))


def step(
    model: ClothModel, settings: ClothSettings, particles: Particles, actions: Actions, *, time: float = 0.0
) -> Particles:
    """State after one step of `settings.step_time`, solved in `settings.substeps` substeps.

    The gusts of the whole step are those of its beginning, `time` [s].
    """
    constants = constants_of(settings)
    gusts = gusts_at(settings, time)
    count = settings.substeps
    for index in range(count):
        share, fraction = 1.0 / (count - index), (index + 1) / count
        particles = _substep(model, constants, particles, actions, settings, gusts, share, fraction)
    return particles


def _substep(
    model: ClothModel,
    constants: ClothConstants,
    particles: Particles,
    actions: Actions,
    settings: ClothSettings,
    gusts: Gusts,
    share: float,
    fraction: float,
) -> Particles:
    h = settings.substep_time
    masses = (model.shares * constants.mass_scale)[:, None]
    forces = spring_forces(model, constants, particles) + air_forces(model, constants, particles, gusts)
    acceleration = constants.gravity + forces / masses - constants.air_drag * particles.velocities
    velocities = particles.velocities + h * acceleration
    positions = particles.positions + h * velocities
    if settings.self_collision:
        change, push = touches(
            model.positions,
            1.0 / model.shares,
            particles.positions,
            particles.velocities,
            thickness=settings.thickness,
            friction=settings.self_friction,
            h=h,
        )
        velocities, positions = velocities + change, positions + h * change + push
    for collider in actions.colliders:
        contact = collider_contact(collider, positions, fraction, settings.step_time, h)
        positions, velocities = bounce(positions, velocities, contact, constants.clearance, h)
    way = share * (actions.targets - particles.positions)
    held = actions.held[:, None]
    return Particles(np.where(held, particles.positions + way, positions), np.where(held, way / h, velocities))


def spring_forces(model: ClothModel, constants: ClothConstants, particles: Particles) -> Float64:
    """Force of all springs on every particle [N], shape (P, 3)."""
    springs = model.springs
    first, second = springs.pairs.T
    apart = particles.positions[first] - particles.positions[second]
    relative = particles.velocities[first] - particles.velocities[second]
    length = np.linalg.norm(apart, axis=1)
    along = apart / np.maximum(length, 1e-20)[:, None]
    longer = _lengthening(model, constants, length)
    stiffness = springs.factors * constants.stiffness[springs.kinds]
    damping = springs.factors * constants.damping[springs.kinds]
    force = -(stiffness * longer + damping * np.sum(relative * along, axis=1))[:, None] * along
    return _summed(first, force, model.particle_count) + _summed(second, -force, model.particle_count)


def air_forces(model: ClothModel, constants: ClothConstants, particles: Particles, gusts: Gusts) -> Float64:
    """Force of the air on every particle [N], shape (P, 3): on each face a part for every corner.

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


def cells_of(model: ClothModel) -> npt.NDArray[np.int64]:
    """Faces that the air acts on: cells of a sheet (F, 4) around their outline, or triangles (F, 3)."""
    if model.grid is None:
        return model.faces.astype(np.int64)
    numbers = model.grid.numbers().astype(np.int64)
    outline = (numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, 1:], numbers[1:, :-1])
    return np.stack([corner.ravel() for corner in outline], axis=1)


def energies(model: ClothModel, constants: ClothConstants, particles: Particles) -> Energies:
    """Energies of a state; the potential energy counts from the world's origin."""
    springs, masses = model.springs, model.shares * constants.mass_scale
    first, second = springs.pairs.T
    length = np.linalg.norm(particles.positions[first] - particles.positions[second], axis=1)
    longer, held = length - springs.rest, _lengthening(model, constants, length)
    stiffness = springs.factors * constants.stiffness[springs.kinds]
    threads = springs.kinds == SpringKind.STRUCTURAL
    return Energies(
        kinetic=float(0.5 * np.sum(masses * np.sum(particles.velocities**2, axis=1))),
        elastic=float(np.sum(stiffness * held * (longer - 0.5 * held))),
        potential=float(-np.sum(masses * (particles.positions @ constants.gravity))),
        strain=float((longer[threads] / springs.rest[threads]).max(initial=-1.0)),
    )


def _lengthening(model: ClothModel, constants: ClothConstants, length: Float64) -> Float64:
    """How much longer than at rest springs are [m], held between the limits of bend springs."""
    springs = model.springs
    longer = length - springs.rest
    low = -constants.fold / np.maximum(springs.rest, 1e-20)
    limited = np.clip(longer, low, constants.bend_pull)
    found: Float64 = np.where(springs.kinds == SpringKind.BEND, limited, longer)
    return found


def _summed(owner: npt.NDArray[np.integer], values: Float64, count: int) -> Float64:
    columns = [np.bincount(owner, weights=values[:, axis], minlength=count) for axis in range(3)]
    return np.stack(columns, axis=1)
