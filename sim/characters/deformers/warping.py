"""What the deformers of a model do at a moment: packed for the GPU, and applied to points in double precision."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Warps
from sim.assets.model import CharacterModel, Mesh, Skin
from sim.characters.deformers.functions import MOVES
from sim.characters.deformers.settings import VALUES, Deformer, EmissionPulse, Extent

Float64 = npt.NDArray[np.float64]

_LATTICE = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
"""Points of a unit box by which the box of what becomes of it is told, shape (125, 3)."""

_ROOM = 0.05
"""Part of a box by which it is larger, for what curves between these points."""

_FLATTENED = 1e-12

_OPPOSITE = 0.1
"""Mean of normals, as a part of their length, from which on they have a direction in common."""


def warps_of(deformers: Sequence[Deformer], model: CharacterModel, up_axis: str, time: float) -> Warps | None:
    """What deformers do at a moment [s]; None where none of them acts.

    One that a bone limits acts nowhere while the model has no such bone.
    """
    acting = [deformer for deformer in deformers if not deformer.muted]
    light = sum((pulse.light(time) for pulse in acting if isinstance(pulse, EmissionPulse)), np.zeros(3))
    moving = [(deformer, _bone(deformer, model)) for deformer in acting if deformer.function]
    moving = [(deformer, bone) for deformer, bone in moving if bone is not None]
    if not moving and not light.any():
        return None
    extent = Extent(model.mesh.bounds, up_axis == "z")
    return Warps(
        functions=tuple(deformer.function for deformer, _ in moving),
        values=np.array([deformer.values(extent, time) for deformer, _ in moving]).reshape(-1, VALUES),
        bones=tuple(bone for _, bone in moving if bone is not None),
        light=light,
    )


def _bone(deformer: Deformer, model: CharacterModel) -> int | None:
    """Joint whose weights limit a deformer, -1 for none; None for one that is not there."""
    if not deformer.bone:
        return -1
    return model.skeleton.find(deformer.bone) if model.skeleton is not None and model.skin is not None else None


def mask_of(mesh: Mesh, skin: Skin, joint: int) -> Float64:
    """Slope of the weight of a joint on the surface, and the weight, at every vertex, shape (V, 4).

    The slope is that of the faces around a vertex, weighted by their areas.
    """
    weights, positions, triangles = skin.weights_of(joint), mesh.positions.astype(np.float64), mesh.triangles
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    squares = np.sum(normals**2, axis=1)
    at = weights[triangles]
    edges = at[:, :1] * (c - b) + at[:, 1:2] * (a - c) + at[:, 2:] * (b - a)
    doubled = np.sqrt(squares)
    # Slope times the double area; triangles without area say nothing.
    usable = squares > np.finfo(float).tiny
    slopes = np.cross(normals, edges) / np.where(usable, doubled, 1.0)[:, None] * usable[:, None]
    mask = np.zeros((len(positions), 4))
    mask[:, 3] = weights
    areas = np.bincount(triangles.ravel(), np.repeat(doubled, 3), len(positions))
    for axis in range(3):
        summed = np.bincount(triangles.ravel(), np.repeat(slopes[:, axis], 3), len(positions))
        mask[:, axis] = np.divide(summed, areas, out=np.zeros_like(areas), where=areas > 0.0)
    return mask


def seams_of(mesh: Mesh) -> Float64 | None:
    """Where vertices at the same place have different normals: their mean direction, and 1, at every vertex, (V, 4).

    Elsewhere 0; None where there is no such vertex.  Opposite sides of a sheet have no mean.
    """
    places, place_of = np.unique(_marks(mesh.positions), return_inverse=True)
    if len(places) == mesh.vertex_count:
        return None
    # What is split for its textures alone counts once.
    _, first = np.unique(places[place_of] ^ (_marks(mesh.normals) << np.uint64(1)), return_index=True)
    owners, counts = place_of[first], np.bincount(place_of[first], minlength=len(places))
    means = np.stack([np.bincount(owners, mesh.normals[first, axis], len(places)) for axis in range(3)], axis=1)
    lengths = np.linalg.norm(means, axis=1)
    is_seam = (counts > 1) & (lengths > _OPPOSITE * counts)
    means[~is_seam], lengths[~is_seam] = 0.0, 1.0
    return np.column_stack([means / lengths[:, None], is_seam])[place_of] if is_seam.any() else None


def _marks(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
    """A number for each vector, the same for the same ones alone, but for a chance of one in 10^19."""
    bits = (np.ascontiguousarray(vectors, np.float32) + np.float32(0.0)).view(np.uint32).astype(np.uint64)
    marks = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        marks = (marks ^ column) * np.uint64(0x9E3779B97F4A7C15)
        marks ^= marks >> np.uint64(29)
    return marks


def warped(
    warps: Warps,
    points: Float64,
    normals: Float64,
    tangents: Float64 | None,
    masks: dict[int, Float64],
    seams: Float64 | None = None,
) -> tuple[Float64, Float64, Float64 | None]:
    """Points, unit normals and tangents (N, 3) after all deformers, one after the other.

    Args:
        warps: What they do.
        points, normals, tangents: Bind pose after the morph targets, shape (N, 3) each.
        masks: Slopes and weights of the points, shape (N, 4), by joint.
        seams: Directions in which points go whose places have several normals, see `seams_of`; None where none has.
    """
    is_seam = np.zeros((len(points), 1), bool) if seams is None else seams[:, 3:] > 0.0
    outward = normals if seams is None else np.where(is_seam, seams[:, :3], normals)
    total = np.broadcast_to(np.eye(3), (len(points), 3, 3))
    for function, values, bone in zip(warps.functions, warps.values, warps.bones, strict=True):
        strength, slope = np.ones(len(points)), np.zeros((len(points), 3))
        if bone >= 0:
            strength, slope = masks[bone][:, 3], _slope_after(total, masks[bone][:, :3])
        points, jacobian = MOVES[function](values, points, outward, strength, slope)
        x, y, z = np.moveaxis(jacobian, -1, 0)
        cofactor = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-1)
        mirrored = np.sum(x * cofactor[..., 0], axis=-1) < 0.0
        cofactor = np.where(mirrored, -1.0, 1.0)[:, None, None] * cofactor
        normals = _unit((cofactor @ normals[..., None])[..., 0], normals)
        outward = np.where(is_seam, _unit((cofactor @ outward[..., None])[..., 0], outward), normals)
        if tangents is not None:
            tangents = _unit((jacobian @ tangents[..., None])[..., 0], tangents)
        total = jacobian @ total
    return points, normals, tangents


def warped_boxes(warps: Warps, lo: Float64, hi: Float64) -> tuple[Float64, Float64]:
    """Boxes (J, 3), (J, 3) that hold what becomes of boxes, told by points within and the heights of bulges."""
    points = (lo[:, None] + _LATTICE * (hi - lo)[:, None]).reshape(-1, 3)
    margin, nowhere = 0.0, np.zeros_like(points)
    still = {bone: np.column_stack([nowhere, np.ones(len(points))]) for bone in warps.bones if bone >= 0}
    unmoved = points
    for index, function in enumerate(warps.functions):
        one = Warps((function,), warps.values[index : index + 1], warps.bones[index : index + 1], warps.light)
        # Boxes have no normals: what goes along these may go anywhere.
        margin += abs(warps.values[index, 4]) if function == "bulge" else 0.0
        points = warped(one, points, nowhere, None, still)[0]
    both = [moved.reshape(len(lo), -1, 3) for moved in ((points, unmoved) if still else (points,))]
    lowest = np.minimum.reduce([moved.min(axis=1) for moved in both])
    highest = np.maximum.reduce([moved.max(axis=1) for moved in both])
    room = margin + _ROOM * (highest - lowest)
    return lowest - room, highest + room


def _slope_after(total: Float64, slope: Float64) -> Float64:
    usable = np.abs(np.linalg.det(total)) > _FLATTENED
    safe = np.where(usable[:, None, None], np.swapaxes(total, 1, 2), np.eye(3))
    return np.where(usable[:, None], np.linalg.solve(safe, slope[..., None])[..., 0], 0.0)


def _unit(vectors: Float64, fallback: Float64) -> Float64:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = length > 1e-12
    return np.where(usable, vectors / np.where(usable, length, 1.0), fallback)
