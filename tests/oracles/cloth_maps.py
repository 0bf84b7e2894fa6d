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
from tests.oracles.skin_contact import SkinTriangles


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


def rate_of(weight: float, substeps: int) -> float:
    """Rate of the spring, times the substep, of a pin with this weight; 0 if held."""
    if weight in (0.0, 1.0):
        return 0.0

    def left(rate: float) -> float:
        apart = [1.0, 1.0]
        for _ in range(substeps):
            apart.append((2.0 * (1.0 + rate) * apart[-1] - apart[-2]) / (1.0 + rate) ** 2)
        return apart[-1] - (1.0 - weight)

    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if left(middle) > 0.0 else (low, middle)
    return low


def run(
    model: ClothModel,
    settings: ClothSettings,
    values: Values,
    steps: int,
    *,
    way: Float64 | None = None,
    colliders: Sequence[ColliderState] = (),
    skin: SkinTriangles | None = None,
) -> Particles:
    """State after some steps; the places of the particles move by `way` (3,) [m] in each of them."""
    heavy, particles = weighed(model, values), at_rest(model)
    moves = np.zeros(3) if way is None else way
    weights = np.maximum(model.pinned(settings), values.get(ClothMap.PIN, 0.0))
    limit = values.get(ClothMap.DISTANCE)
    ends = count(1)
    drift = moves / settings.step_time

    rates = np.array([rate_of(weight, settings.substeps) for weight in weights])[:, None]
    masses = (1.0 + rates) ** 2  # With the inertia of the springs and dampers

    def pulled(before: Float64, free: Float64, fraction: float) -> tuple[Float64, Float64]:
        """m (x - free) = -k (x - place) - c h (velocity - drift), with k = m rate^2, c h = 2 m rate."""
        places = model.positions + moves * (step + fraction)
        found = (free + rates**2 * places + 2.0 * rates * (before + settings.substep_time * drift)) / masses
        return np.where((weights >= 1.0)[:, None], places, found), 1.0 / masses[:, 0]

    def kept(free: Particles) -> Particles:
        places = model.positions + moves * (next(ends) / settings.substeps)
        positions, velocities = free.positions, free.velocities
        if limit is not None:
            apart = positions - places
            reach = np.linalg.norm(apart, axis=1)
            far = reach > limit
            outward = apart / np.maximum(reach, 1e-300)[:, None]
            away = np.maximum(np.sum((velocities - drift) * outward, axis=1), 0.0)
            positions = np.where(far[:, None], places + limit[:, None] * outward, positions)
            velocities = np.where(far[:, None], velocities - away[:, None] * outward, velocities)
        return Particles(positions, velocities)

    gravity = constants_of(settings).gravity
    lines = MappedLines(heavy, settings, values, pulled, kept) if settings.has_lines else None
    for step in range(steps):
        acting = Actions(weights >= 1.0, model.positions + moves * (step + 1), colliders, skin=skin)
        if lines is not None:
            particles = lines.step(particles, acting, time=step * settings.step_time)
            continue
        gusts = gusts_at(settings, step * settings.step_time)
        for substep in range(settings.substeps):
            h = settings.substep_time
            free = _free(heavy, settings, particles, gusts).positions
            places, _ = pulled(particles.positions, free, (substep + 1) / settings.substeps)
            moved = Particles(places, (places - particles.positions) / h)
            fallen = particles.velocities + h * gravity
            hit = collided(
                model, settings, Particles(particles.positions, fallen), moved, acting,
                (substep + 1) / settings.substeps, values.get(ClothMap.FRICTION, 1.0), float(np.linalg.norm(gravity)),
                places - free,
            )  # fmt: skip
            held = (weights >= 1.0)[:, None]
            particles = kept(
                Particles(
                    *(np.where(held, a, b) for a, b in zip((moved.positions, moved.velocities), hit, strict=True))
                )
            )
    return particles


def _free(model: ClothModel, settings: ClothSettings, particles: Particles, gusts: Gusts) -> Particles:
    constants, h = constants_of(settings), settings.substep_time
    masses = (model.shares * constants.mass_scale)[:, None]
    forces = spring_forces(model, constants, particles) + air_forces(model, constants, particles, gusts)
    acceleration = constants.gravity + forces / masses - constants.air_drag * particles.velocities
    velocities = particles.velocities + h * acceleration
    return Particles(particles.positions + h * velocities, velocities)
