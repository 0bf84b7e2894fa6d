"""Sections of a mesh as a collider, and which of them are outside."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_mesh import welded_numbers
from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.maths.arrays import Bool, Float64, UInt32
from sinew.sim.maths.points import places_on_curve

AT_OPENING = (1, 2, 4)
"""Flags of corners at edges without a neighbour."""

SHEET = 8
"""Flag of triangles of open sheets, which have no inside."""

YIELDS = 32
"""Flag of triangles that yield to the others where those leave no room."""

_COVER = 0.03
"""Distance of a layer that covers another one, as a part of the extent of a mesh."""

_PAIRS = 4_000_000
"""Distances that the search for covered sections may compute."""


def skin_corners(mesh: Mesh, names: Sequence[str]) -> UInt32:
    """Returns vertices and flags (T, 4) of triangles that have an area; of all sections without names.

    The corners are counter-clockwise from outside: each connected part is turned as a whole.  The triangles are ordered
    along a curve through the bind pose, so that four, sixteen, ... in a row are neighbours.
    """
    flags = np.zeros(mesh.triangle_count, np.uint32)
    chosen = np.full(mesh.triangle_count, not names)
    for section in mesh.sections:
        part = slice(section.first_triangle, section.first_triangle + section.triangle_count)
        chosen[part] |= section.name in names
        flags[part] = SHEET if section.is_open else 0
    positions = mesh.positions.astype(np.float64)
    corners = positions[mesh.triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    used = np.flatnonzero(chosen & (areas != 0.0).any(axis=1))
    if not len(used):
        return np.zeros((0, 4), np.uint32)
    used = used[np.argsort(places_on_curve(corners[used].mean(axis=1)), kind="stable")]
    triangles, flags = mesh.triangles[used], flags[used]
    ends = welded_numbers(mesh.positions)[triangles]
    turned = _is_inward(ends, (areas[used] * mesh.normals[triangles].sum(axis=1)).sum(axis=1))
    triangles[turned], ends[turned] = triangles[turned, ::-1], ends[turned, ::-1]
    nexts = np.roll(ends, -1, axis=1)
    keys, users = np.unique(np.minimum(ends, nexts) * len(positions) + np.maximum(ends, nexts), return_counts=True)
    at_opening = np.zeros(len(positions), bool)
    at_opening[np.concatenate(np.divmod(keys[users == 1], len(positions)))] = True
    flags |= (at_opening[ends] @ np.array(AT_OPENING)).astype(np.uint32)
    return np.concatenate([triangles.astype(np.uint32), flags[:, None]], axis=1)


def _is_inward(ends: npt.NDArray[np.integer], outward: Float64) -> Bool:
    """Returns whether triangles (T, 3) belong to a connected part whose corners are clockwise from outside, shape (T,).

    Args:
        outward: Area normal times the normals of the corners, shape (T,).  Of a single triangle it says little, as
            smooth normals of a coarse mesh point inward at sharp edges; the sum over a part decides.
    """
    parts = np.arange(int(ends.max()) + 1)
    before = np.full_like(parts, -1)
    while (parts != before).any():
        before = parts.copy()
        np.minimum.at(parts, ends, parts[ends].min(axis=1, keepdims=True))
        parts = parts[parts]
    part = parts[ends[:, 0]]
    found: Bool = np.bincount(part, outward)[part] < 0.0
    return found


def without_vertices(corners: UInt32, left_out: Bool) -> UInt32:
    """Returns `skin_corners` without the triangles that have one of some vertices (V,); they leave openings."""
    is_gone = left_out[corners[:, :3]].any(axis=1)
    at_opening = np.zeros(len(left_out), bool)
    at_opening[corners[is_gone, :3]] = True
    left = corners[~is_gone]
    left[:, 3] |= (at_opening[left[:, :3]] @ np.array(AT_OPENING)).astype(np.uint32)
    return left


def with_yielding(corners: UInt32, yielding: Bool) -> UInt32:
    """Returns `skin_corners` in which triangles between some vertices (V,) yield.

    Those with another corner do not: of a coarse body, such a triangle can reach from the arm pit to the hips.
    """
    marked = corners.copy()
    marked[yielding[corners[:, :3]].all(axis=1), 3] |= YIELDS
    return marked


def covered_shares(mesh: Mesh) -> dict[str, float]:
    """Returns the share of each section, 0 to 1, that is under another one; the smallest first.

    A point is covered if the nearest vertex of the other sections is close and in front of it.
    """
    triangles = {
        part.name: mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count]
        for part in mesh.sections
    }
    used = {name: np.zeros(mesh.vertex_count, bool) for name, part in triangles.items() if len(part)}
    for name, corners in used.items():
        corners[triangles[name].ravel()] = True
    everywhere = np.any(list(used.values()), axis=0)
    samples = int(np.clip(_PAIRS // max(mesh.vertex_count * len(used), 1), 8, 128))
    reach = _COVER * mesh.bounds.extent
    shares = {}
    for name, own in used.items():
        vertices, others = np.flatnonzero(own), np.flatnonzero(everywhere & ~own)
        picked = vertices[:: -(-len(vertices) // samples)]
        points, places = mesh.positions[picked], mesh.positions[others]
        if not len(others):
            shares[name] = 0.0
            continue
        nearest = ((places**2).sum(1) - 2.0 * points @ places.T).argmin(axis=1)
        ways = places[nearest] - points
        lengths = np.linalg.norm(ways, axis=1)
        in_front = (ways * mesh.normals[picked]).sum(1) > 0.5 * lengths
        shares[name] = float(((lengths < reach) & in_front).mean())
    return dict(sorted(shares.items(), key=lambda item: item[1]))


def outer_sections(model: CharacterModel | None, left_out: Collection[str] = ()) -> tuple[str, ...]:
    """Returns the sections that no other one covers; nothing, for all, if all remain.

    Args:
        left_out: Names of sections that do not count.
    """
    shares = covered_shares(model.mesh) if model is not None else {}
    outer = tuple(name for name, share in shares.items() if share <= 0.5 and name not in left_out)
    return outer if len(outer) < len(shares) else ()


def body_sections(model: CharacterModel, hidden: Collection[str]) -> tuple[str, ...]:
    """Returns `outer_sections` that are neither hidden nor open sheets, unless nothing else is left."""
    every = {part.name for part in model.mesh.sections}
    sheets = every - {part.name for part in model.mesh.sections if not part.is_open}
    left_out = {*hidden, *sheets}
    return outer_sections(model, left_out if every - left_out else hidden)
