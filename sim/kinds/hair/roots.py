"""Roots of hair; each depends only on the seed and its number, so that adding strands does not move others."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.background import Pause, unpaused
from sinew.sim.maths.arrays import Float64, Intp, UInt32
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, unit_numbers
from sinew.sim.maths.points import places_on_curve
from sinew.sim.skin.surface_table import face_at, triangle_shares

_EDGE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class RootSurface:
    positions: Float64  # Vertices in the space of the surface, shape (V, 3)
    normals: Float64
    world_from_model: Float64  # Shape (4, 4)


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    corners: UInt32  # Vertices of the triangle of each root, shape (N, 3)
    shares: Float64  # Barycentric weights, shape (N, 3)
    # Above the triangles, in units of the surface, shape (N,); None for 0.  Lifted roots use the normal of their
    # triangle
    heights: Float64 | None = None

    @property
    def count(self) -> int:
        return len(self.corners)

    def __getitem__(self, rows: slice) -> "Roots":
        heights = None if self.heights is None else self.heights[rows]
        return Roots(self.corners[rows], self.shares[rows], heights)

    def same(self, other: "Roots") -> bool:
        lifted, others = (np.zeros(one.count) if one.heights is None else one.heights for one in (self, other))
        on_same = np.array_equal(self.corners, other.corners) and np.array_equal(self.shares, other.shares)
        return on_same and np.array_equal(lifted, others)


Triangles = tuple[Float64, Float64, Roots]


def face_roots(table: UInt32, seed: int, numbers: npt.NDArray[np.intp]) -> Roots:
    bits = birth_bits(seed, numbers, RandomStream.PLACE)
    shares = triangle_shares(unit_numbers(bits)[:, 1:])
    return Roots(table[face_at(table[:, 0], bits[:, 0]), 1:], shares)


def vertex_roots(table: UInt32, triangles: UInt32, seed: int, numbers: npt.NDArray[np.intp]) -> Roots:
    """Returns roots on the vertices of a table; the second corner is the end of an edge of each."""
    bits = birth_bits(seed, numbers, RandomStream.PLACE)
    chosen = table[face_at(table[:, 0], bits[:, 0]), 1]
    beside = np.arange(max(int(triangles.max(initial=0)), int(table[:, 1].max())) + 1, dtype=np.uint32)
    for corner in (2, 1, 0):
        beside[triangles[::-1, corner]] = triangles[::-1, (corner + 1) % 3]
    corners = np.stack([chosen, beside[chosen], chosen], axis=1)
    return Roots(corners, np.tile([1.0, 0.0, 0.0], (len(numbers), 1)))


def ellipsoid_surface(radii: tuple[float, float, float], seed: int, numbers: npt.NDArray[np.intp]) -> Triangles:
    """Makes small triangles on the upper half of an ellipsoid, uniform in azimuth and in height, one for each root.

    Returns:
        Positions and unit normals of the vertices, shape (3 N, 3) each, and the roots in them.
    """
    count = len(numbers)
    random = birth_numbers(seed, numbers, RandomStream.PLACE)
    turn, height = 2.0 * np.pi * random[:, 0], random[:, 1]
    out = _on_ball(turn, height)
    along = np.stack([-np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    size = np.array(radii)
    corners = np.stack([out, out + _EDGE * along, out + _EDGE * np.cross(along, out)], axis=1) * size
    normals = unit(out / size)
    vertices = np.arange(3 * count, dtype=np.uint32).reshape(-1, 3)
    roots = Roots(vertices, np.tile([1.0, 0.0, 0.0], (count, 1)))
    return corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), roots


def ellipsoid_places(radii: tuple[float, float, float], turn: Float64, height: Float64) -> tuple[Float64, Float64]:
    """Returns positions and unit normals on an ellipsoid, (N, 3) each, by azimuths [rad] and heights from 0 to 1."""
    out, size = _on_ball(turn, height), np.array(radii)
    return out * size, unit(out / size)


def root_places(surface: RootSurface, roots: Roots) -> Float64:
    """Returns world positions of roots [m], shape (N, 3)."""
    found = np.zeros((roots.count, 3))
    for corner in range(3):
        found += roots.shares[:, corner, None] * surface.positions[roots.corners[:, corner]]
    if roots.heights is not None:
        found += roots.heights[:, None] * _planes(surface.positions[roots.corners])
    placed: Float64 = found @ surface.world_from_model[:3, :3].T + surface.world_from_model[:3, 3]
    return placed


def root_frames(surface: RootSurface, roots: Roots) -> tuple[Float64, Float64]:
    """Returns world positions [m] (N, 3), and frames (N, 3, 3) whose columns are tangent, across and normal.

    The same as in shaders/hair/surface.glsl.
    """
    linear = surface.world_from_model[:3, :3]
    corners = surface.positions[roots.corners]
    normals = np.einsum("nc,ncx->nx", roots.shares, surface.normals[roots.corners])
    if roots.heights is not None:
        normals = np.where(roots.heights[:, None] != 0.0, _planes(corners), normals)
    mean = normals @ cofactors(linear).T
    up = unit(mean, np.array([0.0, 1.0, 0.0]))
    edge = (corners[:, 1] - corners[:, 0]) @ linear.T
    aside = np.where(np.abs(up[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    level = unit(_across(edge, up), unit(_across(aside, up)))
    return root_places(surface, roots), np.stack([level, np.cross(up, level), up], axis=2)


def _planes(corners: Float64) -> Float64:
    """Returns unit normals of triangles (N, 3, 3); 0 for a triangle without area."""
    return unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def cofactors(linear: Float64) -> Float64:
    """Returns the matrix for normals where `linear` (3, 3) transforms positions; up to a positive factor."""
    # Plain numbers: this runs every step, and three numpy calls would take half of its CPU time.
    rows = linear.tolist()
    crossed = [
        [b[(j + 1) % 3] * c[(j + 2) % 3] - b[(j + 2) % 3] * c[(j + 1) % 3] for j in range(3)]
        for b, c in ((rows[1], rows[2]), (rows[2], rows[0]), (rows[0], rows[1]))
    ]
    return np.array(crossed)


def unit(vectors: Float64, other: Float64 | None = None) -> Float64:
    """Returns vectors (N, 3) of length 1; `other` replaces vectors without direction."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    fallback = np.zeros(3) if other is None else other
    found: Float64 = np.where(size > 1e-15, vectors / np.maximum(size, 1e-15), fallback)
    return found


