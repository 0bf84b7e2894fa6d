"""Where particles start and in which direction, in double precision, as in shaders/emitter/{place,direction}.glsl."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


def cap_direction(rise: float, random: Float64) -> Float64:
    """Unit vectors (n, 3), uniform on the cap about y whose height is `rise`: 1 - cosine of half its opening.

    `random` are numbers from 0 up to 1, shape (n, 2).
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


def sphere_place(radius: float, hollow: float, random: Float64) -> tuple[Float64, Float64]:
    """Points and outward normals (n, 3), uniform in volume between the `hollow` part of the radius and the radius."""
    normal = cap_direction(2.0, random)
    share = hollow**3 + (1.0 - hollow**3) * random[:, 2]
    return radius * np.cbrt(share)[:, None] * normal, normal


def box_place(size: Float64, random: Float64) -> Float64:
    """Points (n, 3), uniform in a box of edges `size` (3,) about the origin; a line is a box without width."""
    points: Float64 = (random - 0.5) * size
    return points


def disc_place(radius: float, hollow: float, random: Float64) -> Float64:
    """Points (n, 3) of the xz plane, uniform in area between the `hollow` part of the radius and the radius."""
    turn = 2.0 * np.pi * random[:, 0]
    reach = radius * np.sqrt(hollow**2 + (1.0 - hollow**2) * random[:, 1])
    return np.stack([reach * np.cos(turn), np.zeros(len(turn)), reach * np.sin(turn)], axis=1)
