"""Threads of a mesh for the line solver, and its bending stiffness.

Bending uses the cotangent Laplacian at the particles; the stencil per edge of M. Bergou et al. 2006 is three times too
stiff on the triangles of a sheet.
Reference: M. Wardetzky et al. 2007, "Discrete quadratic curvature energies".
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.grid import GridShape
from sinew.sim.kinds.cloth.springs import Springs, area_shares
from sinew.sim.maths.arrays import Float64, Int32

STRAIGHT = 0.2
"""Smallest cosine between two edges that follow each other in a path."""

BOTH_SIDES = 2
"""Faces at an edge inside a mesh; particles of other edges resist no bending."""

_TINY = 1e-30


@dataclass(frozen=True, slots=True)
class LineFamily:
    """Paths without common particles, one behind the other; they are solved at the same time.

    The edge of a place leads to the next place; the last place of a path has none.
    """

    particles: Int32  # Particle of each place, shape (N,)
    rest: Float64  # Rest length of the edge of each place [m], 0 without an edge, shape (N,)
    factors: Float64  # Factor of its spring, 0 without an edge, shape (N,)

    @property
    def longest(self) -> int:
        """Edges of the longest path."""
        ends = np.flatnonzero(self.factors == 0.0)
        return int(np.diff(ends, prepend=-1).max()) - 1

    @property
    def neighbours(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Places before and after each place; the place itself at the ends of a path."""
        places, leads = np.arange(len(self.particles)), self.factors > 0.0
        return places - np.concatenate([[False], leads[:-1]]), places + leads


def mesh_families(threads: Springs, positions: Float64) -> list[LineFamily]:
    """Covers every thread once, as straight as possible.

    Args:
        threads: Springs along the edges of a mesh; those with a factor of 0 are left out.
        positions: Rest positions [m], shape (P, 3).
    """
    stiff = threads.factors > 0.0
    pairs, rest, factors = threads.pairs[stiff], threads.rest[stiff], threads.factors[stiff]
    along = positions[pairs[:, 1]] - positions[pairs[:, 0]]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), _TINY)
    edges = np.concatenate([along, -along]).tolist()  # edge e, then e + count in the other direction
    count, particle_count = len(pairs), len(positions)
    around: list[dict[int, int]] = [{} for _ in range(particle_count)]
    for edge, (first, second) in enumerate(pairs.tolist()):
        around[first][second], around[second][first] = edge, edge + count
    families, left = [], count
    while left:
        is_free = [True] * particle_count
        places: list[int] = []
        taken: list[int] = []
        for start in sorted(range(particle_count), key=lambda one: -len(around[one])):
            if not is_free[start] or not around[start]:
                continue
            is_free[start] = False
            forward = _grow(start, None, around, edges, is_free)
            if not forward:
                is_free[start] = True
                continue
            opposite = [-part for part in edges[forward[0][1]]]
            back = _grow(start, opposite, around, edges, is_free)
            path = [*(one for one, _ in reversed(back)), start, *(one for one, _ in forward)]
            places += path
            taken += [edge % count for _, edge in reversed(back)] + [edge % count for _, edge in forward] + [-1]
            for first, second in pairwise(path):
                del around[first][second], around[second][first]
            left -= len(path) - 1
        chosen = np.array(taken)
        at_end = chosen < 0
        lengths, shares = np.where(at_end, 0.0, rest[chosen]), np.where(at_end, 0.0, factors[chosen])
        families.append(LineFamily(np.array(places, np.int32), lengths, shares))
    return families


