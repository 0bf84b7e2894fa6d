"""Gusty wind: a sum of random divergence-free waves that travel with the mean wind.

Velocity of the air at x and t: wind + Σ a_m cos(k_m · x + φ_m(t)), with every a_m at right angles to its k_m.

Source: R. H. Kraichnan 1970, "Diffusion by a random velocity field"; J. C. H. Fung et al. 1992, "Kinematic
simulation of homogeneous turbulence", for the turning of the eddies.
"""

import functools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sinew.sim.maths.arrays import Float64

Vec3 = tuple[float, float, float]

WAVE_COUNT = 8

_SPREAD = 2.0
"""Spread of wavelengths, which lie between the scale divided by this and the scale times this."""

_TURNING = 0.5
"""Angular frequency of an eddy over its wave number times the speed of the gusts."""


@dataclass(frozen=True, slots=True)
class Gusts:
    waves: Float64
    amplitudes: Float64


class WindSettings(Protocol):
    @property
    def wind(self) -> Vec3:
        """Mean velocity [m/s]."""

    @property
    def turbulence(self) -> float:
        """Root mean square speed of the gusts [m/s]."""

    @property
    def turbulence_scale(self) -> float:
        """Size of the gusts [m]."""

    @property
    def turbulence_seed(self) -> int:
        """Seed of the random waves."""


class Travel(Protocol):
    @property
    def wind(self) -> Vec3:
        """Way of the air [m]."""

    @property
    def turbulence(self) -> float:
        """Integral of the speed of the gusts [m]."""


def gusts_at(settings: WindSettings, time: float, travel: Travel | None = None) -> Gusts:
    """Returns the gusts at `time` [s] from the start; phases are in 0 to 2π.

    Args:
        travel: Since the start, if wind or gusts have changed; otherwise they follow from `time`.
    """
    direction, across, ratio, start = _random_waves(settings.turbulence_seed)
    number = 2.0 * np.pi * ratio / settings.turbulence_scale
    wave = direction * number[:, None]
    # Each wave has a mean square of half its amplitude squared; together they are the square of the strength.
    amplitudes = across * (settings.turbulence * np.sqrt(2.0 / WAVE_COUNT))
    if travel is None:
        turned = (_TURNING * number * settings.turbulence - wave @ np.asarray(settings.wind)) * time
    else:
        turned = _TURNING * number * travel.turbulence - wave @ np.asarray(travel.wind)
    phase = np.mod(start + turned, 2.0 * np.pi)
    return Gusts(np.concatenate([wave, phase[:, None]], axis=1), amplitudes)


@functools.lru_cache(maxsize=16)
def _random_waves(seed: int) -> tuple[Float64, Float64, Float64, Float64]:
    """Returns directions of travel and motion, unit vectors (M, 3); relative wave numbers and first phases, (M,)."""
    random = np.random.default_rng(seed)
    direction = _unit(random.normal(size=(WAVE_COUNT, 3)))
    ratio = _SPREAD ** random.uniform(-1.0, 1.0, WAVE_COUNT)
    across = _unit(np.cross(direction, random.normal(size=(WAVE_COUNT, 3))))
    return direction, across, ratio, random.uniform(0.0, 2.0 * np.pi, WAVE_COUNT)


def _unit(vectors: Float64) -> Float64:
    unit: Float64 = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
