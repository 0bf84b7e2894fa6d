from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.maths.arrays import Float32, Float64, UInt32

PLANE_HALF_SIZE = 5.0
"""Half the edge of the drawn square of a plane [m]; the collider is infinite."""

_SQUARE = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
_SEGMENTS = 32
_RINGS = 16


@dataclass(frozen=True, slots=True)
class Outline:
    """A closed surface in the frame of the collider; a plane is one square."""

    positions: Float32  # Vertices [m], shape (V, 3)
    normals: Float32  # Outward unit normals of the exact surface, shape (V, 3)
    triangles: UInt32  # Counter-clockwise from outside, shape (T, 3)
    lines: UInt32  # Wireframe, shape (L, 2)


def outline(shape: ColliderShape, size: Float64) -> Outline:
    """Returns the outline of a shape; sizes as in `ColliderState`."""
    if shape is ColliderShape.PLANE:
        corners = PLANE_HALF_SIZE * np.array([[-1.0, 0, -1], [-1.0, 0, 1], [1.0, 0, 1], [1.0, 0, -1]])
        return _made(corners, np.tile([0.0, 1.0, 0.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]), _SQUARE)
    if shape is ColliderShape.BOX:
        return _box(size)
    if shape is ColliderShape.CAPSULE:
        return _capsule(float(size[0]), float(size[1]))
    axes = size if shape is ColliderShape.ELLIPSOID else np.full(3, size[0])
    directions, triangles = _globe(0.0)
    normals = directions / axes
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return _made(directions * axes, normals, triangles, _circles(len(directions)))


def _box(half_sizes: Float64) -> Outline:
    positions: list[Float64] = []
    normals: list[Float64] = []
    triangles: list[npt.NDArray[np.intp]] = []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for side in (1.0, -1.0):
            normal = side * np.eye(3)[axis]
            first = 4 * len(normals)
            positions.append(np.array([normal - u - side * v, normal + u - side * v, normal + u + side * v,
                                       normal - u + side * v]))  # fmt: skip
            normals.append(np.tile(normal, (4, 1)))
            triangles.append(np.array([[0, 1, 2], [0, 2, 3]]) + first)
    squares = np.concatenate([_SQUARE + 4 * face for face in range(6)])
    return _made(np.concatenate(positions) * half_sizes, np.concatenate(normals), np.concatenate(triangles), squares)


def _capsule(radius: float, straight: float) -> Outline:
    directions, triangles = _globe(straight)
    shift = np.zeros_like(directions)
    rows = len(directions) // (_SEGMENTS + 1)
    shift[:, 1] = np.repeat(np.where(np.arange(rows) < rows // 2, straight, -straight), _SEGMENTS + 1)
    return _made(radius * directions + shift, directions, triangles, _circles(len(directions)))


def _circles(count: int) -> npt.NDArray[np.intp]:
    rows = count // (_SEGMENTS + 1)
    grid = np.arange(count).reshape(rows, _SEGMENTS + 1)
    meridians = grid[:, :: _SEGMENTS // 4][:, :4].T
    strips = [*meridians, *grid[_RINGS // 2 : rows - _RINGS // 2]]
    return np.concatenate([np.stack([strip[:-1], strip[1:]], axis=1) for strip in strips])


def _globe(straight: float) -> tuple[Float64, npt.NDArray[np.intp]]:
    """Returns directions by rows of latitude from +y to -y, and triangles; the equator twice if the globe is cut."""
    latitude = np.linspace(0.5 * np.pi, -0.5 * np.pi, _RINGS + 1)
    if straight > 0.0:
        latitude = np.insert(latitude, _RINGS // 2, latitude[_RINGS // 2])
    longitude = np.linspace(0.0, 2.0 * np.pi, _SEGMENTS + 1)
    flat, up = np.cos(latitude)[:, None], np.sin(latitude)[:, None]
    directions = np.stack(
        [flat * np.sin(longitude), np.broadcast_to(up, (len(latitude), _SEGMENTS + 1)), flat * np.cos(longitude)],
        axis=-1,
    )
    row, column = np.meshgrid(np.arange(len(latitude) - 1), np.arange(_SEGMENTS), indexing="ij")
    a = (row * (_SEGMENTS + 1) + column).ravel()
    b, c, d = a + _SEGMENTS + 1, a + _SEGMENTS + 2, a + 1
    upper, lower = np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)
    # At the poles one triangle of each pair has no area.
    keep_upper, keep_lower = row.ravel() < len(latitude) - 2, row.ravel() > 0
    return directions.reshape(-1, 3), np.concatenate([upper[keep_upper], lower[keep_lower]])


def _made(
    positions: Float64, normals: Float64, triangles: npt.NDArray[np.intp], lines: npt.NDArray[np.intp]
) -> Outline:
    corners, directions = positions.astype(np.float32), normals.astype(np.float32)
    return Outline(corners, directions, triangles.astype(np.uint32), lines.astype(np.uint32))
