"""The pattern of a garment: its texture coordinates are the flat pieces that it is sewn from, and its rest shape."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.surface import ClothSurface, WeldedSurface
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.params import SettingsError

SEAM = 0.02
"""Difference of the sides of a seam, as a part of their mean, above which the user is warned."""

_SMALLEST = 1e-9
"""Least area of a triangle of the pattern, as a part of the mean."""


@dataclass(frozen=True, slots=True)
class GarmentPattern:
    """Triangles of a welded surface, each in the plane of its own piece.

    Attributes:
        edges: Lengths of the edges from corner 0 to 1, 1 to 2 and 2 to 0 [m], shape (T, 3).
        areas: [m²], shape (T,)
    """

    edges: Float64
    areas: Float64


def pattern_of(surface: ClothSurface, welded: WeldedSurface, unit: float) -> GarmentPattern:
    """Raises SettingsError for a triangle without area.

    Args:
        unit: Length of a unit of the texture coordinates [m].
    """
    corners = welded.particle_of_vertex[surface.triangles]
    whole = np.array([len(set(row)) == 3 for row in corners.tolist()])
    places = unit * surface.texcoords[surface.triangles[whole]].astype(np.float64)
    sides = np.roll(places, -1, axis=1) - places
    areas = 0.5 * np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    empty = np.flatnonzero(~(areas > _SMALLEST * areas.mean()))
    if len(empty):
        number = int(np.flatnonzero(whole)[empty[0]])
        raise SettingsError(f"triangle {number} has no area in the texture coordinates; {len(empty)} have none")
    return GarmentPattern(np.linalg.norm(sides, axis=2), areas)


def seams_of(pattern: GarmentPattern, triangles: npt.NDArray[np.uint32]) -> float:
    """Returns the largest difference between the lengths of an edge in its triangles, as a part of their mean."""
    pairs = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    _, group = np.unique(pairs, axis=0, return_inverse=True)
    lengths, count = pattern.edges.reshape(-1), int(group.max()) + 1
    most, least = np.zeros(count), np.full(count, np.inf)
    np.maximum.at(most, group.ravel(), lengths)
    np.minimum.at(least, group.ravel(), lengths)
    return float((2.0 * (most - least) / (most + least)).max())
