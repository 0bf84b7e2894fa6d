"""The line solver in double precision: small steps, exact solves of each thread, bending by a dense system.

References: M. Macklin et al. 2019, "Small steps in physics simulation"; L. H. Thomas 1949 for the tridiagonal solve.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.line_solver import INERTIA, SUBSTEPS_OF_INERTIA
from sinew.sim.kinds.cloth.lines import LineFamily, grid_bending, mesh_bending, mesh_families
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.oracle import (
    ClothActions,
    ClothParticles,
    air_forces,
    air_velocity,
    collided,
    pressure_forces,
    touches,
)
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import Gusts, gusts_at

Float64 = npt.NDArray[np.float64]

TRUST = 0.25
"""As in shaders/cloth/line_edge.glsl."""

TURN = 0.98
"""Cosine of the turn of an edge, as in shaders/cloth/line_edge.glsl."""


@dataclass(frozen=True, slots=True)
class Family:
    """Paths side by side: particles (L, N), rest lengths [m] and factors (L, N - 1) of the edges.

    Shorter paths repeat their last particle, with factors of 0.
    """

    particles: npt.NDArray[np.int64]
    rest: Float64
    factors: Float64
    kind: SpringKind


def thomas(lower: Float64, diagonal: Float64, upper: Float64, right: Float64) -> Float64:
    """Solves tridiagonal systems, one in each row; the first of `lower` and the last of `upper` are not used."""
    across, found = np.zeros_like(right), np.zeros_like(right)
    pivot = diagonal[:, 0]
    found[:, 0] = right[:, 0] / pivot
    for i in range(1, right.shape[1]):
        across[:, i - 1] = upper[:, i - 1] / pivot
        pivot = diagonal[:, i] - lower[:, i] * across[:, i - 1]
        found[:, i] = (right[:, i] - lower[:, i] * found[:, i - 1]) / pivot
    for i in range(right.shape[1] - 2, -1, -1):
        found[:, i] -= across[:, i] * found[:, i + 1]
    return found


def families(model: ClothModel) -> list[Family]:
    """Returns families in the order in which they are solved."""
    if model.grid is None:
        springs = model.springs.of_kind(SpringKind.STRUCTURAL)
        return [_of_mesh(family) for family in mesh_families(springs, model.positions)]
    numbers, shape, factor = model.grid.numbers(), model.grid, model.spring_factors()
    slants, found = range(1 - shape.rows, shape.columns), []
    for sheet in (numbers, numbers[:, ::-1]):
        lines = [sheet.diagonal(k) for k in slants]
        rest = [np.full(len(line) - 1, shape.diagonal) for line in lines]
        factors = [np.full(len(line) - 1, factor["diagonal"]) for line in lines]
        found.append(_side_by_side(lines, rest, factors, SpringKind.SHEAR))
    for threads, length, name in ((numbers, shape.across, "across"), (numbers.T, shape.along, "along")):
        shares = np.full((threads.shape[0], threads.shape[1] - 1), factor[name])
        shares[[0, -1]] *= model.border_share
        found.append(Family(threads.astype(np.int64), np.full_like(shares, length), shares, SpringKind.STRUCTURAL))
    return found


def _of_mesh(family: LineFamily) -> Family:
    ends = np.flatnonzero(family.factors == 0.0) + 1
    lines = np.split(family.particles, ends[:-1])
    rest, factors = ([part[:-1] for part in np.split(values, ends[:-1])] for values in (family.rest, family.factors))
    return _side_by_side(lines, rest, factors, SpringKind.STRUCTURAL)


def _side_by_side(
    lines: Sequence[npt.NDArray[np.integer]], rest: list[Float64], factors: list[Float64], kind: SpringKind
) -> Family:
    longest = max(map(len, lines))
    particles = np.array([[*line, *[line[-1]] * (longest - len(line))] for line in lines], np.int64)
    lengths, shares = (
        np.array([[*part, *[0.0] * (longest - 1 - len(part))] for part in parts], np.float64)
        for parts in (rest, factors)
    )
    return Family(particles, lengths, shares, kind)


def bending_matrix(model: ClothModel, factors: Float64) -> Float64:
    """Returns second derivatives of the bending energy for a stiffness of `factors` (P,) [1/m²], shape (P, P)."""
    count = model.particle_count
    matrix = np.zeros((count, count))
    if model.grid is None:
        found = mesh_bending(model.positions, model.faces, factors)
        matrix[found.rows, found.columns] = found.weights
        matrix[np.arange(count), np.arange(count)] = -matrix.sum(axis=1)
        return matrix
    numbers, second = model.grid.numbers(), np.array([1.0, -2.0, 1.0])
    for weight, lines in zip(grid_bending(model.grid), (numbers, numbers.T), strict=True):
        for index, line in enumerate(lines):
            share = 0.5 if index in (0, len(lines) - 1) else 1.0
            for i in range(1, len(line) - 1):
                three = line[i - 1 : i + 2]
                matrix[np.ix_(three, three)] += factors[line[i]] * share * weight * np.outer(second, second)
    return matrix


def step(
    model: ClothModel, settings: ClothSettings, particles: ClothParticles, actions: ClothActions, *, time: float = 0.0
) -> ClothParticles:
    """As `sinew.sim.kinds.cloth.oracle.step`."""
    return LineOracle(model, settings).step(particles, actions, time=time)


class LineOracle:
    """The line solver for one model and its settings."""

    def __init__(self, model: ClothModel, settings: ClothSettings) -> None:
        self.model, self.settings = model, settings
        self.constants = constants_of(settings)
        self.families = families(model)
        bends = settings.bend_stiffness > 0.0
        self.bending = bending_matrix(model, np.ones(model.particle_count)) if bends else None
        self._inverse: tuple[bytes, Float64] | None = None
        self.friction: Float64 | float = 1.0
        # By pins: from places at the start of a substep and without threads to places and factors of inverse
        # masses; the last number is the fraction of the step at the end of the substep
        self.pull: Callable[[Float64, Float64, float], tuple[Float64, Float64]] | None = None

    def step(self, particles: ClothParticles, actions: ClothActions, *, time: float = 0.0) -> ClothParticles:
        gusts, count = gusts_at(self.settings, time, actions.travel), self.settings.substeps
        self.loads = np.zeros(self.model.particle_count)
        self.substep(particles, actions, gusts, 1.0 / count, 1.0, adds_load=True)
        inertia = np.maximum(1.0, INERTIA * max(1.0, SUBSTEPS_OF_INERTIA / count) * self.loads)
        for index in range(count):
            share, fraction = 1.0 / (count - index), (index + 1) / count
            particles = self.substep(particles, actions, gusts, share, fraction, inertia)
        return particles

    def substep(
        self, particles: ClothParticles, actions: ClothActions, gusts: Gusts, share: float, fraction: float,
        inertia: Float64 | float = 1.0, *, adds_load: bool = False,
    ) -> ClothParticles:  # fmt: skip
        model, settings, constants, h = self.model, self.settings, self.constants, self.settings.substep_time
        before, velocities = particles.positions, particles.velocities
        inverse = np.where(actions.held, 0.0, 1.0 / (model.shares * constants.mass_scale))
        force = air_forces(model, constants, particles, gusts)
        wind = air_velocity(constants.wind, gusts, before) - velocities
        force = np.where(np.sum(force * wind, axis=1)[:, None] > 0.0, force, 0.0)
        size, speed = np.linalg.norm(force, axis=1), np.linalg.norm(wind, axis=1)
        resisted = 1.0 + h * inverse * size / np.maximum(speed, 1e-20)
        acceleration = constants.gravity + force * (inverse / resisted)[:, None]
        acceleration = acceleration + pressure_forces(model, constants, particles) * inverse[:, None]
        inverse, acceleration = inverse / inertia, acceleration / np.reshape(inertia, (-1, 1))
        places = before + h * (velocities / (1.0 + h * constants.air_drag) + h * acceleration)
        held = actions.held[:, None]
        if self.pull is not None and not adds_load:
            places, factors = self.pull(before, places, fraction)
            inverse = inverse * factors
        places = np.where(held, before + share * (actions.targets - before), places)
        places = self._bent(places, inverse)
        heavy = np.full(len(places), adds_load) | (np.broadcast_to(inertia, len(places)) > 1.0)
        for family in self.families:
            self._solve(family, places, before, inverse, heavy, adds_load=adds_load)
        velocities = (places - before) / h
        if settings.self_collision:
            change, push = touches(model, settings, ClothParticles(places, velocities))
            free = np.where(held, 0.0, 1.0)
            velocities, places = velocities + free * change, places + free * (h * change + push)
        moved, fallen = ClothParticles(places, velocities), particles.velocities + h * self.constants.gravity
        pulled = np.zeros(3)
        if self.pull is not None and not adds_load:
            pulled = self.pull(before, before + h * fallen, fraction)[0] - (before + h * fallen)
        pressing = float(np.linalg.norm(self.constants.gravity))
        start = ClothParticles(before, fallen)
        hit, hit_velocities = collided(
            model, settings, start, moved, actions, fraction, self.friction, pressing, pulled
        )
        return ClothParticles(np.where(held, places, hit), np.where(held, velocities, hit_velocities))

    def _bent(self, places: Float64, inverse: Float64) -> Float64:
        if self.bending is None:
            return places
        key = inverse.tobytes()
        if self._inverse is None or self._inverse[0] != key:
            h = self.settings.substep_time
            matrix = np.eye(len(places)) + h * h * self.settings.bend_stiffness * inverse[:, None] * self.bending
            self._inverse = key, np.asarray(np.linalg.inv(matrix), np.float64)
        bent: Float64 = self._inverse[1] @ places
        return bent

    def _solve(
        self, family: Family, places: Float64, before: Float64, inverse: Float64, heavy: npt.NDArray[np.bool_], *,
        adds_load: bool,
    ) -> Float64:  # fmt: skip
        """Returns the impulses of the edges times the substep; `heavy` particles (P,) have more inertia."""
        h, constants, kind = self.settings.substep_time, self.constants, family.kind
        if constants.stiffness[kind] == 0.0:
            return np.zeros_like(family.rest)
        exists = family.factors > 0.0
        rate = constants.damping[kind] / (constants.stiffness[kind] * h)
        here, weight = places[family.particles], inverse[family.particles]
        apart = np.diff(here, axis=1)
        length = np.linalg.norm(apart, axis=2)
        along = apart / np.maximum(length, 1e-20)[..., None]
        former = np.diff(before[family.particles], axis=1)
        moved = np.sum(along * (apart - former), axis=2)
        stiffness = constants.stiffness[kind] * np.where(exists, family.factors, 1.0)
        both_weights = weight[:, :-1] + weight[:, 1:]
        reach = np.maximum(np.linalg.norm(former, axis=2), 1e-20)
        start = former / reach[..., None]
        scale = INERTIA * max(1.0, SUBSTEPS_OF_INERTIA / self.settings.substeps)
        lighter = scale * np.maximum(weight[:, :-1], weight[:, 1:])
        keeps = lighter * np.abs(reach - family.rest) * stiffness * h * h / reach < 1.0
        keeps &= (np.sum(start * along, axis=2) > TURN) & ~heavy[family.particles[:, :-1]]
        push = np.where((keeps & ~heavy[family.particles[:, 1:]])[..., None], start, along)
        error = (length - family.rest) / np.maximum(np.maximum(length, family.rest), 1e-20)
        compliance = np.maximum(1.0 / (stiffness * h * h * (1.0 + rate)), TRUST * error**2 * both_weights)
        diagonal = compliance + both_weights * np.sum(push * along, axis=2)
        both = exists[:, 1:] & exists[:, :-1]
        lower, upper = np.zeros_like(length), np.zeros_like(length)
        lower[:, 1:] = np.where(both, -weight[:, 1:-1] * np.sum(push[:, :-1] * along[:, 1:], axis=2), 0.0)
        upper[:, :-1] = np.where(both, -weight[:, 1:-1] * np.sum(along[:, :-1] * push[:, 1:], axis=2), 0.0)
        right = np.where(exists, -(length - family.rest + rate * moved) / (1.0 + rate), 0.0)
        impulse = thomas(lower, diagonal, upper, right)
        if adds_load:
            load = 0.5 * np.maximum(-impulse, 0.0) / np.maximum(length, 1e-20)
            np.add.at(self.loads, family.particles[:, :-1], weight[:, :-1] * load)
            np.add.at(self.loads, family.particles[:, 1:], weight[:, 1:] * load)
        push = np.where((lighter * np.abs(impulse) < np.maximum(length, 1e-20))[..., None], push, along)
        pull = impulse[..., None] * push
        np.subtract.at(places, family.particles[:, :-1], weight[:, :-1, None] * pull)
        np.add.at(places, family.particles[:, 1:], weight[:, 1:, None] * pull)
        return impulse
