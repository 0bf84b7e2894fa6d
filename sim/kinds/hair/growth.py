"""Growth: the guides of some hair and the strands that are drawn between them; pure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.kinds.hair.groom import LENGTHS, Groom, grow
from sim.kinds.hair.nearest import nearest_guides
from sim.kinds.hair.roots import Roots, Surface, ellipsoid_surface, face_roots, root_frames, vertex_roots
from sim.kinds.hair.settings import GUIDES_MAX, HairSettings, HairSource
from sim.maths.hash import birth_numbers

Float64 = npt.NDArray[np.float64]
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
    """

    roots: Roots
    factors: Float64
    guides: npt.NDArray[np.intp]
    weights: Float64
    random: Float64

    @property
    def count(self) -> int:
        """How many."""
        return self.roots.count


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """All strands of some hair.

    Attributes:
        surface: What they grow on, at rest.
        guides: What is simulated.
        children: What is drawn.
        is_own: Whether the surface belongs to the hair, not to a figure.
    """

    surface: Surface
    guides: Groom
    children: Children
    is_own: bool


def growth_on_model(settings: HairSettings, model: CharacterModel, table: UInt32, world_from_model: Float64) -> Growth:
    """Hair on the faces or the vertices of a table, of a model as it stands."""
    mesh = model.mesh
    surface = Surface(mesh.positions.astype(np.float64), mesh.normals.astype(np.float64), world_from_model)

    def place(numbers: npt.NDArray[np.intp]) -> Roots:
        if settings.source is HairSource.VERTICES:
            return vertex_roots(table, mesh.triangles, settings.seed, numbers)
        return face_roots(table, settings.seed, numbers)

    guides, children = (place(numbers) for numbers in _numbers(settings))
    return _grown(settings, surface, guides, children, is_own=False)


def growth_on_ellipsoid(settings: HairSettings, world_from_node: Float64) -> Growth:
    """Hair on the upper half of an ellipsoid in the frame of its node."""
    guides, children = _numbers(settings)
    positions, normals, roots = ellipsoid_surface(settings.radii, settings.seed, np.concatenate([guides, children]))
    count = len(guides)
    surface = Surface(positions, normals, world_from_node)
    first, second = (Roots(roots.corners[part], roots.shares[part]) for part in (slice(count), slice(count, None)))
    return _grown(settings, surface, first, second, is_own=True)


def as_drawn(guides: Groom, seed: int) -> Children:
    """The guides themselves as what is drawn."""
    count = guides.count
    numbers = np.arange(count)
    weights = np.tile([1.0, 0.0, 0.0], (count, 1))
    random = birth_numbers(seed, numbers, LENGTHS)[:, 1]
    return Children(guides.roots, np.ones(count), np.repeat(numbers[:, None], 3, axis=1), weights, random)


def _numbers(settings: HairSettings) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Numbers of guides and children; more of either leave the others where they are."""
    return np.arange(settings.guides), np.arange(GUIDES_MAX, GUIDES_MAX + settings.children)


def _grown(settings: HairSettings, surface: Surface, guides: Roots, children: Roots, *, is_own: bool) -> Growth:
    groom = grow(settings, surface, guides)
    if not children.count:
        return Growth(surface, groom, as_drawn(groom, settings.seed), is_own)
    places, _ = root_frames(surface, children)
    nearest, weights = nearest_guides(places, groom.places)
    random = birth_numbers(settings.seed, np.arange(GUIDES_MAX, GUIDES_MAX + children.count), LENGTHS)
    # The guides have spread lengths already; what is between them varies half as much again.
    factors = 1.0 - 0.5 * settings.length_spread * random[:, 0]
    return Growth(surface, groom, Children(children, factors, nearest, weights, random[:, 1]), is_own)
