"""Weights from another surface: copied where it is near, and continued smoothly where it is not.

Reference: R. Abdrashitov et al. 2023, "Robust skin weights transfer via weight inpainting".
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.influences import influences_in
from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.skin.attachment import attach, closest_weights
from sinew.sim.skin.weights.heat import welded
from sinew.sim.skin.weights.sparse import (
    WeightsError,
    diagonal,
    laplacian,
    pieces,
    require_memory,
    require_scipy,
    solved,
)

LEAST_MATCHED = 0.3
"""Least part of the vertices that must find the other surface."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightSource:
    """A surface with weights."""

    positions: Float64  # Shape (N, 3)
    normals: Float64
    triangles: npt.NDArray[np.integer]  # Shape (T, 3)
    weights: Float64  # Of joints of the target, shape (N, B)


@dataclass(frozen=True, slots=True, eq=False)
class TransferredWeights:
    joints: Intp  # Shape (B,)
    weights: Float64  # Shape (V, B); rows of vertices that are not asked for are zero
    matched: float  # Part of the vertices that found the other surface


def source_of(model: CharacterModel, target: CharacterModel, among: Bool | None = None) -> tuple[Intp, WeightSource]:
    """Returns joints of the target, and a surface of another model, or of a part of its vertices (V,).

    Joints have the same names; one that the target has not gives its weight to the nearest joint above it that it has.

    Raises:
        WeightsError: If one of them has no bones, or no bones have the same names.
    """
    own, skeleton, found = target.skeleton, model.skeleton, influences_in(model)
    if own is None:
        raise WeightsError("the model has no bones")
    if skeleton is None or found is None:
        raise WeightsError(f"{model.path.name} has no weights")
    joint_of = np.array([-1 if (same := own.find(name)) is None else same for name in skeleton.names], np.intp)
    for level in skeleton.hierarchy.levels:
        missing = level[joint_of[level] < 0]
        joint_of[missing] = joint_of[skeleton.parents[missing]]
    used = np.unique(found.joints[found.weights > 0.0])
    if (joint_of[used] < 0).all():
        raise WeightsError(f"no bone of {model.path.name} has a name of a bone of {target.path.name}")
    mesh = model.mesh
    triangles = mesh.triangles.astype(np.intp)
    if among is not None:
        triangles = triangles[among[triangles].all(axis=1)]
    if not len(triangles):
        raise WeightsError(f"{model.path.name} has no triangles to take weights from")
    rows, corners = np.unique(triangles, return_inverse=True)
    mapped = joint_of[found.joints[rows]]
    weights = np.where(mapped >= 0, found.weights[rows], 0.0)
    joints, columns = np.unique(np.maximum(mapped, 0), return_inverse=True)
    require_memory(len(rows), len(joints))
    columns = columns.reshape(mapped.shape)
    flat = (np.arange(len(rows))[:, None] * len(joints) + columns).ravel()
    dense = np.asarray(np.bincount(flat, weights.ravel(), len(rows) * len(joints)), np.float64)
    positions, normals = mesh.positions[rows].astype(np.float64), mesh.normals[rows].astype(np.float64)
    return joints, WeightSource(positions, normals, corners.reshape(-1, 3), dense.reshape(len(rows), -1))


def transferred(
    source: WeightSource,
    joints: Intp,
    mesh: Mesh,
    among: Bool | None = None,
    *,
    search: float = 0.05,
    angle: float = 30.0,
) -> TransferredWeights:
    """Returns weights of vertices.

    Args:
        among: Vertices that get weights, shape (V,); None for all.
        search: Largest distance of a match, as a part of the diagonal of the mesh.
        angle: Largest angle between the normals of a match [°].

    Raises:
        WeightsError: Without scipy, or if less than `LEAST_MATCHED` of the vertices match.
    """
    require_scipy()
    asked = np.ones(mesh.vertex_count, bool) if among is None else among
    places, triangles, place_of, first = welded(mesh)
    wanted = np.zeros(len(places), bool)
    wanted[place_of[asked]] = True
    rows = np.flatnonzero(wanted)
    if not len(rows):
        raise WeightsError("there are no vertices that get weights")
    require_memory(len(rows), len(joints))
    number = np.full(len(places), -1, np.intp)
    number[rows] = np.arange(len(rows))
    triangles = number[triangles[wanted[triangles].all(axis=1)]]
    points = places[rows]
    bound = attach(np.arange(len(rows), dtype=np.int32), points, source.positions, source.triangles.astype(np.uint32))
    corners = bound.corners.astype(np.intp)
    shares = closest_weights(points, source.positions[corners])
    foot = np.einsum("pc,pcx->px", shares, source.positions[corners])
    weights = np.einsum("pc,pcb->pb", shares, source.weights[corners])
    facing = _unit(np.einsum("pc,pcx->px", shares, source.normals[corners]))
    own = _unit(mesh.normals[first[rows]].astype(np.float64))
    diagonal_length = float(np.linalg.norm(mesh.bounds.size))
    is_matched = np.linalg.norm(points - foot, axis=1) <= search * diagonal_length
    is_matched &= np.sum(facing * own, axis=1) >= math.cos(math.radians(angle)) - 1e-12
    is_matched &= weights.sum(axis=1) > 1e-9
    matched = float(is_matched.mean())
    if matched < LEAST_MATCHED:
        raise WeightsError(
            f"{matched:.0%} of the vertices are near the other surface, {LEAST_MATCHED:.0%} are needed: it must be in "
            "the same place, or Search and Angle larger"
        )
    weights = _inpainted(points, triangles, weights, is_matched)
    found = np.zeros((mesh.vertex_count, len(joints)))
    found[asked] = weights[number[place_of[asked]]]
    return TransferredWeights(joints, found, matched)


def _inpainted(places: Float64, triangles: Intp, weights: Float64, is_matched: Bool) -> Float64:
    """Continues the weights of the matched places over the others; pieces without a match keep the nearest ones."""
    piece = pieces(triangles, len(places)) if len(triangles) else np.arange(len(places))
    has_match = np.bincount(piece, is_matched, piece.max() + 1) > 0.0
    unknown = np.flatnonzero(~is_matched & has_match[piece])
    found = weights.copy()
    if len(unknown):
        stiff, areas = laplacian(places, triangles)
        smooth = (stiff + stiff @ diagonal(1.0 / np.maximum(areas, 1e-6 * areas.mean())) @ stiff).tocsr()
        known = np.flatnonzero(is_matched)
        right = -(smooth[unknown][:, known] @ weights[known])
        found[unknown] = np.clip(solved(smooth[unknown][:, unknown], right), 0.0, None)
    total = found.sum(axis=1, keepdims=True)
    found = np.where(total > 1e-9, found, weights)
    shares: Float64 = found / np.maximum(found.sum(axis=1, keepdims=True), 1e-30)
    return shares


def _unit(vectors: Float64) -> Float64:
    unit: Float64 = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit
