"""Polygonises signed distance functions: surface nets on a warped grid, then relaxation on the surface.

The meshes are closed, wound counter-clockwise from outside, and made of nearly regular quads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.sdf import Field, Points, gradient

Quads = npt.NDArray[np.int64]
Warp = Callable[[Points], Points]


@dataclass(frozen=True, slots=True)
class Surface:
    """Closed quad mesh: vertices (V, 3) [m], unit normals (V, 3), quads (Q, 4)."""

    vertices: Points
    normals: Points
    quads: Quads

    def triangles(self) -> Quads:
        """Quads split along their shorter diagonal, shape (2 Q, 3)."""
        a, b, c, d = (self.vertices[self.quads[:, i]] for i in range(4))
        first = ((a - c) ** 2).sum(axis=1) <= ((b - d) ** 2).sum(axis=1) + 1e-9
        one = np.where(first[:, None], self.quads[:, [0, 1, 2]], self.quads[:, [0, 1, 3]])
        two = np.where(first[:, None], self.quads[:, [0, 2, 3]], self.quads[:, [1, 2, 3]])
        return np.stack([one, two], axis=1).reshape(-1, 3)

    def mirrored(self) -> "Surface":
        """The surface reflected about x = 0, wound outwards again."""
        flip = np.array([-1.0, 1.0, 1.0])
        return Surface(self.vertices * flip, self.normals * flip, self.quads[:, ::-1])


def polygonise(
    field: Field,
    lo: Sequence[float] | Points,
    hi: Sequence[float] | Points,
    cell: float,
    *,
    warp: Warp | None = None,
    relaxations: int = 12,
) -> Surface:
    """Vertices lie on the zero of `field`.

    Args:
        field: Distance function [m].
        lo, hi: Corners of the grid; x = 0 falls on a grid plane, so that symmetric shapes stay symmetric.
        cell: Edge of a grid cell.
        warp: Maps grid space to model space; makes cells finer where it contracts.
        relaxations: Passes that even out the spacing of the vertices.
    """
    place = warp or (lambda points: points)
    first = np.floor(np.asarray(lo) / cell).astype(int)
    shape = np.ceil(np.asarray(hi) / cell).astype(int) - first + 1
    index = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    nodes = (index + first) * cell
    values = field(place(nodes)).reshape(shape)
    grid_points, quads = _surface_nets(values)
    vertices = place((grid_points + first) * cell)
    vertices = _relaxed(field, vertices, quads, relaxations)
    normals = gradient(field, vertices)
    normals /= np.sqrt((normals**2).sum(axis=1, keepdims=True))
    return Surface(vertices, normals, quads)


def _surface_nets(values: npt.NDArray[np.float64]) -> tuple[Points, Quads]:
    """One vertex for each cell that the surface crosses, one quad for each crossed grid edge."""
    inside = values < 0.0
    cells = tuple(n - 1 for n in values.shape)
    total = np.zeros((*cells, 3))
    count = np.zeros(cells)
    for axis in range(3):
        low, high = _edge_slices(axis)
        crossed = inside[low] != inside[high]
        with np.errstate(divide="ignore", invalid="ignore"):
            fraction = np.where(crossed, values[low] / (values[low] - values[high]), 0.0)
        for corner in range(4):
            shift = [corner & 1, corner >> 1]
            shift.insert(axis, 0)
            part = tuple(slice(s, s + n) for s, n in zip(shift, cells, strict=True))
            mask = crossed[part]
            count += mask
            total += mask[..., None] * np.asarray(shift)
            total[..., axis] += fraction[part]
    active = count > 0
    number = np.full(cells, -1)
    number[active] = np.arange(int(active.sum()))
    points = np.argwhere(active) + total[active] / count[active][:, None]
    return points, np.concatenate([_quads_across(inside, number, axis) for axis in range(3)])


def _edge_slices(axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    low, high = [slice(None)] * 3, [slice(None)] * 3
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    return tuple(low), tuple(high)


def _quads_across(inside: npt.NDArray[np.bool_], number: npt.NDArray[np.int64], axis: int) -> Quads:
    """Quads around the grid edges along `axis`, wound towards the outside."""
    low, high = _edge_slices(axis)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    edges = np.argwhere(inside[low] != inside[high])
    edges = edges[(edges[:, u] > 0) & (edges[:, v] > 0)]
    corners = []
    for du, dv in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
        cell = edges.copy()
        cell[:, u] += du
        cell[:, v] += dv
        corners.append(number[tuple(cell.T)])
    quads = np.stack(corners, axis=1)
    outwards = inside[low][tuple(edges.T)]
    return np.where(outwards[:, None], quads, quads[:, ::-1])


def neighbours(quads: Quads) -> Quads:
    """Directed edges of a quad mesh, each once, sorted by their first vertex, shape (E, 2)."""
    pairs = np.concatenate([quads[:, [i, (i + 1) % 4]] for i in range(4)])
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    return np.unique(pairs, axis=0)


def _relaxed(field: Field, vertices: Points, quads: Quads, passes: int) -> Points:
    """Moves vertices along the surface towards the mean of their neighbours, and onto it."""
    edges = neighbours(quads)
    starts = np.searchsorted(edges[:, 0], np.arange(len(vertices)))
    degree = np.diff(np.append(starts, len(edges)))[:, None]
    for _ in range(passes):
        mean = np.add.reduceat(vertices[edges[:, 1]], starts, axis=0) / degree
        normal = gradient(field, vertices)
        normal /= np.sqrt((normal**2).sum(axis=1, keepdims=True)) + 1e-12
        move = 0.6 * (mean - vertices)
        move -= (move * normal).sum(axis=1, keepdims=True) * normal
        vertices = _projected(field, vertices + move, 1)
    return _projected(field, vertices, 4)


def _projected(field: Field, points: Points, steps: int) -> Points:
    """Newton steps along the gradient, limited to 1 cm each."""
    for _ in range(steps):
        slope = gradient(field, points)
        square = np.maximum((slope**2).sum(axis=1), 0.05)
        length = np.clip(field(points) / square, -0.01, 0.01)
        points = points - length[:, None] * slope
    return points
