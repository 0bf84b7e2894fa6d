"""Random numbers as a hash of (seed, birth number, channel), without state, the same on every machine.

The functions have the names and bits of shaders/common/hash.glsl.

Source: M. Jarzynski, M. Olano 2020, "Hash functions for GPU rendering", JCGT 9(3), functions pcg, pcg3d and pcg4d.
"""

import enum

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, UInt32

_MULTIPLIER = np.uint32(1664525)
_INCREMENT = np.uint32(1013904223)
_HALF = np.uint32(16)
_SPARE_BITS = np.uint32(8)
UNIT = 2.0**-24
"""Unit of random numbers: a float32 has 24 bits, so only the upper ones of a hash are used."""


class RandomStream(enum.IntEnum):
    """Streams of random numbers: uses of three channels of a birth; the shaders use the same numbers."""

    LIFE = 0
    """Lifetime, speed, size."""
    DIRECTION = 1
    """Two numbers of the direction, and the age of a particle that exists from the start."""
    PLACE = 2
    """Position within the source; on a surface the face and the position on it."""
    LOOK = 3
    """Image of the atlas, rotation, brightness."""


def pcg(values: UInt32) -> UInt32:
    """Returns hashes of any shape; different integers have different ones."""
    state = values * np.uint32(747796405) + np.uint32(2891336453)
    word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
    mixed: UInt32 = (word >> np.uint32(22)) ^ word
    return mixed


def pcg3d(values: UInt32) -> UInt32:
    """Returns hashes, shape (..., 3)."""
    v = values * _MULTIPLIER + _INCREMENT
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    for shift in (True, False):
        x = x + y * z
        y = y + z * x
        z = z + x * y
        if shift:
            x, y, z = (part ^ (part >> _HALF) for part in (x, y, z))
    return np.stack([x, y, z], axis=-1)


def pcg4d(values: UInt32) -> UInt32:
    """Returns hashes, shape (..., 4)."""
    v = values * _MULTIPLIER + _INCREMENT
    x, y, z, w = (v[..., index] for index in range(4))
    for shift in (True, False):
        x = x + y * w
        y = y + z * x
        z = z + x * y
        w = w + y * z
        if shift:
            x, y, z, w = (part ^ (part >> _HALF) for part in (x, y, z, w))
    return np.stack([x, y, z, w], axis=-1)


def birth_bits(seed: int, numbers: npt.ArrayLike, group: int) -> UInt32:
    """Returns random bits, three channels for each birth number (n,), shape (n, 3); numbers count modulo 2³²."""
    # pcg3d alone gives similar bits for numbers that differ only in their upper bits, as of one slot.
    counted = pcg(np.asarray(numbers, dtype=np.uint32))
    values = np.empty((*counted.shape, 3), np.uint32)
    values[..., 0], values[..., 1], values[..., 2] = counted, np.uint32(seed), np.uint32(group)
    return pcg3d(values)


def unit_numbers(bits: UInt32) -> Float64:
    """Returns numbers in [0, 1), from the upper 24 bits; each is exact as a float32 too."""
    return (bits >> _SPARE_BITS).astype(np.float64) * UNIT


def birth_numbers(seed: int, numbers: npt.ArrayLike, group: int) -> Float64:
    """Returns three channels of numbers in [0, 1) for each birth number (n,), shape (n, 3)."""
    return unit_numbers(birth_bits(seed, numbers, group))
