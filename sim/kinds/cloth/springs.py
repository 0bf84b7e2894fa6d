"""A spring has the constants of its type of spring times its own factor, so that a change of the fabric changes few
numbers.  The factor holds the geometry; it is 1 if springs are defined directly.

Sources: A. Van Gelder 1998, "Approximate simulation of elastic membranes by triangulated spring meshes", for the share
of an edge; K.-J. Choi and H.-S. Ko 2002 for the bend springs, a polyline of two flaps.
"""

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.maps import ClothMap, Values
from sinew.sim.kinds.cloth.pattern import GarmentPattern
from sinew.sim.maths.arrays import Float64, Int32
from sinew.sim.maths.points import triangle_areas
from sinew.sim.scene.params import SettingsError


class SpringKind(enum.IntEnum):
    STRUCTURAL = 0
    SHEAR = 1
    BEND = 2


@dataclass(frozen=True, slots=True)
class Springs:
    pairs: Int32  # Particles at the ends, shape (S, 2)
    kinds: Int32  # `SpringKind`, shape (S,)
    rest: Float64  # Rest lengths [m], shape (S,)
    factors: Float64  # Factors of the constants of the kind, shape (S,)

    @property
    def count(self) -> int:
        return len(self.pairs)

    def of_kind(self, kind: SpringKind) -> "Springs":
        chosen = self.kinds == kind
        return Springs(self.pairs[chosen], self.kinds[chosen], self.rest[chosen], self.factors[chosen])


def joined(parts: list[Springs]) -> Springs:
    return Springs(
        np.concatenate([part.pairs for part in parts]).astype(np.int32),
        np.concatenate([part.kinds for part in parts]).astype(np.int32),
        np.concatenate([part.rest for part in parts]),
        np.concatenate([part.factors for part in parts]),
    )


def mapped_springs(springs: Springs, values: Values) -> Springs:
    """Returns springs whose factors are multiplied by the mean of the maps at both ends, which keeps momentum."""
    factors = springs.factors.copy()
    for one, bends in ((ClothMap.STRETCH, False), (ClothMap.BEND, True)):
        if one in values:
            chosen = (springs.kinds == SpringKind.BEND) == bends
            factors[chosen] *= values[one][springs.pairs[chosen]].mean(axis=1)
    return Springs(springs.pairs, springs.kinds, springs.rest, factors)


BEND_FACTOR_MAX = 4.0
"""Largest factor of a bend spring, relative to two flaps of even height: slivers would need far too short steps."""


def mesh_springs(
    positions: Float64, triangles: npt.NDArray[np.uint32], *, material: bool, pattern: GarmentPattern | None = None
) -> Springs:
    """Makes structural springs along the edges of a mesh, bend springs between the corners opposite an edge.

    Edges with more than two faces get a bend spring for each consecutive pair of faces.  The factors of a material make
    the mesh a fabric of even stiffness; else they are 1.  A pattern gives the rest lengths: the mean of the triangles
    at an edge, and across it the distance of the corners in the plane.
    """
    corners = triangles.astype(np.int64)
    areas = triangle_areas(positions, triangles) if pattern is None else pattern.areas
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    opposite = np.concatenate([corners[:, 2], corners[:, 0], corners[:, 1]])
    is_turned = pairs[:, 0] > pairs[:, 1]
    pairs = np.sort(pairs, axis=1)
    keys = pairs[:, 0] * len(positions) + pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    half = _HalfEdges(
        keys[order], pairs[order].astype(np.int32), opposite[order].astype(np.int32), np.tile(areas, 3)[order],
        _sides(pattern, is_turned)[order] if pattern is not None else None,
    )  # fmt: skip
    edges = _structural(positions, half)
    bends = _bend(positions, half)
    springs = joined([edges, bends])
    return springs if material else Springs(springs.pairs, springs.kinds, springs.rest, np.ones(springs.count))


class _HalfEdges:
    """Edges of triangles in the order of their ends.

    Attributes:
        sides: Of a pattern: the mean length of the edge, and the lengths from its first and its second end to the
            opposite corner [m], shape (H, 3).
    """

    def __init__(
        self, keys: npt.NDArray[np.int64], pairs: Int32, opposite: Int32, areas: Float64, sides: Float64 | None
    ) -> None:
        self.keys, self.pairs, self.opposite, self.areas, self.sides = keys, pairs, opposite, areas, sides
        if sides is not None:
            _, group = np.unique(keys, return_inverse=True)
            self.sides = sides.copy()
            self.sides[:, 0] = (np.bincount(group, weights=sides[:, 0]) / np.bincount(group))[group]


def _sides(pattern: GarmentPattern, is_turned: npt.NDArray[np.bool_]) -> Float64:
    """Returns the lengths of each edge, from its first and from its second end to the opposite corner, (3 T, 3)."""
    own = pattern.edges.T.reshape(-1)
    to_second, to_first = (
        np.roll(pattern.edges, -1, axis=1).T.reshape(-1),
        np.roll(pattern.edges, 1, axis=1).T.reshape(-1),
    )
    return np.stack([own, np.where(is_turned, to_second, to_first), np.where(is_turned, to_first, to_second)], axis=1)


