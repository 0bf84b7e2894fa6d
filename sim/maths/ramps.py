"""Colour ramps for pictures of magnitudes: perceptual, ordered in lightness, safe for colour-blind eyes.

A ramp is 256 sRGB colours, shape (256, 3), uint8, from the lowest value to the highest.
"""

import enum
import functools

import numpy as np
import numpy.typing as npt

UInt8 = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]

SIZE = 256


class Ramp(enum.Enum):
    """Ramps that exist; DIVERGING is for signed values, white at zero."""

    VIRIDIS = "viridis"
    CIVIDIS = "cividis"
    DIVERGING = "diverging"


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

# Ends and middle of the diverging ramp in Oklab (lightness, a, b): blue, white, orange, the ends equally dark.
_DIVERGING = np.array([[0.56, -0.035, -0.140], [0.97, 0.0, 0.0], [0.56, 0.095, 0.110]])

_LMS_FROM_LAB = np.array(
    [[1.0, 0.3963377774, 0.2158037573], [1.0, -0.1055613458, -0.0638541728], [1.0, -0.0894841775, -1.2914855480]]
)
_RGB_FROM_LMS = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@functools.cache
def ramp_colours(ramp: Ramp) -> UInt8:
    """Colours of a ramp, shape (256, 3), read-only."""
    place = np.linspace(0.0, 1.0, SIZE)
    if ramp is Ramp.VIRIDIS:
        srgb = _polynomial(_VIRIDIS, place)
    elif ramp is Ramp.CIVIDIS:
        srgb = _polynomial(_CIVIDIS, place) / 255.0
    else:
        srgb = _srgb_from_oklab(_diverging_lab(place))
    colours = np.rint(np.clip(srgb, 0.0, 1.0) * 255.0).astype(np.uint8)
    colours.flags.writeable = False
    return colours


def _polynomial(coefficients: Float64, place: Float64) -> Float64:
    powers = place[:, None] ** np.arange(len(coefficients))
    values: Float64 = powers @ coefficients
    return values


def _diverging_lab(place: Float64) -> Float64:
    stops = np.array([0.0, 0.5, 1.0])
    return np.stack([np.interp(place, stops, _DIVERGING[:, channel]) for channel in range(3)], axis=1)


def _srgb_from_oklab(lab: Float64) -> Float64:
    """sRGB 0 to 1 of Oklab colours, shape (n, 3).  Source: B. Ottosson 2020, "A perceptual color space"."""
    linear = np.clip((lab @ _LMS_FROM_LAB.T) ** 3 @ _RGB_FROM_LMS.T, 0.0, 1.0)
    curved = 1.055 * np.maximum(linear, 0.0031308) ** (1.0 / 2.4) - 0.055
    encoded: Float64 = np.where(linear <= 0.0031308, 12.92 * linear, curved)
    return encoded
