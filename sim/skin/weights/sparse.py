"""What automatic weights and transfer need of scipy, which is optional."""

import importlib.util
from typing import Any

import numpy as np

from sinew.sim.maths.arrays import Float64, Intp

DENSE_MAX = 1 << 27
"""Largest number of weights, of all vertices and bones, that are solved for together: 1 GiB."""


class WeightsError(Exception):
    """One line why weights cannot be made."""


def require_scipy() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise WeightsError("needs the package scipy: pip install 'sinew[weights]'")


def require_memory(vertices: int, bones: int) -> None:
    if vertices * bones > DENSE_MAX:
        raise WeightsError(f"{vertices:,} vertices × {bones:,} bones are more than {DENSE_MAX:,} weights")


def laplacian(places: Float64, triangles: Intp) -> tuple[Any, Float64]:
    """Returns the cotangent Laplacian of a mesh, a sparse matrix (P, P), and the areas of its vertices (P,)."""
    from scipy import sparse

    corners = [triangles[:, corner] for corner in range(3)]
    a, b, c = (places[corner] for corner in corners)
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    areas = np.asarray(np.bincount(triangles.ravel(), np.repeat(twice / 6.0, 3), len(places)), np.float64)
    rows, columns, values = [], [], []
    for one, other, top in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        i, j, k = corners[one], corners[other], corners[top]
        along = np.sum((places[i] - places[k]) * (places[j] - places[k]), axis=1)
        cotangent = 0.5 * along / np.maximum(twice, 1e-12 * max(float(twice.max(initial=0.0)), 1e-30))
        rows += [i, j, i, j]
        columns += [j, i, i, j]
        values += [-cotangent, -cotangent, cotangent, cotangent]
    shape = len(places), len(places)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csc_matrix(entries, shape), areas


def solved(matrix: Any, right: Float64) -> Float64:
    """Solves a symmetric system for many right sides (P, B)."""
    from scipy.sparse import linalg

    options = {"SymmetricMode": True}
    factors = linalg.splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    used = np.flatnonzero(right.any(axis=0))
    found = np.zeros_like(right)
    found[:, used] = factors.solve(np.ascontiguousarray(right[:, used]))
    return found


def diagonal(values: Float64) -> Any:
    from scipy import sparse

    return sparse.diags(values)


def pieces(triangles: Intp, count: int) -> Intp:
    """Returns the number of the connected piece of each vertex, shape (P,)."""
    from scipy import sparse

    ends = triangles[:, [0, 1, 2]].ravel(), triangles[:, [1, 2, 0]].ravel()
    graph = sparse.coo_matrix((np.ones(len(ends[0]), np.int8), ends), (count, count))
    found: Intp = sparse.csgraph.connected_components(graph, directed=False)[1].astype(np.intp)
    return found