def _structural(positions: Float64, half: _HalfEdges) -> Springs:
    _, first, group = np.unique(half.keys, return_index=True, return_inverse=True)
    pairs = half.pairs[first]
    rest = _lengths(positions, pairs) if half.sides is None else half.sides[first, 0]
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
    rest = _lengths(positions, ends) if half.sides is None else _unfolded(half.sides[first], half.sides[second])
    area = half.areas[first] + half.areas[second]
    lengths = _lengths(positions, half.pairs[first]) if half.sides is None else half.sides[first, 0]
    edge = np.maximum(lengths, np.finfo(np.float64).tiny)
    height = np.maximum(area / edge, np.finfo(np.float64).tiny)
    even = area / np.maximum(rest, np.finfo(np.float64).tiny) ** 2
    factors = np.minimum(edge * rest**2 / (16.0 * height**3), BEND_FACTOR_MAX * even)
    kinds = np.full(len(ends), int(SpringKind.BEND), np.int32)
    return Springs(ends, kinds, rest, factors)


def _unfolded(one: Float64, other: Float64) -> Float64:
    """Returns the distance of the corners opposite an edge, with both triangles in a plane; arguments as `_sides`."""
    along = [(side[:, 1] ** 2 + side[:, 0] ** 2 - side[:, 2] ** 2) / (2.0 * side[:, 0]) for side in (one, other)]
    aside = [np.sqrt(np.maximum(side[:, 1] ** 2 - x**2, 0.0)) for side, x in zip((one, other), along, strict=True)]
    found: Float64 = np.hypot(along[0] - along[1], aside[0] + aside[1])
    return found


def _lengths(positions: Float64, pairs: Int32) -> Float64:
    lengths: Float64 = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
    return lengths


def area_shares(positions: Float64, triangles: npt.NDArray[np.uint32], areas: Float64 | None = None) -> Float64:
    """Returns the area of each particle [m²], a third of every triangle around it, shape (P,).

    Args:
        areas: Of the triangles [m²], if they are not of these positions.
    """
    third = (triangle_areas(positions, triangles) if areas is None else areas) / 3.0
    shares: Float64 = np.bincount(triangles.ravel(), weights=np.repeat(third, 3), minlength=len(positions)).astype(
        np.float64
    )
    return shares


WIDTH_MAX = 64
"""Maximum number of springs of one kind, or faces, around a particle; wider fans would slow down every particle."""


@dataclass(frozen=True, slots=True)
class NeighbourTable:
    """Springs around every particle, for a kernel without branches; empty slots name the particle itself."""

    index: Int32  # Particle at the other end, shape (P, W)
    rest: Float64  # Rest length [m], shape (P, W); 0 in empty slots
    factor: Float64  # Factor of the spring, shape (P, W); 0 in empty slots

    @property
    def width(self) -> int:
        return int(self.index.shape[1])


def neighbour_table(springs: Springs, kinds: tuple[SpringKind, ...], particle_count: int) -> NeighbourTable:
    """Returns springs around particles, with neighbours in the order of kind and number.

    Raises:
        SettingsError: If a particle has more than `WIDTH_MAX` springs of these kinds.
    """
    chosen = np.isin(springs.kinds, [int(kind) for kind in kinds])
    pairs = springs.pairs[chosen]
    owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])
    kind = np.tile(springs.kinds[chosen], 2)
    order = np.lexsort((other, kind, owner))
    slot, width = _slots(owner[order], particle_count)
    index = np.repeat(np.arange(particle_count, dtype=np.int32)[:, None], width, axis=1)
    rest, factor = np.zeros((particle_count, width)), np.zeros((particle_count, width))
    place = (owner[order], slot)
    index[place] = other[order]
    rest[place] = np.tile(springs.rest[chosen], 2)[order]
    factor[place] = np.tile(springs.factors[chosen], 2)[order]
    return NeighbourTable(index, rest, factor)


def face_table(triangles: npt.NDArray[np.uint32], particle_count: int) -> Int32:
    """Returns two corners of every triangle around each particle, in winding order, shape (P, W, 2).

    Raises:
        SettingsError: If a particle has more than `WIDTH_MAX` triangles.
    """
    corners = triangles.astype(np.int32)
    owner = corners.T.ravel()
    others = np.concatenate([corners[:, [1, 2]], corners[:, [2, 0]], corners[:, [0, 1]]])
    order = np.argsort(owner, kind="stable")
    slot, width = _slots(owner[order], particle_count)
    faces = np.repeat(np.arange(particle_count, dtype=np.int32)[:, None], 2 * width, axis=1)
    table = faces.reshape(particle_count, width, 2)
    table[owner[order], slot] = others[order]
    return table


def _slots(owner: npt.NDArray[np.integer], particle_count: int) -> tuple[npt.NDArray[np.intp], int]:
    """Returns the index of each entry within its owner, whose entries follow each other, and the largest count."""
    counts = np.bincount(owner, minlength=particle_count)
    width = int(counts.max(initial=0))
    if width > WIDTH_MAX:
        raise SettingsError(
            f"particle {int(counts.argmax())} has {width} neighbours of one kind, {WIDTH_MAX} is the most"
        )
    starts = np.cumsum(counts) - counts
    return np.arange(len(owner)) - starts[owner], width
