"""Chains of bones and weights for a skirt, a tail or hair: one section of a model that hangs on a bone.

Two harmonic coordinates span the section: u from its edge at the bone, 0, to the far edge, 1, and v across.  Joints lie
on lines of equal v, and the weights of a vertex are bilinear in both.

Source: Pinkall and Polthier 1993 (cotangent Laplacian).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sinew.sim.assets.influences import Influences, influences_in, merged
from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.skin.weights.heat import welded
from sinew.sim.skin.weights.sparse import WeightsError

CHAINS_MAX, JOINTS_MAX = 64, 16
SPACING, LENGTH = 0.12, 0.1
"""Default distance of chains at the far edge, and default length of a bone [m]."""
BLENDED = 0.1
"""Part of the length below which the weights of before fade out."""

_SHARP = math.radians(140.0)
"""Largest angle of a corner of a sheet."""
_APART = 0.04
"""Smallest distance of corners, as a part of the length of the edge."""
_TIP = 0.95
"""Part of the length of a tail where its tip begins."""
_PRECISE, _ROUNDS = 1e-11, 4000


@dataclass(frozen=True, slots=True, eq=False)
class HangingSurface:
    """Welded places (P, 3) of a section with coordinates u and v (P,), and triangles (T, 3)."""

    places: Float64
    triangles: Intp
    u: Float64
    v: Float64  # Around a ring from 0 to 1, periodic; across a sheet
    is_ring: bool
    is_closed: bool  # Whether the far end is a point, as of a tail
    hem: float  # Length of the far edge, of the near one without it, in units of the file
    length: float  # From the near to the far edge
    end: Float64  # Middle of the far edge, or the tip, shape (3,)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedChains:
    """New joints below an anchor, C chains of J + 1, the last of which only ends a bone.

    Attributes:
        places: In the model at rest, shape (C, J + 1, 3).
        rows: Vertices with new weights, shape (R,).
        influences: Their joints and weights; the new joints follow the joints of the model, chain by chain.
        spacing: Distance of the chains at the far edge, in units of the file; 0 for one chain.
    """

    anchor: int
    places: Float64
    rows: Intp
    influences: Influences
    spacing: float

    def names(self, section: str) -> list[str]:
        count, joints = self.places.shape[:2]
        parts = [f"{chain + 1}_{joint + 1}" for chain in range(count) for joint in range(joints)]
        return [f"{section or 'chain'}_{part}" for part in parts]


@dataclass(frozen=True, slots=True)
class ChainOptions:
    chains: int = 0  # 0 for one every `SPACING`
    joints: int = 0  # Bones of a chain; 0 for one every `LENGTH`
    metres: float = field(default=1.0)  # Per unit of the file


def generated_chains(model: CharacterModel, section: str, anchor: int, options: ChainOptions) -> GeneratedChains:
    """Returns chains for a section that hang on a joint.

    Raises:
        WeightsError: If the section has several pieces or no edge.
    """
    skeleton = model.skeleton
    old = influences_in(model)
    if skeleton is None or old is None:
        raise WeightsError("the model has no bones")
    chosen = np.concatenate([np.zeros((0, 3), np.uint32), *(
        model.mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count]
        for part in model.mesh.sections if part.name == section)])  # fmt: skip
    if not len(chosen):
        raise WeightsError(f"the model has no section {section!r}")
    surface, place_of = hanging_surface(model.mesh, chosen, skeleton.model_from_bind[anchor, :3, 3])
    counts = [options.chains, options.joints]
    automatic = 1 if surface.is_closed else min(max(round(surface.hem * options.metres / SPACING), 4), 24)
    chains = min(counts[0], CHAINS_MAX) if counts[0] else automatic
    joints = min(max(counts[1] or round(surface.length * options.metres / LENGTH), 2), JOINTS_MAX)
    places = _joint_places(surface, chains, joints)
    rows = np.unique(chosen).astype(np.intp)
    new = _bilinear(surface, place_of[rows], chains, joints)
    share = np.clip(surface.u[place_of[rows]] / BLENDED, 0.0, 1.0)[:, None]
    first = skeleton.joint_count
    blended = Influences(
        np.concatenate([first + new.joints, old.joints[rows]], axis=1),
        np.concatenate([share * new.weights, (1.0 - share) * old.weights[rows]], axis=1),
    )
    found, weights = merged(blended)
    weights /= weights.sum(axis=1, keepdims=True)
    spacing = surface.hem / chains if chains > 1 else 0.0
    return GeneratedChains(anchor, places, rows, Influences(found, weights), spacing)


def hanging_surface(mesh: Mesh, triangles: np.ndarray, anchor: Float64) -> tuple[HangingSurface, Intp]:
    """Returns a section with its coordinates, and the place of each vertex of the mesh, (V,); -1 for other vertices."""
    part, used = replace(mesh, triangles=triangles), np.unique(triangles)
    places, corners, place_of, _ = welded(part)
    numbers = np.unique(corners)
    small = np.full(len(places), -1, np.intp)
    small[numbers] = np.arange(len(numbers))
    places, corners = places[numbers], small[corners]
    own = np.full(mesh.vertex_count, -1, np.intp)
    own[used] = small[place_of[used]]
    if (own[used] < 0).any():
        raise WeightsError("the section has triangles without area")
    count = int(_components(len(places), corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()).max()) + 1
    if count > 1:
        raise WeightsError(f"the section has {count} pieces; chains need one piece")
    loops = _loops(corners)
    if not loops:
        raise WeightsError("the section has no open edge that could hang on a bone")
    near = min(loops, key=lambda loop: float(np.linalg.norm(places[loop] - anchor, axis=1).mean()))
    others = [loop for loop in loops if loop is not near]
    sides = _sides(places, corners, near, anchor) if not others else None
    if sides is not None:
        return _sheet(places, corners, sides), own
    if others:
        far = max(
            others, key=lambda loop: float(np.linalg.norm(places[loop] - places[near].mean(axis=0), axis=1).mean())
        )
    else:
        far = _tip(places, near)
    return _ring(places, corners, near, far, is_closed=not others), own


def _tip(places: Float64, near: Intp) -> Intp:
    """Returns the last part of a tail, the outermost vertex first: a single point has no harmonic coordinate."""
    start = places[near].mean(axis=0)
    away = np.linalg.norm(places - start, axis=1)
    axis = places[away.argmax()] - start
    along = (places - start) @ axis
    return np.flatnonzero(along >= _TIP * along.max())[np.argsort(-along[along >= _TIP * along.max()])]


def _ring(places: Float64, triangles: Intp, near: Intp, far: Intp, *, is_closed: bool) -> HangingSurface:
    u = _harmonic(places, triangles, near, far)
    start, end = places[near].mean(axis=0), places[far[:1] if is_closed else far].mean(axis=0)
    axis = (end - start) / max(float(np.linalg.norm(end - start)), 1e-30)
    ahead = np.array([0.0, 0.0, 1.0]) if abs(axis[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    ahead -= axis * (axis @ ahead)
    ahead /= np.linalg.norm(ahead)
    away = places - (start + u[:, None] * (end - start))
    v = np.arctan2(away @ np.cross(ahead, axis), away @ ahead) / (2.0 * np.pi) % 1.0
    hem = _length(places[near if is_closed else far])
    return HangingSurface(places, triangles, u, v, True, is_closed, hem, float(np.linalg.norm(end - start)), end)


def _sheet(places: Float64, triangles: Intp, sides: Sequence[Intp]) -> HangingSurface:
    top, right, bottom, left = sides
    u = _harmonic(places, triangles, top, bottom)
    v = _harmonic(places, triangles, left, right)
    ends = [places[side].mean(axis=0) for side in (top, bottom)]
    hem = float(np.linalg.norm(np.diff(places[bottom], axis=0), axis=1).sum())
    length = float(np.linalg.norm(ends[1] - ends[0]))
    return HangingSurface(places, triangles, u, v, False, False, hem, length, ends[1])


def _length(loop: Float64) -> float:
    return float(np.linalg.norm(loop - np.roll(loop, -1, axis=0), axis=1).sum())


# --- edges ----------------------------------------------------------------------------------------------------------


def _components(count: int, one: Intp, other: Intp) -> Intp:
    """Returns the number of the connected piece of each vertex, (count,)."""
    labels = np.arange(count)
    while True:
        least = labels.copy()
        np.minimum.at(least, one, labels[other])
        np.minimum.at(least, other, labels[one])
        least = least[least]
        if np.array_equal(least, labels):
            return np.unique(labels, return_inverse=True)[1].astype(np.intp)
        labels = least


def _loops(triangles: Intp) -> list[Intp]:
    """Returns the closed edges of a surface as ordered vertices; fails where edges meet in a point."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, inverse, counts = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    open_edges = edges[counts[inverse.ravel()] == 1]
    following = dict(open_edges.tolist())
    if len(following) < len(open_edges) or set(following) != set(following.values()):
        raise WeightsError("edges of the section meet in a point, or its triangles face different ways")
    loops = []
    while following:
        start, after = following.popitem()
        loop = [start]
        while after != start:
            loop.append(after)
            after = following.pop(after)
        loops.append(np.array(loop, np.intp))
    return loops


