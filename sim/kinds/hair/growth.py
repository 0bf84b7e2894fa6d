import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import Bounds, CharacterModel, Mesh
from sinew.sim.assets.strands import StrandSet
from sinew.sim.kinds.background import Pause, part_of, unpaused
from sinew.sim.kinds.hair.groom import LENGTHS, SHORTEST, Groom, grow, part_distances
from sinew.sim.kinds.hair.roots import (
    Roots,
    RootSurface,
    ellipsoid_places,
    ellipsoid_surface,
    face_roots,
    nearest_guides,
    root_places,
    vertex_roots,
)
from sinew.sim.kinds.hair.settings import GUIDES_MAX, HairSettings, HairSource, ImageChannel
from sinew.sim.maths.arrays import Float64, Intp, UInt8, UInt32
from sinew.sim.maths.hash import birth_numbers
from sinew.sim.maths.points import triangle_areas
from sinew.sim.maths.srgb import linear_from_srgb
from sinew.sim.skin.surface_table import bone_density, texture_density

_NUMBERS = {ImageChannel.RED: 0, ImageChannel.GREEN: 1, ImageChannel.BLUE: 2, ImageChannel.ALPHA: 3}


def channel_of(pixels: UInt8, channel: ImageChannel) -> UInt8:
    return pixels if channel is ImageChannel.BRIGHTNESS else pixels[..., _NUMBERS[channel]]


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceMaps:
    images: Mapping[str, UInt8] = field(default_factory=dict)  # By quantity: length, curl, clump, noise or colour
    is_bottom_up: bool = False  # Texture coordinate v = 0 is the bottom row

    def factors(self, what: str, settings: HairSettings, model: CharacterModel, roots: Roots) -> Float64 | None:
        """Returns factors from 0 to 1 at the roots, shape (N,); None if the quantity is uniform."""
        found: Float64 | None = None
        if what in self.images:
            channel = getattr(settings, f"{what}_channel")
            found = texture_density(channel_of(self.images[what], channel), self._places(model.mesh, roots))
        weights = self.weights(what, settings, model, roots)
        if found is None or weights is None:
            return weights if found is None else found
        return found * weights

    def weights(self, what: str, settings: HairSettings, model: CharacterModel, roots: Roots) -> Float64 | None:
        """Returns weights of the controlling bone at the roots, shape (N,); None without one."""
        weights = bone_density(model, getattr(settings, f"{what}_bone"))
        return None if weights is None else np.einsum("nc,nc->n", roots.shares, weights[roots.corners])

    def tints(self, mesh: Mesh, roots: Roots) -> Float64:
        """Returns linear colour factors, shape (N, 3)."""
        if "colour" not in self.images:
            return np.ones((roots.count, 3))
        pixels, places = self.images["colour"], self._places(mesh, roots)
        channels = [texture_density(pixels[..., index], places) for index in range(3)]
        return linear_from_srgb(np.stack(channels, axis=1))

    def _places(self, mesh: Mesh, roots: Roots) -> Float64:
        found = np.einsum("nc,nck->nk", roots.shares, mesh.texcoords.astype(np.float64)[roots.corners])
        return np.stack([found[:, 0], 1.0 - found[:, 1]], axis=1) if self.is_bottom_up else found


NO_MAPS = SurfaceMaps()


@dataclass(frozen=True, slots=True, eq=False)
class Children:
    roots: Roots
    factors: Float64  # Length factors, shape (N,)
    guides: Intp  # Numbers of the nearest guides, shape (N, 3)
    weights: Float64  # Of these guides, shape (N, 3)
    random: Float64  # A number for each strand, 0 to 1, shape (N,)
    tints: Float64  # Linear colour factors at roots and tips, shape (N, 2, 3)
    dyes: Float64  # Fractions of dye, shape (N,)
    forms: Float64  # Factors of clump, curls, noise and thickness, shape (N, 4)
    has_colours: bool = False  # The tints are absolute colours
    # Offset of each point from the curve of the guides [m], shape (N, K, 3), see `imported.details`
    details: Float64 | None = None

    @property
    def count(self) -> int:
        return self.roots.count

    @property
    def carriers(self) -> npt.NDArray[np.intp]:
        """Guide with the largest weight for each strand, shape (N,)."""
        found: npt.NDArray[np.intp] = self.guides[np.arange(self.count), np.argmax(self.weights, axis=1)]
        return found