def _on_ball(turn: Float64, height: Float64) -> Float64:
    level = np.sqrt(np.maximum(1.0 - height**2, 0.0))
    return np.stack([level * np.cos(turn), height, level * np.sin(turn)], axis=1)


def _across(vectors: Float64, normals: Float64) -> Float64:
    part: Float64 = vectors - np.sum(vectors * normals, axis=1, keepdims=True) * normals
    return part


COUNT = 3
_BLOCK, _BLOCKS = 64, 4096


def nearest_guides(points: Float64, guides: Float64, pause: Pause = unpaused) -> tuple[Intp, Float64]:
    """Returns numbers (P, 3) of the nearest guides, the first one nearest, and their weights, by inverse distance.

    Points are processed in spatial blocks, each with the few guides that may be near.

    Args:
        points: Shape (P, 3).
        guides: Shape (G, 3), at least one; with fewer than three the last one repeats, with weight 0.
    """
    wanted = min(COUNT, len(guides))
    numbers, squares = np.empty((len(points), COUNT), np.intp), np.empty((len(points), COUNT))
    order = np.argsort(places_on_curve(points), kind="stable")
    for first in range(0, len(points), _BLOCKS):
        pause(first / len(points))
        large = order[first : first + _BLOCKS]
        around = _near(points[large], guides, np.arange(len(guides)), wanted)
        for second in range(0, len(large), _BLOCK):
            chosen = large[second : second + _BLOCK]
            near = _near(points[chosen], guides, around, wanted)
            apart = _squares(points[chosen], guides[near])
            rows = np.arange(len(chosen))
            for rank in range(COUNT):
                best = np.argmin(apart, axis=1)
                numbers[chosen, rank], squares[chosen, rank] = near[best], apart[rows, best]
                if rank + 1 < wanted:
                    apart[rows, best] = np.inf
    weights = 1.0 / np.sqrt(np.maximum(squares, 1e-16))
    weights[:, wanted:] = 0.0
    return numbers, weights / weights.sum(axis=1, keepdims=True)


def _near(block: Float64, guides: Float64, among: Intp, wanted: int) -> Intp:
    centre = block.mean(axis=0)
    reach = float(np.sqrt(np.sum((block - centre) ** 2, axis=1).max()))
    away = np.sqrt(np.sum((guides[among] - centre) ** 2, axis=1))
    found: Intp = among[away <= np.partition(away, wanted - 1)[wanted - 1] + 2.0 * reach + 1e-12]
    return found


def _squares(points: Float64, others: Float64) -> Float64:
    found = np.zeros((len(points), len(others)))
    for axis in range(3):
        found += (points[:, axis, None] - others[:, axis]) ** 2
    return found
