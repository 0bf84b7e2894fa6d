"""Panoramas: light from all directions, with what shading needs of it.

The middle of a panorama is along +z, -x is to the right of it, row 0 is at the top.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.sim.maths.arrays import Float32, Float64

IRRADIANCE_EDGE = 33
"""Edge of the map of irradiance [texel]; see `octahedron_directions`."""

PANORAMA_MAX = 1024, 2048
"""Largest numbers of rows and columns of the panoramas that are kept."""

_SUNNY_SIZE, _SOFT_SIZE = (128, 64), (64, 32)
"""Sizes of panoramas for the map of irradiance, whose errors are below 0.3 % with a sun and without."""

_BAND_PIXELS = 1 << 20
"""Number of pixels that are averaged at a time, to limit temporary copies."""

STUDIO_SIZE = 128, 64
_GREY, _GROUND = 0.3, 0.55
_BOXES = (
    # azimuth and elevation [°], half width and half height on the tangent plane, radiance
    (-40.0, 40.0, 0.55, 0.45, 7.0),
    (65.0, 20.0, 0.35, 0.8, 2.0),
    (175.0, 35.0, 0.9, 0.25, 2.0),
    (0.0, 85.0, 0.8, 0.8, 1.2),
)
_EDGE = 0.06


@dataclass(frozen=True, slots=True, eq=False)
class Panorama:
    levels: tuple[Float32, ...]  # Linear RGB, (H, W, 3), each with half the edges of the one before, down to 1
    harmonics: Float64  # Irradiance over pi: factors of the polynomials of `polynomials`, (9, 3)
    irradiance: Float32  # Irradiance over pi on an octahedron, (IRRADIANCE_EDGE, IRRADIANCE_EDGE, 3)


def panorama(image: Float32, small_size: tuple[int, int] = _SUNNY_SIZE) -> Panorama:
    """Prepares a panorama of finite linear RGB, (H, W, 3), at most PANORAMA_MAX; takes some tenths of a second."""
    levels = [image]
    while max(levels[-1].shape[:2]) > 1:
        height, width = (max(edge >> 1, 1) for edge in levels[-1].shape[:2])
        levels.append(reduced(levels[-1], width, height))
    small = reduced(image, *small_size)
    weighted = (small * solid_angles(*small.shape[:2])[:, None, None]).reshape(-1, 3) / np.float32(math.pi)
    sources = directions(*small.shape[:2]).reshape(-1, 3).astype(np.float32)
    bands = np.array_split(octahedron_directions(IRRADIANCE_EDGE).reshape(-1, 3).astype(np.float32), 16)
    irradiance = np.concatenate([np.maximum(band @ sources.T, 0.0) @ weighted for band in bands])
    return Panorama(tuple(levels), harmonics_of(image), irradiance.astype(np.float32).reshape(IRRADIANCE_EDGE, -1, 3))


def reduced(image: Float32, width: int, height: int) -> Float32:
    """Averages an image by solid angle to at most this size."""
    return reduced_bands(lambda begin, end: image[begin:end], image.shape[:2], (height, width))


def reduced_bands(rows_of: Callable[[int, int], Float32], size: tuple[int, int], wanted: tuple[int, int]) -> Float32:
    """Averages an image like `reduced`; `rows_of(begin, end)` returns its rows, sizes are (rows, columns)."""
    rows, columns = size
    height, width = min(wanted[0], rows), min(wanted[1], columns)
    weights = solid_angles(rows, columns).astype(np.float32)
    ends = [*(np.arange(height) * rows // height).tolist(), rows]
    result = np.empty((height, width, 3), np.float32)
    step = max(_BAND_PIXELS * height // (rows * columns), 1)
    for top in range(0, height, step):
        bottom = min(top + step, height)
        begin, end = ends[top], ends[bottom]
        band = rows_of(begin, end)
        if height < rows:
            first = np.subtract(ends[top:bottom], begin)
            band = np.add.reduceat(band * weights[begin:end, None, None], first, axis=0)
            band /= np.add.reduceat(weights[begin:end], first)[:, None, None]
        if width < columns:
            first = np.arange(width) * columns // width
            band = np.add.reduceat(band, first, axis=1)
            band /= np.diff([*first, columns]).astype(np.float32)[:, None]
        result[top:bottom] = band
    return result


def solid_angles(height: int, width: int) -> Float64:
    """Returns the solid angle of a pixel of each row [sr], exactly; (H,)."""
    edges = np.cos(np.linspace(0.0, math.pi, height + 1))
    angles: Float64 = (edges[:-1] - edges[1:]) * (2.0 * math.pi / width)
    return angles


def directions(height: int, width: int) -> Float64:
    """Returns the directions of the middles of pixels, (H, W, 3)."""
    polar = (np.arange(height) + 0.5)[:, None] * (math.pi / height)
    turn = ((np.arange(width) + 0.5) / width - 0.5)[None] * (2.0 * math.pi)
    across = np.sin(polar)
    return np.stack([-across * np.sin(turn), np.cos(polar) + 0.0 * turn, across * np.cos(turn)], axis=-1)


def octahedron_directions(edge: int) -> Float64:
    """Returns the directions of the texels of an unfolded octahedron, (edge, edge, 3).

    An odd number has texels on all folds, which interpolation would otherwise round off.

    Source: Z. Cigolle et al. 2014, "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 3(2).
    """
    places = np.linspace(-1.0, 1.0, edge)
    z, x = np.meshgrid(places, places, indexing="ij")
    y = 1.0 - np.abs(x) - np.abs(z)
    lower_x, lower_z = (1.0 - np.abs(z)) * np.copysign(1.0, x), (1.0 - np.abs(x)) * np.copysign(1.0, z)
    found = np.stack([np.where(y >= 0.0, x, lower_x), y, np.where(y >= 0.0, z, lower_z)], axis=-1)
    unit: Float64 = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return unit


def harmonics_of(image: Float32) -> Float64:
    """Returns irradiance over pi as factors of `polynomials`, (9, 3), up to the second order.

    Source: R. Ramamoorthi, P. Hanrahan 2001, "An Efficient Representation for Irradiance Environment Maps".
    """
    height, width = image.shape[:2]
    edges = np.cos(np.linspace(0.0, math.pi, height + 1))
    above, below = edges[:-1, None], edges[1:, None]
    y, yy = (above + below) / 2.0, (above * above + above * below + below * below) / 3.0  # means over a pixel
    turn = ((np.arange(width) + 0.5) / width - 0.5)[None] * (2.0 * math.pi)
    across = np.sqrt(1.0 - y * y)
    x, z, xx = -across * np.sin(turn), across * np.cos(turn), (1.0 - yy) * np.sin(turn) ** 2
    values = polynomials(x, y, z, xx, yy, 1.0 - yy - xx)
    light = image.astype(np.float64) * solid_angles(height, width)[:, None, None]
    sums = np.array([np.tensordot(np.broadcast_to(one, (height, width)), light, 2) for one in values])
    squares = np.array([1.0, 3.0, 3.0, 3.0, 15.0, 15.0, 1.25, 15.0, 3.75]) / (4.0 * math.pi)
    bands = np.array([1.0, *[2.0 / 3.0] * 3, *[0.25] * 5])
    factors: Float64 = sums * (squares * bands)[:, None]
    return factors


def polynomials(
    x: Float64, y: Float64, z: Float64, xx: Float64, yy: Float64, zz: Float64
) -> tuple[Float64 | float, ...]:
    """Returns the nine polynomials of a direction for `harmonics_of`, from its components and their squares."""
    return 1.0, y, z, x, x * y, y * z, 3.0 * zz - 1.0, x * z, xx - yy


@functools.cache
def studio() -> Panorama:
    """Returns a grey room with soft boxes: a key at the front left, and weaker ones at the right, behind and above."""
    width, height = STUDIO_SIZE
    around = directions(height, width)
    light = _GREY * (_GROUND + (1.0 - _GROUND) * _step(around[..., 1], 0.0))
    for azimuth, elevation, half_width, half_height, radiance in _BOXES:
        a, e = math.radians(azimuth), math.radians(elevation)
        middle = np.array([math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e)])
        side = np.array([math.cos(a), 0.0, -math.sin(a)])
        ahead = np.maximum(around @ middle, 1e-6)
        u, v = np.abs(around @ side) / ahead, np.abs(around @ np.cross(middle, side)) / ahead
        light += radiance * (1.0 - _step(u, half_width)) * (1.0 - _step(v, half_height)) * (around @ middle > 0.0)
    return panorama(np.repeat(light[..., None], 3, axis=2).astype(np.float32), _SOFT_SIZE)


def _step(values: Float64, edge: float) -> Float64:
    share = np.clip((values - edge) / (2.0 * _EDGE) + 0.5, 0.0, 1.0)
    smooth: Float64 = share * share * (3.0 - 2.0 * share)
    return smooth
