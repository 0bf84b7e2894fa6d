import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyglm import glm

from sinew.sim.scene.camera import perspective, view_from_world

Vec2 = tuple[float, float]

_TEXTURE_FROM_CLIP = glm.translate(glm.dvec3(0.5)) * glm.scale(glm.dvec3(0.5))

_WIDEST_SINE = math.sin(math.radians(65.0))

_NEAREST = 1e-6
"""Distance [m] below which a light counts as being at the centre of the subject, and looks straight down."""

_FARTHEST = 1e4
"""Distance in radii of the subject beyond which the rays of a light count as parallel."""


def shadow_clip_from_world(light: Iterable[float], centre: Iterable[float], radius: float) -> glm.dmat4:
    """Returns the perspective projection from the light that just holds a sphere; lengths in metres.

    A light inside or close to the sphere sees a cone of at most 130 degrees; a very distant one is moved nearer.
    """
    eye, middle = glm.dvec3(*light), glm.dvec3(*centre)
    distance = glm.length(eye - middle)
    back = (eye - middle) / distance if _NEAREST < distance < math.inf else glm.dvec3(0.0, 1.0, 0.0)
    distance = max(distance, _NEAREST)
    if distance > _FARTHEST * radius:
        distance = _FARTHEST * radius
        eye = middle + distance * back
    upward = glm.dvec3(0.0, 1.0, 0.0) if abs(back.y) < 0.95 else glm.dvec3(1.0, 0.0, 0.0)
    right = glm.normalize(glm.cross(upward, back))
    half = math.tan(math.asin(min(radius / distance, _WIDEST_SINE)))
    near = max(distance - radius, 0.02 * radius, 1e-4)
    rotation = glm.dmat3(right, glm.cross(back, right), back)
    return perspective(half, half, near, distance + radius) * view_from_world(rotation, eye)


def texture_from_world(clip_from_world: glm.dmat4) -> glm.dmat4:
    """Returns the transform from world space to shadow-map coordinates and depth in [0, 1]."""
    return _TEXTURE_FROM_CLIP * clip_from_world


@dataclass(frozen=True, slots=True)
class GroundRectangle:
    """Rectangle along `axis` (x, z) and across it (-z, x), from the world origin [m]; infinite if unbounded."""

    axis: Vec2
    lo: Vec2
    hi: Vec2

    def clipped(self, lo: Vec2, hi: Vec2) -> tuple[Vec2, Vec2]:
        """Returns the part inside another rectangle with the same axis; of zero size without overlap."""
        (left, low), (right, high) = lo, hi
        first, second = ((min(max(x, left), right), min(max(z, low), high)) for x, z in (self.lo, self.hi))
        return first, second

    def within(self, x: float, z: float) -> Vec2:
        return self.axis[0] * x + self.axis[1] * z, self.axis[0] * z - self.axis[1] * x


NO_SHADOW = GroundRectangle((1.0, 0.0), (0.0, 0.0), (0.0, 0.0))


def shadow_rectangle(light: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> GroundRectangle:
    """Returns the rectangle around the shadow of a box on the plane y = 0, along the light; lengths in metres.

    Of zero size for a box below the ground, infinite for a light that is not above the whole box.
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
    """Returns the unit vector (x, z) from below the light to the middle of a box; the x axis straight below."""
    x, z = (lo[0] + hi[0]) / 2.0 - light[0], (lo[2] + hi[2]) / 2.0 - light[2]
    distance = math.hypot(x, z)
    return (x / distance, z / distance) if distance > 1e-9 * max(1.0, *map(abs, light)) else (1.0, 0.0)