def plain_children(roots: Roots, guides: Intp, weights: Float64, random: Float64) -> Children:
    ones = np.ones(roots.count)
    tints, forms = np.ones((roots.count, 2, 3)), np.ones((roots.count, 4))
    return Children(roots, ones, guides, weights, random, tints, np.zeros(roots.count), forms)


@dataclass(frozen=True, eq=False)
class Growth:
    surface: RootSurface  # At rest
    guides: Groom  # Simulated strands
    children: Children  # Rendered strands
    is_own: bool  # The surface belongs to the hair and not to a character
    is_bare: bool = False  # The guides are rendered
    part: tuple[object, ...] | None = None  # Settings of the parting

    @functools.cached_property
    def longest(self) -> float:
        """Length of the longest guide [m]."""
        return float(self.guides.lengths.max())

    @functools.cached_property
    def rooted(self) -> npt.NDArray[np.integer]:
        grows = np.zeros(len(self.surface.positions), bool)
        for roots in (self.guides.roots, self.children.roots):
            grows[roots.corners] = True
        return np.flatnonzero(grows)

    @functools.cached_property
    def box(self) -> Bounds:
        return Bounds(self.surface.positions.min(axis=0), self.surface.positions.max(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class GrowthSurface:
    world_from_surface: Float64  # Transform of the model or node, shape (4, 4)
    model: CharacterModel | None = None  # None for an ellipsoid or a file without a model
    table: UInt32 | None = None  # Faces or vertices with their density, see `sinew.sim.skin.surface_table`
    maps: SurfaceMaps = NO_MAPS
    strands: StrandSet | None = None  # Of a file
    world_from_file: Float64 | None = None  # Transform of the node, in whose frame the file is, shape (4, 4)

    @property
    def surface_from_file(self) -> Float64 | None:
        """Transform from the file to the surface, shape (4, 4); None without a file."""
        if self.world_from_file is None:
            return None
        return np.linalg.inv(self.world_from_surface) @ self.world_from_file


def growth_on_model(
    settings: HairSettings,
    model: CharacterModel,
    table: UInt32,
    world_from_model: Float64,
    maps: SurfaceMaps = NO_MAPS,
    former: Growth | None = None,
    pause: Pause = unpaused,
) -> Growth:
    surface = surface_of(model, world_from_model)

    def place(numbers: Intp) -> Roots:
        if settings.source is HairSource.VERTICES:
            return vertex_roots(table, model.mesh.triangles, settings.seed, numbers)
        return face_roots(table, settings.seed, numbers)

    guides, children = (place(numbers) for numbers in _numbers(settings))
    found = _grown(settings, surface, guides, children, former, pause, is_own=False)
    return _mapped(found, maps, model, settings)


def growth_on_ellipsoid(
    settings: HairSettings,
    world_from_node: Float64,
    former: Growth | None = None,
    pause: Pause = unpaused,
) -> Growth:
    guides, children = _numbers(settings)
    positions, normals, roots = ellipsoid_surface(settings.radii, settings.seed, np.concatenate([guides, children]))
    count = len(guides)
    surface = RootSurface(positions, normals, world_from_node)
    return _grown(settings, surface, roots[:count], roots[count:], former, pause, is_own=True)


def surface_of(model: CharacterModel, world_from_model: Float64) -> RootSurface:
    mesh = model.mesh
    return RootSurface(mesh.positions.astype(np.float64), mesh.normals.astype(np.float64), world_from_model)


def _mapped(growth: Growth, maps: SurfaceMaps, model: CharacterModel, settings: HairSettings) -> Growth:
    guides = growth.guides
    shares = maps.factors("length", settings, model, guides.roots)
    if shares is not None:
        guides = replace(guides, lengths=np.maximum(guides.lengths * shares, SHORTEST))
    children = as_drawn(guides, settings.seed) if growth.is_bare else growth.children
    return replace(growth, guides=guides, children=as_mapped(children, guides, maps, model, settings))


def as_mapped(
    children: Children, guides: Groom, maps: SurfaceMaps, model: CharacterModel, settings: HairSettings
) -> Children:
    shares, own = (maps.factors("length", settings, model, roots) for roots in (guides.roots, children.roots))
    if shares is not None and own is not None:
        # The lengths of their guides contain the map already.
        of_guides = np.einsum("nk,nk->n", children.weights, shares[children.guides])
        ratio = np.clip(own / np.maximum(of_guides, 1e-3), 0.0, 2.0)
        children = replace(children, factors=children.factors * ratio)
    forms = children.forms.copy()
    for column, what in enumerate(("clump", "curl", "noise")):
        factors = maps.factors(what, settings, model, children.roots)
        forms[:, column] = 1.0 if factors is None else factors
    dyes = maps.weights("colour", settings, model, children.roots)
    tints = np.repeat(maps.tints(model.mesh, children.roots)[:, None], 2, axis=1)
    return replace(children, tints=tints, forms=forms, dyes=children.dyes if dyes is None else dyes)


def as_drawn(guides: Groom, seed: int) -> Children:
    numbers = np.arange(guides.count)
    weights = np.tile([1.0, 0.0, 0.0], (guides.count, 1))
    random = birth_numbers(seed, numbers, LENGTHS)[:, 1]
    return plain_children(guides.roots, np.repeat(numbers[:, None], 3, axis=1), weights, random)


def _numbers(settings: HairSettings) -> tuple[Intp, Intp]:
    """Returns the numbers of guides and children, which seed random numbers: adding strands does not move others."""
    return np.arange(settings.guides), np.arange(GUIDES_MAX, GUIDES_MAX + settings.children)


def _same_roots(former: Growth, surface: RootSurface, guides: Roots, children: Roots) -> bool:
    same = former.guides.roots.same(guides) and former.children.roots.same(children)
    return same and np.array_equal(former.surface.positions, surface.positions)


def _grown(
    settings: HairSettings,
    surface: RootSurface,
    guides: Roots,
    children: Roots,
    former: Growth | None,
    pause: Pause,
    *,
    is_own: bool,
) -> Growth:
    groom = grow(settings, surface, guides)
    if not children.count:
        return Growth(surface, groom, as_drawn(groom, settings.seed), is_own, is_bare=True)
    part = (settings.part_across, settings.part_place) if settings.part_strength > 0.0 else None
    if former is not None and former.part == part and _same_roots(former, surface, guides, children):
        nearest, weights = former.children.guides, former.children.weights
    else:
        nearest, weights = _nearest(settings, surface, root_places(surface, children), groom.places, pause)
    random = birth_numbers(settings.seed, np.arange(GUIDES_MAX, GUIDES_MAX + children.count), LENGTHS)
    # The lengths of the guides vary already; those between them vary half as much again.
    factors = 1.0 - 0.5 * settings.length_spread * random[:, 0]
    drawn = replace(plain_children(children, nearest, weights, random[:, 1]), factors=factors)
    return Growth(surface, groom, drawn, is_own, part=part)


def _nearest(
    settings: HairSettings, surface: RootSurface, points: Float64, guides: Float64, pause: Pause
) -> tuple[Intp, Float64]:
    if settings.part_strength == 0.0:
        return nearest_guides(points, guides, pause)
    side, of_guide = (part_distances(settings, surface, places)[1] < 0.0 for places in (points, guides))
    if of_guide.all() or not of_guide.any():
        return nearest_guides(points, guides, pause)
    numbers, weights = np.empty((len(points), 3), np.intp), np.empty((len(points), 3))
    share = 0.0
    for one in (False, True):
        mine, among = side == one, np.flatnonzero(of_guide == one)
        if mine.any():
            own = part_of(pause, share, share := share + float(mine.mean()))
            found, weights[mine] = nearest_guides(points[mine], guides[among], own)
            numbers[mine] = among[found]
    return numbers, weights


ROUND, HIGH = 64, 24
"""Numbers of faces of an ellipsoid, around it and from its equator to its pole."""

_WHOLE = 2.0**32


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceCoverage:
    surface: RootSurface  # At rest
    strands: Children  # One at each vertex
    triangles: UInt32  # Of these vertices, shape (F, 3)
    rest: Float64  # World positions of the vertices at rest [m], shape (V, 3)
    density: Float64  # Strands per square metre, shape (V,)
    is_own: bool  # The surface belongs to the coverage, not to a character


def coverage_of(settings: HairSettings, ground: GrowthSurface, growth: Growth) -> SurfaceCoverage | None:
    """Returns the surface coverage; None for strands of a file, which have no density."""
    if settings.source is HairSource.FILE:
        return None
    if ground.model is None or ground.table is None:
        return coverage_on_ellipsoid(settings, growth)
    return coverage_on_model(settings, growth, ground.model, ground.table, ground.maps)


def coverage_on_model(
    settings: HairSettings, growth: Growth, model: CharacterModel, table: UInt32, maps: SurfaceMaps
) -> SurfaceCoverage:
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
    areas = _gathered(compact, triangle_areas(places, compact), len(used)) / 3.0
    density = growth.children.count * of_vertices / np.maximum(areas, 1e-12)
    strands = _strands(growth, roots, places)
    strands = as_mapped(strands, growth.guides, maps, model, settings)
    return SurfaceCoverage(growth.surface, strands, compact.astype(np.uint32), places, density, is_own=False)


def root_cover(ground: GrowthSurface, growth: Growth) -> Float64 | None:
    """Returns the length of strands on an area of the surface at rest [1/m] at each vertex, shape (V,).

    The density comes from the table, if there is one, because few roots would be uneven.  None without a model.
    """
    if ground.model is None or growth.is_own:
        return None
    mesh, children, guides = ground.model.mesh, growth.children, growth.guides
    count, roots = mesh.vertex_count, children.roots
    places = growth.surface.positions @ growth.surface.world_from_model[:3, :3].T
    areas = np.maximum(_gathered(mesh.triangles, triangle_areas(places, mesh.triangles), count) / 3.0, 1e-12)
    lengths = children.factors * np.einsum("nk,nk->n", children.weights, guides.lengths[children.guides])
    lengths *= children.forms[:, 3]
    corners = roots.corners.ravel()
    counts = np.bincount(corners, roots.shares.ravel(), count)
    sums = np.bincount(corners, (roots.shares * lengths[:, None]).ravel(), count)
    if ground.table is not None:
        shares = np.diff(ground.table[:, 0].astype(np.float64), prepend=0.0) / _WHOLE
        mean = np.divide(sums, counts, out=np.full(count, lengths.mean()), where=counts > 0.0)
        sums = mean * children.count * _gathered(ground.table[:, 1:], shares, count) / 3.0
    cover: Float64 = sums / areas
    return cover


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
    areas = _gathered(triangles, triangle_areas(places, triangles), count)
    density = growth.children.count * _gathered(triangles, shares, count) / np.maximum(areas, 1e-12)
    strands = _strands(growth, roots, places)
    return SurfaceCoverage(surface, strands, triangles.astype(np.uint32), places, density, is_own=True)


def _strands(growth: Growth, roots: Roots, places: Float64) -> Children:
    guides, weights = nearest_guides(places, growth.guides.places)
    return plain_children(roots, guides, weights, np.full(roots.count, 0.5))


def _first_corners(count: int) -> Float64:
    return np.tile([1.0, 0.0, 0.0], (count, 1))


def _gathered(triangles: npt.NDArray[np.integer], values: Float64, count: int) -> Float64:
    return np.bincount(triangles.ravel(), np.repeat(values, 3), count).astype(np.float64)
