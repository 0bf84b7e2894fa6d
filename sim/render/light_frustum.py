"""Projection of the shadow map: what a point light sees of the subject."""

import math
from collections.abc import Iterable

from pyglm import glm

from sim.scene.camera import perspective, view_from_world

_TEXTURE_FROM_CLIP = glm.translate(glm.dvec3(0.5)) * glm.scale(glm.dvec3(0.5))

_WIDEST_SINE = math.sin(math.radians(65.0))

_NEAREST = 1e-6
"""Distance [m] below which a light is taken to be at the centre of the subject, and looks straight down."""

_FARTHEST = 1e4
"""Distance in radii of the subject from which on the rays of a light are as good as parallel."""


def shadow_clip_from_world(light: Iterable[float], centre: Iterable[float], radius: float) -> glm.dmat4:
    """Perspective projection from the light that just holds a sphere.

    A light inside or close to the sphere sees a cone of at most 130 degrees; one that is very far is drawn nearer.

    Args:
        light: Position of the light [m].
        centre: Centre of the subject [m].
        radius: Its radius [m].
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
    """Shadow-map coordinates and depth in [0, 1] from world space."""
    return _TEXTURE_FROM_CLIP * clip_from_world