def _sides(places: Float64, triangles: Intp, loop: Intp, anchor: Float64) -> list[Intp] | None:
    """Returns top, right, bottom and left edge of a sheet with four corners, the top at the anchor; None without."""
    angles = np.zeros(len(places))
    for corner in range(3):
        here, one, other = (places[triangles[:, (corner + step) % 3]] for step in range(3))
        a, b = one - here, other - here
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        angle = np.arccos(np.clip(np.sum(a * b, axis=1) / np.maximum(lengths, 1e-30), -1.0, 1.0))
        angles += np.bincount(triangles[:, corner], angle, len(places))
    steps = np.linalg.norm(places[loop] - places[np.roll(loop, -1)], axis=1)
    along, total = np.concatenate([[0.0], np.cumsum(steps)[:-1]]), float(steps.sum())
    corners: list[int] = []
    for place in np.argsort(angles[loop]).tolist():
        apart = [abs(along[place] - along[other]) for other in corners]
        if angles[loop[place]] < _SHARP and all(min(gap, total - gap) > _APART * total for gap in apart):
            corners.append(place)
        if len(corners) == 4:
            break
    if len(corners) < 4:
        return None
    corners.sort()
    sides = [
        np.take(loop, np.arange(corners[i], corners[(i + 1) % 4] + 1 + (len(loop) if i == 3 else 0)), mode="wrap")
        for i in range(4)
    ]
    distances = [float(np.linalg.norm(places[side] - anchor, axis=1).mean()) for side in sides]
    top = int(np.argmin(distances))
    return [sides[(top + step) % 4] for step in range(4)]


