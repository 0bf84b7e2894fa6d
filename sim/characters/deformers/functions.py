"""The deformers in double precision on the CPU, for boxes, for single points, and as the reference of the GPU.

Each function has a counterpart of its name in `shaders/model/deformers`.  It takes values (12,), points (N, 3), their
unit normals (N, 3), strengths (N,) and the gradients of the strength (N, 3); it returns points (N, 3) and Jacobians
(N, 3, 3).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.pose import Warps
from sinew.sim.assets.model import CharacterModel, Mesh, Skin
from sinew.sim.characters.deformers.settings import VALUES, Deformer, EmissionPulse, Extent
from sinew.sim.maths.arrays import Bool, Float32, Float64

Moved = tuple[Float64, Float64]

_SMALL = 1e-2
"""Angle [rad] below which quotients of sines are evaluated as series."""


def bulge(values: Float64, points: Float64, normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, number, (size, start, swing) = values[:3], values[3], values[4:7]
    phase = number * (points @ axis) + start
    height = 0.5 * size * (1.0 + swing * np.sin(phase))
    change = (0.5 * strength * size * swing * number * np.cos(phase))[:, None] * axis + height[:, None] * slope
    return points + (strength * height)[:, None] * normals, np.eye(3) + _outer(normals, change)


def twist(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, centre, rate = values[:3], values[4:7], values[8]
    _, along, inside = _along(values, points)
    angle = rate * strength * along
    change = rate * (along[:, None] * slope + (strength * inside)[:, None] * axis)
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    around = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    turn = cosine * np.eye(3) + (1.0 - cosine) * np.outer(axis, axis) + sine * around
    moved = (turn @ (points - centre)[..., None])[..., 0]
    return centre + moved, turn + _outer(np.cross(axis, moved), change)


def bend(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, centre, towards = values[:3], values[4:7], values[8:11]
    height, along, inside = _along(values, points)
    beyond, across, curvature = height - along, (points - centre) @ towards, values[11] * strength
    angle = curvature * along
    x, y = np.cos(angle), np.sin(angle)
    small, safe = np.abs(angle) < _SMALL, np.where(np.abs(angle) < _SMALL, 1.0, angle)
    sine = np.where(small, 1.0 - angle**2 / 6.0 + angle**4 / 120.0, y / safe)
    cosine = np.where(small, angle / 2.0 - angle**3 / 24.0, (1.0 - x) / safe)
    sine_slope = np.where(small, -angle / 3.0 + angle**3 / 30.0, (x - sine) / safe)
    cosine_slope = np.where(small, 0.5 - angle**2 / 8.0, (y - cosine) / safe)
    up = along * sine - across * y + beyond * x - height
    side = along * cosine + across * x + beyond * y - across
    stretch = np.where(inside, 1.0 - curvature * across, 1.0)
    by_height = _both(stretch * x, stretch * y, axis, towards) - axis
    by_across = _both(-y, x, axis, towards) - towards
    by_curvature = _both(
        along * (along * sine_slope - across * x - beyond * y),
        along * (along * cosine_slope - across * y + beyond * x),
        axis,
        towards,
    )
    jacobian = np.eye(3) + by_height[..., None] * axis + by_across[..., None] * towards
    return points + _both(up, side, axis, towards), jacobian + _outer(by_curvature, values[11] * slope)


def taper(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, centre, length, more = values[:3], values[4:7], values[7], values[8]
    _, along, inside = _along(values, points)
    part = along / length
    change = more * (part[:, None] * slope + (strength * inside / length)[:, None] * axis)
    only = np.eye(3) - np.outer(axis, axis)
    across, grown = (points - centre) @ only, more * strength * part
    jacobian = np.eye(3) + grown[:, None, None] * only + _outer(across, change)
    return points + grown[:, None] * across, jacobian


def wave(values: Float64, points: Float64, _normals: Float64, strength: Float64, slope: Float64) -> Moved:
    axis, number, towards, size = values[:3], values[3], values[4:7], values[7]
    phase = number * (points @ axis) + values[8]
    height = size * np.sin(phase)
    change = (strength * size * number * np.cos(phase))[:, None] * axis + height[:, None] * slope
    return points + (strength * height)[:, None] * towards, np.eye(3) + towards[:, None] * change[:, None, :]


MOVES: Mapping[str, Callable[[Float64, Float64, Float64, Float64, Float64], Moved]] = {
    function.__name__: function for function in (bulge, twist, bend, taper, wave)
}


def _along(values: Float64, points: Float64) -> tuple[Float64, Float64, Bool]:
    """Returns heights over the start along the axis, also clamped to the changing part, and True inside it."""
    height = points @ values[:3] - values[3]
    along = np.clip(height, 0.0, values[7])
    return height, along, along == height


def _outer(one: Float64, other: Float64) -> Float64:
    product: Float64 = one[:, :, None] * other[:, None, :]
    return product


def _both(first: Float64, second: Float64, axis: Float64, towards: Float64) -> Float64:
    return np.outer(first, axis) + np.outer(second, towards)


_LATTICE = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
"""Points of a unit box by which deformed boxes are estimated, shape (125, 3)."""

_ROOM = 0.05
"""Margin of such a box, as a part of its size, for curvature between these points."""

_FLATTENED = 1e-12

_OPPOSITE = 0.1
"""Length of the mean of unit normals above which they have a common direction."""


def warps_of(deformers: Sequence[Deformer], model: CharacterModel, up_axis: str, time: float) -> Warps | None:
    """Returns the deformers that act at scene time `time` [s], or None; one limited by a missing bone does not act."""
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
    """Returns the joint whose weights limit a deformer, -1 for none; None if it is missing."""
    if not deformer.bone:
        return -1
    return model.skeleton.find(deformer.bone) if model.skeleton is not None and model.skin is not None else None


def mask_of(mesh: Mesh, skin: Skin, joint: int) -> Float64:
    """Returns the gradient of a joint's weight on the surface, and the weight, at every vertex, shape (V, 4).

    The gradient is the mean of the faces around a vertex, weighted by their areas.
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
    """Returns the mean of different normals at one position, and 1, at every vertex with several of them, (V, 4).

    Zeros elsewhere; None if there is no such vertex.  Opposite sides of a sheet have no mean.
    """
    marks = _hashes(mesh.positions)
    ordered = np.sort(marks)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):
        return None
    places = repeated[np.concatenate([[True], repeated[1:] != repeated[:-1]])]
    # Most vertices are alone at their position: a table of the upper bits finds them faster than a binary search.
    may_repeat = np.zeros(1 << 22, bool)
    may_repeat[places >> np.uint64(42)] = True
    shared = np.flatnonzero(may_repeat[marks >> np.uint64(42)])
    place_of = np.searchsorted(places, marks[shared])
    is_shared = places.take(place_of, mode="clip") == marks[shared]
    shared, place_of = shared[is_shared], place_of[is_shared]
    normals = mesh.normals[shared]
    # Vertices that are split for their texture coordinates alone count once.
    _, first = np.unique(marks[shared] ^ (_hashes(normals) << np.uint64(1)), return_index=True)
    owners, normals = place_of[first], normals[first]
    counts = np.bincount(owners, minlength=len(places))
    means = np.stack([np.bincount(owners, normals[:, axis], len(places)) for axis in range(3)], axis=1)
    lengths = np.linalg.norm(means, axis=1)
    is_seam = (counts > 1) & (lengths > _OPPOSITE * counts)
    if not is_seam.any():
        return None
    means[~is_seam], lengths[~is_seam] = 0.0, 1.0
    seams = np.zeros((mesh.vertex_count, 4))
    seams[shared] = np.column_stack([means / lengths[:, None], is_seam])[place_of]
    return seams


