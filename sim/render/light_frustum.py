"""Projection of the shadow map: what a point light sees of the subject."""

import math

import numpy as np
import numpy.typing as npt

from sim.scene.vectors import Vec3

Matrix = npt.NDArray[np.float64]

_TEXTURE_FROM_CLIP = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])

_WIDEST_SINE = math.sin(math.radians(65.0))

_NEAREST = 1e-6
"""Distance [m] below which a light is taken to be at the centre of the subject, and looks straight down."""


def shadow_clip_from_world(light: Vec3, centre: Vec3, radius: float) -> Matrix:
    """Perspective projection from the light that just holds a sphere.

    A light inside or close to the sphere sees a cone of at most 130 degrees.

    Args:
        light: Position of the light [m].
        centre: Centre of the subject [m].
        radius: Its radius [m].

    Returns:
        clip_from_world, shape (4, 4).
    """
    distance = max(math.dist(light, centre), _NEAREST)
    x, y, z = ((eye - middle) / distance for eye, middle in zip(light, centre, strict=True))
    back = (x, y, z) if distance > _NEAREST else (0.0, 1.0, 0.0)
    sine = min(radius / distance, _WIDEST_SINE)
    half = math.tan(math.asin(sine))
    near = max(distance - radius, 0.02 * radius, 1e-4)
    far = distance + radius
    return _projection(half, near, far) @ _look(light, back)


def texture_from_world(clip_from_world: Matrix) -> Matrix:
    """Shadow-map coordinates and depth in [0, 1] from world space."""
    return _TEXTURE_FROM_CLIP @ clip_from_world


def _look(eye: Vec3, back: Vec3) -> Matrix:
    """View from `eye` against the unit vector `back`."""
    x, y, z = back
    across = (z, 0.0, -x) if abs(y) < 0.95 else (0.0, -z, y)  # the y or the x axis, cross `back`
    length = math.hypot(*across)
    a, b, c = (part / length for part in across)
    rows = ((a, b, c), (y * c - z * b, z * a - x * c, x * b - y * a), back)
    return np.array([*((*row, -_dot(row, eye)) for row in rows), (0.0, 0.0, 0.0, 1.0)])


def _dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _projection(half: float, near: float, far: float) -> Matrix:
    depth = near - far
    return np.array(
        [[1 / half, 0, 0, 0], [0, 1 / half, 0, 0], [0, 0, (far + near) / depth, 2 * far * near / depth], [0, 0, -1, 0]]
    )
