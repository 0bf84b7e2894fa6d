"""Bands that finish a garment where it ends, and soles: closed meshes around the outline of a surface."""

from collections.abc import Sequence

import numpy as np

from resources.samples.sdf import Distances, Field, Points
from resources.samples.surface import Quads, Surface

PROFILE = ((-1.6, -1.0), (0.5, -1.0), (1.0, -0.6), (1.0, 0.6), (0.4, 1.0), (-1.6, 1.0))
"""Section of a band: outwards in thicknesses, along the axis in half heights, counter-clockwise."""


def band(
    field: Field,
    origin: Sequence[float] | Points,
    axis: Sequence[float] | Points,
    *,
    height: float,
    thickness: float,
    count: int,
    reach: float = 0.4,
) -> Surface:
    """Ring around the outline of `field` in the plane through `origin` perpendicular to `axis`.

    Args:
        field: Distance function whose section by the plane is star-shaped about `origin`.
        origin, axis: The plane.
        height, thickness: Size of the band [m].
        count: Number of stations around.
        reach: The outline is nearer than this [m].
    """
    up = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    side = np.cross(up, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    outwards = np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * np.cross(side, up)
    radius = _outline(field, np.asarray(origin), outwards, reach)
    across, along = np.array(PROFILE).T
    points = (
        np.asarray(origin)
        + outwards[:, None, :] * (radius[:, None, None] + across[None, :, None] * thickness)
        + up * (along * height / 2.0)[None, :, None]
    )
    return ring_surface(points)


def _outline(field: Field, origin: Points, directions: Points, reach: float) -> Distances:
    """Distance from `origin` to the zero of `field` along each direction, by bisection."""
    low: Distances = np.zeros(len(directions))
    high = np.full(len(directions), reach)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = field(origin + directions * middle[:, None]) < 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    radius: Distances = 0.5 * (low + high)
    return radius


def ring_surface(points: Points) -> Surface:
    """Torus-like surface through a grid of points (stations, section, 3), closed both ways."""
    rows, columns, _ = points.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    right, down = np.roll(number, -1, axis=1), np.roll(number, -1, axis=0)
    corner = np.roll(right, -1, axis=0)
    quads = np.stack([number, right, corner, down], axis=-1).reshape(-1, 4)
    return _shaded(points.reshape(-1, 3), quads)


def slab(field: Field, origin: Sequence[float], layers: Sequence[tuple[float, float]], count: int) -> Surface:
    """Solid between horizontal outlines of `field`, closed below and above.

    Args:
        field: Distance function whose outline around `origin` is star-shaped.
        origin: Centre.
        layers: Inset of the outline and height of each layer, from below upwards [m].
        count: Number of stations around, even.
    """
    turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    outwards = np.stack([np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    radius = _outline(field, np.asarray(origin), outwards, 0.4)
    points = np.stack(
        [np.asarray(origin) + outwards * (radius - inset)[:, None] + [0.0, height, 0.0] for inset, height in layers]
    )
    number = np.arange(len(layers) * count).reshape(len(layers), count)
    right = np.roll(number, -1, axis=1)
    wall = np.stack([number[:-1], right[:-1], right[1:], number[1:]], axis=-1).reshape(-1, 4)
    half = np.arange(count // 2 - 1)
    lid = np.stack([half, half + 1, count - 2 - half, count - 1 - half], axis=1)
    top = lid + (len(layers) - 1) * count
    return _shaded(points.reshape(-1, 3), np.concatenate([wall, lid[:, ::-1], top]))


def _shaded(vertices: Points, quads: Quads) -> Surface:
    """Surface with normals averaged over the faces around each vertex."""
    normals = np.zeros_like(vertices)
    faces = np.cross(vertices[quads[:, 2]] - vertices[quads[:, 0]], vertices[quads[:, 3]] - vertices[quads[:, 1]])
    for corner_index in range(4):
        np.add.at(normals, quads[:, corner_index], faces)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(vertices, normals, quads)
