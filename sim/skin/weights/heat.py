"""Automatic weights by bone heat.

Each vertex is warmed by its nearest visible bones, and warmth spreads along the surface: (L + A H) w = A H p with the
cotangent Laplacian L, areas A, H = c k / d² and p = 1 / k for the k nearest bones at the distance d.
Reference: I. Baran, J. Popović 2007, "Automatic rigging and animation of 3D characters".
"""

from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel, Mesh, Skeleton
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.skin.weights.sparse import (
    WeightsError,
    diagonal,
    laplacian,
    pieces,
    require_memory,
    require_scipy,
    solved,
)

WELDED_WITHIN = 1e-5
"""Places of vertices are rounded to this part of the extent of the mesh."""

AS_NEAR = 1.0001
"""Factor of the least distance up to which bones count as equally near."""

BEHIND = 0.35
"""A bone is visible if the cosine between the normal and the way to it is less than this."""


@dataclass(frozen=True, slots=True, eq=False)
class HeatSegments:
    joints: Intp  # Shape (S,)
    starts: Float64  # Ends of each segment, in the space of the mesh, shape (S, 3)
    ends: Float64


@dataclass(frozen=True, slots=True, eq=False)
class HeatWeights:
    joints: Intp  # Shape (B,)
    weights: Float64  # Of all vertices and these joints, shape (V, B); each row sums to 1
    unreached: int  # Vertices on pieces that no bone warms, which take the nearest bone


def segments_of(skeleton: Skeleton, joints: Intp) -> HeatSegments:
    """Returns the segments of some joints: to each child, of a leaf as long as the bone before it.

    Joints with "twist" in their name lie along their parent: they share its length.
    """
    names, parents = skeleton.names, skeleton.parents
    heads = skeleton.model_from_bind[:, :3, 3]
    is_twist = np.array(["twist" in name.casefold() for name in names])
    children: list[list[int]] = [[] for _ in names]
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(joint)
    found: list[tuple[int, Float64, Float64]] = []
    for joint in joints.tolist():
        parent, head = int(parents[joint]), heads[joint]
        real = [child for child in children[joint] if not is_twist[child]]
        twists = [child for child in children[joint] if is_twist[child]]
        beside = [child for child in children[parent] if not is_twist[child]] if parent >= 0 and is_twist[joint] else []
        if beside:
            found.append((joint, head, heads[beside[0]]))
        elif twists:
            found.append((joint, head, heads[twists[0]]))
        elif real:
            found += [(joint, head, heads[child]) for child in real]
        else:
            found.append((joint, head, head + (head - heads[parent] if parent >= 0 else 0.0)))
    numbers, starts, ends = zip(*found, strict=True)
    return HeatSegments(np.array(numbers, np.intp), np.array(starts), np.array(ends))


def warming_joints(model: CharacterModel) -> Intp:
    """Returns the joints that get weights: those that have some, else all but a parentless one named as a root.

    Raises:
        WeightsError: If there are none.
    """
    skeleton = model.skeleton
    if skeleton is None or not skeleton.joint_count:
        raise WeightsError("the model has no bones")
    has_weights = weighted_vertex_counts(model.skin, skeleton.joint_count) > 0
    if np.count_nonzero(has_weights) > 1:
        return np.flatnonzero(has_weights)
    roots = [name.casefold() in ("root", "armature", "scene", "world") for name in skeleton.names]
    found = np.flatnonzero(~(np.array(roots) & (skeleton.parents < 0)))
    return found if len(found) else np.arange(skeleton.joint_count)


def bone_heat(mesh: Mesh, segments: HeatSegments, sharpness: float = 1.0) -> HeatWeights:
    """Returns weights of all vertices.

    Raises:
        WeightsError: Without scipy, without triangles, or if the mesh is too large.
    """
    require_scipy()
    if not mesh.triangle_count:
        raise WeightsError("the model has no triangles")
    joints = np.unique(segments.joints)
    places, triangles, place_of, first = welded(mesh)
    require_memory(len(places), max(len(joints), len(segments.joints)))
    near, least = _nearest_bones(places, mesh.normals[first].astype(np.float64), segments)
    columns = np.searchsorted(joints, segments.joints)
    part = np.zeros((len(places), len(joints)))
    for column in range(near.shape[1]):
        part[near[:, column], columns[column]] = 1.0
    count = part.sum(axis=1)
    is_warmed = count > 0.0
    part /= np.maximum(count, 1.0)[:, None]
    shortest = 1e-4 * mesh.bounds.extent
    heat = np.where(is_warmed, sharpness * count / np.maximum(np.where(is_warmed, least, 1.0), shortest) ** 2, 0.0)
    stiff, areas = laplacian(places, triangles)
    piece = pieces(triangles, len(places))
    warm_pieces = np.bincount(piece, is_warmed & (areas > 0.0), piece.max() + 1) > 0.0
    is_reached = warm_pieces[piece]
    rows = np.flatnonzero(is_reached)
    weights = np.zeros_like(part)
    if len(rows):
        system = (stiff + diagonal(areas * heat)).tocsc()[rows][:, rows]
        weights[rows] = np.clip(solved(system, ((areas * heat)[:, None] * part)[rows]), 0.0, None)
    is_reached &= weights.sum(axis=1) > 1e-9
    cold = np.flatnonzero(~is_reached)
    if len(cold):
        away = _distances(places[cold], segments)[0]
        weights[cold] = 0.0
        weights[cold, columns[away.argmin(axis=1)]] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    return HeatWeights(joints, weights[place_of], int(np.isin(place_of, cold).sum()))


def welded(mesh: Mesh) -> tuple[Float64, Intp, Intp, Intp]:
    """Returns distinct places (P, 3), their triangles (T, 3), the place of each vertex (V,), a vertex of each (P,)."""
    positions = mesh.positions.astype(np.float64)
    grid = np.round(positions / (WELDED_WITHIN * max(mesh.bounds.extent, 1e-12))).astype(np.int64)
    _, first, place_of = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    place_of = place_of.ravel()
    corners = place_of[mesh.triangles.astype(np.intp)]
    a, b, c = corners.T
    return positions[first], corners[(a != b) & (b != c) & (a != c)], place_of, first


def _distances(places: Float64, segments: HeatSegments) -> tuple[Float64, Float64]:
    """Returns distances (P, S) of the nearest points of the segments, and the ways to them (P, S, 3)."""
    away = np.empty((len(places), len(segments.joints)))
    ways = np.empty((len(places), len(segments.joints), 3))
    for number, (start, end) in enumerate(zip(segments.starts, segments.ends, strict=True)):
        along = end - start
        share = np.clip((places - start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        ways[:, number] = start + share[:, None] * along - places
        away[:, number] = np.linalg.norm(ways[:, number], axis=1)
    return away, ways


def _nearest_bones(places: Float64, normals: Float64, segments: HeatSegments) -> tuple[Bool, Float64]:
    """Returns whether each segment is one of the nearest that a place sees, (P, S), and their distance (P,)."""
    away, ways = _distances(places, segments)
    seen = np.einsum("psx,px->ps", ways, normals) < BEHIND * away
    visible = np.where(seen, away, np.inf)
    least = visible.min(axis=1)
    near: Bool = np.isfinite(visible) & (visible <= AS_NEAR * least[:, None])
    return near, least
