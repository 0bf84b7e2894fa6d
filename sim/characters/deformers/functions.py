"""The deformers in double precision on the CPU, for boxes, for single points, and for what the GPU is compared with.

Each is the function of its name in `shaders/model/deformers`, for many points: values (12,), points (N, 3), their unit
normals (N, 3), how strongly it acts (N,) and the slope of that (N, 3), to places (N, 3) and their derivatives
(N, 3, 3).
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Moved = tuple[Float64, Float64]

_SMALL = 1e-2
"""Angle [rad] below which quotients of sines are series."""


def bulge(values: Float64, points: Float64, normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, number, (size, start, swing) = values[:3], values[3], values[4:7]
    phase = number * (points @ axis) + start
    height = 0.5 * size * (1.0 + swing * np.sin(phase))
    change = (0.5 * strength * size * swing * number * np.cos(phase))[:, None] * axis + height[:, None] * slope
    return points + (strength * height)[:, None] * normals, np.eye(3) + _outer(normals, change)


def twist(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    """A turn about an axis that grows along it."""
    axis, centre, rate = values[:3], values[4:7], values[8]
    _, along, inside = _along(values, points)
    angle = rate * strength * along
    change = rate * (along[:, None] * slope + (strength * inside)[:, None] * axis)
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    around = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    turn = cosine * np.eye(3) + (1.0 - cosine) * np.outer(axis, axis) + sine * around
    moved = (turn @ (points - centre)[..., None])[..., 0]
    return centre + moved, turn + _outer(np.cross(axis, moved), change)


def bend(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    """An arc made of a part of an axis."""
    axis, centre, towards = values[:3], values[4:7], values[8:11]
    height, along, inside = _along(values, points)
    beyond, across, curvature = height - along, (points - centre) @ towards, values[11] * strength
    angle = curvature * along
    x, y = np.cos(angle), np.sin(angle)
    small, safe = np.abs(angle) < _SMALL, np.where(np.abs(angle) < _SMALL, 1.0, angle)
    sine = np.where(small, 1.0 - angle**2 / 6.0 + angle**4 / 120.0, y / safe)
    cosine = np.where(small, angle / 2.0 - angle**3 / 24.0, (1.0 - x) / safe)
    sine_slope = np.where(small, -angle / 3.0 + angle**3 / 30.0, (x - sine) / safe)
    cosine_slope = np.where(small, 0.5 - angle**2 / 8.0, (y - cosine) / safe)
    up = along * sine - across * y + beyond * x - height
    side = along * cosine + across * x + beyond * y - across
    stretch = np.where(inside, 1.0 - curvature * across, 1.0)
    by_height = _both(stretch * x, stretch * y, axis, towards) - axis
    by_across = _both(-y, x, axis, towards) - towards
    by_curvature = _both(
        along * (along * sine_slope - across * x - beyond * y),
        along * (along * cosine_slope - across * y + beyond * x),
        axis,
        towards,
    )
    jacobian = np.eye(3) + by_height[..., None] * axis + by_across[..., None] * towards
    return points + _both(up, side, axis, towards), jacobian + _outer(by_curvature, values[11] * slope)


def taper(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    """A part of an axis made gradually wider or thinner."""
    axis, centre, length, more = values[:3], values[4:7], values[7], values[8]
    _, along, inside = _along(values, points)
    part = along / length
    change = more * (part[:, None] * slope + (strength * inside / length)[:, None] * axis)
    only = np.eye(3) - np.outer(axis, axis)
    across, grown = (points - centre) @ only, more * strength * part
    jacobian = np.eye(3) + grown[:, None, None] * only + _outer(across, change)
    return points + grown[:, None] * across, jacobian


def wave(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    """A wave along an axis that swings to one side."""
    axis, number, towards, size = values[:3], values[3], values[4:7], values[7]
    phase = number * (points @ axis) + values[8]
    height = size * np.sin(phase)
    change = (strength * size * number * np.cos(phase))[:, None] * axis + height[:, None] * slope
    return points + (strength * height)[:, None] * towards, np.eye(3) + towards[:, None] * change[:, None, :]


MOVES: Mapping[str, Callable[[Float64, Float64, Float64, Float64, Float64], Moved]] = {
    function.__name__: function for function in (bulge, twist, bend, taper, wave)
}
"""The functions by their names."""


def _along(values: Float64, points: Float64) -> tuple[Float64, Float64, npt.NDArray[np.bool_]]:
    """Heights over the start along the axis, the same within the part that changes, and whether they are in it."""
    height = points @ values[:3] - values[3]
    along = np.clip(height, 0.0, values[7])
    return height, along, along == height


def _outer(one: Float64, other: Float64) -> Float64:
    """Products of columns and rows, (N, 3) each, shape (N, 3, 3)."""
    product: Float64 = one[:, :, None] * other[:, None, :]
    return product


def _both(first: Float64, second: Float64, axis: Float64, towards: Float64) -> Float64:
    """Vectors with parts (N,) of two directions, shape (N, 3)."""
    return np.outer(first, axis) + np.outer(second, towards)
