"""What is drawn of particles, from their state alone; named as in shaders/emitter/shown.glsl."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.births import hash_number
from sim.kinds.emitter.settings import EmitterSettings
from sim.maths.hash import RandomStream, birth_numbers
from sim.scene.clock import STEP_TIME

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DrawnParticles:
    """What is drawn.

    Attributes:
        lives: Whether anything is, shape (n,).
        share: Of the life that is over, 0 to 1, shape (n,).
        size: Width [m], before the change over the life, shape (n,).
        random: A particle's own numbers for life, 0 to 1, shape (n, 3): picture, turn, one to spare.
    """

    lives: npt.NDArray[np.bool_]
    share: Float64
    size: Float64
    random: Float64


def shown_particles(settings: EmitterSettings, left: Float64, generations: npt.ArrayLike) -> DrawnParticles:
    """What is drawn of the first slots of an emitter.

    Args:
        settings: Of the emitter.
        left: Lives left [steps], shape (n,).
        generations: How often each slot was used before, shape (n,).
    """
    counted = np.asarray(generations).astype(np.int64)
    numbers = hash_number(np.arange(len(counted)), counted, settings.capacity)
    lives = birth_numbers(settings.seed, numbers, RandomStream.LIFE)
    life = settings.lifetime / STEP_TIME * (1.0 + settings.lifetime_variance * (2.0 * lives[:, 0] - 1.0))
    size = settings.size * (1.0 + settings.size_variance * (2.0 * lives[:, 2] - 1.0))
    share = np.clip(1.0 - left / life, 0.0, 1.0)
    return DrawnParticles(left >= 0.0, share, size, birth_numbers(settings.seed, numbers, RandomStream.LOOK))
