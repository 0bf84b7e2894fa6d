"""Texture coordinates: cuts a mesh into charts, unrolls each and places it in the atlas.

Where charts meet, and where a cylinder closes, vertices are doubled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.sdf import Points

Indices = npt.NDArray[np.int64]

MARGIN = 5  # empty units of the atlas inside a chart's rectangle

_OVERLAP = 0.25  # how far a closed chart is drawn beyond its seam [rad]


@dataclass(frozen=True, slots=True)
class Chart:
    # Maps points (N, 3) to (N, 2); the first coordinate is an angle [rad] where `periodic`
    unroll: Callable[[Points], Points]
    box: tuple[int, int, int, int]  # x, y, width and height of its rectangle in the atlas, y from the top
    periodic: bool = False  # The first coordinate closes after a full turn
    turned: bool = False  # The second coordinate runs along the rectangle's width
    # Range of the second coordinate that gets texels; the rest is hidden
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Unwrapped:
    source: Indices  # The vertex that each vertex copies, shape (V,)
    texels: Points  # Place of each in the atlas, shape (V, 2)
    triangles: Indices  # shape (T, 3)


def unwrap(points: Points, triangles: Indices, labels: Indices, charts: Sequence[Chart]) -> Unwrapped:
    """`points` has shape (V, 3), `triangles` (T, 3); `labels` is the chart of each triangle, shape (T,)."""
    sources, texels, corners = [], [], np.empty_like(triangles)
    first = 0
    for number, chart in enumerate(charts):
        rows = np.flatnonzero(labels == number)
        if not len(rows):
            continue
        flat = chart.unroll(points)
        turns = _turns(flat[:, 0][triangles[rows]]) if chart.periodic else np.zeros((len(rows), 3), dtype=np.int64)
        keys, inverse = np.unique(triangles[rows] * 2 + turns, return_inverse=True)
        plane = flat[keys // 2] + np.stack([2.0 * np.pi * (keys % 2), np.zeros(len(keys))], axis=1)
        sources.append(keys // 2)
        texels.append(_placed(plane, chart))
        corners[rows] = first + inverse.reshape(-1, 3)
        first += len(keys)
    return Unwrapped(np.concatenate(sources), np.concatenate(texels), corners)


def _turns(angles: Points) -> Indices:
    """1 for corners that need a full turn to lie next to the other corners of their triangle."""
    wide = angles.max(axis=1) - angles.min(axis=1) > np.pi
    turns: Indices = (wide[:, None] & (angles < 0.0)).astype(np.int64)
    return turns


def _placed(plane: Points, chart: Chart) -> Points:
    """Stretches coordinates into the rectangle; the second one grows upwards in the image.

    Triangles around the pole of a cylinder would reach far beyond its seam; they are cut off there.
    """
    low, high = plane.min(axis=0), plane.max(axis=0)
    if chart.periodic:
        low[0], high[0] = -np.pi, np.pi + _OVERLAP
    if chart.limits is not None:
        low[1], high[1] = chart.limits
    share = np.clip((plane - low) / (high - low), 0.0, 1.0)
    share = share[:, ::-1] if chart.turned else share
    share[:, 1] = 1.0 - share[:, 1]
    x, y, width, height = chart.box
    placed: Points = np.array([x, y]) + MARGIN + share * (np.array([width, height]) - 2 * MARGIN)
    return placed


_SLACK = 0.04
"""Barycentric slack, so that texels whose centre lies just outside an edge are painted too."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Flat texel indices (N,), triangle (N,) and barycentric coordinates (N, 3)."""

    texels: Indices
    triangles: Indices
    shares: Points


def coverage(corners: Points, rank: Indices, size: int) -> Coverage:
    """The triangle that each texel of a square texture with edge `size` shows.

    Args:
        corners: Texel coordinates of the triangles, shape (T, 3, 2).
        rank: Where triangles overlap, the one with the largest rank is seen; a permutation, shape (T,).
    """
    seen = np.full(size * size, -1)
    low = np.floor(corners.min(axis=1)).astype(np.int64)
    span = np.ceil(corners.max(axis=1)).astype(np.int64) - low + 1
    extent = 1 << np.ceil(np.log2(span.max(axis=1))).astype(np.int64)
    for edge in np.unique(extent):
        rows = np.flatnonzero(extent == edge)
        for part in np.array_split(rows, max(1, len(rows) * edge * edge // 2_000_000)):
            texel, triangle = _inside(corners, low, part, int(edge), size)
            np.maximum.at(seen, texel, rank[triangle])
    of_rank = np.argsort(rank)
    texels = np.flatnonzero(seen >= 0)
    triangles = of_rank[seen[texels]]
    centres: Points = np.stack([texels % size, texels // size], axis=1).astype(np.float64) + 0.5
    shares = np.clip(_barycentric(corners[triangles], centres), 0.0, 1.0)
    return Coverage(texels, triangles, shares / shares.sum(axis=1, keepdims=True))


def _inside(corners: Points, low: Indices, rows: Indices, edge: int, size: int) -> tuple[Indices, Indices]:
    """Texels and the triangles that contain their centres."""
    grid = np.stack(np.meshgrid(np.arange(edge), np.arange(edge)), axis=-1).reshape(-1, 2)
    place = low[rows][:, None, :] + grid
    triangle = np.broadcast_to(rows[:, None], place.shape[:2]).reshape(-1)
    place = place.reshape(-1, 2)
    shares = _barycentric(corners[triangle], place.astype(np.float64) + 0.5)
    keep = (shares.min(axis=1) >= -_SLACK) & (place >= 0).all(axis=1) & (place < size).all(axis=1)
    return place[keep, 1] * size + place[keep, 0], triangle[keep]


def _barycentric(corners: Points, at: Points) -> Points:
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    u, v, w = b - a, c - a, at - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = np.where(np.abs(area) < 1e-9, 1e-9, area)
    second = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
    third = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
    return np.stack([1.0 - second - third, second, third], axis=1)


def padded(image: Points, painted: npt.NDArray[np.bool_], passes: int) -> Points:
    """Grows the colours of the charts of an image (S, S, 3) outwards by `passes` texels."""
    image, painted = image.copy(), painted.copy()
    for _ in range(passes):
        total, count = np.zeros_like(image), np.zeros(painted.shape)
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
            near = np.roll(painted, step, axis=axis)
            total += np.roll(image, step, axis=axis) * near[..., None]
            count += near
        grow = ~painted & (count > 0)
        image[grow] = total[grow] / count[grow][:, None]
        painted |= grow
    return image
