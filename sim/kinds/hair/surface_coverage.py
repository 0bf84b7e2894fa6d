"""Coats: the skin that fur grows on as what copies of it are made of; pure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel
from sinew.sim.kinds.hair.growth import Children, Growth, GrowthSurface, SurfaceMaps, as_mapped, plain_children
from sinew.sim.kinds.hair.roots import Roots, RootSurface, ellipsoid_places, nearest_guides, root_places
from sinew.sim.kinds.hair.settings import HairSettings, HairSource

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

ROUND, HIGH = 64, 24
"""Faces of an ellipsoid around it and from its equator to its pole."""

_WHOLE = 2.0**32


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceCoverage:
    """A part of a surface with the strands at its vertices.

    Attributes:
        surface: What the strands grow on, at rest.
        strands: One at each vertex.
        triangles: Numbers of these, shape (F, 3).
        rest: Places of the vertices at rest, in metres of the world, shape (V, 3).
        density: Strands for each square metre there, shape (V,).
        is_own: Whether the surface belongs to the coverage, not to a character.
    """

    surface: RootSurface
    strands: Children
    triangles: UInt32
    rest: Float64
    density: Float64
    is_own: bool


def coverage_of(settings: HairSettings, ground: GrowthSurface, growth: Growth) -> SurfaceCoverage | None:
    """What hair is grown on; None for the strands of a file, which have no density."""
    if settings.source is HairSource.FILE:
        return None
    if ground.model is None or ground.table is None:
        return coverage_on_ellipsoid(settings, growth)
    return coverage_on_model(settings, growth, ground.model, ground.table, ground.maps)


def coverage_on_model(
    settings: HairSettings, growth: Growth, model: CharacterModel, table: UInt32, maps: SurfaceMaps
) -> SurfaceCoverage:
    """The faces that strands of a growth stand on, by the table that says where they grow."""
    mesh = model.mesh
    faces = table[:, 1:]
    per_vertex = bool(np.all(faces[:, 0] == faces[:, 1]))
    grows = np.zeros(mesh.vertex_count, bool)
    grows[faces] = True
    # Where vertices are grown on, faces between them are; faces of a table are those that are grown on.
    triangles = mesh.triangles[np.all(grows[mesh.triangles], axis=1)] if per_vertex else faces
    used, numbers = np.unique(triangles, return_inverse=True)
    compact = numbers.reshape(-1, 3)
    shares = np.diff(table[:, 0].astype(np.float64), prepend=0.0) / _WHOLE
    beside = np.empty(len(used), np.uint32)
    for corner in range(3):
        beside[compact[:, corner]] = triangles[:, (corner + 1) % 3]
    roots = Roots(np.stack([used, beside, used], axis=1).astype(np.uint32), _first_corners(len(used)))
    places = root_places(growth.surface, roots)
    if per_vertex:
        chosen = np.zeros(mesh.vertex_count)
        chosen[faces[:, 0]] = shares
        of_vertices = chosen[used]
    else:
        of_vertices = _gathered(compact, shares, len(used)) / 3.0
    areas = _gathered(compact, _areas(places, compact), len(used)) / 3.0
    density = growth.children.count * of_vertices / np.maximum(areas, 1e-12)
    strands = _strands(growth, roots, places)
    strands = as_mapped(strands, growth.guides, maps, model, settings)
    return SurfaceCoverage(growth.surface, strands, compact.astype(np.uint32), places, density, is_own=False)


def coverage_on_ellipsoid(settings: HairSettings, growth: Growth) -> SurfaceCoverage:
    turn, height = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, ROUND + 1), np.sin(np.linspace(0.0, np.pi / 2, HIGH + 1)))
    positions, normals = ellipsoid_places(settings.radii, turn.ravel(), height.ravel())
    surface = RootSurface(positions, normals, growth.surface.world_from_model)
    rows, columns = np.divmod(np.arange(ROUND * HIGH), ROUND)
    first = rows * (ROUND + 1) + columns
    above = first + ROUND + 1
    triangles = np.concatenate([np.stack([first, first + 1, above + 1], 1), np.stack([first, above + 1, above], 1)])
    count = len(positions)
    numbers = np.arange(count)
    beside = np.where(numbers % (ROUND + 1) < ROUND, numbers + 1, numbers - 1)
    roots = Roots(np.stack([numbers, beside, numbers], axis=1).astype(np.uint32), _first_corners(count))
    places = root_places(surface, roots)
    # Uniform in azimuth and height: every face has the share of its height.
    heights = height.ravel()[triangles]
    shares = 0.5 * (heights.max(axis=1) - heights.min(axis=1)) / ROUND
    areas = _gathered(triangles, _areas(places, triangles), count)
    density = growth.children.count * _gathered(triangles, shares, count) / np.maximum(areas, 1e-12)
    strands = _strands(growth, roots, places)
    return SurfaceCoverage(surface, strands, triangles.astype(np.uint32), places, density, is_own=True)


def _strands(growth: Growth, roots: Roots, places: Float64) -> Children:
    """Strands as long as the longest there, of a middling brightness."""
    guides, weights = nearest_guides(places, growth.guides.places)
    return plain_children(roots, guides, weights, np.full(roots.count, 0.5))


def _first_corners(count: int) -> Float64:
    return np.tile([1.0, 0.0, 0.0], (count, 1))


def _areas(places: Float64, triangles: npt.NDArray[np.integer]) -> Float64:
    first, second, third = (places[triangles[:, corner]] for corner in range(3))
    found: Float64 = 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1)
    return found


def _gathered(triangles: npt.NDArray[np.integer], values: Float64, count: int) -> Float64:
    return np.bincount(triangles.ravel(), np.repeat(values, 3), count).astype(np.float64)
