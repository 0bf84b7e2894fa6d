"""Texture coordinates: cuts a mesh into charts, unrolls each and places it in the atlas.

Where charts meet, and where a cylinder closes, vertices are doubled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resources.samples.sdf import Points

Indices = npt.NDArray[np.int64]

MARGIN = 5
"""Units of the atlas kept free inside a chart's rectangle."""

_OVERLAP = 0.25
"""How far a closed chart is drawn beyond its seam [rad]."""


@dataclass(frozen=True, slots=True)
class Chart:
    """How a piece of surface is unrolled."""

    # Maps points (N, 3) to (N, 2); the first coordinate is an angle [rad] where `periodic`
    unroll: Callable[[Points], Points]
    box: tuple[int, int, int, int]  # x, y, width and height of its rectangle in the atlas, y from the top
    periodic: bool = False  # Whether the first coordinate closes after a full turn
    turned: bool = False  # Whether the second coordinate runs along the rectangle's width
    # Range of the second coordinate that gets texels; what lies beyond is hidden
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """Mesh with seams."""

    source: Indices  # The vertex that each vertex copies, shape (V,)
    texels: Points  # Place of each in the atlas, shape (V, 2)
    triangles: Indices  # shape (T, 3)


def unwrap(points: Points, triangles: Indices, labels: Indices, charts: Sequence[Chart]) -> Unwrapped:
    """Texture coordinates of a mesh.

    Args:
        points: shape (V, 3).
        triangles: shape (T, 3).
        labels: Chart of each triangle, shape (T,).
        charts: How each is unrolled.
    """
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
    """1 for corners that need a full turn to lie beside the other corners of their triangle."""
    wide = angles.max(axis=1) - angles.min(axis=1) > np.pi
    turns: Indices = (wide[:, None] & (angles < 0.0)).astype(np.int64)
    return turns


def _placed(plane: Points, chart: Chart) -> Points:
    """Coordinates stretched into the rectangle; the second one grows upwards in the image.

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
