"""Skinning in double precision on the CPU, the reference for the GPU.  Written for clarity, not speed."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.palette import rigid_and_scale
from sinew.sim.animation.pose import Pose, Warps
from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.characters.deformers.functions import mask_of, normal_matrices, seams_of, warped
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.maths import dual_quaternion, quaternion
from sinew.sim.maths.arrays import Float64

Triangles = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class SkinnedVertices:
    """Skinned vertices in file order and file space."""

    positions: Float64  # shape (V, 3)
    normals: Float64  # Unit vectors, shape (V, 3)
    tangents: Float64 | None  # Unit xyz and the handedness of the mesh, shape (V, 4), or None


@dataclass(frozen=True, slots=True)
class MethodDifference:
    """Distance between corresponding vertices, in file units."""

    maximum: float
    mean: float
    vertex: int  # The vertex with the largest distance


def skin(
    mesh: Mesh,
    influences: Skin | None,
    palette: Float64,
    method: SkinningMethod,
    centres: Float64 | None = None,
    weights: Float64 | None = None,
    warps: Warps | None = None,
) -> SkinnedVertices:
    """Skins a mesh in double precision.

    Args:
        influences: Up to 8 joints for each vertex, or None for a mesh without joints.
        palette: Matrix of each palette entry for the bind pose, shape (P, 4, 4).
        method: LBS blends the matrices; DQS blends the rigid parts as dual quaternions and ignores scale; DQS_SCALE
            blends the scales linearly, applies them first, and then moves as DQS does.
        centres: Bind positions of the joints, shape (P, 3), about which scale acts; the origin if None.
        weights: Of the morph targets, which act first, shape (M,); 0 if None.
        warps: Deformers, which act after the morph targets.

    Source: Magnenat-Thalmann et al. 1988 (LBS); Kavan et al. 2008, algorithm 1 and section 4.3 (DQS).
    """
    rest = deformed(mesh, weights)
    if warps is not None:
        rest = _warped(warps, mesh, influences, rest)
    positions, normals, tangents = rest.positions, rest.normals, rest.tangents
    if influences is None:
        return SkinnedVertices(positions, _unit(normals, normals), tangents)
    if method is SkinningMethod.LBS:
        matrices = _blended(palette[:, :3], influences)
        return _linear_blend(matrices, positions, normals, tangents)
    motions, scales = rigid_and_scale(palette, centres)
    vertices = SkinnedVertices(positions, _unit(normals, normals), tangents)
    if method is SkinningMethod.DQS_SCALE:
        vertices = _linear_blend(_blended(scales, influences), positions, normals, tangents)
    return _moved(_blended_motion(motions, influences), vertices)


def deformed(mesh: Mesh, weights: Float64 | None) -> SkinnedVertices:
    """Adds morph targets: p + sum of w dp, and unit n + sum of w dn; `weights` (M,) have any size and sign."""
    positions, normals = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
    tangents = None if mesh.tangents is None else mesh.tangents.astype(np.float64)
    targets = mesh.targets
    if targets is None or weights is None:
        return SkinnedVertices(positions, normals, tangents)
    for first, count, start, number in zip(
        targets.firsts, targets.counts, targets.starts, targets.weight_of, strict=True
    ):
        run, deltas = slice(first, first + count), targets.deltas[start : start + count].astype(np.float64)
        positions[run] += weights[number] * deltas[:, 0, :3]
        normals[run] += weights[number] * deltas[:, 1, :3]
        if tangents is not None:
            tangents[run, :3] += weights[number] * deltas[:, 2, :3]
    if tangents is not None:
        tangents[:, :3] = _unit(tangents[:, :3], tangents[:, :3])
    return SkinnedVertices(positions, _unit(normals, normals), tangents)


def shaped_mesh(mesh: Mesh, influences: Skin | None, pose: Pose) -> Mesh:
    """Returns the mesh after morph targets and deformers; the same object if none acts."""
    if pose.warps is None and not pose.local.weights.any():
        return mesh
    rest = deformed(mesh, pose.local.weights)
    if pose.warps is not None:
        rest = _warped(pose.warps, mesh, influences, rest)
    return replace(mesh, positions=rest.positions.astype(np.float32), normals=rest.normals.astype(np.float32))


def _warped(warps: Warps, mesh: Mesh, influences: Skin | None, rest: SkinnedVertices) -> SkinnedVertices:
    masks = {bone: mask_of(mesh, influences, bone) for bone in warps.bones if bone >= 0 and influences is not None}
    seams = seams_of(mesh) if "bulge" in warps.functions else None
    along = None if rest.tangents is None else rest.tangents[:, :3]
    normals = _unit(rest.normals, rest.normals)
    positions, normals, along = warped(warps, rest.positions, normals, along, masks, seams)
    if rest.tangents is None or along is None:
        return SkinnedVertices(positions, normals, None)
    return SkinnedVertices(positions, normals, np.concatenate([along, rest.tangents[:, 3:]], axis=1))


def enclosed_volume(positions: npt.ArrayLike, triangles: Triangles) -> float:
    """Returns the volume inside a closed, outward-facing triangle mesh, in cubed units; sums signed tetrahedra.

    An open mesh is closed by cones from its centre to its borders.
    """
    points = np.asarray(positions, dtype=np.float64)
    if not len(points) or not len(triangles):
        return 0.0
    (ax, bx, cx), (ay, by, cy), (az, bz, cz) = (points - points.mean(axis=0)).T.take(triangles.T, axis=1)
    return float(np.sum(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6.0)


def method_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> MethodDifference:
    """Returns the distance of positions of shape (V, 3)."""
    distances = np.linalg.norm(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64), axis=1)
    if not len(distances):
        return MethodDifference(0.0, 0.0, 0)
    vertex = int(np.argmax(distances))
    return MethodDifference(float(distances[vertex]), float(distances.mean()), vertex)


def _blended(rows: Float64, influences: Skin) -> Float64:
    """Blends rows (B, 3, 4) by influences; returns (V, 3, 4)."""
    total = np.zeros((len(influences.joints), 3, 4))
    for joints, weights in zip(influences.joints.T, influences.weights.T, strict=True):
        total += weights.astype(np.float64)[:, None, None] * rows[joints]
    return total


def _blended_motion(motions: Float64, influences: Skin) -> Float64:
    weights = influences.weights.astype(np.float64)
    return dual_quaternion.normalised(dual_quaternion.blend(motions[influences.joints], weights))


def _linear_blend(matrices: Float64, positions: Float64, normals: Float64, tangents: Float64 | None) -> SkinnedVertices:
    linear = matrices[..., :3]
    moved = _apply(linear, positions) + matrices[..., 3]
    turned = _unit(_apply(normal_matrices(linear), normals), normals)
    if tangents is None:
        return SkinnedVertices(moved, turned, None)
    along = _unit(_apply(linear, tangents[:, :3]), tangents[:, :3])
    return SkinnedVertices(moved, turned, np.concatenate([along, tangents[:, 3:]], axis=1))


def _moved(motion: Float64, vertices: SkinnedVertices) -> SkinnedVertices:
    rotation, tangents = motion[:, 0], vertices.tangents
    if tangents is not None:
        along = quaternion.rotate(rotation, _unit(tangents[:, :3], tangents[:, :3]))
        tangents = np.concatenate([along, tangents[:, 3:]], axis=1)
    return SkinnedVertices(
        dual_quaternion.transform_points(motion, vertices.positions),
        quaternion.rotate(rotation, vertices.normals),
        tangents,
    )


def _apply(linear: Float64, vectors: Float64) -> Float64:
    turned: Float64 = (linear @ vectors[..., None])[..., 0]
    return turned


def _unit(vectors: Float64, fallback: Float64) -> Float64:
    """Returns unit vectors; `fallback`, which may be zero, replaces vectors without length."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    missing = length < 1e-20
    return np.where(missing, fallback, vectors / np.where(missing, 1.0, length))
