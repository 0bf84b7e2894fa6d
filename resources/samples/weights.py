"""Skin weights by diffusion: each vertex starts with its nearest bone, then the weights spread over the surface.

Spreading follows the mesh, so the legs do not pull at each other nor fingers at their neighbours.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_skeleton import Joint
from sinew.resources.samples.sdf import Points
from sinew.resources.samples.surface import Surface, neighbours

Indices = npt.NDArray[np.int64]

INFLUENCES = 4
_DIGITS = 4  # decimals that are stored; sums are exactly one in them


def diffused_weights(surface: Surface, joints: Sequence[Joint], allowed: Sequence[str]) -> Points:
    """Weights (V, joints) whose rows sum to 1; `allowed` names the joints that may move this mesh."""
    candidates = [i for i, joint in enumerate(joints) if joint.name in set(allowed)]
    distances = np.stack([_distance(surface.vertices, joints[i].segments) for i in candidates], axis=1)
    nearest = np.argmin(distances, axis=1)
    reach = np.array([joints[i].reach for i in candidates])[nearest]
    spread = _spread(surface, np.eye(len(candidates))[nearest], reach)
    weights = np.zeros((len(surface.vertices), len(joints)))
    weights[:, candidates] = spread
    return weights


def _distance(points: Points, segments: Points) -> npt.NDArray[np.float64]:
    """Distance of points (N, 3) to the nearest of the segments (S, 2, 3)."""
    nearest = np.full(len(points), np.inf)
    for start, end in segments:
        axis = end - start
        along = np.clip(((points - start) * axis).sum(axis=1) / (axis**2).sum(), 0.0, 1.0)
        offset = points - start - along[:, None] * axis
        nearest = np.minimum(nearest, np.sqrt((offset**2).sum(axis=1)))
    return nearest


def _spread(surface: Surface, weights: Points, reach: npt.NDArray[np.float64]) -> Points:
    """Random walk on the mesh until its standard deviation is `reach` [m] at each vertex."""
    edges = neighbours(surface.quads)
    starts = np.searchsorted(edges[:, 0], np.arange(len(surface.vertices)))
    degree = np.diff(np.append(starts, len(edges)))

    def mean(values: Points) -> Points:
        total: Points = np.add.reduceat(values[edges[:, 1]], starts, axis=0) / degree[:, None]
        return total

    lengths = np.sqrt(((surface.vertices[edges[:, 0]] - surface.vertices[edges[:, 1]]) ** 2).sum(axis=1))
    step = np.add.reduceat(lengths, starts) / degree
    passes = np.stack([4.0 * (reach / step) ** 2], axis=1)
    for _ in range(6):
        passes = 0.5 * passes + 0.5 * mean(passes)
    for number in range(int(np.ceil(passes.max()))):
        rate = 0.5 * np.clip(passes - number, 0.0, 1.0)
        weights = weights + rate * (mean(weights) - weights)
    return weights


def strongest(weights: Points) -> tuple[Indices, Points]:
    """The four strongest influences of each vertex, strongest first, rounded so that they sum to exactly 1.

    Args:
        weights: shape (V, joints).

    Returns:
        Joint indices (V, 4) with 0 where the weight is 0, and weights (V, 4).
    """
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES]
    cached = np.take_along_axis(weights, joints, axis=1)
    cached = np.where(cached < 0.004, 0.0, cached)
    cached /= cached.sum(axis=1, keepdims=True)
    units = np.round(cached * 10**_DIGITS)
    units[:, 0] += 10**_DIGITS - units.sum(axis=1)
    cached = units / 10**_DIGITS
    return np.where(cached > 0.0, joints, 0), cached


def carried_over(points: Points, host: Surface, weights: Points) -> Points:
    """Blends weights at `points` (N, 3) from the eight nearest vertices of another mesh."""
    result = np.empty((len(points), weights.shape[1]))
    for i, point in enumerate(points):
        squared = ((host.vertices - point) ** 2).sum(axis=1)
        near = np.argsort(squared, kind="stable")[:8]
        share = 1.0 / (squared[near] + 1e-5)
        result[i] = (weights[near] * (share / share.sum())[:, None]).sum(axis=0)
    return result
