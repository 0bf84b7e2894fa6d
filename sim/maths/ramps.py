"""Ramps of 256 sRGB colours, perceptual, ordered in lightness, safe for colour-blind users."""

import enum
import functools

import numpy as np

from sinew.sim.maths.arrays import Float64, UInt8

SIZE = 256


class Ramp(enum.Enum):
    VIRIDIS = "viridis"
    CIVIDIS = "cividis"


# Coefficients by rising power, red green blue; sRGB 0 to 1.
# Source: M. Zucker, polynomial fit of matplotlib's viridis (public domain).
_VIRIDIS = np.array(
    [
        [0.2777273272234177, 0.005407344544966578, 0.3340998053353061],
        [0.1050930431085774, 1.404613529898575, 1.384590162594685],
        [-0.3308618287255563, 0.214847559468213, 0.09509516302823659],
        [-4.634230498983486, -5.799100973351585, -19.33244095627987],
        [6.228269936347081, 14.17993336680509, 56.69055260068105],
        [4.776384997670288, -13.74514537774601, -65.35303263337234],
        [-5.435455855934631, 4.645852612178535, 26.3124352495832],
    ]
)

# Source: J. R. Nuñez, C. R. Anderton, R. S. Renslow 2018, "Optimizing colormaps with consideration for color
# vision deficiency", in the polynomial form that d3-scale-chromatic publishes; sRGB 0 to 255.
_CIVIDIS = np.array(
    [
        [-4.54, 32.49, 81.24],
        [-35.34, 170.73, 442.36],
        [2381.73, 52.82, -2482.43],
        [-6402.7, -131.46, 6167.24],
        [7024.72, 176.58, -6614.94],
        [-2710.57, -67.37, 2475.67],
    ]
)


@functools.cache
def ramp_colours(ramp: Ramp) -> UInt8:
    """Returns colours, shape (256, 3), from the lowest value to the highest, read-only."""
    place = np.linspace(0.0, 1.0, SIZE)
    srgb = _polynomial(_VIRIDIS, place) if ramp is Ramp.VIRIDIS else _polynomial(_CIVIDIS, place) / 255.0
    colours = np.rint(np.clip(srgb, 0.0, 1.0) * 255.0).astype(np.uint8)
    colours.flags.writeable = False
    return colours


def _polynomial(coefficients: Float64, place: Float64) -> Float64:
    powers = place[:, None] ** np.arange(len(coefficients))
    values: Float64 = powers @ coefficients
    return values
