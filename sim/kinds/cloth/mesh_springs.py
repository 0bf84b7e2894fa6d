"""Springs of any triangle mesh: structural along its edges, bend between the corners opposite an edge.

Sources: A. Van Gelder 1998, "Approximate simulation of elastic membranes by triangulated spring meshes", for the share
of an edge; the bend springs are those of K.-J. Choi and H.-S. Ko 2002 for the polyline of two flaps.
"""

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.springs import SpringKind, Springs, joined

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

BEND_FACTOR_MAX = 4.0
"""Largest factor of a bend spring over that of two flaps of even height: slivers would need far too short steps."""


def mesh_springs(positions: Float64, triangles: npt.NDArray[np.uint32], *, material: bool) -> Springs:
    """Springs between the particles of a mesh; edges with more than two faces get a bend spring for each pair in turn.

    Args:
        positions: Rest places [m], shape (P, 3).
        triangles: Corners, shape (T, 3), no corner twice.
        material: Whether the factors make the mesh a fabric of even stiffness; else they are 1.
    """
    half = _half_edges(positions, triangles)
    edges = _structural(positions, half)
    bends = _bend(positions, half)
    springs = joined([edges, bends])
    return springs if material else Springs(springs.pairs, springs.kinds, springs.rest, np.ones(springs.count))


class _HalfEdges:
    """Edges of all triangles, sorted so that those of one edge follow each other."""

    def __init__(self, keys: npt.NDArray[np.int64], pairs: Int32, opposite: Int32, areas: Float64) -> None:
        self.keys, self.pairs, self.opposite, self.areas = keys, pairs, opposite, areas


def _half_edges(positions: Float64, triangles: npt.NDArray[np.uint32]) -> _HalfEdges:
    corners = triangles.astype(np.int64)
    areas = triangle_areas(positions, triangles)
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    opposite = np.concatenate([corners[:, 2], corners[:, 0], corners[:, 1]])
    pairs = np.sort(pairs, axis=1)
    keys = pairs[:, 0] * len(positions) + pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    return _HalfEdges(
        keys[order], pairs[order].astype(np.int32), opposite[order].astype(np.int32), np.tile(areas, 3)[order]
    )


def triangle_areas(positions: Float64, triangles: npt.NDArray[np.uint32]) -> Float64:
    """Areas [m²], shape (T,)."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    areas: Float64 = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return areas


def _structural(positions: Float64, half: _HalfEdges) -> Springs:
    _, first, group = np.unique(half.keys, return_index=True, return_inverse=True)
    pairs = half.pairs[first]
    rest = _lengths(positions, pairs)
    shares = np.bincount(group.ravel(), weights=half.areas, minlength=len(first))
    factors = shares / np.maximum(rest, np.finfo(np.float64).tiny) ** 2
    return Springs(pairs, np.full(len(pairs), int(SpringKind.STRUCTURAL), np.int32), rest, factors)


def _bend(positions: Float64, half: _HalfEdges) -> Springs:
    follows = half.keys[1:] == half.keys[:-1]
    first, second = np.nonzero(follows)[0], np.nonzero(follows)[0] + 1
    ends = np.sort(np.stack([half.opposite[first], half.opposite[second]], axis=1), axis=1)
    # Two faces on the same three corners have no flaps; a pair that two edges share counts once.
    key = ends[:, 0].astype(np.int64) * len(positions) + ends[:, 1]
    _, chosen = np.unique(key, return_index=True)
    chosen = chosen[ends[chosen, 0] != ends[chosen, 1]]
    first, second = first[chosen], second[chosen]
    ends = ends[chosen].astype(np.int32)
    rest = _lengths(positions, ends)
    area = half.areas[first] + half.areas[second]
    edge = np.maximum(_lengths(positions, half.pairs[first]), np.finfo(np.float64).tiny)
    height = np.maximum(area / edge, np.finfo(np.float64).tiny)
    even = area / np.maximum(rest, np.finfo(np.float64).tiny) ** 2
    factors = np.minimum(edge * rest**2 / (16.0 * height**3), BEND_FACTOR_MAX * even)
    kinds = np.full(len(ends), int(SpringKind.BEND), np.int32)
    return Springs(ends, kinds, rest, factors)


def _lengths(positions: Float64, pairs: Int32) -> Float64:
    lengths: Float64 = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
    return lengths


def area_shares(positions: Float64, triangles: npt.NDArray[np.uint32]) -> Float64:
    """Area that belongs to each particle [m²], a third of every triangle around it, shape (P,)."""
    third = triangle_areas(positions, triangles) / 3.0
    shares: Float64 = np.bincount(triangles.ravel(), weights=np.repeat(third, 3), minlength=len(positions)).astype(
        np.float64
    )
    return shares
