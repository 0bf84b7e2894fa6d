"""Sections of a mesh as a collider, and which of them are outside."""

from collections.abc import Sequence

import numpy as np

from sinew.sim.assets.model import Mesh
from sinew.sim.maths.arrays import Float64, Intp, UInt32
from sinew.sim.maths.points import places_on_curve

OPEN_EDGES = (1, 2, 4)
"""Flags of edges without a neighbour, after each corner."""

SHEET = 8
"""Flag of triangles of open sheets, which have no inside."""

_CELLS = (1 << 21) - 1
"""Places along the longest side of a mesh that can be told apart: vertices in one place are one."""

_SIDE, _DEPTH_SHARE = 64, 0.03
"""Cells of the images that find outer sections, and what is still in front, as a part of the extent of the mesh."""


def section_names(sections: str) -> tuple[str, ...]:
    """Returns names that are separated by semicolons."""
    return tuple(name for part in sections.split(";") if (name := part.strip()))


def skin_corners(mesh: Mesh, names: Sequence[str]) -> UInt32:
    """Returns vertices and flags (T, 4) of triangles that have an area; of all sections without names.

    They are ordered along a curve through the bind pose, so that four, sixteen, ... in a row are neighbours.
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
    ends = _welded(positions)[triangles]
    edges = np.stack([ends, np.roll(ends, -1, axis=1)], axis=2)
    keys = edges.min(axis=2) * len(positions) + edges.max(axis=2)
    _, edge, users = np.unique(keys, return_inverse=True, return_counts=True)
    is_open = (users == 1)[edge].reshape(-1, 3)
    flags |= (is_open @ np.array(OPEN_EDGES)).astype(np.uint32)
    return np.concatenate([triangles.astype(np.uint32), flags[:, None]], axis=1)


def _welded(positions: Float64) -> Intp:
    """Returns a number for each vertex, the same for vertices in the same place."""
    low = positions.min(axis=0)
    span = max(float((positions.max(axis=0) - low).max()), 1e-12)
    x, y, z = np.rint((positions - low) / span * _CELLS).astype(np.int64).T
    return np.unique((x << 42) | (y << 21) | z, return_inverse=True)[1]


def visible_shares(mesh: Mesh) -> dict[str, float]:
    """Returns the share of each section, 0 to 1, that can be seen from one of six sides; the largest first."""
    shares: dict[str, list[float]] = {section.name: [0.0, 0.0] for section in mesh.sections if section.triangle_count}
    if not mesh.triangle_count:
        return {}
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    middles = corners.mean(axis=1)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    low = middles.min(axis=0)
    span = max(float((middles.max(axis=0) - low).max()), 1e-12)
    seen = np.zeros(len(middles), bool)
    cells = np.minimum((middles - low) / span * _SIDE, _SIDE - 1).astype(np.int64)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        cell = cells[:, u] * _SIDE + cells[:, v]
        for depth in (middles[:, axis], -middles[:, axis]):
            front = np.full(_SIDE * _SIDE, -np.inf)
            np.maximum.at(front, cell, depth)
            seen |= depth >= front[cell] - _DEPTH_SHARE * span
    for section in mesh.sections:
        part = slice(section.first_triangle, section.first_triangle + section.triangle_count)
        if section.triangle_count:
            shares[section.name][0] += float(areas[part] @ seen[part])
            shares[section.name][1] += float(areas[part].sum())
    found = {name: part / max(whole, 1e-30) for name, (part, whole) in shares.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))