# --- coordinates ----------------------------------------------------------------------------------------------------


def _harmonic(places: Float64, triangles: Intp, zero: Intp, one: Intp) -> Float64:
    """Returns the harmonic function that is 0 and 1 on two edges, (P,), by conjugate gradients."""
    rows, columns, weights = _cotangents(places, triangles)
    count = len(places)
    diagonal = np.bincount(rows, weights, count)
    fixed = np.zeros(count, bool)
    fixed[zero] = fixed[one] = True
    found = np.zeros(count)
    found[one] = 1.0
    free = ~fixed

    def applied(values: Float64) -> Float64:
        product: Float64 = diagonal * values - np.bincount(rows, weights * values[columns], count)
        return np.where(free, product, 0.0)

    scale = np.where(free, 1.0 / np.maximum(diagonal, 1e-30), 0.0)
    residue = -applied(found)
    direction = scale * residue
    energy = float(residue @ direction)
    least = _PRECISE**2 * max(energy, 1e-300)
    for _ in range(_ROUNDS):
        if energy <= least:
            break
        product = applied(direction)
        step = energy / float(direction @ product)
        found += step * direction
        residue -= step * product
        moved = scale * residue
        following = float(residue @ moved)
        direction = moved + following / energy * direction
        energy = following
    return np.clip(found, 0.0, 1.0)


