"""Painted maps of cloth in double precision: pins that pull, largest distances, factors of springs, mass, friction."""

import dataclasses
from collections.abc import Sequence
from itertools import count

import numpy as np

from sinew.sim.colliders.state import ColliderState
from sinew.sim.kinds.cloth.maps import ClothMap, Values
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.oracle import Float64, air_forces, collided, spring_forces
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind, Springs
from sinew.sim.maths.gusts import Gusts, gusts_at
from tests.oracles.cloth import Actions, Particles, at_rest
from tests.oracles.cloth_lines import MappedLines


def weighed(model: ClothModel, values: Values) -> ClothModel:
    """The model with the masses of particles and the factors of springs that maps give them."""
    springs = model.springs
    factors = springs.factors.copy()
    for number, (first, second) in enumerate(springs.pairs):
        one = ClothMap.BEND if springs.kinds[number] == SpringKind.BEND else ClothMap.STRETCH
        if one in values:
            factors[number] *= (values[one][first] + values[one][second]) / 2.0
    mapped = Springs(springs.pairs, springs.kinds, springs.rest, factors)
    return dataclasses.replace(model, shares=model.shares * values.get(ClothMap.MASS, 1.0), springs=mapped)


def run(
    model: ClothModel,
    settings: ClothSettings,
    values: Values,
    steps: int,
    *,
    way: Float64 | None = None,
    colliders: Sequence[ColliderState] = (),
) -> Particles:
    """State after some steps; the places of the particles move by `way` (3,) [m] in each of them."""
    heavy, particles = weighed(model, values), at_rest(model)
    moves = np.zeros(3) if way is None else way
    weights = np.maximum(model.pinned(settings), values.get(ClothMap.PIN, 0.0))
    limit = values.get(ClothMap.DISTANCE)
    numbers = count(1)

    def kept(free: Particles) -> Particles:
        places = model.positions + moves * (next(numbers) / settings.substeps)
        share = (1.0 - (1.0 - weights) ** (1.0 / settings.substeps))[:, None]
        drift = moves / settings.step_time
        positions = free.positions + share * (places - free.positions)
        velocities = free.velocities + share * (drift - free.velocities)
        if limit is not None:
            apart = positions - places
            reach = np.linalg.norm(apart, axis=1)
            far = reach > limit
            outward = apart / np.maximum(reach, 1e-300)[:, None]
            away = np.maximum(np.sum((velocities - drift) * outward, axis=1), 0.0)
            positions = np.where(far[:, None], places + limit[:, None] * outward, positions)
            velocities = np.where(far[:, None], velocities - away[:, None] * outward, velocities)
        return Particles(positions, velocities)

    lines = MappedLines(heavy, settings, values, kept) if settings.has_lines else None
    for step in range(steps):
        if lines is not None:
            actions = Actions(weights >= 1.0, model.positions + moves * (step + 1), colliders)
            particles = lines.step(particles, actions, time=step * settings.step_time)
            continue
        gusts = gusts_at(settings, step * settings.step_time)
        for substep in range(settings.substeps):
            particles = kept(
                _free(heavy, settings, values, particles, gusts, colliders, (substep + 1) / settings.substeps)
            )
    return particles


def _free(
    model: ClothModel,
    settings: ClothSettings,
    values: Values,
    particles: Particles,
    gusts: Gusts,
    colliders: Sequence[ColliderState],
    fraction: float,
) -> Particles:
    constants, h = constants_of(settings), settings.substep_time
    masses = (model.shares * constants.mass_scale)[:, None]
    forces = spring_forces(model, constants, particles) + air_forces(model, constants, particles, gusts)
    acceleration = constants.gravity + forces / masses - constants.air_drag * particles.velocities
    velocities = particles.velocities + h * acceleration
    positions = particles.positions + h * velocities
    pressing = float(np.linalg.norm(constants.gravity))
    moved, friction = Particles(positions, velocities), values.get(ClothMap.FRICTION, 1.0)
    fallen = particles.velocities + h * constants.gravity
    return Particles(*collided(model, settings, fallen, moved, colliders, fraction, friction, pressing))
