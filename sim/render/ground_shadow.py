"""Part of the ground that the shadow of the scene can reach; only there is the shadow map looked up."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

Vec2 = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GroundRectangle:
    """Rectangle on the ground, in coordinates along `axis` and across it, both from the world's origin [m].

    Attributes:
        axis: Unit vector (x, z); "across" is (-z, x).
        lo, hi: Corners (along, across); infinite where the shadow has no end.
    """

    axis: Vec2
    lo: Vec2
    hi: Vec2

    def clipped(self, lo: Vec2, hi: Vec2) -> tuple[Vec2, Vec2]:
        """The part inside another rectangle with the same axis; of zero size where there is none."""
        return _clipped(self.lo, lo, hi), _clipped(self.hi, lo, hi)

    def within(self, x: float, z: float) -> Vec2:
        """Coordinates (along, across) of a place."""
        return self.axis[0] * x + self.axis[1] * z, self.axis[0] * z - self.axis[1] * x


NO_SHADOW = GroundRectangle((1.0, 0.0), (0.0, 0.0), (0.0, 0.0))


def shadow_rectangle(light: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> GroundRectangle:
    """Rectangle that holds the shadow of a box on the plane y = 0.

    Args:
        light: Position of the light [m], (3,).
        lo, hi: Corners of the box [m], (3,).

    Returns:
        A rectangle along the light's direction; of zero size for a box below the ground, infinite for a light that
        is not above all of the box.
    """
    x, height, z = light
    axis = _direction(light, lo, hi)
    if height > 0.0 > hi[1]:
        return GroundRectangle(axis, (0.0, 0.0), (0.0, 0.0))
    if height <= max(hi[1], 0.0) * 1.001:
        return GroundRectangle(axis, (-math.inf, -math.inf), (math.inf, math.inf))
    along, across = [], []
    for right, up, near in itertools.product((lo[0], hi[0]), (max(lo[1], 0.0), hi[1]), (lo[2], hi[2])):
        stretch = height / (height - up)
        thrown_x, thrown_z = x + (right - x) * stretch, z + (near - z) * stretch
        along.append(axis[0] * thrown_x + axis[1] * thrown_z)
        across.append(axis[0] * thrown_z - axis[1] * thrown_x)
    return GroundRectangle(axis, (min(along), min(across)), (max(along), max(across)))


def _direction(light: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> Vec2:
    """Unit vector (x, z) from below the light to the middle of a box; the x axis straight below."""
    x, z = (lo[0] + hi[0]) / 2.0 - light[0], (lo[2] + hi[2]) / 2.0 - light[2]
    distance = math.hypot(x, z)
    return (x / distance, z / distance) if distance > 1e-9 * max(1.0, *map(abs, light)) else (1.0, 0.0)


def _clipped(place: Vec2, lo: Vec2, hi: Vec2) -> Vec2:
    return min(max(place[0], lo[0]), hi[0]), min(max(place[1], lo[1]), hi[1])