def _hashes(vectors: Float32) -> npt.NDArray[np.uint64]:
    """Returns hashes; different vectors have the same one with a chance of one in 10^19."""
    bits = (np.ascontiguousarray(vectors, np.float32) + np.float32(0.0)).view(np.uint32)
    hashes = np.zeros(len(bits), np.uint64)
    for axis in range(bits.shape[1]):
        hashes ^= bits[:, axis]
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def warped(
    warps: Warps,
    points: Float64,
    normals: Float64,
    tangents: Float64 | None,
    masks: dict[int, Float64],
    seams: Float64 | None = None,
) -> tuple[Float64, Float64, Float64 | None]:
    """Returns points, unit normals and tangents (N, 3) after all deformers, one after the other.

    Args:
        points, normals, tangents: Bind pose after the morph targets, shape (N, 3) each.
        masks: Gradients and weights of the points, shape (N, 4), by joint.
        seams: See `seams_of`.
    """
    is_seam = np.zeros((len(points), 1), bool) if seams is None else seams[:, 3:] > 0.0
    outward = normals if seams is None else np.where(is_seam, seams[:, :3], normals)
    total = np.broadcast_to(np.eye(3), (len(points), 3, 3))
    for function, values, bone in zip(warps.functions, warps.values, warps.bones, strict=True):
        strength, slope = np.ones(len(points)), np.zeros((len(points), 3))
        if bone >= 0:
            strength, slope = masks[bone][:, 3], _slope_after(total, masks[bone][:, :3])
        points, jacobian = MOVES[function](values, points, outward, strength, slope)
        cofactor = normal_matrices(jacobian)
        normals = _unit((cofactor @ normals[..., None])[..., 0], normals)
        outward = np.where(is_seam, _unit((cofactor @ outward[..., None])[..., 0], outward), normals)
        if tangents is not None:
            tangents = _unit((jacobian @ tangents[..., None])[..., 0], tangents)
        total = jacobian @ total
    return points, normals, tangents


def normal_matrices(linear: Float64) -> Float64:
    """Returns the inverse transpose of (V, 3, 3) matrices up to a positive factor, for flat matrices too.

    The cofactor matrix is the inverse transpose times the determinant; only its sign must be undone.
    """
    x, y, z = np.moveaxis(linear, -1, 0)
    cofactor = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-1)
    mirrored = np.sum(x * cofactor[..., 0], axis=-1) < 0.0
    return np.where(mirrored[:, None, None], -cofactor, cofactor)


def warped_boxes(warps: Warps, lo: Float64, hi: Float64) -> tuple[Float64, Float64]:
    """Returns boxes (J, 3), (J, 3) around deformed boxes, from points inside and the heights of bulges."""
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