def _grow(
    start: int,
    heading: list[float] | None,
    around: list[dict[int, int]],
    edges: list[list[float]],
    is_free: list[bool],
) -> list[tuple[int, int]]:
    """Particles and edges of a path from `start` on; the first edge may lead anywhere without a heading."""
    path: list[tuple[int, int]] = []
    here = start
    while True:
        best, straightest = None, STRAIGHT
        for other, edge in around[here].items():
            if not is_free[other]:
                continue
            if heading is None:
                best = other, edge
                break
            way = edges[edge]
            cosine = heading[0] * way[0] + heading[1] * way[1] + heading[2] * way[2]
            if cosine > straightest:
                best, straightest = (other, edge), cosine
        if best is None:
            return path
        here, heading = best[0], edges[best[1]]
        is_free[here] = False
        path.append(best)


@dataclass(frozen=True, slots=True)
class BendRows:
    """Second derivatives of the bending energy for a bending stiffness of 1, as a sparse matrix.

    Sorted by row; each row sums to zero and its diagonal is left out.
    """

    rows: Int32
    columns: Int32
    weights: Float64  # [1/m²]


def grid_bending(shape: GridShape) -> tuple[float, float]:
    """Weights of the squared second differences along rows and columns [1/m²]."""
    return shape.along / shape.across**3, shape.across / shape.along**3


def mesh_bending(positions: Float64, triangles: npt.NDArray[np.uint32], stiffness: Float64 | None = None) -> BendRows:
    """Of half the integral of the square of the sum of both curvatures over the inner particles, towards flat.

    `stiffness` are factors of the particles.
    """
    corners, count = triangles.astype(np.int64), len(positions)
    # The cotangent Laplacian: entries (row, column, weight) without the diagonal
    owner = np.concatenate([corners[:, 0], corners[:, 1], corners[:, 2]])
    one = np.concatenate([corners[:, 1], corners[:, 2], corners[:, 0]])
    two = np.concatenate([corners[:, 2], corners[:, 0], corners[:, 1]])
    half = 0.5 * _cotangent(positions, owner, one, two)
    keys, group, faces = np.unique(
        np.concatenate([one * count + two, two * count + one]), return_inverse=True, return_counts=True
    )
    laplacian = np.bincount(group.ravel(), weights=np.tile(half, 2), minlength=len(keys))
    row, column = keys // count, keys % count
    at_border = np.zeros(count, np.bool_)
    at_border[row[faces != BOTH_SIDES]] = True
    inner = ~at_border[row]
    row, column, laplacian = row[inner], column[inner], laplacian[inner]
    # Each row with its diagonal behind it, then all pairs of its entries
    sums = np.bincount(row, weights=laplacian, minlength=count)
    middle = np.flatnonzero(~at_border & (np.bincount(row, minlength=count) > 0))
    row, column = np.concatenate([row, middle]), np.concatenate([column, middle])
    weight = np.concatenate([laplacian, -sums[middle]])
    order = np.argsort(row, kind="stable")
    row, column, weight = row[order], column[order], weight[order]
    sizes = np.bincount(row, minlength=count)
    first = np.repeat(np.arange(len(row)), sizes[row])
    starts = np.cumsum(sizes) - sizes
    begun = np.cumsum(sizes[row]) - sizes[row]
    second = starts[row[first]] + np.arange(len(first)) - begun[first]
    areas = np.maximum(area_shares(positions, triangles), _TINY)
    products = weight[first] * weight[second] / areas[row[first]]
    if stiffness is not None:
        products *= stiffness[row[first]]
    places, group = np.unique(column[first] * count + column[second], return_inverse=True)
    summed = np.bincount(group.ravel(), weights=products, minlength=len(places))
    row, column = places // count, places % count
    outside = row != column
    return BendRows(row[outside].astype(np.int32), column[outside].astype(np.int32), summed[outside])


def _cotangent(positions: Float64, corner: npt.NDArray[np.int64], *ends: npt.NDArray[np.int64]) -> Float64:
    """Of the angle at `corner` between the directions to two ends."""
    one, two = (positions[end] - positions[corner] for end in ends)
    across = np.linalg.norm(np.cross(one, two), axis=1)
    cotangent: Float64 = np.sum(one * two, axis=1) / np.maximum(across, _TINY)
    return cotangent
