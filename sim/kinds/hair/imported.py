"""Hair from files. A root near the skin is bound to the nearest triangle. A root far away, as of a ponytail or a
plume, is bound to a triangle that a single bone moves, so that it does not swing with the skin.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Skin
from sinew.sim.assets.strands import StrandSet, resampled
from sinew.sim.characters.settings import UpAxis
from sinew.sim.kinds.background import Pause, part_of, unpaused
from sinew.sim.kinds.hair.groom import LENGTHS, SHORTEST, TURN_MAX, Groom
from sinew.sim.kinds.hair.growth import Children, Growth, GrowthSurface, as_drawn, plain_children, surface_of
from sinew.sim.kinds.hair.roots import Roots, RootSurface, nearest_guides, root_frames, unit
from sinew.sim.kinds.hair.settings import GUIDES_MAX, HairSettings
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.hash import birth_numbers
from sinew.sim.maths.srgb import linear_from_srgb
from sinew.sim.scene.params import SettingsError
from sinew.sim.skin.attachment import attach, over_triangles

_TRIED = 0.6
_ROUNDS, _PASSES = 60, 4
"""Numbers of rounds and passes, which suffice to straighten sixteen points."""


def smooth_curves(knots: Float64) -> tuple[Float64, Float64]:
    """Smooths strands (N, K, 3) into equal chords whose joints turn by no more than `TURN_MAX`; root and tip stay.

    Joints that are bent sharply at rest do not come to rest if strands are stiff or substeps are few.

    Returns:
        The curves, shape (N, K, 3), and the lengths of their chords, shape (N,).
    """
    curves = knots.copy()
    chords = np.linalg.norm(knots[:, 1] - knots[:, 0], axis=1)
    rows = np.flatnonzero(largest_turns(curves) > TURN_MAX)
    for _ in range(_ROUNDS):
        if not len(rows):
            break
        inside = curves[rows]
        for _ in range(_PASSES):
            inside[:, 1:-1] += 0.25 * (inside[:, 2:] - 2.0 * inside[:, 1:-1] + inside[:, :-2])
        curves[rows] = inside
        # Joints turn more once the chords are equal.
        tried = np.flatnonzero(largest_turns(inside) <= _TRIED * TURN_MAX)
        equal, sizes = resampled(inside[tried], knots.shape[1] - 1)
        settled = largest_turns(equal) <= TURN_MAX
        curves[rows[tried[settled]]], chords[rows[tried[settled]]] = equal[settled], sizes[settled]
        rows = np.delete(rows, tried[settled])
    # Closed strands cannot become a line: they are replaced by straight ones.
    curves[rows], chords[rows] = _straight(knots[rows])
    return curves, chords


def largest_turns(knots: Float64) -> Float64:
    """Returns the largest turn at a joint of strands (N, K, 3) [rad], shape (N,)."""
    edges = unit(np.diff(knots, axis=1))
    cosines = np.sum(edges[:, 1:] * edges[:, :-1], axis=2)
    found: Float64 = np.arccos(np.clip(cosines, -1.0, 1.0)).max(axis=1, initial=0.0)
    return found


def details(knots: Float64, curves: Float64, tangents: Float64, normals: Float64) -> Float64:
    """Returns offsets of strands from curves [m], (N, K, 3): along, sideways, across, as in hair/expand.glsl.

    Args:
        tangents, normals: Axes of the frames of the roots, shape (N, 3).
    """
    along = unit(np.diff(curves, axis=1, prepend=2.0 * curves[:, :1] - curves[:, 1:2]), normals[:, None])
    side = unit(np.cross(along, tangents[:, None]), np.broadcast_to(normals[:, None], along.shape))
    away = knots - curves
    return np.stack([np.sum(away * one, axis=2) for one in (along, side, np.cross(along, side))], axis=2)


def _straight(knots: Float64) -> tuple[Float64, Float64]:
    count = knots.shape[1] - 1
    chords = np.linalg.norm(np.diff(knots, axis=1), axis=2).mean(axis=1)
    ahead = unit(knots[:, -1] - knots[:, 0], np.array([0.0, 1.0, 0.0]))
    return knots[:, :1] + np.arange(count + 1)[:, None] * (chords[:, None] * ahead)[:, None], chords


FAR = 0.03
"""Distance from the skin, as a fraction of the size of the model, from which a root is bound to a bone."""

_ALONE = 0.99
"""Weight from which a bone alone counts as the mover of a vertex."""

_BLOCK = 4096

_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def growth_from_file(settings: HairSettings, ground: GrowthSurface, pause: Pause = unpaused) -> Growth:
    """Grows strands of a file: every n-th strand is a guide, the others are interpolated.

    Raises:
        SettingsError: If no strand has a length.
    """
    strands = ground.strands
    assert strands is not None
    assert ground.world_from_file is not None
    to_world = _world_from_file(settings, strands, ground.world_from_file)
    chosen = np.arange(0, strands.count, every_of(settings, strands))
    knots, chords = _shapes(strands, chosen, to_world, settings.segments, part_of(pause, 0.0, 0.2))
    alive = chords * settings.segments >= SHORTEST
    if not alive.any():
        raise SettingsError(f"no strand of {Path(settings.file).name} has a length at this scale; nothing grows")
    chosen, knots = chosen[alive], knots[alive]
    curves, chords = smooth_curves(knots)
    places, edges = _child_places(settings, strands, knots[:, 0], to_world, part_of(pause, 0.2, 0.4))
    every = np.concatenate([knots[:, 0], places])
    first = unit(np.diff(curves[:, :2], axis=1)[:, 0])
    surface, roots = _bound(ground, every, np.concatenate([first, first[edges]]), part_of(pause, 0.4, 0.6))
    own, others = roots[: len(chosen)], roots[len(chosen) :]
    at, frames = root_frames(surface, own)
    along = unit(np.diff(curves, axis=1), np.array([0.0, 1.0, 0.0]))
    groom = Groom(own, at, frames, chords * settings.segments, np.einsum("nxy,nkx->nky", frames, along))
    if not settings.children:
        children, sources = as_drawn(groom, settings.seed), chosen
        children = _detailed(children, knots, curves, frames)
    else:
        nearest, weights = nearest_guides(places, knots[:, 0], part_of(pause, 0.6, 0.8))
        random = birth_numbers(settings.seed, np.arange(GUIDES_MAX, GUIDES_MAX + len(places)), LENGTHS)
        children, sources = plain_children(others, nearest, weights, random[:, 1]), _sources(settings, strands)
        if largest_turns(knots).max() > TURN_MAX:
            own_knots, _ = _shapes(strands, sources, to_world, settings.segments, part_of(pause, 0.8, 1.0))
            children = _detailed(children, own_knots, smooth_curves(own_knots)[0], root_frames(surface, others)[1])
    is_own = ground.model is None
    return Growth(surface, groom, _looking(settings, strands, children, sources), is_own, not settings.children)


def _detailed(children: Children, knots: Float64, curves: Float64, frames: Float64) -> Children:
    if knots is curves or np.allclose(knots, curves, atol=1e-7):
        return children
    return replace(children, details=details(knots, curves, frames[:, :, 0], frames[:, :, 2]))


def every_of(settings: HairSettings, strands: StrandSet) -> int:
    return max(settings.file_every, -(-strands.count // GUIDES_MAX))


def _world_from_file(settings: HairSettings, strands: StrandSet, world_from_node: Float64) -> Float64:
    is_z_up = strands.is_z_up if settings.file_up is UpAxis.AUTO else settings.file_up is UpAxis.Z
    out = np.eye(4)
    out[:3, :3] = settings.file_scale * strands.unit * (_Z_UP if is_z_up else np.eye(3))
    placed: Float64 = world_from_node @ out
    return placed


def _shapes(
    strands: StrandSet, chosen: Intp, to_world: Float64, segments: int, pause: Pause
) -> tuple[Float64, Float64]:
    """Returns world points [m], shape (N, segments + 1, 3), and the lengths of the chords (N,)."""
    knots, chords = np.empty((len(chosen), segments + 1, 3)), np.empty(len(chosen))
    for first in range(0, len(chosen), _BLOCK):
        pause(first / len(chosen))
        rows = slice(first, first + _BLOCK)
        lines = strands.points_of(chosen[rows]) @ to_world[:3, :3].T + to_world[:3, 3]
        knots[rows], chords[rows] = resampled(lines, segments)
    return knots, chords


def _sources(settings: HairSettings, strands: StrandSet) -> Intp:
    return np.arange(settings.children) * strands.count // settings.children


def _child_places(
    settings: HairSettings, strands: StrandSet, guides: Float64, to_world: Float64, pause: Pause
) -> tuple[Float64, Intp]:
    """Returns world roots of the children [m], (N, 3), and the nearest guide of each, (N,).

    More children than strands in the file grow between its roots and the guides around.
    """
    if not settings.children:
        return np.zeros((0, 3)), np.zeros(0, np.intp)
    firsts = strands.starts[_sources(settings, strands)]
    roots = strands.points[firsts].astype(np.float64) @ to_world[:3, :3].T + to_world[:3, 3]
    nearest, _ = nearest_guides(roots, guides, pause)
    if settings.children > strands.count and len(guides) > 2:
        random = birth_numbers(settings.seed, np.arange(GUIDES_MAX, GUIDES_MAX + settings.children), LENGTHS)
        other = np.where(random[:, 0] < 0.5, nearest[:, 1], nearest[:, 2])
        roots = roots + 0.5 * random[:, 2:] * (guides[other] - roots)
    return roots, nearest[:, 0]


def _bound(ground: GrowthSurface, places: Float64, along: Float64, pause: Pause) -> tuple[RootSurface, Roots]:
    """Binds world points (N, 3) with first edges (N, 3) to the surface."""
    placement, model = ground.world_from_surface, ground.model
    inside = np.linalg.inv(placement)
    points = places @ inside[:3, :3].T + inside[:3, 3]
    if model is None:
        return _own_surface(points, along @ inside[:3, :3].T, placement)
    surface = surface_of(model, placement)
    triangles = model.mesh.triangles
    pause(0.0)
    found = attach(np.arange(len(points), dtype=np.int32), points, surface.positions, triangles)
    corners, shares, heights = found.corners.astype(np.uint32), found.weights, found.heights
    size = np.linalg.norm(np.ptp(surface.positions, axis=0))
    # The projection of a point next to the skin may lie outside its triangle.
    off = np.linalg.norm(np.clip(shares, 0.0, 1.0) - shares, axis=1) * _spans(surface.positions[corners])
    far = np.abs(heights) + off > FAR * size
    if model.skin is not None and far.any():
        riding, is_ridden = _ridden(model, model.skin, corners[far], shares[far])
        rows = np.flatnonzero(far)[is_ridden]
        corners[rows] = riding[is_ridden]
        shares[rows], heights[rows] = over_triangles(points[rows], surface.positions[corners[rows]])
    return surface, Roots(corners, shares, heights)


def _spans(corners: Float64) -> Float64:
    found: Float64 = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return found


def _ridden(
    model: CharacterModel, skin: Skin, corners: npt.NDArray[np.uint32], shares: Float64
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
    """Returns triangles (N, 3) that only the strongest bone at each point moves, and True where there is one (N,)."""
    joints = skin.joints_of(skin.joints)
    strongest = joints[np.arange(len(joints)), skin.weights.argmax(axis=1)]
    alone = skin.weights.max(axis=1) >= _ALONE
    nearest_corner = corners[np.arange(len(corners)), shares.argmax(axis=1)]
    bones = strongest[nearest_corner]
    triangles = model.mesh.triangles
    of_triangle = np.where(
        alone[triangles].all(axis=1) & (strongest[triangles] == strongest[triangles[:, :1]]).all(axis=1),
        strongest[triangles[:, 0]].astype(np.int32),
        -1,
    )
    positions = model.mesh.positions.astype(np.float64)[triangles]
    areas = np.linalg.norm(np.cross(positions[:, 1] - positions[:, 0], positions[:, 2] - positions[:, 0]), axis=1)
    out, found = corners.copy(), np.zeros(len(corners), bool)
    for bone in np.unique(bones):
        own = np.flatnonzero(of_triangle == bone)
        if len(own):
            rows = bones == bone
            out[rows], found[rows] = triangles[own[areas[own].argmax()]], True
    return out, found


def _own_surface(points: Float64, along: Float64, placement: Float64) -> tuple[RootSurface, Roots]:
    """Returns a small triangle for each point (N, 3), with the first edge of the strand as normal."""
    up = unit(along, np.array([0.0, 1.0, 0.0]))
    aside = np.where(np.abs(up[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    level = unit(aside - np.sum(aside * up, axis=1, keepdims=True) * up)
    size = 0.01 * max(float(np.ptp(points, axis=0).max(initial=0.0)), 1e-3)
    corners = np.stack([points, points + size * level, points + size * np.cross(up, level)], axis=1)
    vertices = np.arange(3 * len(points), dtype=np.uint32).reshape(-1, 3)
    roots = Roots(vertices, np.tile([1.0, 0.0, 0.0], (len(points), 1)))
    return RootSurface(corners.reshape(-1, 3), np.repeat(up, 3, axis=0), placement), roots


def _looking(settings: HairSettings, strands: StrandSet, children: Children, sources: Intp) -> Children:
    if not settings.file_look:
        return children
    ends = strands.starts[sources], strands.starts[sources + 1] - 1
    if strands.colours is not None:
        tints = linear_from_srgb(np.stack([strands.colours[end] for end in ends], axis=1).clip(0.0, 1.0))
        children = replace(children, tints=tints.astype(np.float64), has_colours=True)
    if strands.thickness is not None:
        per_strand = len(strands.thickness) == strands.count
        widths = strands.thickness[sources if per_strand else ends[0]].astype(np.float64)
        mean = float(np.abs(widths).mean())
        forms = children.forms.copy()
        forms[:, 3] = np.clip(np.abs(widths) / mean, 0.0, 100.0) if mean > 0.0 else 1.0
        children = replace(children, forms=forms)
    return children
