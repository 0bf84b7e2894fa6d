"""Cloths of the figure that taper and end: thin ends and hems."""

from collections.abc import Sequence

import numpy as np

from resources.samples.sdf import Distances, Field, Points
from resources.samples.surface import Quads, Surface

_SAMPLES = 4001
_REACH = 1.0
"""How far the map extends beyond the outer stations [m]."""

PROFILE = ((-1.6, -1.0), (0.5, -1.0), (1.0, -0.6), (1.0, 0.6), (0.4, 1.0), (-1.6, 1.0))
"""Section of a band: outwards in thicknesses, along the axis in half heights, counter-clockwise."""


class Taper:
    """Map from a regular grid to model space whose scale depends on the place along `axis`.

    The other two axes shrink by the same factor towards `centre`, so cells stay cubes.
    """

    def __init__(
        self, axis: int, stations: Sequence[float], scales: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        self._axis = axis
        self._centre = np.asarray(centre, dtype=np.float64)
        self._stations, self._scales = np.asarray(stations), np.asarray(scales)
        self._model = np.linspace(self._stations[0] - _REACH, self._stations[-1] + _REACH, _SAMPLES)
        middle = 0.5 * (self._model[1:] + self._model[:-1])
        steps = np.diff(self._model) / self._scale(middle)
        self._grid = np.concatenate([[0.0], np.cumsum(steps)])
        self._grid -= np.interp(0.0, self._model, self._grid)

    def _scale(self, along: Distances) -> Distances:
        """Smooth steps between the stations."""
        index = np.clip(np.searchsorted(self._stations, along) - 1, 0, len(self._stations) - 2)
        low, high = self._stations[index], self._stations[index + 1]
        t = np.clip((along - low) / (high - low), 0.0, 1.0)
        t = t * t * (3.0 - 2.0 * t)
        scale: Distances = self._scales[index] * (1.0 - t) + self._scales[index + 1] * t
        return scale

    def __call__(self, grid: Points) -> Points:
        """Model points of grid points, shape (N, 3)."""
        along = np.interp(grid[:, self._axis], self._grid, self._model)
        points = grid * self._scale(along)[:, None] + self._centre
        points[:, self._axis] = along
        return points

    def grid_box(self, lo: Sequence[float], hi: Sequence[float]) -> tuple[Points, Points]:
        """Corners of the grid box that covers the model box from `lo` to `hi`."""
        finest = float(self._scales.min())
        corners = [(np.asarray(corner) - self._centre) / finest for corner in (lo, hi)]
        for corner, model in zip(corners, (lo, hi), strict=True):
            corner[self._axis] = np.interp(model[self._axis], self._model, self._grid)
        return corners[0], corners[1]


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
