"""Projection of the shadow map: what a point light sees of the subject."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

_TEXTURE_FROM_CLIP = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])


def shadow_clip_from_world(light: npt.ArrayLike, centre: npt.ArrayLike, radius: float) -> Matrix:
    """Perspective projection from the light that just holds a sphere.

    A light inside or close to the sphere sees a cone of at most 130 degrees.

    Args:
        light: Position of the light [m], shape (3,).
        centre: Centre of the subject [m], shape (3,).
        radius: Its radius [m].

    Returns:
        clip_from_world, shape (4, 4).
    """
    eye, middle = np.asarray(light, dtype=np.float64), np.asarray(centre, dtype=np.float64)
    offset = eye - middle
    distance = max(float(np.linalg.norm(offset)), 1e-6)
    back = offset / distance if distance > 1e-6 else np.array([0.0, 1.0, 0.0])
    sine = min(radius / distance, np.sin(np.radians(65.0)))
    half = np.tan(np.arcsin(sine))
    near = max(distance - radius, 0.02 * radius, 1e-4)
    far = distance + radius
    return _projection(half, near, far) @ _look(eye, back)


def texture_from_world(clip_from_world: Matrix) -> Matrix:
    """Shadow-map coordinates and depth in [0, 1] from world space."""
    return _TEXTURE_FROM_CLIP @ clip_from_world


def _look(eye: Matrix, back: Matrix) -> Matrix:
    up = np.array([0.0, 1.0, 0.0]) if abs(back[1]) < 0.95 else np.array([1.0, 0.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = np.stack([right, np.cross(back, right), back])
    view[:3, 3] = -view[:3, :3] @ eye
    return view


def _projection(half: float, near: float, far: float) -> Matrix:
    depth = near - far
    return np.array(
        [[1 / half, 0, 0, 0], [0, 1 / half, 0, 0], [0, 0, (far + near) / depth, 2 * far * near / depth], [0, 0, -1, 0]]
    )
