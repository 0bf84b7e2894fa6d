"""Directions that particles start in, in double precision; named as in shaders/emitter/direction.glsl."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


def cap_direction(rise: float, random: Float64) -> Float64:
    """Unit vectors (n, 3), uniform on the cap about y whose height is `rise`: 1 - cosine of half its opening.

    Args:
        rise: 0 for y alone, 2 for the whole sphere.
        random: Numbers from 0 up to 1, shape (n, 2).
    """
    t = random[:, 0] * rise
    across, turn = np.sqrt(t * (2.0 - t)), 2.0 * np.pi * random[:, 1]
    return np.stack([across * np.cos(turn), 1.0 - t, across * np.sin(turn)], axis=1)


def about_normal(normal: Float64, direction: Float64) -> Float64:
    """Directions (n, 3) about y turned so that y becomes the unit vectors `normal` (n, 3).

    Source: T. Duff et al. 2017, "Building an orthonormal basis, revisited", JCGT 6(1).
    """
    x, y, z = normal.T
    side = np.where(y >= 0.0, 1.0, -1.0)
    a = -1.0 / (side + y)
    b = z * x * a
    first = np.stack([side * b, -side * z, 1.0 + side * z * z * a], axis=1)
    second = np.stack([side + x * x * a, -x, b], axis=1)
    turned: Float64 = direction[:, 2:] * first + direction[:, 1:2] * normal + direction[:, :1] * second
    return turned


def unit_or_up(vectors: Float64) -> Float64:
    """Vectors (n, 3) of length 1; y where there is no direction."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    none = length <= 1e-12
    return np.where(none, np.array([0.0, 1.0, 0.0]), vectors / np.where(none, 1.0, length))
