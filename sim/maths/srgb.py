"""Conversion of sRGB as in IEC 61966-2-1; components from 0 to 1, any shape."""

import functools
import math

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64

Colour = tuple[float, float, float]


def srgb_from_linear(linear: npt.ArrayLike) -> Float64:
    light = np.asarray(linear, np.float64)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0031308) ** (1.0 / 2.4) - 0.055)


def linear_from_srgb(encoded: npt.ArrayLike) -> Float64:
    code = np.asarray(encoded, np.float64)
    return np.where(code <= 0.04045, code / 12.92, ((np.maximum(code, 0.04045) + 0.055) / 1.055) ** 2.4)


@functools.lru_cache(maxsize=64)
def light_of(colour: Colour) -> Colour:
    red, green, blue = (part / 12.92 if part <= 0.04045 else math.pow((part + 0.055) / 1.055, 2.4) for part in colour)
    return red, green, blue
