from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.line_oracle import Family, LineOracle, bending_matrix, thomas
from sinew.sim.kinds.cloth.line_solver import INERTIA, SUBSTEPS_OF_INERTIA
from sinew.sim.kinds.cloth.maps import ClothMap, Values
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import gusts_at
from tests.oracles.cloth import Actions, Particles

__all__ = ["LineOracle", "MappedLines", "MeasuredLines", "bending_matrix", "run", "strains", "thomas"]

Float64 = npt.NDArray[np.float64]


class MappedLines(LineOracle):
    """With painted maps; `model` has the masses of theirs.  A substep pulls before contacts, and ends with `kept`."""

    def __init__(
        self, model: ClothModel, settings: ClothSettings, values: Values,
        pull: Callable[[Float64, Float64, float], tuple[Float64, Float64]], kept: Callable[[Particles], Particles],
    ) -> None:  # fmt: skip
        super().__init__(model, settings)
        self.friction, self.pull, self._kept = values.get(ClothMap.FRICTION, 1.0), pull, kept
        if ClothMap.STRETCH in values and model.grid is not None:
            at = values[ClothMap.STRETCH]
            self.families = [
                replace(one, factors=one.factors * (at[one.particles[:, 1:]] + at[one.particles[:, :-1]]) / 2.0)
                for one in self.families
            ]
        if ClothMap.BEND in values and self.bending is not None:
            self.bending = bending_matrix(model, values[ClothMap.BEND])

    def substep(
        self, particles: Particles, actions: Actions, gusts: Any, share: float, fraction: float, inertia: Any = 1.0,
        *, adds_load: bool = False,
    ) -> Particles:  # fmt: skip
        found = super().substep(particles, actions, gusts, share, fraction, inertia, adds_load=adds_load)
        return found if adds_load else self._kept(found)


class MeasuredLines(LineOracle):
    """Also measures what a substep leaves."""

    def measured(self, particles: Particles, actions: Actions, *, time: float) -> tuple[float, Float64]:
        """Largest load, and the largest error of the edges at each particle, of a substep from here."""
        gusts, count = gusts_at(self.settings, time), self.settings.substeps
        self.loads, self._solved = np.zeros(self.model.particle_count), list[tuple[Any, ...]]()
        self.substep(particles, actions, gusts, 1.0 / count, 1.0, adds_load=True)
        inertia = np.maximum(1.0, INERTIA * max(1.0, SUBSTEPS_OF_INERTIA / count) * self.loads)
        self._solved = []
        self.substep(particles, actions, gusts, 1.0 / count, 1.0, inertia)
        return float(self.loads.max()), self._errors()

    def _solve(
        self, family: Family, places: Float64, before: Float64, inverse: Float64, heavy: npt.NDArray[np.bool_], *,
        adds_load: bool,
    ) -> Float64:  # fmt: skip
        impulse = super()._solve(family, places, before, inverse, heavy, adds_load=adds_load)
        self._solved.append((family, places, before, impulse))  # later families move the places
        return impulse

    def _errors(self) -> Float64:
        h, found = self.settings.substep_time, np.zeros(self.model.particle_count)
        for family, places, before, impulse in self._solved:
            stiffness = self.constants.stiffness[family.kind]
            if stiffness == 0.0:
                continue
            exists, rate = family.factors > 0.0, self.constants.damping[family.kind] / (stiffness * h)
            apart = np.diff(places[family.particles], axis=1)
            length = np.linalg.norm(apart, axis=2)
            moved = apart - np.diff(before[family.particles], axis=1)
            damped = rate * np.sum(apart * moved, axis=2) / np.maximum(length, 1e-20)
            elastic = impulse / (stiffness * np.where(exists, family.factors, 1.0) * h * h)
            left = np.abs(length - family.rest + damped + elastic) / (1.0 + rate)
            left = np.where(exists, left / np.where(exists, family.rest, 1.0), 0.0)
            for ends in (family.particles[:, :-1], family.particles[:, 1:]):
                np.maximum.at(found, ends, left)
        return found


def run(
    model: ClothModel, settings: ClothSettings, steps: int, actions: Actions | None = None, *,
    start: Particles | None = None,
) -> Particles:  # fmt: skip
    """Steps from rest, or from `start`."""
    solver = LineOracle(model, settings)
    particles = start or Particles(model.positions.copy(), np.zeros_like(model.positions))
    acting = actions or Actions(model.pinned(settings), model.positions)
    for index in range(steps):
        particles = solver.step(particles, acting, time=index * settings.step_time)
    return particles


def strains(model: ClothModel, places: Float64) -> Float64:
    """Elongation of each thread over its rest length."""
    threads: Sequence[npt.NDArray[np.int32]] = model.springs.of_kind(SpringKind.STRUCTURAL).pairs.T
    rest = model.springs.of_kind(SpringKind.STRUCTURAL).rest
    found: Float64 = np.linalg.norm(places[threads[0]] - places[threads[1]], axis=1) / rest - 1.0
    return found
