"""Growth: the guides of some hair and the strands that are drawn between them; pure."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel, Mesh
from sim.kinds.hair.groom import LENGTHS, SHORTEST, Groom, grow
from sim.kinds.hair.nearest import nearest_guides
from sim.kinds.hair.roots import Roots, Surface, ellipsoid_surface, face_roots, root_places, vertex_roots
from sim.kinds.hair.settings import GUIDES_MAX, HairSettings, HairSource
from sim.maths.hash import birth_numbers
from sim.maths.srgb import linear_from_srgb
from sim.skin.surface_table import texture_density

Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Children:
    """Strands that are drawn.

    Attributes:
        roots: Where they grow.
        factors: Of their lengths, shape (N,).
        guides: Numbers of the nearest guides, shape (N, 3).
        weights: Of these, shape (N, 3).
        random: A number of each, 0 to 1, shape (N,).
        tints: Linear factors of the colours, shape (N, 3).
    """

    roots: Roots
    factors: Float64
    guides: npt.NDArray[np.intp]
    weights: Float64
    random: Float64
    tints: Float64

    @property
    def count(self) -> int:
        """How many."""
        return self.roots.count


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """Images over the surface of a model.

    Attributes:
        length: Its brightness is a factor of the lengths; None for 1.
        colour: Its colours are factors of those of the strands; None for 1.
        is_bottom_up: Whether texture coordinate v = 0 is the bottom row.
    """

    length: UInt8 | None = None
    colour: UInt8 | None = None
    is_bottom_up: bool = False

    def lengths(self, mesh: Mesh, roots: Roots) -> Float64:
        """Factors of the lengths of strands, shape (N,)."""
        if self.length is None:
            return np.ones(roots.count)
        return texture_density(self.length, self._places(mesh, roots))

    def tints(self, mesh: Mesh, roots: Roots) -> Float64:
        """Factors of the colours of strands, shape (N, 3)."""
        if self.colour is None:
            return np.ones((roots.count, 3))
        places = self._places(mesh, roots)
        channels = [texture_density(self.colour[..., index], places) for index in range(3)]
        return linear_from_srgb(np.stack(channels, axis=1))

    def _places(self, mesh: Mesh, roots: Roots) -> Float64:
        found = np.einsum("nc,nck->nk", roots.shares, mesh.texcoords.astype(np.float64)[roots.corners])
        return np.stack([found[:, 0], 1.0 - found[:, 1]], axis=1) if self.is_bottom_up else found


NO_MAPS = Maps()


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """All strands of some hair.

    Attributes:
        surface: What they grow on, at rest.
        guides: What is simulated.
        children: What is drawn.
        is_own: Whether the surface belongs to the hair, not to a figure.
        is_bare: Whether the guides themselves are drawn.
    """

    surface: Surface
    guides: Groom
    children: Children
    is_own: bool
    is_bare: bool = False


def growth_on_model(
    settings: HairSettings,
    model: CharacterModel,
    table: UInt32,
    world_from_model: Float64,
    maps: Maps = NO_MAPS,
    former: Growth | None = None,
) -> Growth:
    """Hair on the faces or the vertices of a table, of a model as it stands.

    What was found before, `former`, is not looked for again where the roots are the same.
    """
    mesh = model.mesh
    surface = Surface(mesh.positions.astype(np.float64), mesh.normals.astype(np.float64), world_from_model)

    def place(numbers: npt.NDArray[np.intp]) -> Roots:
        if settings.source is HairSource.VERTICES:
            return vertex_roots(table, mesh.triangles, settings.seed, numbers)
        return face_roots(table, settings.seed, numbers)

    guides, children = (place(numbers) for numbers in _numbers(settings))
    found = _grown(settings, surface, guides, children, former, is_own=False)
    return _mapped(found, maps, mesh, settings)


def growth_on_ellipsoid(settings: HairSettings, world_from_node: Float64, former: Growth | None = None) -> Growth:
    """Hair on the upper half of an ellipsoid in the frame of its node; `former` as above."""
    guides, children = _numbers(settings)
    positions, normals, roots = ellipsoid_surface(settings.radii, settings.seed, np.concatenate([guides, children]))
    count = len(guides)
    surface = Surface(positions, normals, world_from_node)
    first, second = (Roots(roots.corners[part], roots.shares[part]) for part in (slice(count), slice(count, None)))
    return _grown(settings, surface, first, second, former, is_own=True)


def _mapped(growth: Growth, maps: Maps, mesh: Mesh, settings: HairSettings) -> Growth:
    """Growth with the lengths and colours of maps."""
    guides = growth.guides
    shares = maps.lengths(mesh, guides.roots)
    guides = replace(guides, lengths=np.maximum(guides.lengths * shares, SHORTEST))
    children = as_drawn(guides, settings.seed) if growth.is_bare else growth.children
    grown = replace(growth, guides=guides, children=children)
    return replace(grown, children=as_mapped(children, grown, maps, mesh))


def as_mapped(children: Children, growth: Growth, maps: Maps, mesh: Mesh) -> Children:
    """Strands between the guides of a growth with the lengths and colours that maps have at their own places.

    They have the lengths of their guides already.
    """
    of_guides = np.einsum("nk,nk->n", children.weights, maps.lengths(mesh, growth.guides.roots)[children.guides])
    own = maps.lengths(mesh, children.roots) / np.maximum(of_guides, 1e-3)
    factors = children.factors * np.clip(own, 0.0, 2.0)
    return replace(children, factors=factors, tints=maps.tints(mesh, children.roots))


def as_drawn(guides: Groom, seed: int) -> Children:
    """The guides themselves as what is drawn."""
    count = guides.count
    numbers = np.arange(count)
    weights = np.tile([1.0, 0.0, 0.0], (count, 1))
    random = birth_numbers(seed, numbers, LENGTHS)[:, 1]
    whole, ones = np.repeat(numbers[:, None], 3, axis=1), np.ones((count, 3))
    return Children(guides.roots, np.ones(count), whole, weights, random, ones)


def _numbers(settings: HairSettings) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Numbers of guides and children; more of either leave the others where they are."""
    return np.arange(settings.guides), np.arange(GUIDES_MAX, GUIDES_MAX + settings.children)


def _same_roots(former: Growth, surface: Surface, guides: Roots, children: Roots) -> bool:
    """Whether everything grows where it grew before."""
    same = former.guides.roots.same(guides) and former.children.roots.same(children)
    return same and np.array_equal(former.surface.positions, surface.positions)


def _grown(
    settings: HairSettings, surface: Surface, guides: Roots, children: Roots, former: Growth | None, *, is_own: bool
) -> Growth:
    groom = grow(settings, surface, guides)
    if not children.count:
        return Growth(surface, groom, as_drawn(groom, settings.seed), is_own, is_bare=True)
    if former is not None and _same_roots(former, surface, guides, children):
        nearest, weights = former.children.guides, former.children.weights
    else:
        nearest, weights = nearest_guides(root_places(surface, children), groom.places)
    random = birth_numbers(settings.seed, np.arange(GUIDES_MAX, GUIDES_MAX + children.count), LENGTHS)
    # The guides have spread lengths already; what is between them varies half as much again.
    factors = 1.0 - 0.5 * settings.length_spread * random[:, 0]
    tints = np.ones((children.count, 3))
    return Growth(surface, groom, Children(children, factors, nearest, weights, random[:, 1], tints), is_own)