def _cotangents(places: Float64, triangles: Intp) -> tuple[Intp, Intp, Float64]:
    """Returns both directions of every edge with weights that are not negative, so that no value leaves its range."""
    a, b, c = (places[triangles[:, corner]] for corner in range(3))
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    smallest = 1e-9 * max(float(twice.max(initial=0.0)), 1e-30)
    rows, columns, values = [], [], []
    for one, other, top in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        i, j, k = (triangles[:, corner] for corner in (one, other, top))
        along = np.sum((places[i] - places[k]) * (places[j] - places[k]), axis=1)
        weight = 0.5 * along / np.maximum(twice, smallest)
        rows += [i, j]
        columns += [j, i]
        values += [weight, weight]
    row, column, value = (np.concatenate(parts) for parts in (rows, columns, values))
    key = row * len(places) + column
    edges, inverse = np.unique(key, return_inverse=True)
    sums = np.bincount(inverse.ravel(), value)
    floor = 1e-6 * max(float(np.abs(sums).mean()), 1e-30)
    return (edges // len(places)).astype(np.intp), (edges % len(places)).astype(np.intp), np.maximum(sums, floor)


# --- joints and weights ---------------------------------------------------------------------------------------------


def _joint_places(surface: HangingSurface, chains: int, joints: int) -> Float64:
    """Returns places of joints, (chains, joints + 1, 3); one chain runs in the middle of a ring."""
    found = np.empty((chains, joints + 1, 3))
    for joint in range(joints + 1):
        u = joint / joints
        if chains == 1 and surface.is_ring:
            found[0, joint] = surface.end if joint == joints else _middle(surface, u)
            continue
        if surface.is_closed and joint == joints:
            found[:, joint] = surface.end
            continue
        for chain in range(chains):
            v = chain / chains if surface.is_ring else (chain / (chains - 1) if chains > 1 else 0.5)
            found[chain, joint] = _place_at(surface, u, v)
    return found


def _middle(surface: HangingSurface, u: float) -> Float64:
    """Returns the middle of the line of equal u, (3,)."""
    level, corners = max(u, 1e-6), surface.triangles
    values, places = surface.u[corners] - level, surface.places[corners]
    sums, weights = np.zeros(3), 0.0
    alone = (np.sign(values[:, [1, 2, 0]]) == np.sign(values[:, [2, 0, 1]])) & (
        values.min(axis=1) * values.max(axis=1) < 0
    )[:, None]
    for corner in range(3):
        rows = np.flatnonzero(alone[:, corner])
        here, value = places[rows, corner], values[rows, corner]
        cuts = []
        for step in (1, 2):
            other, far = places[rows, (corner + step) % 3], values[rows, (corner + step) % 3]
            cuts.append(here + (value / (value - far))[:, None] * (other - here))
        lengths = np.linalg.norm(cuts[1] - cuts[0], axis=1)
        sums = sums + lengths @ (0.5 * (cuts[0] + cuts[1]))
        weights += float(lengths.sum())
    return sums / max(weights, 1e-30)


def _place_at(surface: HangingSurface, u: float, v: float) -> Float64:
    """Returns the place with these coordinates, of the triangle that contains them, or comes nearest to it."""
    corners = surface.triangles
    across = surface.v[corners] - v
    if surface.is_ring:
        across = (across + 0.5) % 1.0 - 0.5
        split = np.ptp(across, axis=1) > 0.5  # on the other side of the ring
    else:
        split = np.zeros(len(corners), bool)
    along = surface.u[corners] - u
    (x1, x2, x3), (y1, y2, y3) = across.T, along.T
    area = (x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)
    safe = np.where(np.abs(area) > 1e-15, area, np.inf)
    shares = np.stack([(x2 * y3 - x3 * y2) / safe, (x3 * y1 - x1 * y3) / safe, (x1 * y2 - x2 * y1) / safe], axis=1)
    inside = np.where(split | ~np.isfinite(safe), -np.inf, shares.min(axis=1))
    best = int(np.argmax(inside))
    share = np.clip(shares[best], 0.0, None)
    found: Float64 = share @ surface.places[corners[best]] / max(float(share.sum()), 1e-30)
    return found


def _bilinear(surface: HangingSurface, places: Intp, chains: int, joints: int) -> Influences:
    """Returns up to four new joints and weights of places; joints number the chains one after the other."""
    along = surface.u[places] * joints
    low = np.minimum(along.astype(np.intp), joints - 1)
    share = along - low
    if surface.is_ring:
        across = surface.v[places] * chains
        left = across.astype(np.intp) % chains
        right = (left + 1) % chains
        beside = across - np.floor(across)
    else:
        across = surface.v[places] * max(chains - 1, 0)
        left = np.minimum(across.astype(np.intp), max(chains - 2, 0))
        right = np.minimum(left + 1, chains - 1)
        beside = across - left
    upper = np.minimum(low + 1, joints - 1)  # the last joint of a chain only ends a bone
    columns, weights = [], []
    for chain, part in ((left, 1.0 - beside), (right, beside)):
        for joint, rest in ((low, 1.0 - share), (upper, share)):
            columns.append(chain * (joints + 1) + joint)
            weights.append(part * rest)
    return Influences(np.stack(columns, axis=1), np.stack(weights, axis=1))


def around(mesh: Mesh, sections: Sequence[str]) -> Bool:
    """Returns a mask of the triangles of other sections, (T,)."""
    found = np.ones(mesh.triangle_count, bool)
    for part in mesh.sections:
        if part.name in sections:
            found[part.first_triangle : part.first_triangle + part.triangle_count] = False
    return found
