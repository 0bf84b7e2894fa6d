from dataclasses import dataclass

import numpy as np

from sinew.sim.kinds.cloth.material import ClothConstants
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.oracle import ClothActions as Actions
from sinew.sim.kinds.cloth.oracle import ClothParticles as Particles
from sinew.sim.kinds.cloth.oracle import lengthening, step
from sinew.sim.kinds.cloth.springs import SpringKind

__all__ = ["Actions", "Particles", "at_rest", "energies", "step"]


@dataclass(frozen=True, slots=True)
class Energies:
    """Kinetic, elastic and potential energy [J]; the largest strain of a thread."""

    kinetic: float
    elastic: float
    potential: float
    strain: float


def at_rest(model: ClothModel) -> Particles:
    return Particles(model.positions.copy(), np.zeros_like(model.positions))


def energies(model: ClothModel, constants: ClothConstants, particles: Particles) -> Energies:
    """Energies of a state; the potential energy counts from the world's origin."""
    springs, masses = model.springs, model.shares * constants.mass_scale
    first, second = springs.pairs.T
    length = np.linalg.norm(particles.positions[first] - particles.positions[second], axis=1)
    longer, held = length - springs.rest, lengthening(model, constants, length)
    stiffness = springs.factors * constants.stiffness[springs.kinds]
    threads = springs.kinds == SpringKind.STRUCTURAL
    return Energies(
        kinetic=float(0.5 * np.sum(masses * np.sum(particles.velocities**2, axis=1))),
        elastic=float(np.sum(stiffness * held * (longer - 0.5 * held))),
        potential=float(-np.sum(masses * (particles.positions @ constants.gravity))),
        strain=float((longer[threads] / springs.rest[threads]).max(initial=-1.0)),
    )
